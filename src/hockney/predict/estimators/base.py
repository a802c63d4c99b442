"""What an estimator is: it sees the training points once, then predicts points it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.machine.locality import Localities
from hockney.machine.system import System
from hockney.predict.identify.told import is_unknown
from hockney.predict.points import beside, positions, sliced
from hockney.progress import Progress, silent
from hockney.records.defaults import NOTHING_KNOWN, Defaults
from hockney.records.keys import POINT_TO_POINT
from hockney.registry import Registry
from hockney.units import counted

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Correction:
    """What a prediction adds to a readable model, arrays of shape (n,).

    `readable_s` is the readable model's time; NaN where there is no prediction. `weight` is that of a model which
    nobody can read, from 0 to 1; it is 0 outside the range of training.
    """

    readable_s: Array
    weight: Array


@dataclass(frozen=True)
class Prediction:
    """Times in seconds of n points with 95 % intervals, arrays of shape (n,).

    `time_s` is NaN where the estimator cannot predict, `low_s` and `high_s` are NaN where it has no interval.
    `note` says in words what limits the prediction, one line for each limit. `correction` is None if the
    estimator corrects nothing.
    """

    time_s: Array
    low_s: Array
    high_s: Array
    note: list[str] | None = None
    correction: Correction | None = None

    def take(self, chosen: NDArray[np.bool_]) -> Prediction:
        """The prediction of the points chosen by a mask of shape (n,)."""
        correction = self.correction and Correction(
            self.correction.readable_s[chosen], self.correction.weight[chosen]
        )
        return Prediction(self.time_s[chosen], self.low_s[chosen], self.high_s[chosen], self.note, correction)


def unknown(count: int) -> Prediction:
    """The prediction of `count` points about which nothing is known; its arrays may be filled in."""
    return Prediction(np.full(count, np.nan), np.full(count, np.nan), np.full(count, np.nan))


ANSWER, FALLBACK = "simulated", "combination"
"""The estimators that answer `hockney predict`, the second where the first can't; the others are baselines."""


class FittedEstimator(Protocol):
    """An estimator that has seen its training points."""

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times of `points` (columns of `predict.points.POINT`), in their order."""
        ...


@runtime_checkable
class Simulating(FittedEstimator, Protocol):
    """One that simulates the points."""

    def steps(self, points: pd.DataFrame) -> Array:
        """How many steps that takes, shape (n,); 0 of a point that it does not predict."""
        ...


@dataclass(frozen=True)
class Training:
    """What an estimator may learn from.

    `points` has the columns of `predict.points.POINT`, `time_s` and `repetitions`; `point_to_point` is rows of
    the tidy table, maybe none; `system` describes the machine where a description was given. Operation and
    statistic are the same for all points. `defaults` is what else than times says of the library's own choice. An
    estimator that takes long says how far it is, also when it predicts.
    """

    points: pd.DataFrame
    point_to_point: pd.DataFrame
    system: object | None
    operation: str
    statistic: str
    progress: Progress = silent
    defaults: Defaults = NOTHING_KNOWN
    asks_library: bool = True
    """Whether the algorithm behind `default` is looked up by the version of the library, where that is known."""
    beside: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """The points by other statistics of the same calls: the algorithm behind `default` is told by all of them."""


GroupTimes: TypeAlias = "Callable[[pd.DataFrame], tuple[Array | float, Array | float, Array | float]]"
"""Maps points of one group to their times and the ends of their intervals."""


@dataclass(frozen=True)
class GroupModels:
    """A model for each group of training points that has one: those that agree in the columns `group`.

    `lacking` is said of points without a time, after their number.
    """

    group: Sequence[str]
    models: Mapping[Hashable, GroupTimes]
    lacking: str

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times by the model of each point's group; NaN where there is none."""
        made = unknown(len(points))
        for key, index in positions(sliced(points), self.group).items():
            if key in self.models:
                ends = self.models[key](points.iloc[index])
                made.time_s[index], made.low_s[index], made.high_s[index] = ends
        missing = int(np.isnan(made.time_s).sum())
        return replace(made, note=[f"{counted(missing, 'point')} {self.lacking}"] if missing else None)


def training_of(
    frame: pd.DataFrame,
    points: pd.DataFrame,
    operation: str,
    statistic: str,
    system: object | None,
    progress: Progress = silent,
    *,
    asks_library: bool = True,
) -> Training:
    """What a tidy table lets an estimator learn from some of its points."""
    pairs = frame[frame["operation"].isin(POINT_TO_POINT)].reset_index(drop=True)
    # A table by whoever read it may lack them: without its locality a ping-pong says nothing.
    pairs = Localities([system] if isinstance(system, System) else []).of_frame(pairs)
    defaults = known_defaults(frame)
    # Pooling them takes as long again: nobody asks where all defaults are told without times.
    untold = not asks_library or is_unknown(points, asks_library=True, defaults=defaults).any()
    others = beside(frame, points, operation, statistic) if untold else {}
    return Training(points, pairs, system, operation, statistic, progress, defaults, asks_library, others)


def known_defaults(frame: pd.DataFrame) -> Defaults:
    """What the campaign of a tidy table knows of its defaults beyond their times."""
    known = frame.attrs.get("defaults", NOTHING_KNOWN)
    return known if isinstance(known, Defaults) else NOTHING_KNOWN


Estimator = Callable[[Training], FittedEstimator]
"""RequestError where the training points cannot support it, EnvironmentLack where a package is missing."""

estimators: Registry[Estimator] = Registry("estimator", "hockney.predict.estimators", "reference/evaluate.md")
