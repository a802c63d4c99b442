"""Baselines of the accuracy page alone: no growth at all, textbook formulas, and Extra-P (package `extrap`).

`register()` enters them where `hockney.predict.evaluate` finds its own, so that they stand beside every figure.
Extra-P holds numpy below 2, and there is none for Python 3.13 and newer: it is better kept in an environment of
its own (`pip install 'extrap>=4.2'`). Where it is not installed, the page says that it is skipped.

`nearest_ranks`: the time of the trained run with such a size whose number of ranks is nearest, by the ratio of
ranks, the larger of two at the same ratio. Between two sizes of a run ln time is a straight line over ln bytes.

`last_slope`: for each algorithm, placement, size and ranks a node the time of the largest trained run, growing
with the ranks by the power that leads to it from the next smaller one.

`textbook_hockney`: T = aα + bβ + cγ with textbook counts (Thakur, Rabenseifner and Gropp, IJHPCA 19, 2005;
Pješivac-Grbović et al., Cluster Computing 10, 2007), α, β and γ ≥ 0 fitted to relative residuals of a mapping.

`extra_p`: for each algorithm, size and mapping Extra-P's model of time against ranks. A. Calotoiu, T. Hoefler,
M. Poke, F. Wolf, "Using automated performance modeling to find scalability bugs in complex codes", SC13.

`extra_p_joint`: for each algorithm and mapping its model of ranks and bytes together. A. Calotoiu, D.
Beckingsale, C. W. Earl, T. Hoefler, I. Karlin, M. Schulz, F. Wolf, "Fast multi-parameter performance modeling",
CLUSTER 2016.

For each parameter its modeler chooses c₀ + c₁ · x^(i/j) · log₂ᵏx by cross-validation, then how two of them
combine. It states no interval for a new point, so predictions have none.
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from hockney.errors import EnvironmentLack, RequestError
from hockney.predict.estimators._places import SLICE, SURFACE, means, places
from hockney.predict.estimators.base import (
    Array,
    FittedEstimator,
    GroupModels,
    GroupTimes,
    Prediction,
    Training,
    estimators,
    unknown,
)
from hockney.predict.estimators.combination import counts
from hockney.predict.estimators.linear_in_ranks import GROUP
from hockney.predict.points import CHOICE, positions, sliced
from hockney.statistics import CONFIDENCE, nonnegative_least_squares


def register() -> None:
    """Enter the baselines beside the package's own; once in a process."""
    for baseline in (nearest_ranks, last_slope, textbook_hockney, extra_p, extra_p_joint):
        estimators.register(baseline.__name__)(baseline)


def nearest_ranks(training: Training) -> FittedEstimator:
    """The training points themselves."""
    groups = positions(training.points, SURFACE)
    return NearestRuns({key: means(training.points.iloc[index]) for key, index in groups.items()})


def last_slope(training: Training) -> FittedEstimator:
    """A power of the ranks for each group with two numbers of ranks."""
    points, models = training.points, dict[Hashable, GroupTimes]()
    for key, index in positions(sliced(points), (*SLICE, "bytes")).items():
        ranks, time_s = (points[name].to_numpy(np.float64)[index] for name in ("ranks", "time_s"))
        last = np.argsort(ranks)[-2:]
        if np.unique(ranks[last]).size == 2:
            power = np.diff(np.log(time_s[last]))[0] / np.diff(np.log(ranks[last]))[0]
            models[key] = partial(_along_power, ranks[last[-1]], time_s[last[-1]], power)
    return GroupModels((*SLICE, "bytes"), models, "have no two trained runs of their size")


def _along_power(
    ranks: float, time_s: float, power: float, points: pd.DataFrame
) -> tuple[Array | float, Array | float, Array | float]:
    return time_s * (points["ranks"].to_numpy(np.float64) / ranks) ** power, np.nan, np.nan


MAPPING = tuple(name for name in SLICE if name not in CHOICE)
"""What shares α, β and γ: a mapping, or on a grid a number of ranks a node, of an operation and a library."""


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


def textbook_hockney(training: Training) -> FittedEstimator:
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
    for key, everything in positions(sliced(training.points), MAPPING).items():
        index = everything[known[everything]]
        if index.size:
            groups[key] = parameters(number[index], time_s[index], ranks[index])
    return GroupModels(MAPPING, groups, "have no closed form, or nothing was trained in their mapping")


def extra_p(training: Training) -> FittedEstimator:
    """A function for each group with two numbers of ranks; EnvironmentLack without the package."""
    return _extra_p_models(training, GROUP, ["ranks"])


def extra_p_joint(training: Training) -> FittedEstimator:
    """A function for each group with two numbers of ranks and two sizes; EnvironmentLack without the package."""
    return _extra_p_models(training, [name for name in GROUP if name != "bytes"], ["ranks", "bytes"])


