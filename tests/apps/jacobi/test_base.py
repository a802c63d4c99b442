"""What follows from any model of Jacobi: places, ties, the ranks from which communication matters."""

from __future__ import annotations

import math

import pytest

from hockney.apps.jacobi.printed import Case, Halo, Model, exceeds, predict, rank, weak_scaling
from hockney.apps.stencil.grids import Grid, factorisations
from hockney.errors import RequestError

CASE = Case(subdomain=10, serial_time_s=1.0, latency_s=0.0, bandwidth_B_per_s=1.0)
TENTH = Model("a tenth of T_s per direction", lambda _case, grid: Halo(grid.directions, 0, 0.1 * grid.directions))


def of_share(*shares: float) -> Model:
    """Communication takes these shares of the time along 1, 2 and 3 directions: T_c = T_s s / (1 − s)."""
    times = [0.0, *(share / (1 - share) for share in shares)]
    return Model("given", lambda _case, grid: Halo(grid.directions, 0, times[grid.directions]))


def test_the_numbers_of_a_prediction() -> None:
    one = predict(TENTH, CASE, Grid(4, 2, 1))
    # 8 ranks update 1000 cells each in 1 s + 2 · 0.1 s.
    assert one.time_s == pytest.approx(1.2)
    assert one.mlups == pytest.approx(8000 / 1.2 / 1e6)
    assert one.efficiency == pytest.approx(1 / 1.2)
    assert one.communication_share == pytest.approx(0.2 / 1.2)


def test_ties_share_a_place_and_the_next_counts_them() -> None:
    ranked = rank(TENTH, CASE, [Grid(2, 2, 2), Grid(1, 8, 1), Grid(4, 2, 1), Grid(8, 1, 1)])
    assert [(place, str(one.grid)) for place, one in ranked] == [
        (1, "1x8x1"),
        (1, "8x1x1"),
        (3, "4x2x1"),
        (4, "2x2x2"),
    ]


def test_every_grid_of_48_has_a_place() -> None:
    places = [place for place, _ in rank(TENTH, CASE, factorisations(48))]
    # 48 = 2⁴ · 3: 45 grids; 3 with one direction, 3 · 8 with two (the divisors but 1 and 48), 18 with three.
    assert {place: places.count(place) for place in places} == {1: 3, 4: 24, 28: 18}


def test_grids_of_different_ranks_are_not_ranked() -> None:
    with pytest.raises(RequestError, match="grids of 2 and 24 ranks"):
        rank(TENTH, CASE, [Grid(24, 1, 1), Grid(2, 1, 1)])


@pytest.mark.parametrize(
    ("shares", "ranks_of_tenth", "ranks_of_half"),
    [
        ((0.01, 0.02, 0.03), None, None),
        ((0.05, 0.09, 0.11), 8, None),
        ((0.08, 0.15, 0.2), 4, None),
        ((0.3, 0.51, 0.6), 2, 4),
    ],
)
def test_where_communication_starts_to_matter(
    shares: tuple[float, ...], ranks_of_tenth: int | None, ranks_of_half: int | None
) -> None:
    steps = weak_scaling(of_share(*shares), CASE)
    assert [step.communication_share for step in steps] == pytest.approx(list(shares))
    # Two processes in each direction are the fewest that have a neighbour there.
    assert [(step.directions, step.ranks) for step in steps] == [(1, 2), (2, 4), (3, 8)]
    tenth, half = exceeds(steps, 0.1), exceeds(steps, 0.5)
    assert (tenth and tenth.ranks) == ranks_of_tenth
    assert (half and half.ranks) == ranks_of_half


@pytest.mark.parametrize(
    "wrong",
    [
        {"subdomain": 0},
        {"subdomain": -1},
        {"subdomain": 10**6 + 1},
        {"serial_time_s": 0.0},
        {"serial_time_s": -1.0},
        {"serial_time_s": math.nan},
        {"latency_s": -1e-9},
        {"latency_s": math.inf},
        {"bandwidth_B_per_s": 0.0},
        {"bandwidth_B_per_s": math.inf},
    ],
)
def test_a_case_that_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(RequestError):
        Case(**({"subdomain": 10, "serial_time_s": 1.0, "latency_s": 1e-6, "bandwidth_B_per_s": 1e9} | wrong))  # type: ignore[arg-type]


def test_times_out_of_range_are_refused() -> None:
    endless = Model("endless", lambda _case, _grid: Halo(1, 0, math.inf))
    with pytest.raises(RequestError, match="out of range"):
        predict(endless, CASE, Grid(2, 1, 1))
