"""The time as a smooth surface over ranks and bytes, with nothing known of schedules or machines.

Every algorithm and placement has a surface of its own: ln time is a trend that all surfaces share plus a Gaussian
process over (ln ranks, ln bytes) with a long and a short Matérn-3/2 part (Rasmussen and Williams 2006, eq.
2.25–2.26 and 4.17). Deviations and lengths are those of largest posterior density over all surfaces at once. It
costs milliseconds where a simulation costs seconds, which is what choosing the next measurement needs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from scipy import linalg

from hockney.predict.estimators._places import SURFACE, places
from hockney.predict.estimators.base import Array, GroupModels, Training, estimators
from hockney.predict.gaussian_process import GaussianProcess, MeasurementSet, ParameterSearch, matern
from hockney.predict.points import positions
from hockney.statistics import CONFIDENCE, NORMAL_6

_MOST = 800
"""Training points of a surface; more add time, not knowledge."""
_TRIAL = 60
_TRIAL_SURFACES = 12
"""Points of a surface, and surfaces, on which deviations and lengths are found."""
_SEARCH = ParameterSearch(np.log([1.0, 2.0, 5.0, 0.15, 0.4, 1.5, 0.03]), deviation=1.0, farthest=3.0, steps=12)
"""Long deviation and lengths in ln ranks and ln bytes, short ones, deviation of a measurement."""
_LEAST_NOISE = 0.005
_BEND_B = 4096.0


class _PlacePairs:
    """Covariance of places a (n, 3) and b (m, 3); nodes and ranks a node share their lengths."""

    def __init__(self, a: Array, b: Array) -> None:
        self._shape = len(a), len(b)
        self._axes = []
        for axis, length in enumerate((1, 2, 1)):
            # Of many places few differ along an axis.
            (of_a, row), (of_b, column) = (np.unique(each[:, axis], return_inverse=True) for each in (a, b))
            if (apart := np.abs(of_a[:, None] - of_b)).any():
                self._axes.append((length, apart, row, column))
        self._latest: dict[int, tuple[bytes, Array]] = {}

    def kernel(self, parameters: Array) -> Array:
        """By the parameters, shape (n, m)."""
        return np.asarray(sum(self._part(first, parameters[first : first + 3]) for first in (0, 3)))

    def _part(self, first: int, own: Array) -> Array:
        """The long or the short one. A search moves one parameter after another: those of the other part stay."""
        if first not in self._latest or self._latest[first][0] != own.tobytes():
            part = np.full(self._shape, own[0] ** 2)
            for length, apart, row, column in self._axes:
                part *= matern(own[[length]], apart).take(row, axis=0).take(column, axis=1)
            self._latest[first] = own.tobytes(), part
        return self._latest[first][1]


def _kernel(a: Array, b: Array, parameters: Array) -> Array:
    return _PlacePairs(a, b).kernel(parameters)


def _noise(parameters: Array) -> float:
    return float(parameters[6] ** 2 + _LEAST_NOISE**2)


def _process(kernel: Callable[[Array], Array], residual: Array, parameters: Array) -> GaussianProcess:
    """That of residuals at places of this covariance, those outlying that are so under `parameters`."""
    return MeasurementSet(kernel, residual, _noise).weighed(parameters)


def _trend(at: Array) -> Array:
    """Bases of the trend, shape (n, 6): latency and bandwidth terms meet at some kilobytes."""
    size, growth = np.log1p(np.exp(at[:, 1]) / _BEND_B), at[:, [0, 2]]
    return np.column_stack([np.ones(len(at)), size, growth, size[:, None] * growth])


@dataclass(frozen=True)
class Surface:
    """The process given the residuals of the training points at places (n, 3).

    `trend`: coefficients of the trend of ln time in seconds. `parameters`: as in `_SEARCH`, not in logarithms.
    """

    trend: Array
    parameters: Array
    trained: Array
    process: GaussianProcess
    factor: float

    def __call__(self, points: pd.DataFrame) -> tuple[Array, Array, Array]:
        """Times with log-normal intervals."""
        at = places(points)
        residual, explained = self.process.at(_kernel(at, self.trained, self.parameters))
        whole = self.parameters[0] ** 2 + self.parameters[3] ** 2
        deviation = np.sqrt(np.maximum(whole - explained, 0.0) + _noise(self.parameters))
        reach = np.exp(self.factor * deviation)
        time_s = np.exp(_trend(at) @ self.trend + residual)
        return time_s, time_s / reach, time_s * reach


@dataclass(frozen=True)
class Surfaces(GroupModels):
    """A surface for each algorithm and placement.

    `left_out`: ln measured − ln predicted of each training point from all others, shape (n,); NaN where a surface
    had more points than it takes, and left this one out itself.
    """

    left_out: Array


def surfaces_of(training: Training) -> Surfaces:
    """A surface for each algorithm and placement of the training points, and the errors of points left out."""
    random = np.random.default_rng(1)
    at = places(training.points)
    time = np.log(training.points["time_s"].to_numpy(np.float64))
    bases = _trend(at)
    # A weak ridge: one number of ranks, or one size, leaves some bases without a say.
    trend = linalg.solve(bases.T @ bases + 1e-3 * np.eye(bases.shape[1]), bases.T @ time, assume_a="pos")
    residual = time - bases @ trend
    chosen = {
        key: index if index.size <= _MOST else np.sort(random.choice(index, _MOST, replace=False))
        for key, index in positions(training.points, SURFACE).items()
    }
    trial = [index[random.permutation(index.size)[:_TRIAL]] for index in chosen.values() if index.size > 2]
    parameters = np.exp(_SEARCH.begin)
    if trial:
        drawn = [trial[i] for i in random.permutation(len(trial))[:_TRIAL_SURFACES]]
        parameters = _SEARCH.parameters(
            [_process(_PlacePairs(at[i], at[i]).kernel, residual[i], parameters).measured for i in drawn]
        )
    surfaces: dict[Hashable, Surface] = {}
    unseen = np.full(len(at), np.nan)
    for key, index in chosen.items():
        process = _process(partial(_kernel, at[index], at[index]), residual[index], parameters)
        unseen[index], variance = process.left_out
        factor = max(NORMAL_6, float(np.quantile(np.abs(unseen[index]) / np.sqrt(variance), CONFIDENCE)))
        surfaces[key] = Surface(trend, parameters, at[index], process, factor)
    return Surfaces(SURFACE, surfaces, "are of algorithms or placements that were not trained", unseen)


estimators.register("gaussian_process")(surfaces_of)
