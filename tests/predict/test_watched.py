"""A real library's default, watched: on more ranks than there are cores, because counts do not depend on time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from hockney.campaign.launch import Launch
from hockney.campaign.plan import Launching
from hockney.campaign.prepare import counting_launches
from hockney.errors import EnvironmentLack
from hockney.predict.decisions.base import decisions_for
from hockney.predict.identified import IdentifiedOperation
from hockney.predict.identify.candidates import of_schedule
from hockney.predict.identify.forced import forced
from hockney.predict.identify.told import SETTING, WATCHING
from hockney.predict.identify.watching import Sent, Unsteady, WatchedCall
from hockney.predict.watched import Watched, _Counter, watch
from hockney.records.keys import COLLECTIVES, ELEMENT_B
from hockney.runner import library
from hockney.runner.mpi import Mpi
from hockney.runner.session import LaunchFailed, Session

RANKS = 5
OPERATIONS = [
    pytest.param(names, id=name, marks=marks)
    for name, names, marks in (
        ("rooted and not", ("bcast", "allreduce"), ()),
        ("more", ("bcast", "allgather", "alltoall", "reduce"), pytest.mark.thorough),
    )
]
SIZES_B = (8, 1024, 16_384, 262_144)


def watched(mpi: Mpi, operations: tuple[str, ...], sizes_B: tuple[int, ...] = SIZES_B) -> Watched:
    return watch(Launching(mpi=str(mpi.wrapper), ranks=RANKS), operations, [RANKS], sizes_B)


@pytest.fixture(scope="module", params=OPERATIONS)
def seen(mpi: Mpi, request: pytest.FixtureRequest) -> dict[str, IdentifiedOperation]:
    """The answer of each operation; skips where nothing is known that counts."""
    if mpi.kind not in library.COUNTING:
        pytest.skip(f"{mpi.describe()} cannot be watched")
    return {answer.operation: answer for answer in watched(mpi, request.param).answers}


# On further MPIs only where all is tested: there the kernel counts, which takes long, and an absurd setting
# shows that it is read rightly.
@pytest.mark.one_mpi
def test_the_set_holds_what_the_version_says(mpi: Mpi, seen: dict[str, IdentifiedOperation]) -> None:
    known = decisions_for(mpi.describe())
    for operation, answer in seen.items():
        told = [cell for cell in answer.cells if cell.names is not None]
        assert len(told) >= len(SIZES_B) / 2, answer.cells
        for cell in told:
            choice = known.default(operation, RANKS, cell.bytes, nodes=cell.nodes or 1)
            assert choice is not None
            names = {name for one in cell.names or () for name in one.schedules}
            assert of_schedule(operation, choice).name in names, cell
            assert len(cell.names or ()) <= 3
            assert (cell.way, cell.why) == (WATCHING, ""), "nothing was set"


@pytest.mark.one_mpi
def test_switches_are_those_of_the_version_to_the_byte(mpi: Mpi, seen: dict[str, IdentifiedOperation]) -> None:
    """Where two schedules follow one another that send different messages."""
    known = decisions_for(mpi.describe())
    switches = [(operation, switch) for operation, answer in seen.items() for switch in answer.switches]
    assert switches
    for operation, switch in switches:
        sides = [
            known.default(operation, RANKS, size_B, nodes=switch.nodes or 1)
            for size_B in (switch.last_bytes, switch.first_bytes)
        ]
        assert sides[0] != sides[1], switch
        element_B = ELEMENT_B if COLLECTIVES[operation].reduces else 1
        assert switch.first_bytes - switch.last_bytes == element_B, (operation, switch)


@pytest.mark.parametrize("repeats", [True, False])
def test_the_kernel_is_believed_where_it_counts_the_same_twice(
    mpi: Mpi, monkeypatch: pytest.MonkeyPatch, *, repeats: bool
) -> None:
    if mpi.kind not in library.COUNTING:
        pytest.skip(f"{mpi.describe()} cannot be watched")
    heartbeats = iter(range(1000))

    def counted(*_: object) -> Sent:
        beat = next(heartbeats)
        # Once that of a library's own, or in each call.
        return Sent(np.array([[0, min(beat, 1) if repeats else beat]]))

    monkeypatch.setattr(_Counter, "_once", counted)
    how, launches = counting_launches(Launching(mpi=str(mpi.wrapper), ranks=2))[-1]
    with _Counter(launches[0], how._replace(by_kernel=True), limit_s=60) as counter:
        if repeats:
            sent = counter.count("bcast", 2, WatchedCall("default"), 64)
            assert sent is not None
            assert sent.bytes.tolist() == [[0, 1]]
        else:
            with pytest.raises(Unsteady, match="what default sends was not counted the same twice in 4 calls"):
                counter.count("bcast", 2, WatchedCall("default"), 64)


@pytest.mark.one_mpi
@pytest.mark.parametrize("nodes", [1, 2])
def test_what_ends_over_nodes_while_the_library_counts_is_left_to_the_kernel(
    mpi: Mpi, monkeypatch: pytest.MonkeyPatch, nodes: int
) -> None:
    """Open MPI 5.0.11 ends at random there. On one node an algorithm that ends its launch is left out, alone."""
    if mpi.kind != "openmpi":
        pytest.skip("of Open MPI's own count")
    begin, once = _Counter.__init__, _Counter._once

    def begun(counter: _Counter, launch: Launch, how: library.Counting, limit_s: float) -> None:
        begin(counter, launch, how, limit_s)
        places = [
            place.model_copy(update={"host": f"node{number % nodes}"})
            for number, place in enumerate(counter.hello.ranks)
        ]
        counter.hello = counter.hello.model_copy(update={"ranks": places})

    def ends(counter: _Counter, request: Mapping[str, object]) -> Sent:
        if counter._how.by_kernel:
            return once(counter, request)
        counter._begun()._process.kill()
        raise LaunchFailed("the launch ended", "")

    monkeypatch.setattr(_Counter, "__init__", begun)
    monkeypatch.setattr(_Counter, "_once", ends)
    (answer,) = watch(Launching(mpi=str(mpi.wrapper), ranks=4), ["bcast"], [4], [4096]).answers
    (cell,) = answer.cells
    assert (cell.names is None, cell.why) == ((False, "") if nodes == 2 else (True, "the default itself failed"))


FORCED = {
    # Of 5 ranks and 256 KiB neither library would.
    "openmpi": (
        {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_bcast_algorithm": "binary_tree"},
        "coll_tuned_bcast_algorithm=binary_tree",
        "binary",
    ),
    "mpich": (
        {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "scatter_ring_allgather"},
        "MPIR_CVAR_BCAST_INTRA_ALGORITHM=scatter_ring_allgather",
        "scatter_allgather_ring",
    ),
}


def test_an_absurd_setting_is_told(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    if mpi.kind not in FORCED:
        pytest.skip(f"{mpi.describe()} cannot be watched")
    environment, setting, schedule = FORCED[mpi.kind]
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (answer,) = watched(mpi, ("bcast",), (262_144,)).answers
    (cell,) = answer.cells
    assert cell.names is not None
    assert [name.schedules for name in cell.names] == [(schedule,)]
    assert (cell.way, cell.why) == (SETTING, f"forced by the setting {setting}")
    shipped = decisions_for(mpi.describe()).default("bcast", RANKS, 262_144, nodes=cell.nodes or 1)
    assert shipped is not None
    assert of_schedule("bcast", shipped).name != schedule


def test_a_file_of_parameters_in_the_home_is_told(mpi: Mpi, tmp_path: Path) -> None:
    """Not set in the environment, nor on the launch line: the library itself says what it has read."""
    if mpi.kind != "openmpi":
        pytest.skip("of variables of Open MPI")
    file = tmp_path / ".openmpi" / "mca-params.conf"
    file.parent.mkdir()
    file.write_text("coll_tuned_use_dynamic_rules = 1\ncoll_tuned_bcast_algorithm = 5\n", encoding="utf-8")
    _, (launch, *_) = counting_launches(Launching(mpi=str(mpi.wrapper), ranks=2))[0]
    with Session(launch.argv, {**launch.environment, "HOME": str(tmp_path)}, 60) as session:
        settings = session.hello.settings
    force = forced("bcast", settings, mpi=mpi.describe(), ranks=2, nodes=1)
    assert force is not None
    assert (force.setting, force.algorithm) == ("coll_tuned_bcast_algorithm=binary_tree", "tuned:binary_tree")


def test_the_radix_that_is_set_is_told(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    if mpi.kind != "openmpi":
        pytest.skip("of variables of Open MPI")
    stem = "OMPI_MCA_coll_tuned_bcast_algorithm"
    monkeypatch.setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1")
    monkeypatch.setenv(stem, "knomial")
    monkeypatch.setenv(f"{stem}_knomial_radix", "3")
    (answer,) = watched(mpi, ("bcast",), (64,)).answers
    (cell,) = answer.cells
    assert cell.names is not None
    assert [name.schedules for name in cell.names] == [("knomial, radix 3",)]
    assert cell.way == SETTING


THRESHOLD_B = 5001


def test_a_rule_of_a_file_is_seen_to_the_byte(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which nobody but the messages tells."""
    if mpi.kind != "openmpi":
        pytest.skip("of Open MPI's files")
    # Collective 7 is bcast; from a communicator of one rank on: linear, and from the threshold on the pipeline.
    rules = tmp_path / "rules.conf"
    rules.write_text(f"1\n7\n1\n1\n2\n0 1 0 0\n{THRESHOLD_B} 3 0 0\n", encoding="utf-8")
    monkeypatch.setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1")
    monkeypatch.setenv("OMPI_MCA_coll_tuned_dynamic_rules_filename", str(rules))
    (answer,) = watched(mpi, ("bcast",), (1024, 16_384)).answers
    (switch,) = answer.switches
    assert (switch.last_bytes, switch.first_bytes) == (THRESHOLD_B - 1, THRESHOLD_B)
    assert "linear" in str(switch.before).split(" or ")
    assert "pipeline" in str(switch.after).split(" or ")
    assert all(str(rules) in cell.why for cell in answer.cells)


