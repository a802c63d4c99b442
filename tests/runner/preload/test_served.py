"""Programs under the layer get right results, by the schedules of the table, and end as without it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.runner.preload.programs import (
    LIMIT_S,
    TURNS,
    answer,
    apply_words,
    compiled,
    every_schedule,
    hockney,
    launch_line,
    mpi_program,
    skip_if_wrong_without,
    under,
)

from hockney.records.keys import COLLECTIVES
from hockney.records.preload_table import PreloadRule, PreloadTable
from hockney.runner.mpi import Mpi

USUAL_TURNS = 3


@pytest.fixture(scope="session")
def driver(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that checks the data of every collective."""
    return compiled(mpi, tmp_path_factory.mktemp("driver"), "driver.c")


def served(rows: list[dict[str, Any]]) -> set[str]:
    return {row["operation"] for row in rows if row["rule"] >= 0 and row["calls"] > 0}


def _marks(turn: int) -> list[pytest.MarkDecorator]:
    """One turn shows that a library carries what schedules send; which ones these are is none of its business."""
    if turn >= USUAL_TURNS:
        return [pytest.mark.thorough]
    return [pytest.mark.one_mpi] if turn else []


@pytest.mark.parametrize("turn", [pytest.param(n, marks=_marks(n)) for n in range(TURNS)])
def test_results_are_right_by_every_schedule(mpi: Mpi, driver: Path, tmp_path: Path, turn: int) -> None:
    """All datatypes, operators and roots, in place and not, on 1 to 4 ranks (1 to 7 of the thorough turns)."""
    table = every_schedule(turn)
    ranks = 4 if turn < USUAL_TURNS else 7
    done = hockney(*apply_words(tmp_path, table, "--json"), *launch_line(mpi, ranks, driver))
    skip_if_wrong_without(mpi, done, driver, ranks)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 wrong on all" in done.stderr
    rows = answer(done.stdout)["calls"]
    assert served(rows) == set(COLLECTIVES)
    why = {row["why"] for row in rows}
    assert {"an intercommunicator", "one rank", "nothing to move", "blocks of different sizes"} <= why
    # The driver has datatypes with gaps, and none whose elements overlap.
    assert not any("overlap" in text for text in why)


def test_calls_with_large_counts_are_served(mpi: Mpi, tmp_path: Path) -> None:
    """mpi4py calls them alone where the library has them."""
    if int(mpi.standard.partition(".")[0]) < 4:
        pytest.skip("this library knows MPI 3, which has no such calls")
    driver = compiled(mpi, tmp_path, "driver.c", "-DLARGE")
    said, done = under(mpi, tmp_path, every_schedule(1), 3, driver)
    assert "0 wrong on all" in done.stderr
    assert served(said["calls"]) == set(COLLECTIVES)


@pytest.mark.one_mpi
def test_the_driver_sees_wrong_results(mpi: Mpi, driver: Path, tmp_path: Path) -> None:
    """A library in the layer's place spoils one broadcast: the check of data is no formality."""
    source = (
        "#include <mpi.h>\n"
        "int MPI_Bcast(void* b, int n, MPI_Datatype t, int r, MPI_Comm c) {\n"
        "  int code = PMPI_Bcast(b, n, t, r, c), rank;\n"
        "  if (c != MPI_COMM_NULL && t == MPI_INT && n > 20 && code == MPI_SUCCESS) {\n"
        "    MPI_Comm_rank(c, &rank);\n"
        "    ((int*)b)[n / 2] += rank == 1;\n"
        "  }\n"
        "  return code;\n"
        "}\n"
    )
    spoiler = compiled(mpi, tmp_path, source, "-shared", "-fPIC")
    line = launch_line(mpi, 2, "env", f"LD_PRELOAD={spoiler}", driver)
    done = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 1
    assert "wrong: bcast" in done.stdout


@pytest.mark.one_mpi
def test_bitwise_leaves_floating_point_and_the_programs_operators_to_the_library(
    mpi: Mpi, driver: Path, tmp_path: Path
) -> None:
    words = apply_words(tmp_path, every_schedule(1), "--bitwise", "--json")
    done = hockney(*words, *launch_line(mpi, 3, driver))
    skip_if_wrong_without(mpi, done, driver, 3)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {(row["operation"], row["why"]): row["calls"] for row in answer(done.stdout)["calls"]}
    # Integers are served: the order of their sum does not show.
    assert rows["allreduce", ""] > 0
    assert rows["allreduce", "--bitwise"] > 0
    assert rows["reduce", "--bitwise"] > 0
    assert ("bcast", "--bitwise") not in rows


SUM = PreloadTable(rules=[PreloadRule(operation="allreduce", algorithm="recursive_doubling", least_ranks=2)])

