"""`hockney predict profile.json`: sums of what `hockney predict` of each collective says."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests import command_line
from tests.command_line import outcome, refused
from tests.factories import not_none, version_1

from hockney.machine.file import save
from hockney.models.collectives.base import CollectiveModel
from hockney.predict.decisions.base import decisions_for
from hockney.records.profile import Call, Communicator, Profile, SizeCount

MACHINE = "orfeo_thin"


def call(operation: str, communicator: int, sizes: dict[int, int], **more: Any) -> Call:
    calls = sum(sizes.values())
    return Call(
        operation=operation,
        site="app.c:1 (main)",
        communicator=communicator,
        calls=calls,
        bytes=sum(size_B * count for size_B, count in sizes.items()),
        time_s=more.pop("time_s", 0.1),
        least_rank_time_s=0.0,
        most_rank_time_s=0.1,
        sizes=[SizeCount(bytes=size_B, calls=count) for size_B, count in sizes.items()],
        **more,
    )


def written(path: Path, *calls: Call, mpi: str = "Open MPI 5.0.11") -> Path:
    kinds = [
        Communicator(name="MPI_COMM_WORLD", ranks=4, groups=1),
        Communicator(name="rows", ranks=2, groups=2),
        Communicator(name="", ranks=0, groups=1),
    ]
    Profile(mpi=mpi, ranks=4, elapsed_s=1.0, communicators=kinds, calls=list(calls)).write(path)
    return path


answer = partial(command_line.answer, "predict")


def times(operation: str, ranks: int, size_B: int) -> dict[str, float]:
    words = (operation, "--ranks", str(ranks), "--bytes", str(size_B), "--machine", MACHINE)
    (one,) = answer(*words)["predictions"]
    return {row["algorithm"]: row["time_s"] for row in one["algorithms"] if row["time_s"] is not None}


def test_sums_are_those_of_the_single_predictions(tmp_path: Path) -> None:
    """Calls of all ranks are divided by the ranks; communicators of all ranks grow, others do not."""
    file = written(
        tmp_path / "p.json",
        call("allreduce", 0, {8: 40, 1 << 20: 20}),
        call("bcast", 1, {4096: 12}),
    )
    said = answer(file, "--ranks", "16", "--machine", MACHINE)
    summed, sent = said["rows"]
    small, large = (min(times("allreduce", 16, size_B).values()) for size_B in (8, 1 << 20))
    assert summed["ranks"] == 16
    assert summed["best_s"] == pytest.approx(10 * small + 5 * large)
    assert sent["ranks"] == 2
    assert sent["best_s"] == pytest.approx(3 * min(times("bcast", 2, 4096).values()))
    assert said["best_s"] == pytest.approx(summed["best_s"] + sent["best_s"])
    assert summed["measured_s"] == pytest.approx(0.1 / 4)
    assert any("others keep their ranks" in text for text in said["warnings"])


def test_a_measured_default_comes_before_a_simulated_one(tmp_path: Path) -> None:
    machine = version_1()
    points: list[dict[str, float | int | str | bool | None]] = [{"ranks": 4, "bytes": 8, "time_s": 5e-6}]
    machine.collectives = [
        CollectiveModel(operation="allreduce", algorithm="default", statistic="mean_over_ranks", points=points)
    ]
    save(machine, tmp_path / "machine.json")
    file = written(tmp_path / "p.json", call("allreduce", 0, {8: 40}))
    said = answer(file, "--machine", str(tmp_path / "machine.json"))
    assert said["time_s"] == said["best_s"] == pytest.approx(10 * 5e-6)
    assert (said["unknown_s"], said["changes"]) == (0, [])


def test_the_gap_to_what_was_measured_is_explained(tmp_path: Path) -> None:
    """Four ranks spent 4 s and 2 s: of the collectives' 1 s a rank, 750 ms were waiting."""
    summed = call("allreduce", 0, {8: 40}, time_s=4.0, waiting_s=3.0)
    file = written(tmp_path / "p.json", summed, call("sendrecv", 0, {8: 40}, time_s=2.0))
    assert answer(file, "--machine", MACHINE)["waiting_s"] == pytest.approx(0.75)
    _, shown, _ = outcome("predict", file, "--machine", MACHINE)
    assert shown.startswith("Communication takes ")
    assert "750 ms of 1.5 s is waiting for other ranks: not modelled" in shown
    assert "500 ms is in sendrecv, which may hold waiting too" in shown
    assert "250 ms is transfer in collectives" in shown
    assert max(map(len, shown.splitlines())) <= 100


