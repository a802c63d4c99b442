"""Gaussian processes with Matérn-3/2 kernels (Rasmussen and Williams 2006; equations by their numbers there).

Deviations and lengths are those of largest posterior density over several sets of measurements at once; what is
common to all sets are these parameters alone. They are searched for as logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize

from hockney.runner.remembered import KeptByFields

Array = NDArray[np.float64]

OUTLIER = 4.0
"""Deviations from what the others say, beyond which a measurement counts as disturbed."""


def matern(lengths: Sequence[float] | Array, *distances: Array) -> Array:
    """Correlation at distances along axes, of one shape, with a length for each: the product of eq. 4.17."""
    scaled = [np.sqrt(3.0) / length * distance for length, distance in zip(lengths, distances, strict=True)]
    return np.asarray(math.prod(1 + axis for axis in scaled) * np.exp(-sum(scaled)))


def _noiseless(_: Array) -> float:
    return 0.0


@dataclass(frozen=True)
class MeasurementSet:
    """A set of n measurements: `value` (n,), and by the parameters their covariance (n, n) without noise, and the
    variance of each one's noise. `excess` (n,): the variance of disturbed ones beyond that of the others."""

    kernel: Callable[[Array], Array]
    value: Array
    noise: Callable[[Array], float] = _noiseless
    excess: Array | float = 0.0

    def covariance(self, parameters: Array) -> Array:
        """With noise."""
        covariance = self.kernel(parameters)
        covariance[np.diag_indices_from(covariance)] += self.noise(parameters) + self.excess
        return covariance

    def weighed(self, parameters: Array) -> GaussianProcess:
        """The process under these parameters, with the excess of those that lie far from what the others say: it
        keeps them from bending it."""
        process = GaussianProcess(self, parameters)
        miss, variance = process.left_out
        is_far = miss**2 > OUTLIER**2 * variance
        if not is_far.any():
            return process
        return replace(process, measured=replace(self, excess=np.where(is_far, miss**2, 0.0)))


@dataclass(frozen=True)
class ParameterSearch:
    """A search for parameters, in logarithms: it starts at `begin` (k,), with a normal prior around it.

    `deviation`: that of the prior. `farthest`: bounds either way. `steps`: of L-BFGS-B at most.
    """

    begin: Array
    deviation: float
    farthest: float
    steps: int

    def parameters(self, measured: Sequence[MeasurementSet]) -> Array:
        """Those of largest posterior density (eq. 5.8 with the prior), shape (k,), not in logarithms."""
        optimum = optimize.minimize(
            self._loss,
            self.begin,
            args=(measured,),
            method="L-BFGS-B",
            bounds=[(start - self.farthest, start + self.farthest) for start in self.begin],
            options={"maxiter": self.steps},
        )
        return np.exp(optimum.x)

    def _loss(self, log_parameters: Array, measured: Sequence[MeasurementSet]) -> float:
        total = 0.5 * float((((log_parameters - self.begin) / self.deviation) ** 2).sum())
        parameters = np.exp(log_parameters)
        for measurements in measured:
            try:
                factor = _factor(measurements.covariance(parameters))
            except linalg.LinAlgError:
                return 1e12
            white = linalg.solve_triangular(factor, measurements.value, lower=True, check_finite=False)
            total += 0.5 * float(white @ white) + float(np.log(np.diag(factor)).sum())
        return total


@dataclass(frozen=True)
class GaussianProcess(KeptByFields):
    """A process given measurements, under parameters. Its factor (n, n) is computed when it is asked first."""

    measured: MeasurementSet
    parameters: Array

    @cached_property
    def _factor(self) -> Array:
        return _factor(self.measured.covariance(self.parameters))

    @cached_property
    def _weights(self) -> Array:
        return np.asarray(linalg.cho_solve((self._factor, True), self.measured.value, check_finite=False))

    def at(self, cross: Array) -> tuple[Array, Array]:
        """Mean, and by how much the measurements lower the variance, shape (m,), at covariances (m, n) with them.

        Eq. 2.25 and 2.26.
        """
        white = linalg.solve_triangular(self._factor, cross.T, lower=True, check_finite=False)
        return cross @ self._weights, (white**2).sum(axis=0)

    @cached_property
    def left_out(self) -> tuple[Array, Array]:
        """The residual of each measurement against the prediction from all others, and its variance: eq. 5.12.

        Shapes (n,).
        """
        # The inverse is that of the factor times its transpose: a third of the work of inverting the whole.
        inverse, _ = linalg.lapack.dtrtri(self._factor, lower=1)
        variance = 1 / (inverse**2).sum(axis=0)
        return (inverse.T @ (inverse @ self.measured.value)) * variance, variance


def _factor(covariance: Array) -> Array:
    return np.asarray(linalg.cholesky(covariance, lower=True, check_finite=False))
