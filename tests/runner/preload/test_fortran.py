"""Programs in Fortran under the layer: by each binding their calls are served and counted as those from C."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.runner.preload.programs import (
    HERE,
    LIMIT_S,
    compiled,
    every_schedule,
    mpi_program,
    under,
    watched,
)
from tests.runner.preload.traces import traces

from hockney.records.keys import COLLECTIVES
from hockney.runner.mpi import Mpi

BINDINGS = {
    "mpif.h": ("MPIF_H", "include 'mpif.h'"),
    "mpi": ("USE_MPI", "use mpi"),
    "mpi_f08": ("USE_MPI_F08", "use mpi_f08"),
}
RANKS = 3
SIZES = 3
"""For each number of ranks from 2 on the program reduces a type of 12 digits once in each size."""


def wrapped(mpi: Mpi, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """The MPI's Fortran wrapper, which skips where there is none."""
    # Intel's wheel has the older name alone.
    named = [mpi.wrapper.with_name(mpi.wrapper.name.replace("mpicc", name, 1)) for name in ("mpifort", "mpif90")]
    wrapper = next((path for path in named if os.access(path, os.X_OK)), None)
    if wrapper is None:
        pytest.skip(lacking(f"Fortran of {mpi.describe()}", f"no mpifort beside {mpi.wrapper.name}"))
    argv = [str(wrapper), *map(str, words)]
    env = mpi.full_environment()
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False)


@pytest.fixture(scope="module", params=BINDINGS)
def program(mpi: Mpi, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that checks the data of every collective, by one binding."""
    name, uses = BINDINGS[request.param]
    folder = tmp_path_factory.mktemp("fortran")
    least = folder / "least.f90"
    least.write_text(f"program least\n{uses}\ninteger e\ncall MPI_Init(e)\nend program\n", encoding="utf-8")
    tried = wrapped(mpi, least, "-o", folder / "least")
    if tried.returncode != 0:
        why = (tried.stderr.splitlines() or [f"exit code {tried.returncode}"])[-1]
        pytest.skip(lacking(f"{request.param} of {mpi.describe()}", why))
    # By mpif.h a call has no declared arguments, which are of several types here.
    flags = ["-O1", "-g", "-w", "-fallow-argument-mismatch", f"-D{name}"]
    sources = [HERE / "operators.F90", HERE / "collectives.F90"]
    made = wrapped(mpi, *flags, f"-J{folder}", *sources, "-o", folder / name)
    assert made.returncode == 0, made.stderr
    return folder / name


def counted(text: str) -> dict[str, tuple[int, int]]:
    """Calls and bytes of all ranks, as the program itself counts them."""
    assert ", 0 wrong on all" in text, text
    found = re.findall(r"^called (\w+) (\d+) (\d+)$", text, re.MULTILINE)
    return {name: (int(calls), int(size_B)) for name, calls, size_B in found}


@pytest.mark.parametrize("turn", range(3))
def test_every_collective_is_served(mpi: Mpi, program: Path, tmp_path: Path, turn: int) -> None:
    """In place, at MPI_BOTTOM, by operators of the program and in types that only Fortran has."""
    said, done = under(mpi, tmp_path, every_schedule(turn), RANKS, program)
    called, rows = counted(done.stdout), said["calls"]
    assert {row["operation"] for row in rows if row["rule"] >= 0} == set(COLLECTIVES)
    for operation in COLLECTIVES:
        alike = [row for row in rows if row["operation"] == operation]
        sums = sum(row["calls"] for row in alike), sum(row["bytes"] for row in alike)
        assert sums == called[operation], operation
    unknown = [row for row in rows if row["why"] == "arguments that the layer does not know"]
    # What a type made by MPI_Type_create_f90_real is, the layer leaves to the library.
    on_all = SIZES * sum(range(2, RANKS + 1))
    assert [(row["operation"], row["calls"]) for row in unknown] == [("allreduce", on_all)]


def test_a_profile_counts_what_the_program_does(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    """Messages too, and by the lines of the program, not of the binding."""
    profile, done = watched(mpi, tmp_path, RANKS, program)
    called, calls = counted(done.stdout), profile.calls
    for operation, sums in called.items():
        alike = [call for call in calls if call.operation == operation]
        assert (sum(call.calls for call in alike), sum(call.bytes for call in alike)) == sums, operation
    assert {call.operation for call in calls} == set(called)
    source = HERE.joinpath("collectives.F90").read_text(encoding="utf-8").splitlines()
    for call in calls:
        found = re.match(r"collectives\.F90:(\d+) \(", call.site)
        assert found, call.site
        if program.name == "MPIF_H":
            # By the modules gfortran gives some calls the line of another statement.
            assert f"call mpi_{call.operation}" in source[int(found[1]) - 1].lower(), call.site


def test_a_trace_has_the_lines_of_the_program(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    """By each binding, and as many collectives as the program counts itself."""
    done = watched(mpi, tmp_path, RANKS, program)[1]
    files = traces(tmp_path / "profile.trace")
    kinds = Counter(said[0] for one in files for said in one.of("collective"))
    called = counted(done.stdout)
    assert {name: kinds[name] for name in COLLECTIVES} == {name: called[name][0] for name in COLLECTIVES}
    assert all(str(program) in event.site for one in files for event in one.events if event.kind == "collective")


BOUND = mpi_program(
    "int number = 1, sum = 0, error = 0, count = 1, ranks;",
    "MPI_Comm_size(MPI_COMM_WORLD, &ranks);",
    "const int type = MPI_Type_c2f(MPI_INT), op = MPI_Op_c2f(MPI_SUM), comm = MPI_Comm_c2f(MPI_COMM_WORLD);",
    "mpi_allreduce_(&number, &sum, &count, &type, &op, &comm, &error);",
    before="void mpi_allreduce_(void*, void*, const int*, const int*, const int*, const int*, int*);\n",
    code="sum == ranks ? 5 : 1",
)


def test_bindings_in_the_librarys_own_file_are_told_of(mpi: Mpi, tmp_path: Path) -> None:
    """A library that stands between has the barrier, and so is the MPI library's file, and has a binding."""
    library = compiled(mpi, tmp_path, "own_bindings.c", "-shared", "-fPIC", "-ldl")
    program = compiled(mpi, tmp_path, BOUND, library, f"-Wl,-rpath,{tmp_path}")
    said = f"not seen are calls from Fortran, if there are any: the bindings are in {library} itself"
    told, done = under(mpi, tmp_path, every_schedule(0), 2, program, code=5)
    assert (done.stderr.count(said), told["calls"]) == (1, [])
    profile, done = watched(mpi, tmp_path, 2, program, code=5)
    assert (done.stderr.count(said), profile.calls) == (1, [])
