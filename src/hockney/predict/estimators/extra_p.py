"""Extra-P as a peer: for each algorithm, size and mapping its model of time against ranks.

A. Calotoiu, T. Hoefler, M. Poke, F. Wolf, "Using automated performance modeling to find scalability bugs in
complex codes", SC13; package `extrap`. Its single-parameter modeler chooses c₀ + c₁ · P^(i/j) · log₂ᵏP by
cross-validation. It states no interval for a new point, so the prediction has none.
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
from hockney.predict.estimators.linear_in_ranks import GROUP
from hockney.predict.points import positions

ENOUGH = 5
"""Numbers of ranks that Extra-P asks for; it makes a model of fewer, with a warning."""


@dataclass(frozen=True)
class Models:
    """Extra-P's functions of ranks by group; `few` of them saw fewer than `ENOUGH` numbers of ranks."""

    functions: dict[Hashable, Any]
    few: int

    def predict(self, points: pd.DataFrame) -> Prediction:
        """Times of the functions, extrapolated as far as asked; NaN for groups without one."""
        made = unknown(len(points))
        for key, index in positions(points, GROUP).items():
            if key in self.functions:
                ranks = points["ranks"].to_numpy(np.float64)[index]
                made.time_s[index] = self.functions[key].evaluate(ranks)
        note = f"{self.few} models rest on fewer than the {ENOUGH} numbers of ranks that Extra-P asks for"
        return Prediction(made.time_s, made.low_s, made.high_s, [note] if self.few else None)


@estimators.register("extra_p")
def fit(training: Training) -> Fitted:
    """A function for each group with two numbers of ranks; EnvironmentLack without the package."""
    try:
        modeling = importlib.import_module("extrap.modelers.single_parameter.basic")
        entities = {
            name: importlib.import_module(f"extrap.entities.{name}")
            for name in ("callpath", "coordinate", "measurement", "metric")
        }
    except ImportError as error:
        raise EnvironmentLack("Extra-P is not installed", "pip install 'hockney[extra-p]'") from error
    callpath = entities["callpath"].Callpath(training.operation)
    metric = entities["metric"].Metric("time")
    modeler = modeling.SingleParameterModeler()
    modeler.use_measure = entities["measurement"].Measure.MEDIAN
    ranks = training.points["ranks"].to_numpy(np.float64)
    time_s = training.points["time_s"].to_numpy(np.float64)
    functions = {}
    few = 0
    for key, index in positions(training.points, GROUP).items():
        by_ranks = _by_ranks(ranks[index], time_s[index])
        if len(by_ranks) < 2:
            continue
        few += len(by_ranks) < ENOUGH
        measurements = [
            entities["measurement"].Measurement(entities["coordinate"].Coordinate(at), callpath, metric, times)
            for at, times in by_ranks.items()
        ]
        with warnings.catch_warnings():
            # Too few points are counted in the note instead of once for each model.
            warnings.simplefilter("ignore")
            functions[key] = modeler.model([measurements])[0].hypothesis.function
    return Models(functions, few)


def _by_ranks(ranks: Array, time_s: Array) -> dict[float, list[float]]:
    return {float(at): time_s[ranks == at].tolist() for at in np.unique(ranks)}
