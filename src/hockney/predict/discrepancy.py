"""What a calibrated simulation still misses, learned from its residuals by a Gaussian process.

Residuals (ln measured − ln simulated) of neighbouring ranks and sizes resemble each other: for the same schedule
and mapping, and less for all schedules of a mapping (Kennedy and O'Hagan 2001; Rasmussen and Williams 2006, eq.
2.25–2.26). Far from the training points the correction is nothing and the uncertainty that of the residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize

Array = NDArray[np.float64]

_CLIP = 4.0
"""Residuals beyond that many robust deviations are outliers: they count as that many."""
_MOST_LEVERAGE = 0.9
"""A point that nearly alone decides about itself does not say how wrong it would have been."""
_TRIAL = 500
"""Points on which the lengths are found."""
_BEGIN = np.log([0.05, 0.05, 0.5, 2.0, 0.03])
_FARTHEST = 6.0
"""A factor of 400 either way."""


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

    def kernel(self, log_parameters: Array) -> Array:
        own, shared, length_ranks, length_size, _ = np.exp(log_parameters)
        near = _matern(self.ranks / length_ranks) * _matern(self.size / length_size)
        return np.asarray(near * (own**2 * self.alike + shared**2))


def _matern(distance: Array) -> Array:
    scaled = np.sqrt(3.0) * distance
    return np.asarray((1 + scaled) * np.exp(-scaled))


def _loss(log_parameters: Array, blocks: Sequence[tuple[_Between, Array]]) -> float:
    # Lengths beyond the data say nothing: they are held near the beginning.
    loss = 0.5 * float((((log_parameters - _BEGIN) / 1.5) ** 2).sum())
    for between, residual in blocks:
        covariance = between.kernel(log_parameters)
        covariance[np.diag_indices_from(covariance)] += np.exp(2 * log_parameters[4])
        try:
            factor = linalg.cholesky(covariance, lower=True, check_finite=False)
        except linalg.LinAlgError:
            return 1e12
        white = linalg.solve_triangular(factor, residual, lower=True, check_finite=False)
        loss += float(0.5 * white @ white + np.log(np.diag(factor)).sum())
    return loss


def _by_mapping(at: Where) -> dict[int, NDArray[np.intp]]:
    """Positions of each mapping's points: points of different mappings have nothing in common."""
    return {int(one): np.flatnonzero(at.mapping == one) for one in np.unique(at.mapping)}


@dataclass(frozen=True)
class _Block:
    """The process of one mapping: its points, the inverse of their covariance, and that times the residuals."""

    at: Where
    inverse: Array
    weights: Array


class Discrepancy:
    """Fitted to residuals of shape (n,) at `at`; `leverage`, shape (n,): 0 to 1, see `Calibration`."""

    def __init__(self, at: Where, residual: Array, leverage: Array) -> None:
        deviation = max(1.4826 * float(np.median(np.abs(residual))), 0.01)
        clipped = np.clip(residual, -_CLIP * deviation, _CLIP * deviation)
        trial = np.random.default_rng(1).permutation(residual.size)[:_TRIAL]
        blocks = []
        for index in _by_mapping(at[trial]).values():
            some = at[trial[index]]
            blocks.append((_Between.of(some, some), clipped[trial[index]]))
        self._parameters = optimize.minimize(
            _loss,
            _BEGIN,
            args=(blocks,),
            method="L-BFGS-B",
            # Without residuals there is nothing to find, and the search would leave for infinity.
            bounds=[(value - _FARTHEST, value + _FARTHEST) for value in _BEGIN],
            options={"maxiter": 40},
        ).x
        self._blocks: dict[int, _Block] = {}
        scaled = np.empty(residual.size)
        for mapping, index in _by_mapping(at).items():
            mine = at[index]
            covariance = _Between.of(mine, mine).kernel(self._parameters)
            covariance[np.diag_indices_from(covariance)] += np.exp(2 * self._parameters[4])
            inverse = linalg.inv(covariance, check_finite=False, overwrite_a=True)
            inverse = (inverse + inverse.T) / 2
            weights = inverse @ clipped[index]
            self._blocks[mapping] = _Block(mine, inverse, weights)
            # Leaving one out: Rasmussen and Williams, eq. 5.12, with the residual as it was measured.
            own = np.diag(inverse)
            left_out = weights / own + (residual - clipped)[index]
            share = np.minimum(leverage[index], _MOST_LEVERAGE)
            # Without the point its parameters are less certain too, which an interval there would say.
            expected = np.sqrt(1 / own + deviation**2 * share / (1 - share))
            scaled[index] = np.abs(left_out) / (1 - share) / expected
        self.factor = float(np.quantile(scaled, 0.95))
        """95 % of the points left out one at a time lie within that many deviations."""

    def at(self, where: Where) -> tuple[Array, Array]:
        """Correction and deviation in ln, shape (n,) each."""
        own, shared, *_, noise = np.exp(self._parameters)
        correction = np.zeros(where.ranks.size)
        variance = np.full(where.ranks.size, own**2 + shared**2 + noise**2)
        for mapping, index in _by_mapping(where).items():
            if mapping not in self._blocks:
                continue
            block = self._blocks[mapping]
            cross = _Between.of(where[index], block.at).kernel(self._parameters)
            correction[index] = cross @ block.weights
            variance[index] -= ((cross @ block.inverse) * cross).sum(axis=1)
        return correction, np.sqrt(np.maximum(variance, noise**2))
