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
_TRIAL = 500
"""Points on which the lengths are found."""
_BEGIN = np.log([0.05, 0.05, 0.5, 2.0, 0.03])


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


def _matern(distance: Array) -> Array:
    scaled = np.sqrt(3.0) * distance
    return np.asarray((1 + scaled) * np.exp(-scaled))


def _kernel(a: Where, b: Where, log_parameters: Array) -> Array:
    own, shared, length_ranks, length_size, _ = np.exp(log_parameters)
    near = _matern(np.abs(a.ranks[:, None] - b.ranks) / length_ranks)
    near *= _matern(np.abs(a.size[:, None] - b.size) / length_size)
    alike = own**2 * (a.schedule[:, None] == b.schedule) + shared**2 * (a.mapping[:, None] == b.mapping)
    return np.asarray(near * alike)


def _loss(log_parameters: Array, at: Where, residual: Array) -> float:
    covariance = _kernel(at, at, log_parameters)
    covariance[np.diag_indices_from(covariance)] += np.exp(2 * log_parameters[4])
    try:
        factor = linalg.cholesky(covariance, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return 1e12
    white = linalg.solve_triangular(factor, residual, lower=True, check_finite=False)
    # Lengths beyond the data say nothing: they are held near the beginning.
    far = float((((log_parameters - _BEGIN) / 1.5) ** 2).sum())
    return float(0.5 * white @ white + np.log(np.diag(factor)).sum() + 0.5 * far)


class Discrepancy:
    """Fitted to residuals of shape (n,) at `at`."""

    def __init__(self, at: Where, residual: Array) -> None:
        deviation = max(1.4826 * float(np.median(np.abs(residual))), 0.01)
        clipped = np.clip(residual, -_CLIP * deviation, _CLIP * deviation)
        trial = np.random.default_rng(1).permutation(residual.size)[:_TRIAL]
        self._parameters = optimize.minimize(
            _loss, _BEGIN, args=(at[trial], clipped[trial]), method="L-BFGS-B", options={"maxiter": 40}
        ).x
        covariance = _kernel(at, at, self._parameters)
        covariance[np.diag_indices_from(covariance)] += np.exp(2 * self._parameters[4])
        self._at = at
        inverse = linalg.inv(covariance, check_finite=False, overwrite_a=True)
        self._inverse = (inverse + inverse.T) / 2
        self._weights = self._inverse @ clipped
        # Leaving one out: Rasmussen and Williams, eq. 5.12, with the residual as it was measured.
        own = np.diag(self._inverse)
        left_out = self._weights / own + (residual - clipped)
        self.factor = float(np.quantile(np.abs(left_out) * np.sqrt(own), 0.95))
        """95 % of the points left out one at a time lie within that many deviations."""

    def at(self, where: Where) -> tuple[Array, Array]:
        """Correction and deviation in ln, shape (n,) each."""
        cross = _kernel(where, self._at, self._parameters)
        own, shared, *_, noise = np.exp(self._parameters)
        variance = (
            own**2 + shared**2 + noise**2 - np.einsum("ij,jk,ik->i", cross, self._inverse, cross, optimize=True)
        )
        return cross @ self._weights, np.sqrt(np.maximum(variance, noise**2))
