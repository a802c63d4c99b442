"""Tables of Open MPI's developers: mean and deviation of each algorithm."""

from __future__ import annotations

from functools import partial

import pytest
from tests.importers import reading
from tests.importers.reading import EXACT, columns

from hockney.importers import ompi_collectives_tuning as module
from hockney.importers.base import Given

read_text = partial(reading.read_text, module)

NAMED = (
    "#Nnodes    Message_size basic_linear         binomial             tuned\n"
    "2          1            64.10(0.90)          107.10(0.80)         107.90(0.60)\n"
    "2          1024         68.20                No data              115.60(2.60)\n"
)
NUMBERED = (
    "#Nnodes    Message_size 0                    1                    3                    \n"
    "2          8            5.00(0.10)           9.00(0.20)           5.10(0.10)           5.00(0.10)\n"
    "64         8            15.00(0.10)          19.00(0.20)          15.10(0.10)          15.00(0.10)\n"
)


def test_older_tables_have_names_and_nodes() -> None:
    imported = read_text(NAMED, Given(ppn=36), path="output/gather/detail.out")
    assert columns(imported, "bytes", "algorithm", "ranks", "nodes", "value") == [
        (1, "tuned:basic_linear", 72, 2, pytest.approx(64.1e-6, rel=EXACT)),
        (1, "tuned:binomial", 72, 2, pytest.approx(107.1e-6, rel=EXACT)),
        (1, "default", 72, 2, pytest.approx(107.9e-6, rel=EXACT)),
        (1024, "tuned:basic_linear", 72, 2, pytest.approx(68.2e-6, rel=EXACT)),
        (1024, "default", 72, 2, pytest.approx(115.6e-6, rel=EXACT)),
    ]
    assert {(r.operation, r.statistic, r.source) for r in imported.records} == {
        ("gather", "mean_over_ranks", "osu")
    }
    assert imported.left_out() == []
    assert {r.ranks for r in read_text(NAMED, path="output/gather/detail.out").records} == {None}


def test_the_interval_is_that_of_three_runs() -> None:
    """Student's t of two degrees of freedom is 4.303; without a deviation there is no interval."""
    first, *_, single, _ = read_text(NAMED, path="gather/detail.out").records
    half_s = 4.303 / 3**0.5 * 0.9e-6
    assert (first.low, first.high) == pytest.approx((64.1e-6 - half_s, 64.1e-6 + half_s), rel=1e-3)
    assert (single.low, single.high) == (None, None)


def test_numbered_columns_are_of_ranks_and_repeat_the_default() -> None:
    imported = read_text(NUMBERED, path="output/allreduce/detail.out")
    assert columns(imported, "ranks", "nodes", "algorithm") == [
        (ranks, None, algorithm)
        for ranks in (2, 64)
        for algorithm in ("default", "tuned:basic_linear", "tuned:recursive_doubling")
    ]
    assert imported.left_out() == []


def test_whole_vectors_are_divided() -> None:
    imported = read_text(NUMBERED, path="output/reduce_scatter/detail.out")
    assert {r.bytes for r in imported.records} == {4}
    assert "8 B are no block for each of 64 ranks" in imported.warnings[0]


def test_the_collective_comes_from_a_name_or_an_option() -> None:
    assert {r.operation for r in read_text(NAMED, path="x/detail_scatter.out").records} == {"scatter"}
    assert {r.operation for r in read_text(NAMED, Given(operation="bcast")).records} == {"bcast"}
    unknown = read_text(NAMED, path="cases/detail.out")
    assert unknown.records == []
    assert "which collective it is of is not said: give --operation" in unknown.not_imported[0]


def test_the_table_of_the_fastest_is_named() -> None:
    text = (
        "#Nranks    Message_size Best_Algorithm  Best_Latency\n2          1            1            64.33(0.94)\n"
    )
    imported = read_text(text, path="output/gather/best.out")
    assert "import detail.out" in imported.not_imported[0]


@pytest.mark.parametrize("cell", ["nan", "64.1(", "1e999", "-4", "64,100"])
def test_a_damaged_row_is_named(cell: str) -> None:
    imported = read_text(NAMED.replace("64.10(0.90)", cell), path="gather/detail.out")
    assert {r.bytes for r in imported.records} == {1024}
    assert imported.warnings[0].startswith("gather/detail.out:2: not a row of this table")