@dataclass(frozen=True)
class NearestRuns:
    """Of each algorithm and placement the trained places, shape (n, 2), and ln seconds there, (n,)."""

    trained: dict[Hashable, tuple[Array, Array]]

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times of the nearest runs with a size on either side; NaN where none has. Without intervals."""
        prediction = unknown(len(points))
        for key, index in positions(points, SURFACE).items():
            if key in self.trained:
                prediction.time_s[index] = np.exp(_at(places(points.iloc[index]), *self.trained[key]))
        missing = int(np.isnan(prediction.time_s).sum())
        note = [f"{missing} points: no run of their algorithm and placement has such a size"]
        return Prediction(prediction.time_s, prediction.low_s, prediction.high_s, note if missing else None)


def _at(asked: Array, trained: Array, time_ln: Array) -> Array:
    """ln seconds at places (n, 2)."""
    found = np.full(len(asked), np.nan)
    runs = {ranks: trained[:, 0] == ranks for ranks in np.unique(trained[:, 0])}
    for ranks in np.unique(asked[:, 0]):
        here = np.flatnonzero(asked[:, 0] == ranks)
        for nearest in _nearest_first(runs, ranks):
            run, open_ = runs[nearest], here[np.isnan(found[here])]
            found[open_] = np.interp(asked[open_, 1], trained[run, 1], time_ln[run], left=np.nan, right=np.nan)
    return found


def _nearest_first(known: Iterable[float], ranks: float) -> list[float]:
    """ln ranks, the one nearest to `ranks` first, of two the larger."""
    # Rounded, because 8 is as near to 4 as to 16.
    return sorted(known, key=lambda other: (round(abs(other - ranks), 9), -other))


ENOUGH = 5
"""Values of a parameter that Extra-P asks for; it makes a model of fewer, with a warning."""


@dataclass(frozen=True)
class ExtraPModels:
    """Extra-P's functions of `parameters` by values of `group`; `few` saw fewer than `ENOUGH` values of one."""

    group: Sequence[str]
    parameters: Sequence[str]
    functions: dict[Hashable, Any]
    few: int

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times of the functions, extrapolated without limit; NaN for groups without one."""
        prediction = unknown(len(points))
        columns = _columns(points, self.parameters)
        for key, index in positions(points, self.group).items():
            if key in self.functions:
                at = columns[:, index]
                prediction.time_s[index] = self.functions[key].evaluate(at if len(at) > 1 else at[0])
        names = " or ".join(f"numbers of {name}" for name in self.parameters)
        note = f"{self.few} models rest on fewer than the {ENOUGH} {names} that Extra-P asks for"
        return Prediction(prediction.time_s, prediction.low_s, prediction.high_s, [note] if self.few else None)


def _columns(points: pd.DataFrame, parameters: Sequence[str]) -> Array:
    return np.array([points[name].to_numpy(np.float64) for name in parameters])


def _extra_p_models(training: Training, group: Sequence[str], parameters: Sequence[str]) -> ExtraPModels:
    """A function for each group with two values of each parameter; EnvironmentLack without the package."""
    try:
        package = {
            name: importlib.import_module(f"extrap.{name}")
            for name in (
                "entities.callpath",
                "entities.coordinate",
                "entities.measurement",
                "entities.metric",
                "modelers.multi_parameter.multi_parameter_modeler",
                "modelers.single_parameter.basic",
            )
        }
    except ImportError as error:
        raise EnvironmentLack(
            "Extra-P is not installed", "pip install 'extrap>=4.2' in an environment with Python below 3.13"
        ) from error
    entity = package["entities.measurement"]
    coordinate = package["entities.coordinate"].Coordinate
    named = package["entities.callpath"].Callpath(training.operation), package["entities.metric"].Metric("time")
    if len(parameters) == 1:
        modeler = package["modelers.single_parameter.basic"].SingleParameterModeler()
    else:
        modeler = package["modelers.multi_parameter.multi_parameter_modeler"].MultiParameterModeler()
    modeler.use_measure = entity.Measure.MEDIAN
    columns = _columns(training.points, parameters)
    time_s = training.points["time_s"].to_numpy(np.float64)
    groups = positions(training.points, group)
    functions: dict[Hashable, Any] = {}
    few = 0
    for done, (key, index) in enumerate(groups.items()):
        training.progress(done / len(groups), "modelling")
        least = min(np.unique(column[index]).size for column in columns)
        if least < 2:
            continue
        few += least < ENOUGH
        where, number = np.unique(columns[:, index], axis=1, return_inverse=True)
        measurements = [
            entity.Measurement(coordinate(*at.tolist()), *named, time_s[index][number.ravel() == i].tolist())
            for i, at in enumerate(where.T)
        ]
        with warnings.catch_warnings():
            # Too few points are counted in the note instead of once for each model.
            warnings.simplefilter("ignore")
            functions[key] = modeler.model([measurements])[0].hypothesis.function
    return ExtraPModels(group, parameters, functions, few)
