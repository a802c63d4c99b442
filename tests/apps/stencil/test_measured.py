"""What runs say of a cell: inside their numbers of ranks a time, beyond them both laws that may hold."""

from __future__ import annotations

import pytest

from hockney.apps.stencil.measured import Computation

CALM = Computation({1: 2.0, 4: 2.0}, None, 1.0, 1.0)
SATURATED = Computation({2: 2.0, 4: 3.0}, None, 1.0, 1.0)


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
    assert computation.open_at(busy, most) == pytest.approx((least_s, longest_s))
    assert least_s <= computation.at(busy) <= longest_s