def test_beside_a_file_the_algorithm_that_goes_first_is_told(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Open MPI 4 goes by the file, 5 by the algorithm that is forced: the messages say so, too."""
    if mpi.kind != "openmpi":
        pytest.skip("of Open MPI's files")
    environment, setting, schedule = FORCED[mpi.kind]
    rules = tmp_path / "rules.conf"
    rules.write_text("1\n7\n1\n1\n1\n0 1 0 0\n", encoding="utf-8")
    for name, value in (environment | {library.RULES: str(rules)}).items():
        monkeypatch.setenv(name, value)
    (answer,) = watched(mpi, ("bcast",), (262_144,)).answers
    (cell,) = answer.cells
    names = [name for one in cell.names or () for name in one.schedules]
    if mpi.version.startswith("4"):
        assert "linear" in names
        assert str(rules) in cell.why
    else:
        assert (names, cell.way, cell.why) == ([schedule], SETTING, f"forced by the setting {setting}")


# Of Open MPI alone; on further MPIs what was seen would be watched for nothing.
@pytest.mark.one_mpi
def test_without_its_own_counters_the_kernel_counts(
    mpi: Mpi, seen: dict[str, IdentifiedOperation], monkeypatch: pytest.MonkeyPatch
) -> None:
    if mpi.kind != "openmpi":
        pytest.skip("has none")
    monkeypatch.setenv("OMPI_MCA_pml", "^monitoring")
    sizes_B = (1024, 16_384)
    (answer,) = watched(mpi, ("bcast",), sizes_B).answers
    exact = {cell.bytes: cell.names for cell in seen["bcast"].cells}
    counted = {cell.bytes: cell.names for cell in answer.cells}
    assert {size_B: counted[size_B] for size_B in sizes_B} == {size_B: exact[size_B] for size_B in sizes_B}


@pytest.mark.one_mpi
def test_a_library_that_cannot_be_watched_is_told_in_a_line(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "COUNTING", {})
    with pytest.raises(EnvironmentLack, match="cannot be watched: ") as raised:
        watched(mpi, ("bcast",), (64,))
    assert raised.value.message.startswith(mpi.describe())
    assert "\n" not in raised.value.message


def test_a_launch_that_cannot_count_is_told_in_a_line(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a library that is built without what the launch asks for."""
    if mpi.kind not in library.COUNTING:
        pytest.skip(f"{mpi.describe()} cannot be watched")
    nowhere = {"OMPI_MCA_pml": "nothing", "MPIR_CVAR_CH4_NETMOD": "nothing", "OMPI_MCA_coll": "^nothing"}
    # A library with one network module does not look at its name.
    nowhere |= {"UCX_TLS": "nothing", "FI_PROVIDER": "nothing"}
    monkeypatch.setattr(library, "COUNTING", {mpi.kind: (library.Counting(nowhere, by_kernel=True),)})
    with pytest.raises(EnvironmentLack, match="a launch that counts messages fails: ") as raised:
        watched(mpi, ("bcast",), (64,))
    assert "\n" not in raised.value.message
