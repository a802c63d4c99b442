"""What goes wrong in a program, or because of the layer, ends as without it, and its data is its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.runner.preload.programs import (
    TURNS,
    answer,
    apply_words,
    compiled,
    every_schedule,
    hockney,
    launch_line,
)

from hockney.records.preload_table import PreloadRule, PreloadTable
from hockney.runner.mpi import Mpi

BINOMIAL = PreloadTable(
    rules=[
        PreloadRule(operation="bcast", algorithm="binomial"),
        PreloadRule(operation="allreduce", algorithm="recursive_doubling"),
    ]
)


def calls(mpi: Mpi, folder: Path, case: str, *options: str) -> dict[tuple[str, str], int]:
    """Calls of a case of errors.c by operation and why the library did them."""
    program = compiled(mpi, folder, "errors.c")
    words = apply_words(folder, BINOMIAL, "--json", *options)
    done = hockney(*words, *launch_line(mpi, 2, program, case))
    assert done.returncode == 0, done.stdout + done.stderr
    return {(row["operation"], row["why"]): row["calls"] for row in answer(done.stdout)["calls"]}


def test_an_error_that_the_program_handles_is_its_own(mpi: Mpi, tmp_path: Path) -> None:
    assert calls(mpi, tmp_path, "truncated") == {("bcast", ""): 2}


@pytest.mark.parametrize("case", ["summing", "freeing"])
def test_a_handler_of_an_error_may_call_mpi(mpi: Mpi, tmp_path: Path, case: str) -> None:
    """The second call of an operation is the library's where calls are compared."""
    counted = calls(mpi, tmp_path, case, "--compare")
    assert counted["bcast", ""] == counted["bcast", "--compare"] == 2
    assert counted.get(("allreduce", ""), 0) == (2 if case == "summing" else 0)


def test_a_handler_of_an_error_may_end_mpi(mpi: Mpi, tmp_path: Path) -> None:
    """The report is written before the call is over, which it lacks on the rank with the error."""
    counted = calls(mpi, tmp_path, "ending", "--compare")
    assert counted == {("bcast", ""): 2, ("bcast", "--compare"): 1}


def test_the_program_keeps_the_librarys_communicators(mpi: Mpi, tmp_path: Path) -> None:
    counted = calls(mpi, tmp_path, "exhausted")
    # The last one, when all those communicators are gone, has one again.
    assert counted["allreduce", ""] == 2 * (256 + 1)
    assert sum(counted.values()) == 2 * 1201


def test_ranks_agree_that_there_is_no_communicator_for_the_layer(mpi: Mpi, tmp_path: Path) -> None:
    assert calls(mpi, tmp_path, "refused") == {("allreduce", "no private communicator"): 6}


@pytest.mark.parametrize("turn", range(TURNS))
def test_the_root_of_a_broadcast_is_only_read(mpi: Mpi, tmp_path: Path, turn: int) -> None:
    table = PreloadTable(rules=[rule for rule in every_schedule(turn).rules if rule.operation == "bcast"])
    program = compiled(mpi, tmp_path, "read_only.c")
    done = hockney(*apply_words(tmp_path, table, "--json"), *launch_line(mpi, 3, program))
    assert done.returncode == 0, done.stdout + done.stderr
    assert answer(done.stdout)["calls"][0]["rule"] == 0


def test_communicators_are_freed_in_the_order_in_which_they_were_made(mpi: Mpi, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path, "order.c")
    done = hockney(*apply_words(tmp_path, BINOMIAL), *launch_line(mpi, 2, program))
    assert done.returncode == 0, done.stdout + done.stderr


def test_threads_that_are_first_on_a_communicator_make_one_of_each(mpi: Mpi, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path, "first_on_many.c")
    done = hockney("profile", "-o", str(tmp_path / "p.json"), "--", *launch_line(mpi, 1, program, "20"))
    if done.returncode == 77:
        pytest.skip("this library was built without MPI_THREAD_MULTIPLE")
    assert done.returncode == 0, done.stdout + done.stderr
