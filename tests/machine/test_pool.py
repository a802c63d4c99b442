"""Pooling: medians over pairs, intervals that hold every pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from hockney.records.series import Series
from hockney.records.series_of_table import pool


def one(
    pair: str,
    sizes: Sequence[float] | NDArray[np.float64],
    times: Sequence[float] | NDArray[np.float64],
    spread: float = 0.0,
    limit: float | None = None,
    **related: Series,
) -> Series:
    time = np.array(times)
    return Series(
        {"operation": "pingpong", "pair": pair, "repetition": "0"},
        np.array(sizes, dtype=np.float64),
        time,
        time - spread,
        time + spread,
        limit,
        related=related,
    )


def test_median_over_pairs_and_hull_of_intervals() -> None:
    three = pool(
        [one("0-1", [0, 8], [1.0, 2.0], 0.1), one("2-3", [0, 8], [1.5, 2.0]), one("4-5", [0, 8], [4.0, 2.0])]
    )
    assert three.time_s.tolist() == [1.5, 2.0]
    assert three.low_s.tolist() == [0.9, 1.9]
    assert three.high_s.tolist() == [4.0, 2.1]
    assert three.key == {"operation": "pingpong"}


def test_a_size_that_only_one_pair_has_is_kept() -> None:
    """The second takes 1 s longer where both were measured: 4 s at 64 B, and the first 1.5 s at 8 B."""
    both = pool([one("0-1", [0, 64], [1.0, 3.0]), one("2-3", [0, 8], [2.0, 2.5])])
    assert both.size_B.tolist() == [0, 8, 64]
    assert both.time_s.tolist() == [1.5, 2.0, 3.5]


@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_sizes_of_some_pairs_never_move_the_curve(rate: float) -> None:
    """Pairs with start-ups of 2 and 8 s, and two rates: sizes of the first lie on the mean of both lines."""
    all_of, more = np.array([0, 64, 1024, 4096]), np.array([1, 32, 100, 512, 2000, 3000])
    sizes = np.sort(np.concatenate([all_of, more]))
    pairs = [one("0-1", sizes, 2 + sizes / rate, 0.1), one("2-3", all_of, 8 + all_of, 0.1)]
    pooled = pool(pairs)
    assert pooled.time_s == pytest.approx(5 + sizes * (1 / rate + 1) / 2)
    # The interval holds both pairs at every size, whoever was measured there.
    assert pooled.low_s == pytest.approx(np.minimum(2 + sizes / rate, 8 + sizes) - 0.1)
    assert pooled.high_s == pytest.approx(np.maximum(2 + sizes / rate, 8 + sizes) + 0.1)


def test_pairs_without_a_size_in_common_are_pooled_where_both_were_measured() -> None:
    first, second = np.array([0, 4, 16, 64]), np.array([1, 8, 32, 128])
    pooled = pool([one("0-1", first, 2 + first / 10), one("2-3", second, 8 + second / 10)])
    assert pooled.time_s[1:-1] == pytest.approx(5 + pooled.size_B[1:-1] / 10)


@pytest.mark.parametrize(("start", "size_B"), [(8.0, 1e6), (2.5, 1e6), (0.5, 1e6)])
def test_beyond_its_sizes_a_pair_differs_by_no_more(start: float, size_B: float) -> None:
    """A pair that was cut off at 64 B is as far from the other as there, in seconds, or in ratio below."""
    cut = one("2-3", [0, 64], [start, start + 0.064])
    whole = one("0-1", [0, 64, size_B], [2.0, 2.064, 2 + size_B / 1000])
    assert pool([whole, cut]).time_s[-1] == pytest.approx(2 + size_B / 1000 + (start - 2) / 2)
    upper = one("2-3", [size_B, 2 * size_B], [1500.0, 3000.0])
    low = one("0-1", [0, size_B, 2 * size_B], [2.0, 1000.0, 2000.0])
    assert pool([low, upper]).time_s[0] == pytest.approx((2 + 3) / 2)


def test_one_pair_is_unchanged() -> None:
    alone = pool([one("0-1", [1, 2], [1.0, 2.0], 0.25, limit=4096)])
    assert (alone.time_s.tolist(), alone.low_s.tolist(), alone.eager_limit_B) == ([1.0, 2.0], [0.75, 1.75], 4096)


@pytest.mark.parametrize(("other", "expected"), [(4096, 4096), (65536, None), (None, None)])
def test_eager_limits_that_disagree_say_nothing(other: float | None, expected: float | None) -> None:
    assert pool([one("0-1", [1], [1], limit=4096), one("2-3", [1], [1], limit=other)]).eager_limit_B == expected


@pytest.mark.parametrize(("other", "expected"), [((256.0,), (256.0,)), ((256.0, 2112.0), (256.0,)), ((), ())])
def test_of_breaks_those_stand_that_all_state(other: tuple[float, ...], expected: tuple[float, ...]) -> None:
    members = [replace(one("0-1", [1], [1]), breaks_B=breaks_B) for breaks_B in ((256.0,), other)]
    assert pool(members).breaks_B == expected


def test_related_measurements_are_pooled_too() -> None:
    overheads = [one("0-1", [8], [0.1]), one("2-3", [8], [0.3])]
    both = pool(
        [one("0-1", [8], [1], send_overhead=overheads[0]), one("2-3", [8], [1], send_overhead=overheads[1])]
    )
    assert both.related["send_overhead"].time_s.tolist() == [0.2]
