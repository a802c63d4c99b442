"""Schedules simulated under LogGOPS costs by locality, calibrated on the training points (docs: evaluate.md).

The statistic is the measured one, of the procedure that was measured: barrier, call, each rank's own clock. One
calibration explains all algorithms of the table; each schedule has a small correction of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.machine.system import System
from hockney.machine.system_of_table import system_of_table
from hockney.predict.estimators._default import Simulated, with_default
from hockney.predict.estimators._fitting import CalibratedFit
from hockney.predict.estimators._simulation import SimulatedPoints, fill, uncorrected
from hockney.predict.estimators._supposed import supposing
from hockney.predict.estimators.base import (
    Array,
    FittedEstimator,
    Prediction,
    Training,
    estimators,
    unknown,
)
from hockney.predict.identify.told import is_unknown
from hockney.predict.points import APART, positions
from hockney.predict.procedures import procedures
from hockney.predict.scenario import STATISTICS, Scenarios
from hockney.units import counted


def procedure_of(source: str, statistic: str, system: System) -> str:
    """Which benchmark measured the points: the column `source`, the system file's word, or what the statistic
    suggests."""
    named = [name for name in procedures.names() if name in source.lower()]
    if len(named) == 1:
        return named[0]
    return system.procedure or {"completion": "hockney", "max_over_ranks": "pico"}.get(statistic, "osu")


def _without_limit(system: System) -> System:
    """The system with nodes of any size: a table shows how many ranks a node held, not how many it can hold."""
    return system.model_copy(
        update={"node": system.node.model_copy(update={"cores_per_cache": 64 * system.node.cores_per_cache})}
    )


@estimators.register("simulated")
def simulated(training: Training) -> FittedEstimator:
    """Calibrates on the training points; RequestError where none of them can be simulated.

    A `default` that the library's version does not tell is predicted as a mixture: see `_default`, and where
    nothing else was measured `_supposed`.
    """
    untold = is_unknown(training.points, asks_library=training.asks_library, defaults=training.defaults)
    return supposing(training, calibrated) if untold.all() else with_default(training, untold, calibrated)


def calibrated(training: Training) -> Simulated:
    """The calibration on the training points that have a schedule; RequestError where none has."""
    if training.statistic not in STATISTICS:
        raise RequestError(f"{training.statistic} cannot be simulated", f"known: {', '.join(STATISTICS)}")
    names = sorted(set(training.points["system"]) - {""})
    if len(names) > 1 and isinstance(training.system, System):
        raise RequestError(
            f"the training points are of {len(names)} systems: {', '.join(names)}",
            f"--system describes one: choose it by --train \"system == '{names[0]}'\", or leave --system out",
        )
    fitted: dict[Hashable, SimulatedPoints] = {}
    reasons: dict[str, str] = {}
    unused = np.ones(len(training.point_to_point), dtype=np.bool_)
    for key, index in positions(training.points, APART).items():
        points = _rows(training.points, index)
        words = dict(zip(APART, key, strict=True))  # type: ignore[call-overload]
        try:
            system = system_of(training, str(words["system"]))
        except RequestError as error:
            if len(names) < 2:
                raise
            reasons[str(words["system"])] = error.message
            continue
        is_alike = _alike(training.point_to_point, words)
        unused &= ~is_alike
        alike = replace(training, points=points, point_to_point=training.point_to_point[is_alike])
        scenarios, fit = calibration_of(alike, system, str(words["source"]))
        reasons |= scenarios.missing
        if fit is not None:
            fitted[key] = fit.run(scenarios)
    if not fitted:
        why = "; ".join(f"{name}: {reason}" for name, reason in sorted(reasons.items()))
        raise RequestError(f"no training point can be simulated: {why}", "describe the system with --system")
    return _Apart(fitted, int(unused.sum()))


def calibration_of(
    training: Training, system: System, source: str, fewest: int = 1
) -> tuple[Scenarios, CalibratedFit | None]:
    """The calibration on points of one set of conditions; None where fewer than `fewest` have a scenario."""
    scenarios = Scenarios(system, procedure_of(source, training.statistic, system), training.defaults)
    by_point = scenarios.of_points(training.points, training.progress)
    usable = np.flatnonzero([scenario is not None for scenario in by_point])
    if usable.size < fewest:
        return scenarios, None
    used = _rows(training.points, usable)
    chosen = [scenario for scenario in by_point if scenario is not None]
    return scenarios, CalibratedFit(replace(training, points=used), system, chosen)


def _rows(points: pd.DataFrame, index: NDArray[np.intp]) -> pd.DataFrame:
    """The points at these positions, numbered anew; the points themselves where these are all: they are kept."""
    is_whole = len(index) == len(points) and isinstance(points.index, pd.RangeIndex)
    return points if is_whole else points.iloc[index].reset_index(drop=True)


def system_of(training: Training, name: str) -> System:
    """The system that was described, or what the training points of that name say of theirs."""
    if isinstance(training.system, System):
        return training.system
    return _without_limit(system_of_table(training.points[training.points["system"] == name]))


def _alike(pairs: pd.DataFrame, words: Mapping[str, object]) -> NDArray[np.bool_]:
    """Which ping-pongs are of the same system and library, as far as they say these, and variant."""
    alike = np.ones(len(pairs), dtype=np.bool_)
    for name in ("system", "mpi", "variant"):
        if name in pairs.columns:
            fitting = [words[name], *([] if name == "variant" else [""])]
            alike &= pairs[name].astype(object).fillna("").astype(str).isin(fitting).to_numpy()
    return alike


@dataclass(frozen=True)
class _Apart:
    """A calibration for each set of conditions."""

    fitted: dict[Hashable, SimulatedPoints]
    unused: int

    def predict(self, points: pd.DataFrame) -> Prediction:
        prediction, correction = unknown(len(points)), uncorrected(len(points))
        notes: list[str] = []
        for key, index in positions(points, APART).items():
            words = ", ".join(str(word) for word in key if word)  # type: ignore[attr-defined]
            if key not in self.fitted:
                notes.append(f"{words or 'conditions unknown'}: nothing was trained")
                continue
            part = self.fitted[key].predict(points.iloc[index].reset_index(drop=True))
            fill(prediction, correction, index, part)
            prefix = f"{words}: " if len(self.fitted) > 1 else ""
            notes += [f"{prefix}{note}" for note in part.note or []]
        if self.unused:
            rows = counted(self.unused, "row")
            notes.append(f"{rows} between two ranks not used: of another system, MPI or variant")
        return replace(prediction, note=notes, correction=correction)

    def plain_s(self, points: pd.DataFrame) -> Array:
        """As of `SimulatedPoints`."""
        return self._of_each(points, SimulatedPoints.plain_s, np.nan)

    def steps(self, points: pd.DataFrame) -> Array:
        """As of `SimulatedPoints`."""
        return self._of_each(points, SimulatedPoints.steps, 0.0)

    def _of_each(
        self, points: pd.DataFrame, of: Callable[[SimulatedPoints, pd.DataFrame], Array], otherwise: float
    ) -> Array:
        values = np.full(len(points), otherwise)
        for key, index in positions(points, APART).items():
            if key in self.fitted:
                values[index] = of(self.fitted[key], points.iloc[index])
        return values
