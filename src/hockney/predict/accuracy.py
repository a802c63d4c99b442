"""How good a prediction is: relative errors, coverage of the intervals, and the regret of choosing by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.models._evaluate import RelativeErrors, quantiles
from hockney.predict.estimators.base import Array, Prediction
from hockney.predict.points import CHOICE, DEFAULT, POINT, positions

INSTANCE = tuple(name for name in POINT if name not in CHOICE)
"""What is given when an algorithm has to be chosen."""


@dataclass(frozen=True)
class PointErrors(RelativeErrors):
    """Errors of one estimator on some points: see `errors`."""

    max_relative_error: float | None
    coverage_95: float | None
    median_half_width: float | None
    n_test: int
    failed: int
    with_interval: int
    nonphysical: int


@dataclass(frozen=True)
class Regret:
    """Regrets T(chosen)/T(best) − 1 of a choice, over instances; None where there is none."""

    mean: float | None
    p95: float | None
    max: float | None
    share_above_10_percent: float | None
    instances: int


@dataclass(frozen=True)
class ModelRegret(Regret):
    """What it costs to run what a model thinks fastest, and how often it chose which."""

    chosen: Mapping[str, int]
    against_all: Regret


@dataclass(frozen=True)
class ChoiceRegret(Regret):
    """What it costs to run always the same algorithm; None: there is none."""

    algorithm: str | None


@dataclass(frozen=True)
class RegretReferences:
    """Choices that need no model."""

    default: Regret
    best_in_training: ChoiceRegret


def errors(prediction: Prediction, measured_s: Array) -> PointErrors:
    """Errors |predicted − measured| / measured of n points; None where nothing was predicted.

    `failed` counts points without a prediction: they are in no other number but `n_test`. `coverage_95` is the
    share of measured times inside the interval, of the `with_interval` points that have one, `median_half_width`
    half the width of these, by the predicted time; `nonphysical`
    counts predictions that are not positive.
    """
    predicted = np.isfinite(prediction.time_s)
    relative = np.abs(prediction.time_s - measured_s)[predicted] / measured_s[predicted]
    bounded = predicted & np.isfinite(prediction.low_s) & np.isfinite(prediction.high_s)
    inside = (prediction.low_s <= measured_s) & (measured_s <= prediction.high_s)
    half_s = (prediction.high_s - prediction.low_s) / 2
    return PointErrors(
        **vars(quantiles(relative)),
        max_relative_error=_or_none(np.max, relative),
        coverage_95=_or_none(np.mean, inside[bounded]),
        median_half_width=_or_none(np.median, half_s[bounded] / np.abs(prediction.time_s[bounded])),
        n_test=int(measured_s.size),
        failed=int((~predicted).sum()),
        with_interval=int(bounded.sum()),
        nonphysical=int((prediction.time_s[predicted] <= 0).sum()),
    )


def _or_none(function: Any, values: NDArray[Any]) -> float | None:
    return float(function(values)) if values.size else None


def by(points: pd.DataFrame, prediction: Prediction, column: str) -> dict[str, PointErrors]:
    """`errors` for each value of a column, sorted by it."""
    words = points[column].astype(str).to_numpy()
    measured = points["time_s"].to_numpy(np.float64)
    return {
        str(word): errors(prediction.take(words == word), measured[words == word]) for word in sorted(set(words))
    }


def summary(regrets: Array) -> Regret:
    """Mean, P95, maximum and share above 10 % of regrets T(chosen)/T(best) − 1, one for each instance."""
    return Regret(
        mean=_or_none(np.mean, regrets),
        p95=_or_none(lambda values: np.percentile(values, 95), regrets),
        max=_or_none(np.max, regrets),
        share_above_10_percent=_or_none(lambda values: np.mean(values > 0.1), regrets),
        instances=int(regrets.size),
    )


def _instances(points: pd.DataFrame, usable: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Positions of the usable points of each instance that has two algorithms to choose from."""
    algorithm = points["algorithm"].to_numpy(dtype=object)
    usable = usable & (algorithm != DEFAULT)
    instances = (index[usable[index]] for index in positions(points, INSTANCE).values())
    return [index for index in instances if len(set(algorithm[index])) > 1]