SLOW_SUM = mpi_program(
    "int rank, number = 1, sum;",
    "MPI_Comm_rank(MPI_COMM_WORLD, &rank);",
    "for (int i = 0; i < 20; ++i) {",
    "  MPI_Barrier(MPI_COMM_WORLD);",
    "  if (rank == 0 && __builtin_parity(i)) usleep(20000);",
    "  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);",
    "}",
    code="sum != 2",
)
"""Half of the sums take rank 1 at least 10 ms: it waits for rank 0, which sleeps for 20 after a barrier."""


@pytest.mark.one_mpi
def test_a_comparison_gives_half_of_the_calls_to_the_library(mpi: Mpi, tmp_path: Path) -> None:
    said, _ = under(mpi, tmp_path, SUM, 2, compiled(mpi, tmp_path, SLOW_SUM), options="--compare")
    rows = [row for row in said["calls"] if row["operation"] == "allreduce"]
    library, row = sorted(rows, key=lambda row: row["rule"])
    assert (library["why"], library["calls"], library["bytes"]) == ("--compare", 20, 80)
    assert (row["calls"], row["bytes"]) == (20, 80)
    # The library's ten, on rank 1, are those that wait.
    assert row["library_s"] > 0.1
    # Each has the time of its own calls; the layer writes six digits.
    assert row["time_s"] == pytest.approx(row["compared_s"], rel=1e-5)
    assert library["time_s"] == pytest.approx(row["library_s"], rel=1e-5)
    assert row["measured_gain"] == pytest.approx(row["library_s"] / row["compared_s"])


def test_calls_by_a_binding_are_seen(mpi: Mpi, tmp_path: Path) -> None:
    """A Fortran binding calls PMPI_Allreduce from a library of its own."""
    library = compiled(mpi, tmp_path, "binding.c", "-shared", "-fPIC")
    program = compiled(mpi, tmp_path, "bound.c", library, f"-Wl,-rpath,{tmp_path}")
    said, done = under(mpi, tmp_path, SUM, 2, program, code=5)
    (row,) = said["calls"]
    assert (row["operation"], row["algorithm"], row["calls"]) == ("allreduce", "recursive_doubling", 6)
    assert "wrong" not in done.stderr


def test_threads_call_at_once(mpi: Mpi, tmp_path: Path) -> None:
    said, _ = under(mpi, tmp_path, every_schedule(1), 2, compiled(mpi, tmp_path, "threads.c"), "40", "500")
    calls = {row["operation"]: row["calls"] for row in said["calls"] if row["rule"] >= 0}
    assert calls["bcast"] == calls["allreduce"] == 2 * 4 * 40


@pytest.mark.one_mpi
def test_nothing_is_allocated_after_a_size_was_met(mpi: Mpi, tmp_path: Path) -> None:
    _, done = under(mpi, tmp_path, every_schedule(1), 3, compiled(mpi, tmp_path, "allocations.c"))
    found = re.search(r"first (\d+) later 0", done.stderr)
    assert found, done.stderr
    # Schedules are made at first: the program sees what the layer allocates.
    assert int(found[1]) > 100


BOUNDS = PreloadTable(
    rules=[
        PreloadRule(operation="bcast", algorithm="binomial", most_ranks=2, least_bytes=10, most_bytes=20),
        PreloadRule(operation="bcast", algorithm="knomial", radix=3, least_ranks=3, least_bytes=20),
        PreloadRule(operation="bcast", algorithm="chain", least_bytes=20, most_bytes=21, segment_bytes=8),
        PreloadRule(operation="allreduce", algorithm="recursive_doubling", least_ranks=3),
    ]
)
"""Their bounds meet: 9 and 10, 20 and 21 bytes, 2 and 3 ranks."""


@pytest.mark.one_mpi
def test_the_layer_finds_the_rule_on_both_sides_of_each_bound(mpi: Mpi, tmp_path: Path) -> None:
    """By hand; the number of calls of one rank, a power of two for each size, says which sizes they were."""
    program = compiled(mpi, tmp_path, "matched.c")
    said, _ = under(mpi, tmp_path, BOUNDS, 3, program, "9", "10", "20", "21", "22")
    by_rule = {(row["operation"], row["rule"], row["why"]): row["calls"] for row in said["calls"]}
    two, three = 2, 3
    assert by_rule == {
        ("bcast", 0, ""): two * (2 + 4),
        ("bcast", 1, ""): three * (4 + 8 + 16),
        ("bcast", 2, ""): two * 8,
        ("bcast", -1, "no rule"): two * (1 + 16) + three * (1 + 2),
        ("allreduce", -1, "no rule"): two * (1 + 2 + 4 + 8 + 16),
    }
