"""The adaptive choice of sizes on curves whose truth is known."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import not_none

from hockney.campaign.sizes import ladder, midpoint, refine

RATIO = 4
"""Of the sizes of a ladder."""


def explore(curve: Callable[[int], float], largest_B: int, tolerance: float, narrowest: float) -> list[int]:
    """All sizes that a campaign would measure on a noise-free machine."""
    times = {size: curve(size) for size in ladder(largest_B, RATIO)}
    while (suspect := refine(times, dict.fromkeys(times, 0.0), tolerance, narrowest, with_end=True)) is not None:
        assert suspect.size not in times
        assert set(suspect.witnesses) <= set(times)
        times[suspect.size] = curve(suspect.size)
        assert len(times) < 500, "refinement does not end"
    return sorted(times)


def test_ladder_runs_from_nothing_to_the_largest() -> None:
    assert ladder(20, 4) == [0, 1, 4, 16, 20]
    assert ladder(16, 4) == [0, 1, 4, 16]
    assert ladder(20, 2) == [0, 1, 2, 4, 8, 16, 20]
    assert ladder(0, 4) == [0]


def test_a_straight_line_needs_no_refinement() -> None:
    assert explore(lambda n: 1e-6 + 1e-10 * n, 2**22, 0.05, 1.05) == ladder(2**22, RATIO)


@pytest.mark.parametrize("limit", [200, 4032, 4096, 65536, 100_000])
def test_a_protocol_switch_is_bracketed(limit: int) -> None:
    def curve(size: int) -> float:
        return (
            1e-6
            + 1e-10 * size
            + (2e-6 if size > limit else 0.0)
            + (1e-10 * (size - limit) if size > limit else 0)
        )

    sizes = explore(curve, 2**22, 0.05, 1.05)
    below = max(size for size in sizes if size <= limit)
    above = min(size for size in sizes if size > limit)
    # Halving ends when the ratio is at most `narrowest`; rounding to powers of two may leave a little more.
    assert above <= 1.06 * below
    # A bracket of ratio 1.05 inside a ratio of 4: log2(ln 4 / ln 1.05) ≈ 5 halvings, and their neighbours.
    assert len(sizes) <= len(ladder(2**22, RATIO)) + 20


def test_a_slope_that_changes_before_the_largest_size_is_looked_into() -> None:
    """Caches overflow shortly before the largest size."""
    largest, limit = 2**22, 2_000_000

    def curve(size: int) -> float:
        return 1e-6 + 1e-10 * size + (0.5e-10 * (size - limit) if size > limit else 0)

    sizes = explore(curve, largest, 0.1, 1.3)
    times = {size: curve(size) for size in sizes}
    # Three sizes tell a regime.
    assert sum(size >= limit for size in sizes) >= 3
    # Of 1, 2 and 4 MiB interpolation misses the middle by 10 %, the line through the first two the last by 13 %.
    times = {2**20: 100e-6, 2**21: 200e-6, 2**22: 460e-6}
    certain, unsure = dict.fromkeys(times, 0.0), {size: 0.01 * time for size, time in times.items()}
    found = not_none(refine(times, certain, 0.12, 1.3, with_end=True))
    assert 2**21 < found.size < 2**22
    assert refine(times, certain, 0.12, 1.3) is None
    # 13.0 % less what is uncertain of the last (1 %), three times the middle's 0.43 %, twice the first's 0.22 %.
    assert refine(times, unsure, 0.12, 1.3, with_end=True) is None
    assert refine(times, unsure, 0.101, 1.3, with_end=True) is not None


def test_noise_within_the_interval_asks_for_nothing() -> None:
    times = {size: 1e-6 * (1.2 if size == 16 else 1.0) for size in ladder(1024, RATIO)}
    assert refine(times, dict.fromkeys(times, 0.0), 0.05, 1.05) is not None
    assert refine(times, dict.fromkeys(times, 0.2e-6), 0.05, 1.05) is None


@given(st.integers(0, 2**30), st.integers(2, 2**30))
def test_midpoint_lies_strictly_between(low: int, width: int) -> None:
    assert low < midpoint(low, low + width) < low + width