OLD = "Open MPI 4.1.5"
"""It decides by ranks and bytes alone; from 5.0 on another component decides for ranks on several nodes."""


def test_a_change_pays_by_what_the_library_would_do(tmp_path: Path) -> None:
    """The library's own choice is that of its decision function for ranks on several nodes."""
    decisions = decisions_for(OLD)
    choice = not_none(not_none(decisions.decisions).default("allreduce", 64, 24000, decisions.version, nodes=64))
    file = written(tmp_path / "p.json", call("allreduce", 0, {24000: 4}), mpi=OLD)
    said = answer(file, "--ranks", "64", "--machine", MACHINE)
    known = times("allreduce", 64, 24000)
    (change,) = said["changes"]
    best = min(known, key=lambda name: known[name])
    assert (change["instead_of"], change["algorithm"]) == (choice.algorithm, best)
    assert change["saved_s"] == pytest.approx(known[choice.algorithm] - known[best])
    assert change["factor"] == pytest.approx(known[choice.algorithm] / known[best])
    assert said["time_s"] - said["best_s"] == pytest.approx(change["saved_s"])
    assert said["unknown_s"] == 0


def test_the_librarys_choice_has_its_fan_out_and_its_parts(tmp_path: Path) -> None:
    """A chain of fan-out 1 is a pipeline; `nonoverlapping` is a reduction to one rank and a broadcast."""
    file = written(tmp_path / "p.json", call("reduce", 0, {24000: 4}), mpi=OLD)
    assert answer(file, "--machine", MACHINE)["time_s"] == pytest.approx(times("reduce", 4, 24000)["pipeline"])
    file = written(tmp_path / "p.json", call("allreduce", 0, {4: 4}), mpi=OLD)
    said = answer(file, "--ranks", "128", "--machine", MACHINE)
    parts = times("reduce", 128, 4)["binomial"], times("bcast", 128, 4)["binary"]
    assert said["time_s"] == pytest.approx(sum(parts))


def test_what_the_library_chooses_depends_on_the_nodes(tmp_path: Path) -> None:
    """Open MPI 5 chooses by node where ranks are on several: what then is not known."""
    file = written(tmp_path / "p.json", call("allreduce", 0, {24000: 4}))
    spread = answer(file, "--ranks", "16", "--machine", MACHINE)
    assert spread["unknown_s"] == spread["time_s"] == spread["best_s"] > 0
    placed = ("--system", "orfeo-epyc", "--mapping", "core", "--machine", MACHINE)
    together = answer(file, "--ranks", "16", *placed)
    assert together["unknown_s"] == 0
    assert answer(file, "--ranks", "16", *placed, "--ppn", "8")["unknown_s"] > 0


def test_where_the_librarys_choice_is_not_known_it_is_said(tmp_path: Path) -> None:
    file = written(tmp_path / "p.json", call("allreduce", 0, {24000: 4}), mpi="HAL MPI 1.0")
    said = answer(file, "--ranks", "64", "--machine", MACHINE)
    assert said["changes"] == []
    assert said["time_s"] == said["best_s"] == said["unknown_s"] == said["rows"][0]["unknown_s"]
    _, shown, _ = outcome("predict", file, "--ranks", "64", "--machine", MACHINE)
    assert "HAL MPI 1.0's choice is unknown" in shown
    assert "no other algorithm" not in shown
    file = written(tmp_path / "p.json", call("allreduce", 0, {24000: 4}), call("isend", 0, {8: 4}), mpi=OLD)
    _, shown, _ = outcome("predict", file, "--ranks", "2", "--machine", MACHINE)
    assert "not known" not in shown


