"""A calibrated simulation of one set of conditions, and what it predicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.predict.calibrate import Calibration, Paths, times_s
from hockney.predict.discrepancy import Groups, Where
from hockney.predict.estimators._beyond import ErrorGrowth, TrainedRuns
from hockney.predict.estimators._correction import Corrector
from hockney.predict.estimators.base import Array, Correction, Prediction, unknown
from hockney.predict.place import LOCALITIES, NETWORK
from hockney.predict.scenario import Scenario, Scenarios
from hockney.progress import Progress
from hockney.statistics import NORMAL

_BATCH = 512
_NO_NETWORK = (
    "its ranks are on several nodes, and nothing was measured between nodes: train on such runs, or say with "
    "--system what such messages cost"
)
_STAND_IN = (
    "messages are in no training point, usual times stand in for them",
    "messages are in no training point, the latency and bandwidth that are published or given stand in for them",
)
"""What is said of messages inside a node, and between nodes, that no training point sent."""

Index = NDArray[np.intp]


def uncorrected(count: int) -> Correction:
    """The correction of `count` points that are not predicted; its arrays may be filled in."""
    return Correction(np.full(count, np.nan), np.zeros(count))


def fill(prediction: Prediction, correction: Correction, index: Index, part: Prediction) -> None:
    """Write `part`, shape (n,), to the positions `index` of both."""
    for name in ("time_s", "low_s", "high_s"):
        getattr(prediction, name)[index] = getattr(part, name)
    for name in ("readable_s", "weight"):
        getattr(correction, name)[index] = getattr(part.correction, name)


def localities(scenarios: Iterable[Scenario]) -> set[int]:
    """Localities (indices into LOCALITIES) of the pairs of ranks."""
    # Points of one placement share it.
    places = {id(scenario.place): scenario.place for scenario in scenarios}
    return {locality for place in places.values() for locality in place.localities}


def where_of(scenarios: Sequence[Scenario], mappings: Sequence[str], groups: Groups) -> Where:
    """Where points lie among those that the corrections know."""
    schedules = [f"{scenario.label}/{mapping}" for scenario, mapping in zip(scenarios, mappings, strict=True)]
    return Where(
        np.log([float(scenario.ranks) for scenario in scenarios]),
        np.log2([max(float(scenario.size_B), 0.5) for scenario in scenarios]),
        groups.of(schedules),
        groups.of([f"/{mapping}" for mapping in mappings]),
    )


class Untrained(Protocol):
    """What training says of what it never ran. Each needs calibrations of its own, made when first asked for.

    `of_schedules`: how many deviations that the parameters leave open hold 95 % of the points of a schedule left
    out; None where nothing says so. `of_more_ranks`: how far predictions are off on more ranks, and the weight
    there of curves that know no schedule.
    """

    @property
    def of_schedules(self) -> float | None: ...
    @property
    def of_more_ranks(self) -> tuple[ErrorGrowth, float]: ...


@dataclass(frozen=True)
class SimulatedPoints:
    """A calibration with its corrections, for points of one set of conditions."""

    scenarios: Scenarios
    calibration: Calibration
    statistic: str
    groups: Groups
    corrector: Corrector
    untrained: Untrained
    missing: Mapping[str, str]
    """Algorithms of training that cannot be simulated, with the reason."""
    runs: TrainedRuns
    most_ppn: int
    known: set[int]
    """Localities of the messages that the training points and their ping-pongs sent."""
    notes: list[str]
    progress: Progress

    @property
    def has_published_network(self) -> bool:
        """Whether the system file, or the command line, says what messages between nodes cost."""
        network = self.scenarios.system.network
        return network.latency_s is not None and network.bandwidth_B_per_s is not None

    def predict(self, points: pd.DataFrame) -> Prediction:
        prediction, correction = unknown(len(points)), uncorrected(len(points))
        self.scenarios.missing = dict(self.missing)
        by_point, unseen = self._that_can_be(points)
        done, whole = 0, sum(scenario.steps for scenario in by_point if scenario is not None)

        def simulated(scenario: Scenario) -> None:
            nonlocal done
            done += scenario.steps
            self.progress(min(done / whole, 1.0), "predicting")

        for first in range(0, len(by_point), _BATCH):
            batch = [
                (first + i, scenario)
                for i, scenario in enumerate(by_point[first : first + _BATCH])
                if scenario is not None
            ]
            if batch:
                index = np.array([i for i, _ in batch], dtype=np.intp)
                made = self._batch([scenario for _, scenario in batch], points.iloc[index], simulated)
                fill(prediction, correction, index, made)
        missing = sorted(self.scenarios.missing.items())
        stand_ins = [f"{LOCALITIES[level]}: {_STAND_IN[level == NETWORK]}" for level in sorted(unseen)]
        ppn = max((scenario.place.ppn for scenario in by_point if scenario is not None), default=0)
        if ppn > self.most_ppn:
            stand_ins.append(
                f"{ppn} ranks are taken to be on one node, training has at most {self.most_ppn} on one"
            )
        notes = [*self.notes, *stand_ins, *(f"{name}, where it is not simulated: {why}" for name, why in missing)]
        return replace(prediction, note=notes, correction=correction)

    def _that_can_be(self, points: pd.DataFrame) -> tuple[list[Scenario | None], set[int]]:
        """The scenario of each point, None without one or where nothing says what its messages cost; localities
        of others, for which usual costs stand in."""
        by_point = self.scenarios.of_points(points, self.progress)
        unseen = localities(filter(None, by_point)) - self.known
        if NETWORK in unseen and not self.has_published_network:
            for i, scenario in enumerate(by_point):
                if scenario is not None and scenario.place.is_spread:
                    self.scenarios.missing[str(points["algorithm"].iloc[i])] = _NO_NETWORK
                    by_point[i] = None
            unseen.remove(NETWORK)
        return by_point, unseen

    def steps(self, points: pd.DataFrame) -> Array:
        """How many steps each point takes to simulate, shape (n,); 0 where there is no schedule."""
        by_point = self.scenarios.of_points(points, self.progress)
        return np.array([0.0 if scenario is None else scenario.steps for scenario in by_point])

    def plain_s(self, points: pd.DataFrame) -> Array:
        """Seconds by the costs that all schedules share, shape (n,); NaN where there is no schedule."""
        fit, plain_s = self.calibration, np.full(len(points), np.nan)
        by_point, _ = self._that_can_be(points)
        has = np.flatnonzero([scenario is not None for scenario in by_point])
        plain = [replace(scenario, label="") for scenario in by_point if scenario is not None]
        plain_s[has] = times_s(plain, self.statistic, fit.layout, fit.theta)
        return plain_s

    def _batch(
        self, scenarios: list[Scenario], points: pd.DataFrame, simulated: Callable[[Scenario], None]
    ) -> Prediction:
        fit = self.calibration
        paths, simulated_ln = Paths.simulated(scenarios, self.statistic, fit.layout, fit.theta, simulated)
        open_ln = fit.deviation(paths.slopes(fit.theta))
        mappings = points["mapping"].astype(str).tolist()
        where = where_of(scenarios, mappings, self.groups)
        beyond = self.runs.beyond(scenarios, mappings)
        is_any = (beyond.is_new | (beyond.doublings > 0)).any()
        growth, ahead = self.untrained.of_more_ranks if is_any else (None, 0.0)
        corrected = self.corrector.at(points, where, beyond, simulated_ln, ahead)
        inside = np.hypot(corrected.reach, NORMAL * open_ln)
        is_new = np.array([scenario.label not in fit.layout.labels for scenario in scenarios])
        if is_new.any() and (between := self.untrained.of_schedules) is not None:
            inside = np.where(is_new, between * open_ln, inside)
        time_s = np.exp(simulated_ln + corrected.ln)
        width = np.exp(np.hypot(inside, growth.reach(beyond) if growth else 0.0))
        correction = Correction(np.exp(simulated_ln), corrected.weight)
        return Prediction(time_s, time_s / width, time_s * width, correction=correction)
