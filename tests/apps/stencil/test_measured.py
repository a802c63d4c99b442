"""What runs say of a cell: inside their numbers of ranks a time, beyond them both laws that may hold."""

from __future__ import annotations

import pytest

from hockney.apps.stencil.measured import Computation

CALM = Computation({1: {1.0: 2.0}, 4: {1.0: 2.0}}, None)
SATURATED = Computation({2: {1.0: 2.0}, 4: {1.0: 3.0}}, None)


@pytest.mark.parametrize(
    ("computation", "busy", "most", "least_s", "longest_s"),
    [
        (CALM, 1, 1, 2.0, 2.0),
        (CALM, 4, 4, 2.0, 2.0),
        # Eight on a node: as fast as four, or half as fast, because they share a memory that four already fill.
        (CALM, 8, 8, 2.0, 4.0),
        (SATURATED, 8, 8, 3.0, 6.0),
        (SATURATED, 3, 3, 2.5, 2.5),
        # One alone: as two, or twice as fast.
        (SATURATED, 1, 1, 1.0, 2.0),
        # Between four and sixteen, it is not known.
        (SATURATED, 4, 16, 3.0, 12.0),
    ],
)
def test_cells_beyond_the_runs_stay_or_slow_down(
    computation: Computation, busy: int, most: int, least_s: float, longest_s: float
) -> None:
    assert computation.open_at(busy, most, 1.0) == pytest.approx((least_s, longest_s))
    assert least_s <= computation.at(busy, 1.0) <= longest_s


# One rank alone was measured on boxes of 1 to 64 MiB, of which a cache holds the smaller two; two ranks on one.
MIB = 2.0**20
STEPPED = Computation({1: {MIB: 1.0, 4 * MIB: 1.0, 64 * MIB: 3.0}, 2: {64 * MIB: 4.0}}, None)


@pytest.mark.parametrize(
    ("busy", "box_MiB", "expected_s"),
    [
        (1, 2, 1.0),
        (1, 64, 3.0),
        # Half the way from 4 to 64 MiB on a logarithmic scale: half the way from 1 to 3 s.
        (1, 16, 3**0.5),
        # Beyond what was measured it stays.
        (1, 512, 3.0),
        # Two ranks were measured on 64 MiB alone: a box that the cache holds takes a third, as it does for one.
        (2, 1, 4 / 3),
    ],
)
def test_a_cell_takes_what_boxes_of_its_size_took(busy: int, box_MiB: float, expected_s: float) -> None:
    assert STEPPED.at(busy, box_MiB * MIB) == pytest.approx(expected_s)


def test_between_boxes_that_are_far_apart_either_may_hold() -> None:
    assert STEPPED.open_at(1, 1, 16 * MIB) == pytest.approx((1.0, 3.0))
    assert STEPPED.open_at(1, 1, 64 * MIB) == pytest.approx((3.0, 3.0))
