"""Files of rules that somebody wrote: what their library would drop, or stumble over, is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.factories import written

from hockney.errors import EnvironmentLack, RequestError
from hockney.runner.library import RULES, SELECTION
from hockney.runner.mpi import Mpi
from hockney.runner.variants import parse_variant
from hockney.tune.loading import expect_unset, traps
from hockney.tune.targets import _mpich


def openmpi(version: str) -> Mpi:
    return Mpi("openmpi", version, "3.1", Path("/x/mpicc"), Path("/x/mpirun"), "openmpi")


FREE = "1 7 1 0 1 0 0 0 0"
"""One collective, bcast, on 0 ranks and more, from 0 bytes on: the library's own choice."""


@pytest.mark.parametrize(
    ("version", "text", "said"),
    [
        # As 4.1.4 did: the whole file goes, without a word.
        ("4.1.4", "1 7 1 0 1 8 3 0 0", "bcast on 0 ranks has no rule for 0 bytes"),
        ("4.1.4", f"rule-file-version-2\n{FREE} 0", "the first line is 'rule-file-version-2'"),
        ("5.0.6", f"rule-file-version-2\n{FREE} 0", "the first line is 'rule-file-version-2'"),
        # Below the smallest number of ranks the first entry holds.
        ("4.1.4", "1 7 1 4 1 0 3 0 0", "is for 4 ranks and holds below them"),
        # An error at the first call.
        ("5.0.11", "1 7 1 0 1 0 99 0 0", "'99' (number 7) is not an algorithm"),
        ("5.0.11", "rule-file-version-2\n1 7 1 0 1 0 99 0 0 0", "'99' (number 7) is not an algorithm"),
        ("5.0.11", "1 7 1 0 1 0 0 0", "the rules end before a segment size"),
        ("5.0.11", "broadcast: chain", "'broadcast:' (number 1) is not the number of collectives"),
        ("4.1.4", FREE, ""),
        ("5.0.11", FREE, ""),
        ("5.0.11", f"rule-file-version-2\n{FREE} 0", ""),
        # Right, and more than rules here say: allgatherv; an alltoall on 4 to 7 ranks, of bytes of all together.
        ("4.1.4", "1 1 1 0 1 0 2 0 0", ""),
        ("4.1.4", "1 3 3 0 1 0 0 0 0 4 1 0 2 0 0 8 1 0 0 0 0", ""),
    ],
)
def test_what_open_mpi_would_not_take_is_said(version: str, text: str, said: str, tmp_path: Path) -> None:
    file = written(tmp_path / "rules", text + "\n")
    found = traps(openmpi(version), [(RULES, str(file))])
    assert len(found) == bool(said)
    assert all(f"Open MPI {version} does not take the rules of {file}" in line and said in line for line in found)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        # As it is built in.
        ({}, ""),
        ({"collective=bcast": {"comm_size<=4": {"algorithm=MPIR_Bcast_intra_binomial": {}}}}, "not for any"),
        ({"collective=bcast": {"Comm Size<=4": {}}}, "is no branch"),
        (None, "has not the collectives of this version"),
    ],
)
def test_what_mpich_would_abort_at_is_said(
    change: dict[str, object] | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaf: dict[str, object] = {"comm_size=any": {"algorithm=MPIR_Bcast_intra_binomial": {}}}
    whole = {"collective=bcast": leaf, "collective=reduce": leaf}
    monkeypatch.setattr(_mpich, "built_in", lambda _: whole)
    file = tmp_path / "selection.json"
    file.write_text(
        json.dumps({"collective=bcast": leaf} if change is None else whole | change), encoding="utf-8"
    )
    mpi = Mpi("mpich", "4.0.2", "4.0", Path("/x/mpicc"), Path("/x/mpiexec"), "hydra")
    found = traps(mpi, [(SELECTION, str(file))])
    assert len(found) == bool(said)
    assert all(said in line for line in found)
    # The device's selection has other words.
    assert traps(mpi, [("MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE", str(file))]) == []


@pytest.mark.parametrize("content", [b"\xff\xfe1", None])
def test_what_cannot_be_checked_is_said_and_ends_nothing(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "rules"
    file.mkdir() if content is None else file.write_bytes(content)
    (said,) = traps(openmpi("5.0.11"), [(RULES, str(file))])
    assert said.startswith(f"the rules of {file} could not be checked: ")


def test_a_selection_is_used_though_the_one_built_in_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def built_in(_: object) -> dict[str, object]:
        raise EnvironmentLack("not found in its library", "")

    monkeypatch.setattr(_mpich, "built_in", built_in)
    file = written(tmp_path / "selection.json", "{}")
    mpi = Mpi("mpich", "4.0.2", "4.0", Path("/x/mpicc"), Path("/x/mpiexec"), "hydra")
    said = traps(mpi, [(SELECTION, str(file))])
    assert said == [f"the rules of {file} could not be checked: not found in its library"]


@pytest.mark.parametrize(
    "words",
    [
        "OMPI_MCA_coll_tuned_dynamic_rules_filename=r",
        "--mca coll_tuned_dynamic_rules_filename r",
        "-x OMPI_MCA_coll_tuned_dynamic_rules_filename",
        "-x OMPI_MCA_coll_tuned_dynamic_rules_filename=r",
        "--export=ALL,OMPI_MCA_coll_tuned_dynamic_rules_filename,A=1",
        "--env=OMPI_MCA_coll_tuned_dynamic_rules_filename=r",
    ],
)
def test_a_variable_of_rules_that_the_user_sets_is_refused(words: str) -> None:
    with pytest.raises(RequestError, match=f"the variant 'v' of the campaign sets {RULES}"):
        expect_unset([RULES], parse_variant(f"v: {words}"))
    expect_unset([RULES], parse_variant("v: --mca coll_tuned_dynamic_rules 1 -x A=B"))
