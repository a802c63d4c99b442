"""Errors, coverage and regret of predictions small enough to work out by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from hockney.predict.accuracy import by, errors, references, regret
from hockney.predict.estimators.base import Array, Prediction
from hockney.predict.points import points


def prediction(time_s: Array, factor: float = np.nan) -> Prediction:
    return Prediction(time_s, time_s / factor, time_s * factor)


def test_errors_by_hand() -> None:
    measured = np.array([1.0, 1.0, 1.0, 2.0, 5.0])
    made = Prediction(
        np.array([1.1, 0.8, 1.0, 2.0, np.nan]),
        np.array([1.05, 0.5, np.nan, 1.0, np.nan]),
        np.array([1.2, 1.5, np.nan, 3.0, np.nan]),
    )
    found = errors(made, measured)
    assert found.median_relative_error == pytest.approx(0.05)  # of 0, 0, 0.1, 0.2
    assert found.max_relative_error == pytest.approx(0.2)
    assert found.p90_relative_error == pytest.approx(0.17)  # 0.7 of the way from 0.1 to 0.2
    assert found.p95_relative_error == pytest.approx(0.185)
    assert found.coverage_95 == pytest.approx(2 / 3)
    # Of 0.075 / 1.1, 0.5 / 0.8 and 1 / 2.
    assert found.median_half_width == pytest.approx(0.5)
    assert (found.n_test, found.failed, found.with_interval) == (5, 1, 3)


def test_nothing_predicted_is_none_not_nan() -> None:
    found = errors(prediction(np.full(3, np.nan)), np.ones(3))
    assert found.median_relative_error is None
    assert found.coverage_95 is None
    assert found.failed == 3


def test_negative_times_are_counted() -> None:
    assert errors(prediction(np.array([-1.0, 0.0, 1.0])), np.ones(3)).nonphysical == 2


TIMES = {"linear": 2.0, "binomial": 1.0, "chain": 4.0, "default": 1.5}


@pytest.fixture
def four(bcast: Callable[..., pd.DataFrame]) -> pd.DataFrame:
    """Four algorithms in three instances (sizes) of which `chain` is best in the last."""
    return points(
        bcast(
            lambda algorithm, _p, size, _m: 0.5 if (algorithm, size) == ("chain", 65536) else TIMES[algorithm],
            algorithms=TIMES, ranks=[8], mappings=["core"],
        ),
        "bcast",
    ).frame  # fmt: skip


def predicted(frame: pd.DataFrame, **times: float) -> Prediction:
    return prediction(np.array([times.get(name, np.nan) for name in frame["algorithm"]]))


def test_the_right_choice_costs_nothing(four: pd.DataFrame) -> None:
    found = regret(four, prediction(four["time_s"].to_numpy()))
    assert (found.mean, found.max, found.instances) == (0, 0, 3)
    assert found.chosen == {"binomial": 2, "chain": 1}


def test_the_wrong_choice_costs_the_ratio(four: pd.DataFrame) -> None:
    found = regret(four, predicted(four, linear=1, binomial=2, chain=3, default=0.1))
    # linear: 2/1 − 1 twice, 2/0.5 − 1 once; the default is never chosen.
    assert found.mean == pytest.approx((1 + 1 + 3) / 3)
    assert found.max == pytest.approx(3)
    assert found.share_above_10_percent == 1
    assert found.chosen == {"linear": 3}


def test_a_trend_that_disagrees_is_heard(four: pd.DataFrame) -> None:
    """By the model linear is best by 1 %, by the trend binomial by a factor of 2: that is taken."""
    trend_s = predicted(four, linear=2, binomial=1, chain=4, default=0.1).time_s
    found = regret(four, predicted(four, linear=1, binomial=1.01, chain=3, default=0.1), trend_s)
    assert found.chosen == {"binomial": 3}
    trend_s[four["algorithm"] == "chain"] = np.nan
    assert regret(four, predicted(four, linear=1, binomial=1.01, chain=3), trend_s).chosen == {"linear": 3}


def test_what_cannot_be_predicted_cannot_be_chosen(four: pd.DataFrame) -> None:
    found = regret(four, predicted(four, linear=2, binomial=1))
    assert found.mean == 0
    # At 64 KiB the fastest of all was chain: 1/0.5 − 1.
    assert found.against_all.mean == pytest.approx(1 / 3)
    assert regret(four, predicted(four, linear=2)).instances == 0


def test_instances_are_told_apart(bcast: Callable[..., pd.DataFrame]) -> None:
    frame = points(
        bcast(lambda *_: 1.0, ranks=[2, 4], sizes=[1, 8, 64], mappings=["core", "node"]), "bcast"
    ).frame
    assert regret(frame, prediction(frame["time_s"].to_numpy())).instances == 12


def test_segments_are_choices_of_an_algorithm(bcast: Callable[..., pd.DataFrame]) -> None:
    one = {"ranks": [8], "sizes": [8], "mappings": ["core"]}
    slow = bcast(lambda *_: 3.0, algorithms=["chain"], segment_bytes=1024, **one)
    fast = bcast(lambda *_: 1.0, algorithms=["chain"], segment_bytes=64, **one)
    alone = points(pd.concat([slow, fast]), "bcast").frame
    assert regret(alone, prediction(alone["time_s"].to_numpy())).instances == 0
    both = points(pd.concat([slow, fast, bcast(lambda *_: 2.0, algorithms=["linear"], **one)]), "bcast").frame
    found = regret(both, prediction(1 / both["time_s"].to_numpy()))
    assert found.instances == 1
    assert found.mean == pytest.approx(2.0)


def test_references_by_hand(four: pd.DataFrame) -> None:
    found = references(four, four)
    # 1.5 against 1 twice, against 0.5 once.
    assert found.default.mean == pytest.approx((0.5 + 0.5 + 2) / 3)
    # Geometric means of T/T(best): binomial (1, 1, 2), chain (4, 4, 1), linear (2, 2, 4).
    assert found.best_in_training.algorithm == "binomial"
    assert found.best_in_training.mean == pytest.approx(1 / 3)


def test_a_fast_default_has_a_negative_regret(four: pd.DataFrame) -> None:
    quick = four.assign(time_s=four["time_s"].where(four["algorithm"] != "default", 0.25))
    assert references(quick, quick).default.max == pytest.approx(0.25 / 0.5 - 1)


def test_the_best_in_training_was_measured_nearly_everywhere(four: pd.DataFrame) -> None:
    rare = four[(four["algorithm"] != "chain") | (four["bytes"] == 65536)]
    assert references(rare, four).best_in_training.algorithm == "binomial"


def test_training_on_one_algorithm_has_no_best(four: pd.DataFrame) -> None:
    found = references(four[four["algorithm"] == "chain"], four).best_in_training
    assert found.algorithm is None
    assert found.instances == 0


def test_errors_apart(four: pd.DataFrame) -> None:
    found = by(four, predicted(four, linear=3, binomial=1), "algorithm")
    assert list(found) == ["binomial", "chain", "default", "linear"]
    assert found["linear"].median_relative_error == pytest.approx(0.5)
    assert found["binomial"].median_relative_error == 0
    assert found["chain"].failed == 3
