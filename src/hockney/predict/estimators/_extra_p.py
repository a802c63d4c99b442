"""Extra-P's models of time against one or two parameters, by group.

Package `extrap`. For each parameter its modeler chooses c₀ + c₁ · x^(i/j) · log₂ᵏx by cross-validation, then how
two of them combine. It states no interval for a new point, so predictions have none.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from hockney.errors import EnvironmentLack
from hockney.predict.estimators.base import Array, Prediction, Training, unknown
from hockney.predict.points import positions

ENOUGH = 5
"""Values of a parameter that Extra-P asks for; it makes a model of fewer, with a warning."""


@dataclass(frozen=True)
class Models:
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


def models(training: Training, group: Sequence[str], parameters: Sequence[str]) -> Models:
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
            "Extra-P is not installed", "pip install '.[extra-p]' in the folder of the clone"
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
    return Models(group, parameters, functions, few)
