"""Grids that take the same are not told apart, however many they are; one that does not is."""

from __future__ import annotations

import numpy as np
import pytest

from hockney.apps.stencil.told_apart import are_told_apart
from hockney.records.app_record import AppRecord


def _run(time_s: float, reach: float | None = None) -> AppRecord:
    bounds = {} if reach is None else {"low_s": time_s * (1 - reach), "high_s": time_s * (1 + reach)}
    return AppRecord.model_validate(
        {"operation": "cg", "ranks": 8, "parameters": {}, "time_s": time_s, "answer": {}, **bounds}
    )


@pytest.mark.parametrize("count", [2, 6, 18])
def test_as_many_false_answers_as_the_level_allows(count: int) -> None:
    # Errors of 1 % and honest intervals of 1.96 %: whether two of 18 meet is wrong 33 times in 100. Of 400 draws
    # at 5 %, more than 36 come once in 2500 times (binomial); the seed is fixed.
    random = np.random.default_rng(1)
    told = [are_told_apart([_run(float(t), 0.0196) for t in random.normal(1, 0.01, count)]) for _ in range(400)]
    assert sum(told) <= 36


def test_a_grid_that_is_slower_is_told() -> None:
    assert are_told_apart([*[_run(1.0, 0.02) for _ in range(17)], _run(1.1, 0.02)])


def test_a_wide_interval_of_the_slowest_is_not_averaged_away() -> None:
    assert not are_told_apart([*[_run(1.0, 0.001) for _ in range(40)], _run(1.1, 0.2)])


def test_without_intervals_only_what_is_far_apart_is_told() -> None:
    assert not are_told_apart([_run(1.0), _run(1.04)])
    assert are_told_apart([_run(1.0), _run(1.06)])
