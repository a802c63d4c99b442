"""IMB-MPI1, which others compiled for Intel MPI: by schedules, and counted as by another library."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.runner.preload.programs import LIMIT_S, compiled, every_schedule, launch_line, under, watched
from tests.runner.preload.test_others import in_folder
from tests.runner.preload.test_profile import FUNCTIONS, sums

from hockney.records.keys import COLLECTIVES
from hockney.runner.mpi import Mpi

RANKS = 2
BENCHMARKS = (
    *("Bcast", "Scatter", "Gather", "Reduce", "Allreduce", "Allgather", "Reduce_scatter_block", "Alltoall"),
    "Barrier",
)
WORDS = (*BENCHMARKS, "-npmin", str(RANKS), "-iter", "20", "-iter_policy", "off", "-msglog", "0:14")
SIZES = {name: 1 if name == "Barrier" else 14 if "educe" in name else 16 for name in BENCHMARKS}
"""Of each benchmark: 0 B, and powers of two up to the 14th, of reductions from the 4 B of a number on."""


def imb(mpi: Mpi) -> list[str]:
    """The command on this MPI, which Intel MPI's wheel has and MPICH can run in its place; skips elsewhere."""
    wrappers = [mpi.wrapper, *map(Path, filter(None, os.environ.get("HOCKNEY_TEST_MPIS", "").split(":")))]
    beside = (wrapper.with_name("IMB-MPI1") for wrapper in wrappers)
    program = next((str(path) for path in beside if path.is_file()), None)
    if program is None:
        pytest.skip(lacking("IMB-MPI1", "it lies beside no wrapper that HOCKNEY_TEST_MPIS names"))
    if mpi.kind == "intel":
        return [program]
    folder = mpi.wrapper.parents[1] / "lib"
    command = ["env", f"LD_LIBRARY_PATH={folder}", program]
    linked = subprocess.run([*command[:2], "ldd", program], capture_output=True, text=True, check=True).stdout
    if not re.search(rf"^\s*libmpi\.so\S* => {folder}/", linked, re.MULTILINE):
        pytest.skip(f"{mpi.describe()} has no library of the name that IMB-MPI1 is linked with")
    return command


def rows(text: str) -> dict[str, int]:
    """How many sizes IMB done.stdout times of, by benchmark."""
    parts = re.split(r"^# Benchmarking (\w+)", text, flags=re.MULTILINE)[1:]
    return {
        name: len(re.findall(r"^ +\d+ .*\d\.\d", part, re.MULTILINE))
        for name, part in zip(parts[::2], parts[1::2], strict=True)
    }


@pytest.mark.parametrize("turn", range(3))
def test_every_collective_is_served(mpi: Mpi, tmp_path: Path, turn: int) -> None:
    said, done = under(mpi, tmp_path, every_schedule(turn), RANKS, *imb(mpi), *WORDS)
    assert rows(done.stdout) == SIZES
    assert {row["operation"] for row in said["calls"] if row["rule"] >= 0} == set(COLLECTIVES)


def test_a_profile_counts_what_another_library_counts_in_the_same_run(mpi: Mpi, tmp_path: Path) -> None:
    counter = compiled(mpi, tmp_path, "counter.c", "-shared", "-fPIC")
    script = in_folder(tmp_path, counter, *imb(mpi), *WORDS)
    profile, done = watched(mpi, tmp_path, RANKS, script)
    counted = [int(word) for word in re.findall(r"^counted(.+)$", done.stdout, re.MULTILINE)[0].split()]
    for function, calls, size_B in zip(FUNCTIONS, counted[:5], counted[5:], strict=True):
        # The counter's own reduction, of ten long integers, after its last look.
        own = RANKS if function == "reduce" else 0
        assert sums(profile, function) == (calls + own, size_B + 80 * own), function
    assert min(counted[:3]) > RANKS * 20 * 14


def test_without_the_layer_it_prints_as_much(mpi: Mpi) -> None:
    line = launch_line(mpi, RANKS, *imb(mpi), *WORDS)
    done = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert rows(done.stdout) == SIZES
