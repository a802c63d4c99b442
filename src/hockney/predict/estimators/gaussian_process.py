"""The time as a smooth surface over ranks and bytes, with nothing known of schedules or machines.

Every algorithm and placement has a surface of its own: ln time is a trend that all surfaces share plus a Gaussian
process over (ln ranks, ln bytes) with a long and a short Matérn-3/2 part (Rasmussen and Williams 2006, eq.
2.25–2.26 and 4.17). Deviations and lengths are those of largest posterior density over all surfaces at once. It
costs milliseconds where a simulation costs seconds, which is what choosing the next measurement needs.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import linalg, optimize

from hockney.predict.estimators.base import Array, Fitted, Prediction, Training, estimators, unknown
from hockney.predict.points import GROWING, POINT, positions

SURFACE = tuple(name for name in POINT if name not in (*GROWING, "bytes"))
"""What a surface holds fixed."""
_MOST = 800
"""Training points of a surface; more add time, not knowledge."""
_TRIAL = 60
_TRIAL_SURFACES = 12
"""Points of a surface, and surfaces, on which deviations and lengths are found."""
_BEGIN = np.log([1.0, 2.0, 5.0, 0.15, 0.4, 1.5, 0.03])
"""Long deviation and lengths in ln ranks and ln bytes, short ones, deviation of a measurement."""
_PRIOR = 1.0
_LEAST_NOISE = 0.005
_OUTLIER = 4.0
"""Deviations from what the other points say, beyond which a measurement counts as disturbed."""
_BEND_B = 4096.0
_NORMAL_95 = 1.959964


def _matern(a: Array, b: Array, lengths: Array) -> Array:
    ranks, size = (np.sqrt(3.0) / lengths[i] * np.abs(a[:, i, None] - b[:, i]) for i in (0, 1))
    return np.asarray((1 + ranks) * (1 + size) * np.exp(-(ranks + size)))


def _kernel(a: Array, b: Array, parameters: Array) -> Array:
    """Covariance of places a (n, 2) and b (m, 2)."""
    long, short = parameters[0] ** 2, parameters[3] ** 2
    return np.asarray(long * _matern(a, b, parameters[1:3]) + short * _matern(a, b, parameters[4:6]))


def _noisy(at: Array, outlying: Array, parameters: Array) -> Array:
    """Covariance of measurements; `outlying`: variance of each beyond the common one, shape (n,)."""
    covariance = _kernel(at, at, parameters)
    covariance[np.diag_indices_from(covariance)] += parameters[6] ** 2 + _LEAST_NOISE**2 + outlying
    return covariance


def _outlying(at: Array, residual: Array, parameters: Array) -> Array:
    """The variance that explains measurements far from what all others say of them, shape (n,); 0 for the rest.

    Leaving one out: Rasmussen and Williams, eq. 5.12.
    """
    inverse = linalg.inv(_noisy(at, np.zeros(len(at)), parameters), check_finite=False)
    variance = 1 / np.diag(inverse)
    miss = (inverse @ residual) * variance
    made: Array = np.where(miss**2 > _OUTLIER**2 * variance, miss**2, 0.0)
    return made


def _loss(log_parameters: Array, surfaces: list[tuple[Array, Array, Array]]) -> float:
    """Negative log posterior density of the residuals of some surfaces."""
    parameters = np.exp(log_parameters)
    total = 0.5 * float((((log_parameters - _BEGIN) / _PRIOR) ** 2).sum())
    for at, residual, outlying in surfaces:
        factor = linalg.cholesky(_noisy(at, outlying, parameters), lower=True, check_finite=False)
        white = linalg.solve_triangular(factor, residual, lower=True, check_finite=False)
        total += 0.5 * float(white @ white) + float(np.log(np.diag(factor)).sum())
    return total


def _places(points: pd.DataFrame) -> Array:
    """ln ranks and ln bytes, shape (n, 2); no byte counts as half of one."""
    ranks, size = (points[name].to_numpy(np.float64) for name in ("ranks", "bytes"))
    return np.asarray(np.log(np.column_stack([ranks, np.maximum(size, 0.5)])))


def _trend(at: Array) -> Array:
    """Bases of the trend, shape (n, 4): latency and bandwidth terms meet at some kilobytes."""
    size = np.log1p(np.exp(at[:, 1]) / _BEND_B)
    return np.column_stack([np.ones(len(at)), at[:, 0], size, size * at[:, 0]])


@dataclass(frozen=True)
class _Surface:
    at: Array
    factor: Array
    weights: Array


@dataclass(frozen=True)
class Surfaces:
    """`trend`: coefficients of the trend of ln time in seconds; `parameters`: as `_BEGIN`, not in logarithms."""

    trend: Array
    parameters: Array
    surfaces: dict[Hashable, _Surface]

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times with log-normal intervals; NaN for algorithms and placements that training lacks."""
        made = unknown(len(points))
        for key, index in positions(points, SURFACE).items():
            found = self.surfaces.get(key)
            if found is None:
                continue
            at = _places(points.iloc[index])
            cross = _kernel(at, found.at, self.parameters)
            white = linalg.solve_triangular(found.factor, cross.T, lower=True, check_finite=False)
            whole = self.parameters[0] ** 2 + self.parameters[3] ** 2
            noise = self.parameters[6] ** 2 + _LEAST_NOISE**2
            deviation = np.sqrt(np.maximum(whole - (white**2).sum(axis=0), 0.0) + noise)
            made.time_s[index] = np.exp(_trend(at) @ self.trend + cross @ found.weights)
            made.low_s[index] = made.time_s[index] * np.exp(-_NORMAL_95 * deviation)
            made.high_s[index] = made.time_s[index] * np.exp(_NORMAL_95 * deviation)
        missing = int(np.isnan(made.time_s).sum())
        note = [f"{missing} points are of algorithms or placements that were not trained"]
        return Prediction(made.time_s, made.low_s, made.high_s, note if missing else None)


