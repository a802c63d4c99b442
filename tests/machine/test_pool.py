"""Pooling: medians over pairs, intervals that hold every pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hockney.machine.build import pool
from hockney.records.series import Series


def one(
    pair: str,
    sizes: list[float],
    times: list[float],
    spread: float = 0.0,
    limit: float | None = None,
    **related: Series,
) -> Series:
    time = np.array(times)
    return Series(
        {"operation": "pingpong", "pair": pair, "repetition": "0"},
        np.array(sizes),
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
    both = pool([one("0-1", [0, 64], [1.0, 3.0]), one("2-3", [0, 8], [2.0, 2.5])])
    assert both.size_B.tolist() == [0, 8, 64]
    assert both.time_s.tolist() == [1.5, 2.5, 3.0]


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
