"""How good a prediction is: relative errors, coverage of the intervals, and the regret of choosing by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.models._evaluate import RelativeErrors, quantiles
from hockney.predict.estimators.base import Array, Prediction
from hockney.predict.points import CHOICE, DEFAULT, POINT, keys, positions
from hockney.statistics import heeding

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


def _by_instance(points: pd.DataFrame, column: str, how: Literal["min", "nunique"]) -> Array:
    """A column of named algorithms, aggregated over the instance of each point; NaN without any, shape (n,)."""
    named = points[column].where(points["algorithm"] != DEFAULT)
    instance = [points[name] for name in INSTANCE]
    whole = named.groupby(instance, dropna=False, sort=False).transform(how)
    return np.asarray(whole, dtype=np.float64)


def _is_contested(points: pd.DataFrame) -> NDArray[np.bool_]:
    """Whether the instance of each point has two algorithms to choose from, shape (n,)."""
    return np.asarray(_by_instance(points, "algorithm", "nunique") > 1)


def regret(points: pd.DataFrame, prediction: Prediction, trend_s: Array | None = None) -> ModelRegret:
    """What it costs to run the algorithm with the smallest predicted time instead of the fastest one.

    An instance is everything but algorithm, segment and radix; it counts with two algorithms that were both
    measured and predicted. The library's `default` is no candidate. `against_all` compares with the fastest
    measured one even where the model could not predict that. A trend is heeded as by `heeding`.
    """
    times_s = {"predicted_s": prediction.time_s, "trend_s": np.nan if trend_s is None else trend_s}
    known = points.assign(**times_s, best_s=_by_instance(points, "time_s", "min"))
    known = known[np.isfinite(prediction.time_s) & (points["algorithm"] != DEFAULT)]
    known = known[_is_contested(known)].reset_index(drop=True)
    instance = known.groupby(list(INSTANCE), dropna=False, sort=False)
    ways_s = known[[*times_s]].to_numpy(np.float64)
    places = [int(rows[heeding(*ways_s[rows].T).argmin()]) for rows in positions(known, INSTANCE).values()]
    choice = known.loc[places]
    least_s = instance["time_s"].transform("min")[choice.index]
    regrets, against_all = (choice["time_s"] / best_s - 1 for best_s in (least_s, choice["best_s"]))
    chosen = choice["algorithm"].astype(str).value_counts()
    return ModelRegret(
        **vars(summary(regrets.to_numpy(np.float64))),
        chosen={str(name): int(count) for name, count in sorted(chosen.items())},
        against_all=summary(against_all.to_numpy(np.float64)),
    )


def references(train: pd.DataFrame, test: pd.DataFrame) -> RegretReferences:
    """Regrets to hold a model against, over the test instances with two measured algorithms.

    `default`: the library's own choice where it was measured; negative where that is faster than every named
    algorithm. `best_in_training`: always the one algorithm (with its segment and radix) that has the smallest
    geometric mean of T/T(best) in training, among those measured in most instances there.
    """
    regrets = test["time_s"].to_numpy(np.float64) / _by_instance(test, "time_s", "min") - 1
    contested, default = _is_contested(test), (test["algorithm"] == DEFAULT).to_numpy()
    best = _best_choice(train)
    always = contested & np.array([choice == best for choice in keys(test, CHOICE)], dtype=np.bool_)
    return RegretReferences(
        default=summary(regrets[default & contested]),
        best_in_training=ChoiceRegret(**vars(summary(regrets[always])), algorithm=best[0] if best else None),
    )


def _best_choice(train: pd.DataFrame) -> tuple[Any, ...] | None:
    beyond = np.log(train["time_s"] / _by_instance(train, "time_s", "min"))
    index = _is_contested(train) & (train["algorithm"] != DEFAULT).to_numpy()
    choices: dict[Any, list[float]] = {}
    for choice, value in zip(keys(train[index], CHOICE), beyond[index], strict=True):
        choices.setdefault(choice, []).append(value)
    most = max(map(len, choices.values()), default=0)
    often = (choice for choice, values in choices.items() if len(values) == most)
    return min(often, key=lambda choice: float(np.mean(choices[choice])), default=None)
