"""Straight lines and parabolas in the number of ranks, with what is needed to judge them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hockney.statistics import Array, least_squares


@dataclass(frozen=True)
class Regression:
    """T(P) = c₀ + c₁P (+ c₂P²), times in seconds, P the number of ranks itself, not scaled.

    `weights`: `absolute` is ordinary least squares, ruled by the largest times; `relative`
    divides every residual by the measured time. `standard_errors` and `adjusted_r2` (on the scale of the fit) are
    those of the usual linear model. `first` and `last`: the range of P that it rests on.
    """

    degree: int
    weights: str
    coefficients: tuple[float, ...]
    standard_errors: tuple[float, ...]
    adjusted_r2: float
    points: int
    first: int
    last: int
    notes: list[str] = field(default_factory=list)


def regressions(ranks: Array, time_s: Array) -> list[Regression]:
    """Linear and quadratic, absolute and relative; nothing where there are fewer than three points more than
    coefficients, because R² would say nothing.
    """
    fits = []
    for degree in (1, 2):
        if ranks.size < degree + 4:
            continue
        fits += [_fit(ranks, time_s, degree, weights) for weights in ("absolute", "relative")]
    return fits


def _fit(ranks: Array, time_s: Array, degree: int, weights: str) -> Regression:
    weight = np.ones_like(time_s) if weights == "absolute" else 1 / time_s
    powers = np.vander(ranks, degree + 1, increasing=True)
    polynomial = least_squares(powers, time_s, weight)
    constant = least_squares(np.ones((ranks.size, 1)), time_s, weight)
    adjusted = 1 - (polynomial.noise / constant.noise) ** 2 if constant.square > 0 else 0.0
    return Regression(
        degree,
        weights,
        tuple(polynomial.value.tolist()),
        tuple((polynomial.noise * polynomial.errors).tolist()),
        adjusted,
        int(ranks.size),
        int(ranks.min()),
        int(ranks.max()),
        _notes(polynomial.value, ranks, powers),
    )


def _notes(coefficients: Array, ranks: Array, powers: Array) -> list[str]:
    notes = []
    if np.any(powers @ coefficients <= 0):
        notes.append("predicts negative times in its range")
    if coefficients.size == 3 and coefficients[2] != 0:
        vertex = -coefficients[1] / (2 * coefficients[2])
        if ranks.min() < vertex < ranks.max():
            notes.append(f"turns round at {vertex:.0f} ranks, inside its range")
    return notes
