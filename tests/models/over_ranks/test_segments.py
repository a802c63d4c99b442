"""Lines between breaks: six measured latencies come back (ring_segments), and a straight curve stays whole."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.factories import not_none

from hockney.apps.ring.lines import latency_of
from hockney.models.over_ranks.boundaries import Boundary
from hockney.models.over_ranks.segments import Segments, segments

Array = NDArray[np.float64]

RANKS = np.arange(2.0, 49.0)
"""As in the figure of an unpublished report, but one process."""
FULL = [12, 24]
"""Processes that fill a socket and a node, or what the report takes the lines apart at."""
RING_SEGMENTS = {"THIN": (0.34e-6, 0.57e-6, 1.16e-6), "GPU": (0.42e-6, 0.47e-6, 0.66e-6)}
"""Equation (1): half the slope of each line, in seconds."""
THIN = [Boundary(12, 13, "package"), Boundary(24, 25, "node")]
NOISE = 0.005
"""Relative, of a median of many cycles on an idle node."""


def ring(*latencies_s: float) -> Array:
    """t(P) = 0.4 µs + 2P T_l: beyond each of FULL every hop waits for a slower link."""
    latency_of_rank_s = np.asarray(latencies_s, dtype=np.float64)[
        np.searchsorted(FULL[: len(latencies_s) - 1], RANKS)
    ]
    return np.asarray(0.4e-6 + 2 * RANKS * latency_of_rank_s, dtype=np.float64)


def noisy(time_s: Array, seed: int) -> Array:
    return time_s * (1 + NOISE * np.random.default_rng(seed).standard_normal(time_s.size))


def found(made: Segments) -> list[tuple[int, int]]:
    return [(one.first, one.last) for one in made.segments]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("node", RING_SEGMENTS)
def test_the_latencies_of_ring_segments_come_back(node: str, seed: int) -> None:
    latencies_s = RING_SEGMENTS[node]
    # On a GPU node the levels have other names; lines break at the same numbers of processes.
    made = segments(RANKS, noisy(ring(*latencies_s), seed), THIN)
    assert found(made) == [(2, 12), (13, 24), (25, 48)]
    assert [one.begins for one in made.segments] == [None, "package", "node"]
    for segment, expected_s in zip(made.segments, latencies_s, strict=True):
        value_s, low_s, high_s = (bound or 0.0 for bound in latency_of(segment))
        assert low_s < value_s < high_s
        # The standard error of a slope of twelve points with this noise at t ≈ 20 times the slope is below 2 %.
        assert value_s == pytest.approx(expected_s, rel=0.08)


def test_intervals_of_95_percent_hold_the_latency_that_often() -> None:
    held = []
    for seed in range(40):
        made = segments(RANKS[:11], noisy(ring(0.34e-6), seed)[:11], [])
        for segment in made.segments:
            _, low_s, high_s = (bound or 0.0 for bound in latency_of(segment))
            held.append(low_s <= 0.34e-6 <= high_s)
    # A binomial of 40 with 0.95 is below 34 once in three hundred times.
    assert len(held) == 40
    assert sum(held) >= 34


@pytest.mark.parametrize("seed", range(10))
def test_no_break_where_none_is(seed: int) -> None:
    made = segments(RANKS, noisy(ring(0.5e-6), seed), THIN)
    assert found(made) == [(2, 48)]
    assert made.segments[0].begins is None
    assert made.examined == dict.fromkeys(THIN, False)
    value_s, *_ = latency_of(made.segments[0])
    assert value_s == pytest.approx(0.5e-6, rel=0.01)


def test_a_break_is_found_where_nothing_was_expected() -> None:
    made = segments(RANKS, noisy(ring(0.34e-6, 1.2e-6), 3), [])
    assert found(made) == [(2, 12), (13, 48)]
    assert [one.begins for one in made.segments] == [None, None]


def test_a_line_is_of_relative_residuals() -> None:
    # t(P) = 2 µs + 3 µs·P but for the last point, 10 % off: with weights 1/t all points pull alike.
    at = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 1000.0])
    time_s = 2e-6 + 3e-6 * at
    time_s[-1] *= 1.1
    (segment,) = segments(at, time_s, []).segments
    assert segment.fit is not None
    intercept_s, slope_s = np.linalg.lstsq(
        np.column_stack([1 / time_s, at / time_s]), np.ones(at.size), rcond=None
    )[0]
    assert segment.fit.coefficients == pytest.approx((intercept_s, slope_s))
    line_s = not_none(segment.at(at))
    assert line_s == pytest.approx(intercept_s + slope_s * at)
    # Student's t of 4 degrees of freedom, from tables.
    slope, low, high = segment.slope_s() or (0.0, 0.0, 0.0)
    assert (high - low) / 2 == pytest.approx(2.776 * segment.fit.standard_errors[1], rel=1e-3)
    assert (low + high) / 2 == pytest.approx(slope)


def test_a_few_points_have_no_line() -> None:
    (segment,) = segments(np.array([2.0, 4.0]), np.array([2e-6, 4e-6]), []).segments
    assert (segment.first, segment.last, segment.points) == (2, 4, 2)
    assert segment.fit is None
    assert segment.slope_s() is None
    assert segment.at(RANKS) is None
    assert latency_of(segment) == (None, None, None)


def test_the_order_of_points_means_nothing() -> None:
    time_s = noisy(ring(*RING_SEGMENTS["THIN"]), 1)
    assert segments(RANKS[::-1], time_s[::-1], THIN) == segments(RANKS, time_s, THIN)
