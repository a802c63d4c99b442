"""What a calibrated simulation still misses, learned from its residuals by a Gaussian process.

Residuals (ln measured − ln simulated) of neighbouring ranks and sizes resemble each other: for the same schedule
and mapping, and less for all schedules of a mapping (Kennedy and O'Hagan 2001; Rasmussen and Williams 2006, eq.
2.25–2.26). Far from the training points the correction is nothing and the uncertainty that of the residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hockney.predict.gaussian_process import Array, GaussianProcess, MeasurementSet, ParameterSearch, matern
from hockney.statistics import CONFIDENCE

_MOST_LEVERAGE = 0.9
"""A point that nearly alone decides about itself does not say how wrong it would have been."""
_TRIAL = 500
"""Points on which the lengths are found."""
_SEARCH = ParameterSearch(np.log([0.05, 0.05, 0.5, 2.0, 0.03]), deviation=1.5, farthest=6.0, steps=40)
"""Deviations of a schedule's own and of what all of a mapping share, lengths in ln ranks and log2 bytes, noise.

Lengths beyond the data say nothing: the prior holds them near the beginning. Without residuals there is nothing
to find, and the search would leave for infinity: it ends at a factor of 400 either way.
"""


@dataclass(frozen=True)
class Where:
    """Points as the process sees them, arrays of shape (n,): ln ranks, log2 bytes, a number for each pair of
    schedule and mapping, and one for each mapping."""

    ranks: Array
    size: Array
    schedule: NDArray[np.intp]
    mapping: NDArray[np.intp]

    def __getitem__(self, index: NDArray[np.intp]) -> Where:
        return Where(self.ranks[index], self.size[index], self.schedule[index], self.mapping[index])


class Groups:
    """Numbers for words, the same for training and test; a word that training lacks has a number of its own."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, words: Sequence[str]) -> NDArray[np.intp]:
        return np.array([self._known.setdefault(word, len(self._known)) for word in words], dtype=np.intp)


@dataclass(frozen=True)
class _Between:
    """How far pairs of points of one mapping are apart, arrays of shape (n, m)."""

    ranks: Array
    size: Array
    alike: NDArray[np.bool_]

    @staticmethod
    def of(a: Where, b: Where) -> _Between:
        return _Between(
            np.abs(a.ranks[:, None] - b.ranks),
            np.abs(a.size[:, None] - b.size),
            a.schedule[:, None] == b.schedule,
        )

    def kernel(self, parameters: Array) -> Array:
        own, shared = parameters[:2]
        near = matern(parameters[2:4], self.ranks, self.size)
        return np.asarray(near * (own**2 * self.alike + shared**2))


def _kernel(at: Where, parameters: Array) -> Array:
    return _Between.of(at, at).kernel(parameters)


def _noise(parameters: Array) -> float:
    return float(parameters[4] ** 2)


def _by_mapping(at: Where) -> dict[int, NDArray[np.intp]]:
    """Positions of each mapping's points: points of different mappings have nothing in common."""
    return {int(mapping): np.flatnonzero(at.mapping == mapping) for mapping in np.unique(at.mapping)}


class Discrepancy:
    """Fitted to residuals of shape (n,) at `at`; `leverage`, shape (n,): 0 to 1, see `Calibration`.

    `left_out`, shape (n,): what the simulation with its correction misses of each point when it is left out of
    both, in ln; `expected`, shape (n,): the deviation of that by the process.
    """

    def __init__(self, at: Where, residual: Array, leverage: Array) -> None:
        deviation = max(1.4826 * float(np.median(np.abs(residual))), 0.01)
        trial = np.random.default_rng(1).permutation(residual.size)[:_TRIAL]
        begin = np.exp(_SEARCH.begin)
        tried = [
            MeasurementSet(_Between.of(here, here).kernel, residual[trial[index]], _noise).weighed(begin).measured
            for index in _by_mapping(at[trial]).values()
            for here in [at[trial[index]]]
        ]
        self._parameters = _SEARCH.parameters(tried)
        self._processes: dict[int, tuple[Where, GaussianProcess]] = {}
        self.left_out, self.expected = np.empty(residual.size), np.empty(residual.size)
        for mapping, index in _by_mapping(at).items():
            here = at[index]
            process = MeasurementSet(partial(_kernel, here), residual[index], _noise).weighed(self._parameters)
            self._processes[mapping] = here, process
            miss, variance = process.left_out
            share = np.minimum(leverage[index], _MOST_LEVERAGE)
            self.left_out[index] = miss / (1 - share)
            # Without the point its parameters are less certain too, which an interval there would say. That the
            # point itself was disturbed, it would not say.
            undisturbed = np.maximum(variance - process.measured.excess, self._parameters[4] ** 2)
            self.expected[index] = np.sqrt(undisturbed + deviation**2 * share / (1 - share))
        self.factor = self.factor_of(self.left_out)
        """95 % of the points left out one at a time lie within that many deviations."""

    def factor_of(self, left_out: Array) -> float:
        """How many expected deviations hold 95 % of these errors of the points left out, shape (n,)."""
        return float(np.quantile(np.abs(left_out) / self.expected, CONFIDENCE))

    def at(self, where: Where) -> tuple[Array, Array]:
        """Correction and deviation in ln, shape (n,) each."""
        own, shared, *_, noise = self._parameters
        correction = np.zeros(where.ranks.size)
        variance = np.full(where.ranks.size, own**2 + shared**2 + noise**2)
        for mapping, index in _by_mapping(where).items():
            if mapping not in self._processes:
                continue
            points, process = self._processes[mapping]
            correction[index], explained = process.at(_Between.of(where[index], points).kernel(self._parameters))
            variance[index] -= explained
        return correction, np.sqrt(np.maximum(variance, noise**2))
