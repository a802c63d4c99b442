"""Loads of each process, what cannot be split, and the usual grid."""

from __future__ import annotations

import pytest

from hockney.apps.stencil.grids import Grid, check_ranks
from hockney.apps.stencil.loads import SPLITS, as_lines, loads, usual_grid
from hockney.errors import RequestError
from hockney.units import Extents


@pytest.mark.parametrize("split", SPLITS)
def test_every_element_has_one_owner(split: str) -> None:
    for grid in (Grid(1, 1, 1), Grid(3, 2, 1), Grid(1, 3, 4), Grid(2, 2, 2)):
        made = loads(Extents(7, 5, 4), grid, split)
        assert (len(made), sum(made)) == (grid.ranks, 140)
        assert min(made) > 0


def test_blocks_have_as_many_elements_as_pieces() -> None:
    # The printed tables stand in docs/reference/exercises.md, which tests/bench makes again.
    size, grid = Extents(800, 300, 100), Grid(6, 4, 1)
    assert loads(size, grid, "blocks") == loads(size, grid, "cartesian") == [1005000] * 8 + [997500] * 16


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
        check_ranks(Grid(2, 3, 1), [4])
