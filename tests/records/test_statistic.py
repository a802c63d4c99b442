"""Statistics: a row says all of one, and a rank at any share of the order can be one."""

from __future__ import annotations

import numpy as np
import pytest

from hockney.predict.scenario import share_of
from hockney.records.answers import CollectiveMeasurement
from hockney.records.statistic import ALL, OF_COLLECTIVES, OVER_RANKS, RATES

OWN_S = np.array([4.0, 1.0, 9.0, 4.5, 2.0])


def test_what_a_collective_has_is_said_in_words() -> None:
    assert all((one.name in OF_COLLECTIVES) == bool(one.phrase and one.sentence) for one in ALL)
    assert set(OVER_RANKS) < set(OF_COLLECTIVES)
    assert not set(RATES) & set(OF_COLLECTIVES)


@pytest.mark.parametrize(
    ("made", "count", "time_s"),
    [
        (0.0, 5, 1.0),
        (1.0, 5, 9.0),
        (0.5, 5, 4.0),
        (0.5, 4, 4.25),
        (0.75, 5, 4.5),
        ("mean", 5, 4.1),
        ("of a pair", 2, 1.0),
    ],
)
def test_weights_of_ranks_give_the_statistic_and_sum_to_one(made: float, count: int, time_s: float) -> None:
    weights = share_of(made)(OWN_S[:count])
    assert weights.sum() == pytest.approx(1)
    assert weights @ OWN_S[:count] == pytest.approx(time_s)


def test_statistics_that_a_runner_does_not_say_are_no_error() -> None:
    said = {"max_over_ranks_s": 2e-6, "mean_over_ranks_s": 1e-6}
    gathered = CollectiveMeasurement.model_validate(
        {
            "median_s": 2e-6, "low_s": 1e-6, "high_s": 3e-6, "quantiles_s": {}, "samples_s": [2e-6], "batch": 1,
            "disturbed_at": [], "stop": "", "verified": True, "same_cpu": 0, "elapsed_s": 1.0, "late": 0,
            "clock_error_s": 0.0, "proved": True, **said,
        }
    )  # fmt: skip
    assert gathered.over_ranks_s == {"max_over_ranks": 2e-6, "mean_over_ranks": 1e-6}
