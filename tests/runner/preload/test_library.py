"""On another library than its own, the layer passes all on, says so, and the program runs as without it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.processes import captured
from tests.runner.preload.programs import LIMIT_S, compiled, every_schedule, mpi_program, under

from hockney.runner.find import find, find_all
from hockney.runner.mpi import TITLES, Mpi
from hockney.runner.preload_build import preload_library


@pytest.mark.parametrize(
    ("options", "said"),
    [((), "the program runs on Another MPI 1.0, not on "), (("-DMISSING",), "has no PMPI_Exscan")],
)
def test_a_library_that_is_another_is_left_alone(
    mpi: Mpi, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    program = compiled(mpi, tmp_path, "other_library.c", *options, "-ldl")
    told, done = under(mpi, tmp_path, every_schedule(0), 2, program, code=6)
    assert not told["is_seen"]
    # Rank 0 speaks for all.
    assert done.stderr.count(said) == 1


PLAIN = mpi_program(
    "int one = 1, sum = 0;  MPI_Comm own;",
    "MPI_Comm_dup(MPI_COMM_SELF, &own);",
    "MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, own);",
    "MPI_Comm_free(&own);",
    code="5 + sum",
)


def _another(mpi: Mpi) -> Mpi:
    wrappers = filter(None, os.environ.get("HOCKNEY_TEST_MPIS", "").split(":"))
    found = [other for other in [*find_all(), *map(find, wrappers)] if isinstance(other, Mpi)]
    # MPICH and Intel MPI have handles of one kind.
    others = [other for other in found if (other.kind == "openmpi") != (mpi.kind == "openmpi")]
    if not others:
        pytest.skip(lacking("a second MPI", f"there is none besides {TITLES[mpi.kind]}"))
    # Those of one installation share what they need. Others may bring a libucs.so.0 each, and a process has one.
    return min(others, key=lambda other: other.wrapper.parent != mpi.wrapper.parent)


def test_the_layer_of_another_mpi_passes_all_on(mpi: Mpi, tmp_path: Path) -> None:
    """Handles of one are addresses, of the other 32-bit numbers."""
    program = compiled(mpi, tmp_path, PLAIN)
    layer = {"LD_PRELOAD": str(preload_library(_another(mpi))), "HOCKNEY_PRELOAD": "apply"}
    done = captured([program], env={**os.environ, **layer}, timeout=LIMIT_S)
    assert done.returncode == 6, done.stdout + done.stderr
    assert "the layer does nothing" in done.stderr
