"""Gaussian processes against their definition: conditioning, leaving one out, planted parameters."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hockney.predict.gaussian_process import Array, GaussianProcess, MeasurementSet, ParameterSearch, matern

PLACES = np.array([0.0, 0.3, 1.0, 1.1, 2.5, 4.0])
VALUES = np.array([0.2, 0.5, -0.3, -0.1, 1.0, 0.4])


def kernel(a: Array, b: Array, length: float = 0.8) -> Array:
    return matern([length], np.abs(a[:, None] - b))


NOISY = kernel(PLACES, PLACES) + 0.01 * np.eye(PLACES.size)


def process(covariance: Array, values: Array) -> GaussianProcess:
    return GaussianProcess(MeasurementSet(lambda _: covariance.copy(), values), np.empty(0))


def test_the_kernel_is_the_formula_along_each_axis() -> None:
    # (1 + √3 d/l) exp(−√3 d/l), here with d = 2, l = 4 and with d = 3, l = 1.
    a, b = math.sqrt(3) / 2, 3 * math.sqrt(3)
    expected = (1 + a) * math.exp(-a) * (1 + b) * math.exp(-b)
    assert matern([4.0, 1.0], np.array([2.0]), np.array([3.0])) == pytest.approx([expected])
    assert matern([4.0], np.zeros(1)) == pytest.approx([1.0])


def test_a_process_is_the_normal_distribution_given_its_measurements() -> None:
    asked = np.array([0.5, 3.0, 100.0])
    cross = kernel(asked, PLACES)
    mean, explained = process(NOISY, VALUES).at(cross)
    assert mean == pytest.approx(cross @ np.linalg.inv(NOISY) @ VALUES)
    assert explained == pytest.approx(np.diag(cross @ np.linalg.inv(NOISY) @ cross.T))
    # Far from all measurements nothing is known.
    assert (mean[2], explained[2]) == pytest.approx((0.0, 0.0))


def test_leaving_out_is_a_process_without_the_measurement() -> None:
    miss, variance = process(NOISY, VALUES).left_out
    for i in range(VALUES.size):
        rest = np.arange(VALUES.size) != i
        mean, explained = process(NOISY[np.ix_(rest, rest)], VALUES[rest]).at(NOISY[[i]][:, rest])
        assert miss[i] == pytest.approx(VALUES[i] - mean[0])
        assert variance[i] == pytest.approx(NOISY[i, i] - explained[0])


def test_parameters_that_were_planted_come_back_from_several_sets() -> None:
    """Deviation, length and noise of sets drawn with them; a weak prior begins elsewhere."""
    # Noise as large as what neighbours leave open of each other.
    truth = np.array([2.0, 0.5, 0.5])
    apart = np.abs(np.linspace(0, 10, 60)[:, None] - np.linspace(0, 10, 60))

    def covariance(parameters: Array) -> Array:
        deviation, length, noise = parameters
        return np.asarray(deviation**2 * matern([length], apart) + noise**2 * np.eye(60))

    random = np.random.default_rng(3)
    root = np.linalg.cholesky(covariance(truth))
    sets = [MeasurementSet(covariance, root @ random.normal(size=60)) for _ in range(20)]
    search = ParameterSearch(np.zeros(3), deviation=3.0, farthest=6.0, steps=100)
    # 1,200 correlated draws: some 5 % are left open of each.
    assert search.parameters(sets) == pytest.approx(truth, rel=0.15)
    assert search.parameters([]) == pytest.approx(np.ones(3))


def test_parameters_end_at_the_bounds() -> None:
    # No noise explains values of a thousand, which a deviation of at most e² is asked to.
    sets = [MeasurementSet(lambda p: p[0] ** 2 * np.eye(4), np.full(4, 1000.0))]
    search = ParameterSearch(np.zeros(1), deviation=100.0, farthest=2.0, steps=50)
    assert search.parameters(sets) == pytest.approx([math.exp(2)])
