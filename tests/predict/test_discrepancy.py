"""What a simulation misses: corrected near the training points, nothing far away, intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hockney.predict.discrepancy import Discrepancy, Groups, Where

Array = NDArray[np.float64]
NOISE = 0.03


def where(ranks: Array, octave: Array, schedule: int = 0, mapping: int = 0) -> Where:
    ones = np.ones(ranks.size, dtype=np.intp)
    return Where(np.log(ranks), octave, schedule * ones, mapping * ones)


def missed(ranks: Array, octave: Array) -> Array:
    """Smooth over a factor of two in ranks and over two octaves of the size."""
    return np.asarray(0.2 * np.sin(np.log(ranks)) * np.cos(octave / 5))


@pytest.fixture(scope="module")
def seen() -> tuple[Array, Array, Array]:
    random = np.random.default_rng(5)
    ranks, octave = random.uniform(4, 128, 300), random.uniform(0, 20, 300)
    return ranks, octave, missed(ranks, octave) + random.normal(0, NOISE, 300)


@pytest.fixture(scope="module")
def learned(seen: tuple[Array, Array, Array]) -> Discrepancy:
    ranks, octave, residual = seen
    return Discrepancy(where(ranks, octave), residual, np.zeros(300))


def test_a_smooth_residual_is_corrected_among_its_points(learned: Discrepancy) -> None:
    ranks, octave = np.random.default_rng(6).uniform([[8], [2]], [[100], [18]], (2, 200))
    correction, deviation = learned.at(where(ranks, octave))
    left = missed(ranks, octave) - correction
    # What is left is below the noise of a single point, where nothing corrected is 0.1.
    assert np.sqrt(np.mean(left**2)) < NOISE
    assert np.sqrt(np.mean(missed(ranks, octave) ** 2)) > 3 * NOISE
    assert (deviation >= 0.5 * NOISE).all()


@pytest.mark.parametrize(
    "far", [where(np.array([1e9]), np.array([10.0])), where(np.array([30.0]), np.array([500.0]))]
)
def test_far_away_nothing_is_corrected_and_the_doubt_is_all_of_it(learned: Discrepancy, far: Where) -> None:
    correction, deviation = learned.at(far)
    _, near = learned.at(where(np.array([30.0]), np.array([10.0])))
    assert abs(correction[0]) < 0.01
    assert deviation[0] > 2 * near[0]


def test_another_mapping_has_nothing_in_common(learned: Discrepancy) -> None:
    correction, deviation = learned.at(where(np.array([30.0]), np.array([5.0]), schedule=9, mapping=9))
    assert correction[0] == 0.0
    assert deviation[0] == pytest.approx(learned.at(where(np.array([1e12]), np.array([5.0])))[1][0], rel=1e-3)


def test_another_schedule_of_the_mapping_has_something_in_common(learned: Discrepancy) -> None:
    at = where(np.array([10.0]), np.array([2.0])), where(np.array([10.0]), np.array([2.0]), schedule=1)
    own, other = (learned.at(one) for one in at)
    assert other[1][0] > own[1][0]


def test_mappings_are_fitted_apart(seen: tuple[Array, Array, Array]) -> None:
    """The same as one process with a covariance of nothing between mappings."""
    ranks, octave, residual = seen
    both = Where(
        np.log(np.tile(ranks, 2)),
        np.tile(octave, 2),
        np.repeat(np.array([0, 1]), 300),
        np.repeat(np.array([0, 1]), 300),
    )
    learned = Discrepancy(both, np.concatenate([residual, -residual]), np.zeros(600))
    here, there = learned.at(where(ranks, octave)), learned.at(where(ranks, octave, 1, 1))
    assert here[0] == pytest.approx(-there[0], abs=1e-9)
    assert here[1] == pytest.approx(there[1], abs=1e-9)


@pytest.mark.parametrize("heavy", [False, True])
def test_intervals_cover_what_was_left_out(heavy: bool) -> None:
    random = np.random.default_rng(8)
    ranks, octave = random.uniform(4, 128, 600), random.uniform(0, 20, 600)
    noise = NOISE * (random.standard_t(3, 600) if heavy else random.normal(size=600))
    residual = missed(ranks, octave) + noise
    learned = Discrepancy(where(ranks[:300], octave[:300]), residual[:300], np.zeros(300))
    correction, deviation = learned.at(where(ranks[300:], octave[300:]))
    inside = np.abs(residual[300:] - correction) <= learned.factor * deviation
    # 300 points: two standard deviations of a share of 95 % are 2.5 %, those of the 95 % quantile as much.
    assert 0.91 <= inside.mean() <= 0.99


def test_a_few_gross_outliers_do_not_bend_it(seen: tuple[Array, Array, Array]) -> None:
    ranks, octave, residual = seen
    spoiled = residual.copy()
    spoiled[::20] += 3.0
    learned = Discrepancy(where(ranks, octave), spoiled, np.zeros(300))
    grid = where(np.linspace(10, 100, 50), np.full(50, 10.0))
    # 5 % at four robust deviations (0.4 or so) move the level by a few per cent, not by 5 % of 3.
    assert np.abs(learned.at(grid)[0] - missed(np.linspace(10, 100, 50), np.full(50, 10.0))).max() < 0.1


def test_the_same_residuals_give_the_same_process(seen: tuple[Array, Array, Array]) -> None:
    ranks, octave, residual = seen
    once, again = (
        Discrepancy(where(ranks, octave), residual, np.zeros(300)).at(where(ranks, octave)) for _ in range(2)
    )
    assert (once[0] == again[0]).all()
    assert (once[1] == again[1]).all()


def test_points_that_decide_about_themselves_widen_the_interval(seen: tuple[Array, Array, Array]) -> None:
    """Left out, a residual is 1 / (1 − h) of what it was, and its prediction less certain by h / (1 − h) of the
    noise: for h = ½ twice as far off, √2 times as uncertain."""
    ranks, octave, _ = seen
    noise = np.random.default_rng(5).normal(0, NOISE, 300)
    alone, half = (Discrepancy(where(ranks, octave), noise, np.full(300, h)).factor for h in (0.0, 0.5))
    # The process takes some of the noise for its own.
    assert half / alone == pytest.approx(2 / np.sqrt(2), rel=0.1)


def test_words_keep_their_numbers() -> None:
    groups = Groups()
    assert groups.of(["a", "b", "a"]).tolist() == [0, 1, 0]
    assert groups.of(["c", "b"]).tolist() == [2, 1]
