"""Jacobi's requests are checked before anything is launched."""

from __future__ import annotations

from typing import Any

import pytest

from hockney.apps.jacobi.app import JacobiStudy
from hockney.apps.stencil.grids import Grid, factorisations, smallest_surface
from hockney.apps.stencil.options import parse_cells, parse_ranks
from hockney.errors import RequestError
from hockney.fields import checked
from hockney.units import Extents


def test_a_size_is_a_cube_or_a_box() -> None:
    assert parse_cells("400") == Extents(400, 400, 400)
    assert parse_cells(" 2000x1000x64 ") == Extents(2000, 1000, 64)
    assert parse_cells("0010") == Extents(10, 10, 10)


@pytest.mark.parametrize("text", ["", "0", "-4", "4x4", "4x4x0", "4x4x4x4", "1e3", "4.5", "9" * 5000, "1000001"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(RequestError):
        parse_cells(text)


def test_ranks_are_one_or_several() -> None:
    assert parse_ranks("4") == [4]
    assert parse_ranks("1, 2,4") == [1, 2, 4]
    assert parse_ranks("1-3") == [1, 2, 3]
    for text in ("", "0", "1000001", "-1", "x", "9" * 5000):
        with pytest.raises(RequestError):
            parse_ranks(text)


def test_the_chosen_grid_cuts_through_the_fewest_cells() -> None:
    assert smallest_surface(8, Extents(100, 100, 100)) == Grid(2, 2, 2)
    assert smallest_surface(8, None) == Grid(2, 2, 2)
    # A cut across z has 4 million cells, one across x or y 128,000; two of those instead of three.
    assert smallest_surface(4, Extents(2000, 2000, 64)) == Grid(2, 2, 1)
    # Ties: planes stay whole before rows do.
    assert smallest_surface(2, Extents(100, 100, 100)) == Grid(1, 1, 2)
    assert smallest_surface(7, Extents(3, 3, 7)) == Grid(1, 1, 7)
    with pytest.raises(RequestError, match="no grid of 7"):
        smallest_surface(7, Extents(3, 3, 3))


@pytest.mark.parametrize("cells", [Extents(64, 48, 40), Extents(10, 1000, 7)])
@pytest.mark.parametrize("ranks", [6, 12, 16])
def test_no_other_grid_cuts_through_fewer(cells: Extents, ranks: int) -> None:
    def cut(grid: Grid) -> int:
        planes = (cells.y * cells.z, cells.x * cells.z, cells.x * cells.y)
        return sum((p - 1) * plane for p, plane in zip(grid, planes, strict=True))

    fitting = [one for one in factorisations(ranks) if all(p <= n for p, n in zip(one, cells, strict=True))]
    assert cut(smallest_surface(ranks, cells)) == min(map(cut, fitting))


def cells_asked(study: JacobiStudy) -> list[tuple[object, ...]]:
    return [tuple(asked[name] for name in ("nx", "ny", "nz")) for _, asked in study.requests(is_simulated=True)]


def test_strong_and_weak_scaling() -> None:
    strong = JacobiStudy(ranks=(1, 2, 4), cells=Extents(100, 100, 100))
    assert strong.scaling == "strong"
    assert cells_asked(strong) == [(100, 100, 100)] * 3
    weak = JacobiStudy(ranks=(1, 2, 8), subdomain=50)
    assert weak.scaling == "weak"
    assert cells_asked(weak) == [(50, 50, 50), (50, 50, 100), (100, 100, 100)]


def test_nothing_bounds_the_bandwidth_of_a_simulated_host() -> None:
    wanted = JacobiStudy(ranks=(2,), cells=None)
    assert cells_asked(wanted) == [(200, 200, 200)]
    bounds = [next(wanted.requests(is_simulated=simulated))[1]["bound"] for simulated in (False, True)]
    assert bounds == [1, 0]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"cells": "8", "subdomain": 8}, "either as --size or as --subdomain"),
        ({"cells": "8", "halo": "pigeon"}, "--exchange 'pigeon'"),
        ({"cells": "8", "grids": ["3x1x1"]}, "has 3 processes, not 2"),
        ({"cells": "1x8x8", "grids": ["2x1x1"]}, "more processes"),
        ({"cells": "8", "cell_s": "-1s"}, "cell-time"),
        ({"subdomain": 10**6}, "at most"),
        ({"cells": "8", "iterations": 0}, "--iterations"),
    ],
)
def test_what_no_launch_could_do_is_refused(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        checked(JacobiStudy, {"ranks": "2", **choices}, "run jacobi")
