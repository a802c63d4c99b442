"""Loads per process against printed ones, three tables of an unpublished report."""

from __future__ import annotations

import pytest

from hockney.apps.stencil.grids import Grid, parse_grid
from hockney.apps.stencil.loads import SPLITS, as_lines, check_ranks, loads, usual_grid
from hockney.errors import RequestError
from hockney.units import Extents

SIZES = {"I": Extents(2400, 100, 100), "II": Extents(1200, 200, 100), "III": Extents(800, 300, 100)}
GRIDS = ("24x1x1", "12x2x1", "8x3x1", "6x4x1", "6x2x2", "4x3x2")
EQUAL = ["P. 0-23: 1000000"]
UNEQUAL = {
    # Rows with a = 1 whose loads differ, as printed.
    ("I", "8x3x1"): [
        "P. 0,3,6,9,12,15,18,21: 1020000",
        "P. 1,2,4,5,7,8,10,11,13,14,16,17,19,20,22,23: 990000",
    ],
    ("I", "4x3x2"): [
        "P. 0,1,6,7,12,13,18,19: 1020000",
        "P. 2,3,4,5,8,9,10,11,14,15,16,17,20,21,22,23: 990000",
    ],
    ("II", "8x3x1"): [
        "P. 0,1,3,4,6,7,9,10,12,13,15,16,18,19,21,22: 1005000",
        "P. 2,5,8,11,14,17,20,23: 990000",
    ],
    ("II", "4x3x2"): [
        "P. 0,1,2,3,6,7,8,9,12,13,14,15,18,19,20,21: 1005000",
        "P. 4,5,10,11,16,17,22,23: 990000",
    ],
    # Printed as 1005000, which with 16 × 990000 is not 24,000,000: 34 · 300 · 100 is 1020000.
    ("III", "24x1x1"): [
        "P. 0,1,2,3,4,5,6,7: 1020000",
        "P. 8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23: 990000",
    ],
    ("III", "12x2x1"): [
        "P. 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15: 1005000",
        "P. 16,17,18,19,20,21,22,23: 990000",
    ],
    # The two rows are printed without rank 23.
    ("III", "6x4x1"): [
        "P. 0,1,2,3,4,5,6,7: 1005000",
        "P. 8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23: 997500",
    ],
    ("III", "6x2x2"): [
        "P. 0,1,2,3,4,5,6,7: 1005000",
        "P. 8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23: 997500",
    ],
}


@pytest.mark.parametrize("table", sorted(SIZES))
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize(("a", "split"), [(0, "balanced"), (1, "cartesian"), (1, "blocks")])
def test_the_rows_of_printed_tables(table: str, grid: str, a: int, split: str) -> None:
    made = loads(SIZES[table], parse_grid(grid), split)
    assert as_lines(made) == (UNEQUAL.get((table, grid), EQUAL) if a else EQUAL)
    assert sum(made) == 24_000_000


@pytest.mark.parametrize(
    ("split", "grid", "expected"),
    [
        # 5 × 5 elements on four processes.
        ("balanced", Grid(4, 1, 1), [7, 6, 6, 6]),
        ("cartesian", Grid(4, 1, 1), [10, 5, 5, 5]),
        ("cartesian", Grid(2, 2, 1), [9, 6, 6, 4]),
    ],
)
def test_the_printed_example(split: str, grid: Grid, expected: list[int]) -> None:
    assert loads(Extents(5, 5, 1), grid, split) == expected


@pytest.mark.parametrize("split", SPLITS)
def test_every_element_has_one_owner(split: str) -> None:
    for grid in (Grid(1, 1, 1), Grid(3, 2, 1), Grid(1, 3, 4), Grid(2, 2, 2)):
        made = loads(Extents(7, 5, 4), grid, split)
        assert (len(made), sum(made)) == (grid.ranks, 140)
        assert min(made) > 0


def test_one_rank_has_a_line_of_its_own() -> None:
    assert as_lines([5]) == ["P. 0: 5"]


@pytest.mark.parametrize(
    ("size", "grid", "split", "what"),
    [
        (Extents(0, 5, 5), Grid(1, 1, 1), "balanced", "no elements"),
        (Extents(5, -5, 5), Grid(1, 1, 1), "blocks", "no elements"),
        (Extents(-5, -5, 5), Grid(1, 1, 1), "blocks", "no elements"),
        (Extents(2**16, 2**15, 1), Grid(1, 1, 1), "balanced", "more elements than MPI counts"),
        (Extents(2, 2, 1), Grid(5, 1, 1), "balanced", "would get nothing"),
        (Extents(4, 1, 1), Grid(2, 2, 1), "cartesian", "would get nothing"),
        (Extents(4, 1, 1), Grid(2, 2, 1), "blocks", "would get nothing"),
        (Extents(4, 1, 1), Grid(2, 2, 1), "blockwise", "unknown split"),
    ],
)
def test_what_cannot_be_split_is_refused(size: Extents, grid: Grid, split: str, what: str) -> None:
    with pytest.raises(RequestError, match=what):
        loads(size, grid, split)


@pytest.mark.parametrize("size", [(2**16, 2**15, 1), (20_000, 20_000, 2000), (2**62, 2**62, 2**62)])
def test_the_size_that_is_proposed_in_place_of_too_many_elements_is_one_that_is_taken(
    size: tuple[int, int, int],
) -> None:
    with pytest.raises(RequestError, match="more elements") as refused:
        loads(Extents(*size), Grid(1, 1, 1), "balanced")
    *proposed, fits = refused.value.hint.split()
    assert fits == "fits"
    assert sum(loads(Extents(*map(int, proposed)), Grid(1, 1, 1), "balanced")) > 0.9 * 2**31


def test_the_most_elements_that_mpi_counts_are_split() -> None:
    assert sum(loads(Extents(2**31 - 1, 1, 1), Grid(2, 1, 1), "balanced")) == 2**31 - 1


def test_a_balanced_split_does_not_care_for_directions() -> None:
    assert loads(Extents(4, 1, 1), Grid(1, 2, 2), "balanced") == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("size", "ranks", "split", "expected"),
    [
        (Extents(9, 9, 9), 24, "cartesian", "4x3x2"),
        (Extents(9, 9, 9), 8, "blocks", "2x2x2"),
        (Extents(9, 9, 9), 7, "blocks", "7x1x1"),
        # Along y and z there is too little for a grid of 2 × 2 × 2.
        (Extents(9, 1, 1), 8, "cartesian", "8x1x1"),
        (Extents(1, 9, 2), 8, "blocks", "1x4x2"),
    ],
)
def test_the_usual_grid_fits_and_is_compact(size: Extents, ranks: int, split: str, expected: str) -> None:
    assert str(usual_grid(size, ranks, split)) == expected


def test_no_grid_fits() -> None:
    with pytest.raises(RequestError, match="no grid of 7 processes"):
        usual_grid(Extents(6, 6, 6), 7, "blocks")


def test_a_grid_of_other_ranks_is_refused() -> None:
    with pytest.raises(RequestError, match="grid 2x3x1 has 6 processes, not 4"):
        check_ranks(Grid(2, 3, 1), 4)
