"""Process grids: written, read, listed."""

from __future__ import annotations

from itertools import product
from math import comb

import pytest

from hockney.apps.stencil.grids import MOST_FACTORISED, Grid, factorisations, parse_grid
from hockney.errors import RequestError


def test_a_grid_is_read_as_it_is_written() -> None:
    assert parse_grid("4x3x2") == Grid(4, 3, 2)
    assert str(parse_grid(" 04x3x2 ")) == "4x3x2"
    assert str(parse_grid("4x3")) == "4x3x1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("4", "not a process grid"),
        ("4x3x2x1", "not a process grid"),
        ("-4x3x2", "not a process grid"),
        ("4x3x2.5", "not a process grid"),
        ("٤x3x2", "not a process grid"),
        ("", "not a process grid"),
        ("4x0x2", "without processes"),
        ("1000000001x1x1", "at most 1000000000"),
        # Longer than the 4300 digits that Python reads.
        ("9" * 5000 + "x1x1", "at most 1000000000"),
    ],
)
def test_what_is_no_grid_is_refused(text: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        parse_grid(text)


@pytest.mark.parametrize(("grid", "directions"), [((1, 1, 1), 0), ((1, 5, 1), 1), ((2, 1, 9), 2), ((2, 2, 2), 3)])
def test_directions_are_those_with_more_than_one_process(grid: tuple[int, int, int], directions: int) -> None:
    assert Grid(*grid).directions == directions


@pytest.mark.parametrize("ranks", [1, 2, 7, 12, 25, 48, 60])
def test_all_grids_are_found_once(ranks: int) -> None:
    sides = range(1, ranks + 1)
    tried = {grid for grid in product(sides, sides, sides) if grid[0] * grid[1] * grid[2] == ranks}
    found = factorisations(ranks)
    assert set(found) == tried
    assert len(found) == len(tried)
    assert found[0] == (ranks, 1, 1)


def test_the_count_is_that_of_stars_and_bars() -> None:
    # 8648640 = 2⁶ 3³ 5 7 11 13: each prime to the power e falls on three directions in C(e + 2, 2) ways.
    assert len(factorisations(8648640)) == comb(8, 2) * comb(5, 2) * 3**4


@pytest.mark.parametrize("ranks", [0, -8, MOST_FACTORISED + 1])
def test_what_has_no_list_is_refused(ranks: int) -> None:
    with pytest.raises(RequestError, match=f"not {ranks}"):
        factorisations(ranks)
