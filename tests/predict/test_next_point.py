"""Which point next: the expected loss is the integral it claims to be; what decides something comes first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from hockney.predict.estimators.base import Prediction, unknown
from hockney.predict.next_point import WIDEST, Belief, Candidates, next_points, settled, stakes
from hockney.predict.points import points


@pytest.fixture
def two() -> Candidates:
    """Two algorithms on 2 and on 64 ranks."""
    return candidates([2, 64])


def candidates(ranks: Sequence[int], algorithms: Sequence[str] = ("linear", "binomial")) -> Candidates:
    """8 B everywhere."""
    rows = [
        {
            "operation": "bcast",
            "algorithm": one,
            "ranks": count,
            "bytes": 8,
            "statistic": "completion",
            "time_s": 1e-6,
        }
        for count in ranks
        for one in algorithms
    ]
    return Candidates.of(points(pd.DataFrame(rows), "bcast").frame)


def at(known: Candidates, algorithm: str, ranks: int) -> int:
    rows = (known.points["algorithm"] == algorithm) & (known.points["ranks"] == ranks)
    return int(np.flatnonzero(rows.to_numpy())[0])


def belief(known: Candidates, **of: tuple[float, float]) -> Belief:
    """Mean and deviation in ln by ALGORITHM_RANKS; (0, 0) for the others."""
    made = Belief(np.zeros(len(known.points)), np.zeros(len(known.points)))
    for name, (mean, deviation) in of.items():
        algorithm, _, ranks = name.rpartition("_")
        index = at(known, algorithm, int(ranks))
        made.mean[index], made.deviation[index] = mean, deviation
    return made


def test_the_expected_loss_is_the_integral(two: Candidates) -> None:
    found = stakes(two, belief(two, linear_64=(0.0, 0.3), binomial_64=(0.1, 0.4)))
    # T(chosen)/T(other) has logarithm −0.1 with deviation √(0.3² + 0.4²).
    expected, _ = integrate.quad(lambda d: np.expm1(d) * stats.norm.pdf(d, -0.1, 0.5), 0, 8)
    row = int(np.flatnonzero(found.choice == at(two, "linear", 64))[-1])
    assert found.regret[row] == pytest.approx(expected, rel=1e-6)
    alone, _ = integrate.quad(lambda d: np.expm1(d) * stats.norm.pdf(d, -0.1, 0.4), 0, 8)
    assert found.saving[at(two, "binomial", 64)] == pytest.approx(alone, rel=1e-6)


def test_nothing_hangs_on_what_is_known(two: Candidates) -> None:
    found = stakes(two, belief(two, linear_64=(1.0, 0.0), linear_2=(0.5, 0.5)))
    assert found.saving[at(two, "linear", 64)] == found.saving[at(two, "binomial", 64)] == 0
    assert found.saving[at(two, "linear", 2)] > 0
    assert set(found.choice) == {at(two, "binomial", 2), at(two, "binomial", 64)}


def test_the_cheaper_of_two_equal_gains_comes_first_and_the_allowance_is_kept(two: Candidates) -> None:
    equal = belief(two, linear_2=(0.1, 0.5), linear_64=(0.1, 0.5))
    everything = np.ones(len(two.points), dtype=bool)
    cost = two.points["ranks"].to_numpy(np.float64)
    assert next_points(two, equal, cost, everything, 1) == [at(two, "linear", 2)]
    assert next_points(two, equal, 66 - cost, everything, 1) == [at(two, "linear", 64)]
    assert next_points(two, equal, cost, everything, 9, allowance=65.0) == [at(two, "linear", 2)]
    assert at(two, "linear", 64) in next_points(two, equal, cost, everything, 9, allowance=66.0)
    shut = everything.copy()
    shut[at(two, "linear", 2)] = False
    assert next_points(two, equal, cost, shut, 1) == [at(two, "linear", 64)]


def test_a_batch_does_not_ask_the_same_twice() -> None:
    """62 and 64 ranks tell the same; 2 ranks, where a little less is at stake, is something else."""
    known = candidates([2, 62, 64])
    unsure = belief(known, linear_2=(0.1, 0.45), linear_62=(0.1, 0.5), linear_64=(0.1, 0.5))
    batch = next_points(known, unsure, np.ones(len(known.points)), np.ones(len(known.points), dtype=bool), 2)
    assert {int(known.points["ranks"].iloc[index]) for index in batch} in ({2, 62}, {2, 64})


def test_a_lone_algorithm_has_nothing_to_decide() -> None:
    known = candidates([2, 64], ["linear"])
    assert known.contenders.shape[0] == 0
    assert settled(known, [Belief(np.zeros(len(known.points)), np.ones(len(known.points)))], 0.02)


def test_what_is_measured_is_known_and_what_is_not_predicted_is_wide_open() -> None:
    prediction = Prediction(
        np.array([1.0, np.nan, 4.0]), np.array([0.5, np.nan, 2.0]), np.array([2.0, np.nan, 8.0])
    )
    made = Belief.of(prediction, np.array([np.nan, np.nan, 3.0]))
    # A 95 % interval from half to twice: ln 2 is 1.96 deviations.
    assert made.deviation[0] == pytest.approx(np.log(2) / stats.norm.ppf(0.975), rel=1e-6)
    assert made.deviation[1] == WIDEST
    assert np.isfinite(made.mean[1])
    assert made.mean[2] == pytest.approx(np.log(3))
    assert made.deviation[2] < 0.02
    nothing = Belief.of(unknown(2), np.full(2, np.nan))
    assert np.isfinite(nothing.mean).all()


def test_settled_when_sure_and_the_same_for_several_batches(two: Candidates) -> None:
    sure = belief(two, linear_64=(1.0, 0.01), linear_2=(1.0, 0.01))
    other = belief(two, linear_64=(-1.0, 0.01), linear_2=(1.0, 0.01))
    near = belief(two, linear_64=(-0.01, 0.01), linear_2=(1.0, 0.01))
    assert settled(two, [sure, sure, sure], 0.02)
    assert not settled(two, [sure, sure, other], 0.02)
    # A choice that comes out 1 % slower than another is no change at a tolerance of 2 %.
    assert settled(two, [belief(two, linear_64=(0.01, 0.0), linear_2=(1.0, 0.0)), near], 0.02)


def test_earlier_beliefs_are_not_asked_for_where_the_newest_is_not_sure(two: Candidates) -> None:
    def newest_first() -> Iterator[Belief]:
        yield belief(two, linear_64=(0.1, 0.5))
        pytest.fail("asked for")

    assert not settled(two, newest_first(), 0.02)