@pytest.mark.parametrize("ranks", [0, -3])
def test_no_ranks_are_refused(tmp_path: Path, ranks: int) -> None:
    file = written(tmp_path / "p.json", call("allreduce", 0, {8: 4}))
    error = refused("predict", file, "--ranks", str(ranks), "--machine", MACHINE)
    assert f"the number of ranks must be at least 1, not {ranks}" in error


def test_messages_are_predicted_and_waits_are_not(tmp_path: Path) -> None:
    file = written(tmp_path / "p.json", call("isend", 0, {65536: 8}), call("waitall", 2, {0: 8}))
    said = answer(file, "--machine", MACHINE)
    message = answer("pingpong", "--bytes", "65536", "--locality", "network", "--machine", MACHINE)
    sent, waited = said["rows"]
    (one,) = message["predictions"]
    assert sent["time_s"] == pytest.approx(2 * one["time_s"])
    assert sent["interval"] is None
    assert waited["time_s"] is None
    assert "waits" in waited["note"]
    # Four ranks waited two times each.
    assert (waited["calls_of_a_rank"], waited["measured_s"]) == (2.0, 0.1 / 4)


def test_a_sum_of_messages_has_an_interval_where_each_has_one(tmp_path: Path) -> None:
    file = written(tmp_path / "p.json", call("isend", 0, {65536: 8, 1024: 4}))
    said = answer(file, "--machine", "ci_2core")
    ends = dict.fromkeys(("low_s", "high_s"), 0.0)
    for size_B, each in ((65536, 2), (1024, 1)):
        (one,) = answer("pingpong", "--bytes", str(size_B), "--machine", "ci_2core")["predictions"]
        ends = {name: end_s + each * one[name] for name, end_s in ends.items()}
    assert said["rows"][0]["interval"] == pytest.approx(ends)
    assert said["interval"] == pytest.approx(ends)
    mixed = written(tmp_path / "p.json", call("isend", 0, {1024: 4}), call("allreduce", 0, {8: 4}))
    assert answer(mixed, "--ranks", "2", "--machine", "ci_2core")["interval"] is None


def test_many_sizes_count_as_powers_of_two(tmp_path: Path) -> None:
    sizes = dict.fromkeys(range(1000, 1024, 4), 4) | {100 * n: 4 for n in range(1, 8)} | {512: 4}
    said = answer(written(tmp_path / "p.json", call("bcast", 0, sizes)), "--machine", MACHINE)
    expected = sum(
        min(times("bcast", 4, size_B).values()) * count
        for size_B, count in ((128, 1), (256, 1), (512, 4), (1024, 8))
    )
    assert said["best_s"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "is no profile"),
        ('{"schema_version": 9, "communicators": []}', "schema version 9"),
        (
            '{"schema_version": 1, "communicators": [], "mpi": "", "ranks": 1, "elapsed_s": 1}',
            "calls: Field required",
        ),
    ],
)
@pytest.mark.usefixtures("wide")
def test_what_is_no_profile_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(text, encoding="utf-8")
    error = refused("predict", path, "--machine", MACHINE)
    assert said in error


@pytest.mark.usefixtures("wide")
def test_a_call_on_a_communicator_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "p.json", call("bcast", 0, {8: 4}))
    path.write_text(
        path.read_text(encoding="utf-8").replace('"communicator": 0', '"communicator": 7'), encoding="utf-8"
    )
    error = refused("predict", path, "--machine", MACHINE)
    assert "a call is on communicator 7 of 3" in error
