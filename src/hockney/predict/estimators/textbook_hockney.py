"""Textbook closed forms, α, β and γ fitted to the collective's own training times, one triple for each mapping.

The formulas are those of `models/collectives`. The parameters are shared by all algorithms, sizes and ranks of a
mapping: what a point-to-point table would give is thereby replaced by what suits the collective best, which
flatters the formulas (α and β from the collective itself: Nuriyev and Lastovetsky, arXiv 2004.11062). Fitted to
relative residuals, none of the three negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.models.collectives.closed_form import closed_form
from hockney.models.collectives.expression import FormulaCall
from hockney.predict.estimators._places import SLICE
from hockney.predict.estimators.base import Array, FittedEstimator, GroupModels, Training, estimators
from hockney.predict.points import CHOICE, positions, sliced
from hockney.statistics import CONFIDENCE, nonnegative_least_squares

GROUP = tuple(name for name in SLICE if name not in CHOICE)
"""What shares its parameters: a mapping, or on a grid a number of ranks a node, of an operation and a library."""


@dataclass(frozen=True)
class HockneyParameters:
    """α in s, β and γ in s/B; 95 % of times left out lie between prediction ÷ and × `factor` (NaN: unknown)."""

    alpha_s: float
    beta_s_per_B: float
    gamma_s_per_B: float
    factor: float

    def __call__(self, points: pd.DataFrame) -> tuple[Array, Array, Array]:
        """Times of points and the ends of their intervals; NaN without a closed form."""
        time_s = np.asarray(counts(points) @ np.array([self.alpha_s, self.beta_s_per_B, self.gamma_s_per_B]))
        return time_s, time_s / self.factor, time_s * self.factor


def counts(points: pd.DataFrame) -> Array:
    """How often α, β and γ count in the closed form of each point, shape (n, 3); NaN without a closed form."""
    columns = ["ranks", "bytes", "segment_bytes", "radix"]
    numbers = points[columns].astype(np.float64).fillna(0).to_numpy()
    table = np.full((len(points), 3), np.nan)
    for index in positions(points, ["operation", "algorithm"]).values():
        first = points.iloc[index[0]]
        form = closed_form(str(first["operation"]), str(first["algorithm"]))
        if form is not None:
            several = index[numbers[index, 0] > 1]
            table[several] = np.column_stack(np.broadcast_arrays(*form.counts(FormulaCall(*numbers[several].T))))
    return table


def _solve(counts: Array, time_s: Array) -> Array:
    weighted = counts / time_s[:, None]
    # A small square system has the same normal equations and makes leaving ranks out cheap.
    triangle = np.asarray(np.linalg.qr(np.column_stack([weighted, np.ones(time_s.size)]), mode="r"))
    return nonnegative_least_squares(triangle[:, :3], triangle[:, 3])


def parameters(counts: Array, time_s: Array, ranks: Array) -> HockneyParameters:
    """α, β, γ ≥ 0 with the least Σ((T − time_s)/time_s)², the factor from leaving out one rank count at a time.

    `counts` has shape (n, 3), the others (n,). With a single number of ranks nothing can be left out.
    """
    whole = _solve(counts, time_s)
    different = np.unique(ranks)
    ratios = []
    for count in different if different.size > 1 else []:
        out = ranks == count
        predicted = counts[out] @ _solve(counts[~out], time_s[~out])
        with np.errstate(divide="ignore"):
            ratios.append(np.abs(np.log(predicted / time_s[out])))
    left_out = np.sort(np.concatenate(ratios)) if ratios else np.array([])
    # The quantile of n left-out points that a further one stays below with 95 %.
    place = math.ceil(CONFIDENCE * (left_out.size + 1)) - 1
    factor = float(np.exp(left_out[place])) if place < left_out.size else float("nan")
    alpha, beta, gamma = (float(value) for value in whole)
    return HockneyParameters(alpha, beta, gamma, factor)


@estimators.register("textbook_hockney")
def fit(training: Training) -> FittedEstimator:
    """Parameters of each mapping; RequestError where no algorithm of the training points has a closed form."""
    number = counts(training.points)
    time_s = training.points["time_s"].to_numpy(np.float64)
    ranks = training.points["ranks"].to_numpy(np.float64)
    known = ~np.isnan(number[:, 0])
    if not known.any():
        raise RequestError(
            f"no algorithm of {training.operation} in training has a textbook formula",
            "train on named algorithms, not on the library's default",
        )
    groups = {}
    for key, everything in positions(sliced(training.points), GROUP).items():
        index = everything[known[everything]]
        if index.size:
            groups[key] = parameters(number[index], time_s[index], ranks[index])
    return GroupModels(GROUP, groups, "have no closed form, or nothing was trained in their mapping")
