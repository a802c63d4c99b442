"""No count, size or sum of the layer is narrower than what a program may ask for."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.processes import captured
from tests.runner.preload.programs import compiled, every_schedule, mpi_program, under, watched

from hockney.records.preload_table import PreloadRule, PreloadTable
from hockney.runner.build import FLAGS, cxx_wrapper, files_of, sources
from hockney.runner.mpi import Mpi
from hockney.runner.preload_build import FOLDER


@pytest.mark.one_mpi
def test_no_number_is_narrowed_silently(mpi: Mpi, tmp_path: Path) -> None:
    """Only here: another compiler, or a library's header, may warn of what is none of a user's business."""
    text = "".join(
        f'#include "{path}"\n' for path in files_of(sources(), ".cpp", [FOLDER]) if "executor" not in path.name
    )
    (tmp_path / "layer.cpp").write_text(text, encoding="utf-8")
    words = [str(cxx_wrapper(mpi.wrapper)), *FLAGS, "-Wconversion", "-Werror", "-fsyntax-only", "layer.cpp"]
    done = captured(words, cwd=tmp_path, env=mpi.full_environment())
    assert done.returncode == 0, done.stderr


def test_counts_beyond_32_bits_are_passed_on_whole(mpi: Mpi, tmp_path: Path) -> None:
    if int(mpi.standard.partition(".")[0]) < 4:
        pytest.skip("this library knows MPI 3, which has no such calls")
    library = compiled(mpi, tmp_path, "huge_library.c", "-shared", "-fPIC")
    program = compiled(mpi, tmp_path, "huge.c", library, f"-Wl,-rpath,{tmp_path}")
    rows = under(mpi, tmp_path, every_schedule(0), 2, program)[0]["calls"]
    assert {(row["operation"], row["why"], row["calls"]) for row in rows} == {
        (operation, "2 GiB or more", 4) for operation in ("allgather", "alltoall", "bcast", "gather")
    }


HUGE_TYPE = mpi_program(
    "double number = 1;  MPI_Datatype huge;",
    "MPI_Type_contiguous(2147483647, MPI_DOUBLE, &huge);  MPI_Type_commit(&huge);",
    "MPI_Send(&number, 1, huge, MPI_PROC_NULL, 0, MPI_COMM_WORLD);",
    "MPI_Bcast(&number, 1, huge, 0, MPI_COMM_SELF);",
    "MPI_Type_free(&huge);",
)
"""A message and a broadcast that move nothing, of one element of 2^34 − 8 bytes."""


def test_a_datatype_of_16_gib_has_its_bytes(mpi: Mpi, tmp_path: Path) -> None:
    size_B = (2**31 - 1) * 8
    calls = watched(mpi, tmp_path, 1, compiled(mpi, tmp_path, HUGE_TYPE))[0].calls
    assert sorted((call.operation, call.bytes) for call in calls) == [("bcast", size_B), ("send", size_B)]


ASKED = (
    "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <mpi.h>\n#include <stdio.h>\n"
    "static int asked = 0;\n"
    "int PMPI_Type_get_true_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {\n"
    "  int (*own)(MPI_Datatype, MPI_Aint*, MPI_Aint*) = dlsym(RTLD_NEXT, __func__);\n"
    "  ++asked;\n  return own(type, lower, extent);\n}\n"
    "int main(int argc, char** argv) {\n"
    "  int from[20] = {0}, rank;\n  MPI_Datatype spread;\n"
    "  MPI_Init(&argc, &argv);\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
    "  MPI_Type_vector(2, 1, 2, MPI_INT, &spread);\n  MPI_Type_commit(&spread);\n"
    "  for (int size = 1; size <= 3; ++size) {\n"
    "    asked = 0;\n"
    "    MPI_Bcast(from, size, spread, 0, MPI_COMM_WORLD);\n"
    "    MPI_Allgather(MPI_IN_PLACE, size, spread, from, 1, spread, MPI_COMM_WORLD);\n"
    '    if (rank == 0) printf("%d bytes: %s\\n", 8 * size, asked ? "looked at" : "passed on");\n'
    "  }\n"
    "  MPI_Type_free(&spread);\n  MPI_Finalize();\n  return 0;\n}\n"
)
"""Says whether the layer looked closely at a datatype with gaps, in broadcasts of 8 to 24 bytes."""


@pytest.mark.one_mpi
def test_a_call_without_a_rule_is_looked_at_no_further_than_its_bytes(mpi: Mpi, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path, ASKED)
    rule = PreloadRule(operation="bcast", algorithm="binomial", least_bytes=16, most_bytes=16)
    told, done = under(mpi, tmp_path, PreloadTable(rules=[rule]), 2, program)
    said = [line for line in done.stderr.splitlines() if "bytes: " in line]
    assert said == ["8 bytes: passed on", "16 bytes: looked at", "24 bytes: passed on"]
    rows = {(row["operation"], row["why"]): row for row in told["calls"]}
    # What is passed on is counted all the same.
    assert rows["bcast", "no rule"]["bytes"] == 2 * (8 + 24)
    assert rows["allgather", "no rule"]["bytes"] == 2 * 3 * 8


TYPES = (
    *(f"INTEGER{size}" for size in (1, 2, 4, 8, 16)),
    *(f"REAL{size}" for size in (2, 4, 8, 16)),
    *(f"COMPLEX{size}" for size in (8, 16, 32)),
    *(f"CXX_{name}_COMPLEX" for name in ("FLOAT", "DOUBLE", "LONG_DOUBLE")),
)
"""Datatypes with sums whose names not every header has, and whose sizes not every library."""

SUMS = mpi_program(
    "long double from[4] = {0}, into[4];",
    "MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);",
    *(
        f"\n#ifdef MPI_{name}\n"
        f"  if (usable(MPI_{name})) MPI_Allreduce(from, into, 1, MPI_{name}, MPI_SUM, MPI_COMM_WORLD);\n"
        "#endif\n"
        for name in TYPES
    ),
    before="static int usable(MPI_Datatype type) {\n"
    "  int size = 0;\n"
    "  return type != MPI_DATATYPE_NULL && MPI_Type_size(type, &size) == MPI_SUCCESS && size > 0;\n"
    "}\n",
)


def test_all_named_datatypes_are_known(mpi: Mpi, tmp_path: Path) -> None:
    (row,) = under(mpi, tmp_path, every_schedule(0), 2, compiled(mpi, tmp_path, SUMS))[0]["calls"]
    assert row["rule"] >= 0
    # C++ has its three at least.
    assert row["calls"] >= 2 * 3


def test_a_vector_in_too_many_pieces_is_the_librarys(mpi: Mpi, tmp_path: Path) -> None:
    source = mpi_program(
        "static char all[2 << 20];",
        "MPI_Bcast(all, 1 << 20, MPI_BYTE, 0, MPI_COMM_WORLD);",
        "MPI_Bcast(all, 1 << 10, MPI_BYTE, 0, MPI_COMM_WORLD);",
    )
    program = compiled(mpi, tmp_path, source)
    table = PreloadTable(rules=[PreloadRule(operation="bcast", algorithm="chain", segment_bytes=1)])
    told, _ = under(mpi, tmp_path, table, 2, program)
    assert {(row["why"], row["bytes"]) for row in told["calls"]} == {
        ("", 2 << 10),
        ("the schedule does not do this", 2 << 20),
    }
