"""What goes wrong in a program, or because of the layer, ends as without it, and its data is its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.runner.preload.programs import TURNS, compiled, every_schedule, under, watched

from hockney.records.preload_table import PreloadRule, PreloadTable
from hockney.runner.mpi import Mpi

BINOMIAL = PreloadTable(
    rules=[
        PreloadRule(operation="bcast", algorithm="binomial"),
        PreloadRule(operation="allreduce", algorithm="recursive_doubling"),
    ]
)


def calls(mpi: Mpi, folder: Path, case: str, options: str = "") -> dict[tuple[str, str], int]:
    """Calls of a case of errors.c by operation and why the library did them."""
    told, _ = under(mpi, folder, BINOMIAL, 2, compiled(mpi, folder, "errors.c"), case, options=options)
    return {(row["operation"], row["why"]): row["calls"] for row in told["calls"]}


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


@pytest.mark.parametrize("turn", [pytest.param(n, marks=pytest.mark.one_mpi if n else ()) for n in range(TURNS)])
def test_the_root_of_a_broadcast_is_only_read(mpi: Mpi, tmp_path: Path, turn: int) -> None:
    table = PreloadTable(rules=[rule for rule in every_schedule(turn).rules if rule.operation == "bcast"])
    told, _ = under(mpi, tmp_path, table, 3, compiled(mpi, tmp_path, "read_only.c"))
    assert told["calls"][0]["rule"] == 0


def test_communicators_are_freed_in_the_order_in_which_they_were_made(mpi: Mpi, tmp_path: Path) -> None:
    under(mpi, tmp_path, BINOMIAL, 2, compiled(mpi, tmp_path, "order.c"))


@pytest.mark.one_mpi
def test_threads_that_are_first_on_a_communicator_make_one_of_each(mpi: Mpi, tmp_path: Path) -> None:
    # For a trace they are made before.
    watched(mpi, tmp_path, 1, compiled(mpi, tmp_path, "first_on_many.c"), "20", options="--trace-limit 0")
