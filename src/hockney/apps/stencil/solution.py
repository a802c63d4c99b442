"""A whole solution of an iterative solver: how many iterations it takes, and how long."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field, InstanceOf

from hockney.apps.stencil.choice import GridPrediction
from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.statistics import LeastSquares, least_squares, t_reach


@dataclass(frozen=True)
class IterationsLaw:
    """Iterations = `coefficient` · n^`exponent`, by least squares of logarithms.

    n is the side of the square or cube with the same condition number (`equal_side`), from `smallest_n` to
    `largest_n` of the `sizes` that were measured. With two sizes the law passes through both, and there is no
    interval.
    """

    coefficient: Parameter
    exponent: Parameter
    smallest_n: float
    largest_n: float
    sizes: int
    fitted: Annotated[InstanceOf[LeastSquares], Field(exclude=True)]

    def at(self, side: float) -> Parameter:
        """Iterations for n = `side`, with the interval of one further size (Student's t)."""
        value = self.coefficient.value * side**self.exponent.value
        leverage = float(self.fitted.leverage(np.array([[1.0, math.log(side)]]))[0])
        return _factor(value, _reach(self.fitted, 1 + leverage))


def equal_side(unknowns: Sequence[int]) -> float:
    """The side of the square or cube whose Laplacian has the condition number of this one's.

    Its smallest eigenvalue is about Σ (π/(n_d + 1))² over the directions d, its largest does not depend on n.
    """
    inverse = sum(1 / (count + 1) ** 2 for count in unknowns)
    return math.sqrt(len(unknowns) / inverse) - 1


def fit_iterations(sides: Sequence[float], iterations: Sequence[float]) -> IterationsLaw:
    """RequestError with fewer than two different sizes."""
    if len(set(sides)) < 2:
        raise RequestError(
            "iterations of one size say nothing of another", "run at least two sizes, better four: --size …"
        )
    x, y = np.log(np.asarray(sides, dtype=np.float64)), np.log(np.asarray(iterations, dtype=np.float64))
    design = np.column_stack([np.ones_like(x), x])
    fitted = least_squares(design, y)
    first, exponent = (float(value) for value in fitted.value)
    of_first, of_exponent = (_reach(fitted, float(variance)) for variance in np.diag(fitted.covariance))
    low, high = (None, None) if of_exponent is None else (exponent - of_exponent, exponent + of_exponent)
    return IterationsLaw(
        _factor(math.exp(first), of_first),
        Parameter(value=exponent, low=low, high=high, unit="1"),
        float(min(sides)),
        float(max(sides)),
        len(x),
        fitted,
    )


def _reach(fitted: LeastSquares, variance: float) -> float | None:
    """Half the width of a 95 % interval; `variance` in units of a residual's. None without freedom."""
    return t_reach(fitted.noise * math.sqrt(variance), fitted.freedom) if fitted.freedom > 0 else None


def _factor(value: float, reach: float | None) -> Parameter:
    if reach is None:
        return Parameter(value=value, unit="1")
    return Parameter(value=value, low=value * math.exp(-reach), high=value * math.exp(reach), unit="1")


@dataclass(frozen=True, kw_only=True)
class Solution(IterationsLaw):
    """`iterations` of a whole solution to a residual of `eps` times the first, by the law of some sizes."""

    iterations: Parameter
    eps: float
    warnings: Annotated[list[str], Field(exclude=True)]

    def time_s(self, iteration: GridPrediction) -> Parameter:
        """Of the whole: iterations times the time of one; intervals on logarithmic scales, as independent."""
        low_s, high_s = iteration.low_s, iteration.high_s
        return self.iterations.times(Parameter(value=iteration.time_s, low=low_s, high=high_s, unit="s"), "s")

    def in_words(self) -> str:
        """How many iterations, and by which law."""
        count, power = self.iterations, self.exponent
        return (
            f"a solution to {self.eps:g}: {count.value:.0f} iterations{count.bounds('.0f', '')}, by "
            f"{self.coefficient.value:.3g} n^{power.value:.3g}{power.bounds(about='')} over {self.sizes} sizes, "
            f"n from {self.smallest_n:.4g} to {self.largest_n:.4g}"
        )