def regret(points: pd.DataFrame, prediction: Prediction) -> ModelRegret:
    """What it costs to run the algorithm with the smallest predicted time instead of the fastest one.

    An instance is everything but algorithm, segment and radix; it counts with two algorithms that were both
    measured and predicted. The library's `default` is no candidate. `against_all` compares with the fastest
    measured one even where the model could not predict that.
    """
    measured = points["time_s"].to_numpy(np.float64)
    algorithm = points["algorithm"].to_numpy(dtype=object)
    predicted = np.isfinite(prediction.time_s)
    fastest = _fastest(points)
    regrets, against_all = [], []
    chosen: dict[str, int] = {}
    for index in _instances(points, predicted):
        choice = index[np.argmin(prediction.time_s[index])]
        regrets.append(measured[choice] / measured[index].min() - 1)
        against_all.append(measured[choice] / fastest[choice] - 1)
        chosen[str(algorithm[choice])] = chosen.get(str(algorithm[choice]), 0) + 1
    return ModelRegret(
        **vars(summary(np.array(regrets))),
        chosen=dict(sorted(chosen.items())),
        against_all=summary(np.array(against_all)),
    )


def _fastest(points: pd.DataFrame) -> Array:
    """The smallest measured time in the instance of each point, NaN where there is only the default."""
    measured = points["time_s"].to_numpy(np.float64)
    candidate = points["algorithm"].to_numpy(dtype=object) != DEFAULT
    fastest = np.full(len(points), np.nan)
    for index in positions(points, INSTANCE).values():
        if candidate[index].any():
            fastest[index] = measured[index[candidate[index]]].min()
    return fastest


def references(train: pd.DataFrame, test: pd.DataFrame) -> RegretReferences:
    """Regrets to hold a model against, over the test instances with two measured algorithms.

    `default`: the library's own choice where it was measured; negative where that is faster than every named
    algorithm. `best_in_training`: always the one algorithm (with its segment and radix) that has the smallest
    geometric mean of T/T(best) in training, among those measured in most instances there.
    """
    measured = test["time_s"].to_numpy(np.float64)
    default = test["algorithm"].to_numpy(dtype=object) == DEFAULT
    fastest = _fastest(test)
    contested = np.zeros(len(test), dtype=np.bool_)
    names = positions(test, INSTANCE)
    several = {tuple(index) for index in _instances(test, np.ones(len(test), dtype=np.bool_))}
    for index in names.values():
        contested[index] = tuple(index[~default[index]]) in several
    at_default = default & contested
    best = _best_choice(train)
    always = contested & np.array([choice == best for choice in _choices(test)], dtype=np.bool_)
    of_best = summary(measured[always] / fastest[always] - 1)
    return RegretReferences(
        default=summary(measured[at_default] / fastest[at_default] - 1),
        best_in_training=ChoiceRegret(**vars(of_best), algorithm=best[0] if best else None),
    )


def _choices(points: pd.DataFrame) -> list[tuple[Any, ...]]:
    columns = points[list(CHOICE)]
    return list(columns.astype(object).where(columns.notna(), None).itertuples(index=False, name=None))


def _best_choice(train: pd.DataFrame) -> tuple[Any, ...] | None:
    measured = train["time_s"].to_numpy(np.float64)
    fastest = _fastest(train)
    choices = _choices(train)
    ratios: dict[tuple[Any, ...], list[float]] = {}
    for index in _instances(train, np.ones(len(train), dtype=np.bool_)):
        for point in index:
            ratios.setdefault(choices[point], []).append(float(np.log(measured[point] / fastest[point])))
    if not ratios:
        return None
    most = max(len(values) for values in ratios.values())
    return min(
        (choice for choice in ratios if len(ratios[choice]) == most),
        key=lambda choice: float(np.mean(ratios[choice])),
    )
