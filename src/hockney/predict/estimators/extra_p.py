"""Extra-P as a peer: for each algorithm and mapping its model of time against ranks and bytes.

A. Calotoiu, T. Hoefler, M. Poke, F. Wolf, "Using automated performance modeling to find scalability bugs in
complex codes", SC13; of several parameters: A. Calotoiu et al., "Fast multi-parameter performance modeling",
CLUSTER 2016; package `extrap`. Its modeler chooses for each parameter c₀ + c₁ · x^(i/j) · log₂ᵏx by
cross-validation, then how the two combine. It states no interval for a new point, so the prediction has none.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from hockney.errors import EnvironmentLack
from hockney.predict.estimators.base import Array, Fitted, Prediction, Training, estimators, unknown
from hockney.predict.points import GROWING, POINT, positions

ENOUGH = 5
"""Numbers of ranks that Extra-P asks for; it makes a model of fewer, with a warning."""


GROUP = tuple(name for name in POINT if name not in (*GROWING, "bytes"))
"""What a model holds fixed."""


@dataclass(frozen=True)
class Model:
    """Extra-P's function of ranks, and of bytes where `size_B` is None; else it is for that size alone."""

    function: Any
    size_B: int | None

    def time_s(self, ranks: Array, size_B: Array) -> Array:
        """Seconds; NaN for other sizes than the one that was trained."""
        if self.size_B is None:
            return np.asarray(self.function.evaluate(np.array([ranks, size_B])), dtype=np.float64)
        return np.where(size_B == self.size_B, self.function.evaluate(ranks), np.nan)


@dataclass(frozen=True)
class Models:
    """By group; `few` of them saw fewer than `ENOUGH` numbers of ranks or sizes."""

    models: dict[Hashable, Model]
    few: int

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times of the functions, extrapolated as far as asked; NaN for groups without one."""
        made = unknown(len(points))
        ranks, size_B = (points[name].to_numpy(np.float64) for name in ("ranks", "bytes"))
        for key, index in positions(points, GROUP).items():
            if key in self.models:
                made.time_s[index] = self.models[key].time_s(ranks[index], size_B[index])
        note = (
            f"{self.few} models rest on fewer than the {ENOUGH} numbers of ranks, or sizes, that Extra-P asks for"
        )
        return Prediction(made.time_s, made.low_s, made.high_s, [note] if self.few else None)


@estimators.register("extra_p")
def fit(training: Training) -> Fitted:
    """A function for each group with two numbers of ranks; EnvironmentLack without the package."""
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
        raise EnvironmentLack("Extra-P is not installed", "pip install 'hockney[extra-p]'") from error
    entity = package["entities.measurement"]
    coordinate = package["entities.coordinate"].Coordinate
    named = package["entities.callpath"].Callpath(training.operation), package["entities.metric"].Metric("time")
    of_ranks = package["modelers.single_parameter.basic"].SingleParameterModeler()
    of_both = package["modelers.multi_parameter.multi_parameter_modeler"].MultiParameterModeler()
    of_ranks.use_measure = of_both.use_measure = entity.Measure.MEDIAN
    groups = positions(training.points, GROUP)
    models: dict[Hashable, Model] = {}
    few = 0
    for done, (key, index) in enumerate(groups.items()):
        training.progress(done / len(groups), "modelling")
        times = training.points.iloc[index].groupby(["ranks", "bytes"])["time_s"].agg(list)
        ranks, sizes = (times.index.get_level_values(name).unique() for name in ("ranks", "bytes"))
        if len(ranks) < 2:
            continue
        alone = len(sizes) == 1
        few += len(ranks) < ENOUGH or 1 < len(sizes) < ENOUGH
        measurements = []
        for at, size_B in sorted(times.index):
            where = coordinate(float(at)) if alone else coordinate(float(at), float(size_B))
            measurements.append(entity.Measurement(where, *named, times[at, size_B]))
        with warnings.catch_warnings():
            # Too few points are counted in the note instead of once for each model.
            warnings.simplefilter("ignore")
            made = (of_ranks if alone else of_both).model([measurements])[0]
        models[key] = Model(made.hypothesis.function, int(sizes[0]) if alone else None)
    return Models(models, few)
