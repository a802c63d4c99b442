"""linear_in_ranks: straight lines come back exactly, the interval is the textbook's, the rest stays unknown."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.factories import training

from hockney.predict.estimators.linear_in_ranks import Trend, fit, line
from hockney.predict.points import points


def straight(algorithm: str, ranks: int, size: int, mapping: str) -> float:
    slope = {"linear": 2e-7, "binomial": 3e-8}[algorithm] * (1 + size / 1e4) * {"core": 1, "node": 3}[mapping]
    return 1e-6 + slope * ranks


def test_straight_lines_are_recovered_and_extrapolated(bcast: Callable[..., pd.DataFrame]) -> None:
    asked = points(bcast(straight, ranks=[3, 100, 1000]), "bcast").frame
    made = fit(training(bcast(straight))).predict(asked)
    assert made.time_s == pytest.approx(asked["time_s"].to_numpy(), rel=1e-9)
    assert made.note is None


def test_nodes_and_ppn_belong_to_the_size_of_the_run(bcast: Callable[..., pd.DataFrame]) -> None:
    asked = points(bcast(straight, ranks=[100], nodes=7, ppn=99), "bcast").frame
    assert np.isfinite(fit(training(bcast(straight))).predict(asked).time_s).all()


def test_what_was_not_trained_is_not_predicted(bcast: Callable[..., pd.DataFrame]) -> None:
    seen = fit(training(bcast(straight)))
    for other in ({"sizes": [16]}, {"variant": "tcp"}, {"system": "t"}, {"root": 1}):
        made = seen.predict(points(bcast(straight, **other), "bcast").frame)
        assert np.isnan(made.time_s).all()
        assert made.note


def test_one_number_of_ranks_has_no_line(bcast: Callable[..., pd.DataFrame]) -> None:
    made = fit(training(bcast(straight, ranks=[8]))).predict(points(bcast(straight, ranks=[8]), "bcast").frame)
    assert np.isnan(made.time_s).all()


def test_two_points_have_a_line_without_an_interval() -> None:
    found = line(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
    assert found is not None
    time_s, half = found.at(np.array([8.0]))
    assert time_s == pytest.approx([4.0])
    assert np.isnan(half).all()


def test_slope_and_its_error_as_scipy_has_them() -> None:
    ranks, time_s = np.array([2.0, 4, 8, 16, 40]), np.array([1.0, 1.5, 2.6, 4.9, 10.3])
    expected = stats.linregress(ranks, time_s)
    found = line(ranks, time_s)
    assert found is not None
    assert found.fitted.value == pytest.approx([expected.intercept, expected.slope])
    assert found.fitted.noise * found.fitted.errors[1] == pytest.approx(expected.stderr)


def test_a_line_that_may_not_fall_is_flat() -> None:
    """The mean, with the prediction interval of a new value beside four; a rising line is as it was."""
    ranks, time_s = np.array([2.0, 4, 8, 16]), np.array([5.0, 4.0, 4.5, 2.5])
    flat, falling = (line(ranks, time_s, may_fall=may_fall) for may_fall in (False, True))
    assert flat is not None
    assert falling is not None
    value_s, half = flat.at(np.array([1e6]))
    assert value_s == pytest.approx([4.0])
    reach = stats.t.ppf(0.975, 3) * time_s.std(ddof=1) * np.sqrt(1 + 1 / 4)
    assert half == pytest.approx([reach])
    assert falling.at(np.array([1e6]))[0] < 0
    rising = line(ranks, ranks, may_fall=False)
    assert rising is not None
    assert rising.at(np.array([1e6]))[0] == pytest.approx([1e6])


@pytest.mark.parametrize("asked", [12.0, 60.0])
def test_the_interval_covers_what_it_claims(asked: float) -> None:
    random = np.random.default_rng(1)
    ranks = np.array([2.0, 6, 10, 14, 18, 22])
    inside = 0
    for _ in range(2000):
        found = line(ranks, 1 + 0.1 * ranks + random.normal(0, 0.05, ranks.size))
        assert found is not None
        time_s, half = found.at(np.array([asked]))
        inside += bool(abs(1 + 0.1 * asked + random.normal(0, 0.05) - time_s[0]) <= half[0])
    # Four standard deviations of 2,000 trials at 95 %: 4 · √(0.95 · 0.05 / 2000) = 0.0195.
    assert inside / 2000 == pytest.approx(0.95, abs=0.0195)


def test_a_trend_speaks_beyond_the_trained_ranks_alone(bcast: Callable[..., pd.DataFrame]) -> None:
    frame = points(bcast(lambda _a, ranks, _s, _m: 1e-6 * ranks, ranks=[2, 4, 8]), "bcast").frame
    trend = Trend.of(frame[frame["ranks"] < 8])
    np.testing.assert_allclose(trend.at(frame)[frame["ranks"] == 8], 8e-6)
    assert np.isnan(trend.at(frame)[frame["ranks"] < 8]).all()