@estimators.register("gaussian_process")
def fit(training: Training) -> Fitted:
    """A surface for each algorithm and placement of the training points."""
    random = np.random.default_rng(1)
    at = _places(training.points)
    time = np.log(training.points["time_s"].to_numpy(np.float64))
    bases = _trend(at)
    # A weak ridge: one number of ranks, or one size, leaves some bases without a say.
    trend = linalg.solve(bases.T @ bases + 1e-3 * np.eye(4), bases.T @ time, assume_a="pos")
    residual = time - bases @ trend
    chosen = {
        key: index if index.size <= _MOST else np.sort(random.choice(index, _MOST, replace=False))
        for key, index in positions(training.points, SURFACE).items()
    }
    trial = [index[random.permutation(index.size)[:_TRIAL]] for index in chosen.values() if index.size > 2]
    parameters = np.exp(_BEGIN)
    if trial:
        some = [trial[i] for i in random.permutation(len(trial))[:_TRIAL_SURFACES]]
        seen = [(at[i], residual[i], _outlying(at[i], residual[i], parameters)) for i in some]
        found = optimize.minimize(
            _loss,
            _BEGIN,
            args=(seen,),
            method="L-BFGS-B",
            bounds=[(start - 3, start + 3) for start in _BEGIN],
            options={"maxiter": 12},
        )
        parameters = np.exp(found.x)
    surfaces: dict[Hashable, _Surface] = {}
    for key, index in chosen.items():
        outlying = _outlying(at[index], residual[index], parameters)
        factor = linalg.cholesky(_noisy(at[index], outlying, parameters), lower=True, check_finite=False)
        weights = linalg.cho_solve((factor, True), residual[index], check_finite=False)
        surfaces[key] = _Surface(at[index], factor, weights)
    return Surfaces(trend, parameters, surfaces)
