"""Schedules simulated under LogGOPS costs by locality, calibrated on the training points (docs: evaluate.md).

The statistic is the measured one, of the procedure that was measured: barrier, call, each rank's own clock. One
calibration explains all algorithms of the table; each schedule has a small correction of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.machine.system import System
from hockney.machine.system_of_table import system_of_table
from hockney.predict.calibrate import Calibration, calibrate, replay_all
from hockney.predict.discrepancy import Discrepancy, Groups, Where
from hockney.predict.estimators._beyond import FEWEST, UNKNOWN, Beyond, Growth, Runs
from hockney.predict.estimators._correction import Corrector
from hockney.predict.estimators._default import Calibrated, with_default
from hockney.predict.estimators.base import (
    Array,
    Correction,
    FittedEstimator,
    Prediction,
    Progress,
    Training,
    estimators,
    unknown,
)
from hockney.predict.estimators.gaussian_process import surfaces_of
from hockney.predict.parameters import ParameterLayout, Start
from hockney.predict.point_to_point import MessageTimes
from hockney.predict.points import APART, positions
from hockney.predict.procedures import procedures
from hockney.predict.scenario import LOCALITIES, NETWORK, STATISTICS, Scenario, Scenarios
from hockney.records.keys import sizes_are_blocks
from hockney.statistics import CONFIDENCE, NORMAL

_MOST = 4000
"""Training points that are simulated at each step; more add time, not knowledge."""
_TRIAL = 600
"""Points on which protocols are tried."""
_BELIEVE = 10.0
"""Gain in log-likelihood from which on a protocol is believed."""
_SETTLED = 24
"""Steps after which a calibration on these gains next to nothing: 0.5 of the log-likelihood on planted times."""
_RENDEZVOUS_B = (8192.0, 131072.0)
"""Sizes at which libraries switch protocol for non-blocking and blocking sends (UCX: above 8 and 256 KiB)."""
_HELD_B = 8192.0
"""The size above which libraries no longer copy what they send (UCX's zero copy)."""
_LATE = 0.8
"""A step in the network's costs is looked for in the upper fifth of the training rank counts."""
_PARTS = (2, 4)
"""Divisors of the largest training run: fits to the smaller runs predict the larger, to see how errors grow."""
_BATCH = 512
_NO_NETWORK = (
    "its ranks are on several nodes, and nothing was measured between nodes: train on such runs, or say with "
    "--system, --network-latency and --network-bandwidth what such messages cost"
)
_STAND_IN = (
    "messages are in no training point, usual times stand in for them",
    "messages are in no training point, the latency and bandwidth that are published or given stand in for them",
)
"""What is said of messages inside a node, and between nodes, that no training point sent."""

Index = NDArray[np.intp]


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

    A `default` that the library's version does not tell is predicted as a mixture: see `_default`.
    """
    return with_default(training, calibrated)


def calibrated(training: Training) -> Calibrated:
    """The calibration on the training points that have a schedule; RequestError where none has."""
    if training.statistic not in STATISTICS:
        raise RequestError(f"{training.statistic} cannot be simulated", f"known: {', '.join(STATISTICS)}")
    names = sorted(set(training.points["system"]) - {""})
    if len(names) > 1 and isinstance(training.system, System):
        raise RequestError(
            f"the training points are of {len(names)} systems: {', '.join(names)}",
            f"--system describes one: choose it by --train \"system == '{names[0]}'\", or leave --system out",
        )
    fitted: dict[Hashable, _Simulated] = {}
    reasons: dict[str, str] = {}
    for key, index in positions(training.points, APART).items():
        points = training.points.iloc[index].reset_index(drop=True)
        words = dict(zip(APART, key, strict=True))  # type: ignore[call-overload]
        try:
            system = _system_of(training, str(words["system"]))
        except RequestError as error:
            if len(names) < 2:
                raise
            reasons[str(words["system"])] = error.message
            continue
        scenarios = Scenarios(system, procedure_of(str(words["source"]), training.statistic, system))
        by_point = scenarios.of_points(points)
        usable = [i for i, scenario in enumerate(by_point) if scenario is not None]
        reasons |= scenarios.missing
        if not usable:
            continue
        simulated_points = points.iloc[usable].reset_index(drop=True)
        pairs = _alike(training.point_to_point, words)
        fit = _Fit(
            replace(training, points=simulated_points, point_to_point=pairs),
            system,
            [scenario for scenario in by_point if scenario is not None],
            simulated_points["mapping"].astype(str).tolist(),
            simulated_points["time_s"].to_numpy(np.float64),
        )
        fitted[key] = fit.run(scenarios)
    if not fitted:
        why = "; ".join(f"{name}: {reason}" for name, reason in sorted(reasons.items()))
        raise RequestError(f"no training point can be simulated: {why}", "describe the system with --system")
    return _Apart(fitted)


def _system_of(training: Training, name: str) -> System:
    """The system that was described, or what the training points of that name say of theirs."""
    if isinstance(training.system, System):
        return training.system
    return _without_limit(system_of_table(training.points[training.points["system"] == name]))


def _alike(pairs: pd.DataFrame, words: Mapping[str, object]) -> pd.DataFrame:
    """Ping-pongs of the same system, library and variant."""
    for name in ("system", "mpi", "variant"):
        if name in pairs.columns:
            pairs = pairs[pairs[name].astype(object).fillna("").astype(str) == words[name]]
    return pairs


@dataclass(frozen=True)
class _Apart:
    """A calibration for each set of conditions."""

    fitted: dict[Hashable, _Simulated]

    def predict(self, points: pd.DataFrame) -> Prediction:
        prediction, correction = unknown(len(points)), _uncorrected(len(points))
        notes: list[str] = []
        for key, index in positions(points, APART).items():
            words = ", ".join(str(word) for word in key if word)  # type: ignore[attr-defined]
            if key not in self.fitted:
                notes.append(f"{words or 'conditions not told'}: nothing was trained")
                continue
            part = self.fitted[key].predict(points.iloc[index].reset_index(drop=True))
            _fill(prediction, correction, index, part)
            prefix = f"{words}: " if len(self.fitted) > 1 else ""
            notes += [f"{prefix}{note}" for note in part.note or []]
        return replace(prediction, note=notes, correction=correction)

    def plain_s(self, points: pd.DataFrame) -> Array:
        """Seconds by the costs that all schedules share, shape (n,); NaN where there is no schedule."""
        time_s = np.full(len(points), np.nan)
        for key, index in positions(points, APART).items():
            if key in self.fitted:
                time_s[index] = self.fitted[key].plain_s(points.iloc[index])
        return time_s


def _uncorrected(count: int) -> Correction:
    return Correction(np.full(count, np.nan), np.zeros(count))


def _fill(prediction: Prediction, correction: Correction, index: Index, part: Prediction) -> None:
    """Write `part`, shape (n,), to the positions `index` of both."""
    for name in ("time_s", "low_s", "high_s"):
        getattr(prediction, name)[index] = getattr(part, name)
    for name in ("readable_s", "weight"):
        getattr(correction, name)[index] = getattr(part.correction, name)


@dataclass
class _Fit:
    training: Training
    system: System
    chosen: Sequence[Scenario]
    mappings: Sequence[str]
    measured_s: Array
    held_above_B: float = _HELD_B

    def __post_init__(self) -> None:
        self._replayed = 0
        self.times = MessageTimes(self.training.point_to_point, self.system)
        rate = self.system.network.bandwidth_B_per_s or 1e10
        self.start = Start(self.times, lambda size_B: 1e-7 + size_B / rate)

    def layout(self, step_from: float = np.inf, above_B: Mapping[str, float] | None = None) -> ParameterLayout:
        labels = tuple(sorted({scenario.label for scenario in self.chosen}))
        return ParameterLayout(
            self.knots(),
            labels,
            self.system.node.cores,
            step_from,
            above_B or {},
            held_above_B=self.held_above_B,
        )

    def knots(self) -> Array:
        largest = max(max(_largest_message_B(scenario) for scenario in self.chosen), 1)
        return np.array(
            [0.0, *2.0 ** np.arange(int(np.ceil(np.log2(largest))) + 1), *([2.0] if largest < 2 else [])]
        )

    def fitted(self, layout: ParameterLayout, index: Index, steps: int) -> Calibration:
        scenarios = self._scenarios(index)
        begin = layout.start(self.start)
        replays = replay_all(scenarios, [self.training.statistic] * len(scenarios), layout, begin)
        calibration = calibrate(replays, self.measured_s[index], layout, begin, steps=steps)
        self._replayed += index.size * steps
        self.training.progress(min(self._replayed / self.work(), 1.0), "calibrating")
        return calibration

    def work(self) -> float:
        """An upper bound of the simulations that the calibration takes, each step counted."""
        points = len(self.chosen)
        of_label = (Counter(scenario.label for scenario in self.chosen)).values()
        protocols = (
            sum(min(n, _TRIAL // 2) * (1 + len(_RENDEZVOUS_B)) for n in of_label)
            + (4 + 2 * _SETTLED // 6) * min(points, 2 * _TRIAL)
            + 2 * min(points, _TRIAL)
        )
        return 6 * protocols + 10 * min(points, _MOST) + 8 * len(_PARTS) * min(points, _TRIAL)

    def hold(self) -> None:
        """Let senders of larger messages wait until these are out, unless the times contradict it."""
        sizes = np.array([scenario.size_B for scenario in self.chosen])
        trial = _sample(np.flatnonzero(sizes > _HELD_B), _TRIAL)
        if trial.size < FEWEST:
            return
        held = self.fitted(self.layout(), trial, 6).loss
        self.held_above_B = np.inf
        if self.fitted(self.layout(), trial, 6).loss > held - _BELIEVE:
            self.held_above_B = _HELD_B

    def rendezvous(self) -> dict[str, float]:
        """Rendezvous limit in bytes of each schedule whose times support one.

        Schedules are tried one by one, because libraries treat blocking and non-blocking sends differently.
        """
        limits_B: dict[str, float] = {}
        labels = np.array([scenario.label for scenario in self.chosen], dtype=object)
        sizes = np.array([scenario.size_B for scenario in self.chosen])
        for label in sorted(set(labels)):
            trial = _sample(np.flatnonzero(labels == label), _TRIAL // 2)
            best = self.fitted(self.layout(), trial, 6).loss
            for candidate in _RENDEZVOUS_B:
                if (sizes[trial] > candidate).sum() < FEWEST or (sizes[trial] <= candidate).sum() < FEWEST:
                    continue
                loss = self.fitted(self.layout(above_B={label: candidate}), trial, 6).loss
                if loss < best - _BELIEVE:
                    best, limits_B[label] = loss, candidate
        return limits_B

    def step(self, above_B: dict[str, float]) -> float:
        """The number of ranks from which on the network costs more; infinity where the times support none."""
        over = np.flatnonzero([scenario.place.is_spread for scenario in self.chosen])
        ranks = sorted({self.chosen[int(i)].ranks for i in over})
        late = [count for count in ranks if ranks[0] < _LATE * ranks[-1] <= count][-3:]
        if over.size < FEWEST or not late:
            return np.inf
        trial = _sample(over, 2 * _TRIAL)
        best, step_from = self.fitted(self.layout(np.inf, above_B), trial, 6).loss, np.inf
        for candidate in late:
            loss = self.fitted(self.layout(float(candidate), above_B), trial, 6).loss
            if loss < best - _BELIEVE:
                best, step_from = loss, float(candidate)
        if np.isfinite(step_from):
            # A calibration that has not settled takes a step for what further steps of its own would explain.
            without, stepped = (
                self.fitted(self.layout(each, above_B), trial, _SETTLED).loss for each in (np.inf, step_from)
            )
            step_from = step_from if stepped < without - _BELIEVE else np.inf
        return step_from

    def run(self, scenarios: Scenarios) -> _Simulated:
        self.hold()
        above_B = self.rendezvous()
        step_from = self.step(above_B)
        layout = self.layout(step_from, above_B)
        index = _sample(np.arange(len(self.chosen)), _MOST)
        whole = self.fitted(layout, index, 10)
        groups = Groups()
        at = _where(self._scenarios(index), self._mappings(index), groups)
        surfaces = surfaces_of(self.training)
        discrepancy = Discrepancy(at, whole.residual, whole.leverage)
        return _Simulated(
            scenarios,
            whole,
            self.training.statistic,
            groups,
            Corrector(at, discrepancy, surfaces, surfaces.left_out[index]),
            self.growth(layout),
            Runs.of(self.chosen, self.mappings),
            max(scenario.place.ppn for scenario in self.chosen),
            _localities(self.chosen) | self.times.measured,
            _notes(layout, index.size, len(self.chosen)),
            self.training.progress,
        )

    def growth(self, layout: ParameterLayout) -> Growth:
        """How far predictions are off beyond training: calibrations on the lower half and the lower quarter of
        the ranks, held against the rest."""
        ranks = np.array([scenario.ranks for scenario in self.chosen])
        fewer = self.layout(above_B=layout.rendezvous_above_B)
        missed: list[Array] = []
        inside: list[Array] = []
        farther: list[Beyond] = []
        for limit in ranks.max() / np.array(_PARTS):
            low, high = np.flatnonzero(ranks <= limit), np.flatnonzero(ranks > limit)
            if low.size < FEWEST or high.size < FEWEST:
                continue
            fit = self.fitted(fewer, _sample(low, _TRIAL), 8)
            larger = _sample(high, _TRIAL)
            tried = self._scenarios(larger)
            replays = replay_all(tried, [self.training.statistic] * len(tried), fewer, fit.theta)
            made = np.array([np.log(replay.time_s(fit.theta)) for replay in replays])
            missed.append(made - np.log(self.measured_s[larger]))
            inside.append(np.full(larger.size, np.quantile(np.abs(fit.residual), CONFIDENCE)))
            seen = Runs.of(self._scenarios(low), self._mappings(low))
            farther.append(seen.beyond(tried, self._mappings(larger)))
        if not farther:
            return Growth(UNKNOWN, UNKNOWN)
        beyond = Beyond(
            np.concatenate([part.doublings for part in farther]),
            np.concatenate([part.is_new for part in farther]),
        )
        return Growth.of(np.concatenate(missed), np.concatenate(inside), beyond)

    def _scenarios(self, index: Index) -> list[Scenario]:
        return [self.chosen[int(i)] for i in index]

    def _mappings(self, index: Index) -> list[str]:
        return [self.mappings[int(i)] for i in index]


def _sample(index: Index, most: int) -> Index:
    """A random sample of at most `most` positions, the same each time."""
    if index.size <= most:
        return index
    return np.sort(np.random.default_rng(1).choice(index, most, replace=False))


def _localities(scenarios: Iterable[Scenario]) -> set[int]:
    """Localities (indices into LOCALITIES) of the pairs of ranks."""
    # Points of one placement share it.
    places = {id(scenario.place): scenario.place for scenario in scenarios}
    return {locality for place in places.values() for locality in place.localities}


def _largest_message_B(scenario: Scenario) -> int:
    """The largest message that a schedule can send: blocks of all ranks may travel together."""
    return scenario.size_B * (scenario.ranks if sizes_are_blocks(scenario.label.split()[0]) else 1)


def _where(scenarios: Sequence[Scenario], mappings: Sequence[str], groups: Groups) -> Where:
    schedules = [f"{scenario.label}/{mapping}" for scenario, mapping in zip(scenarios, mappings, strict=True)]
    return Where(
        np.log([float(scenario.ranks) for scenario in scenarios]),
        np.log2([max(float(scenario.size_B), 0.5) for scenario in scenarios]),
        groups.of(schedules),
        groups.of([f"/{mapping}" for mapping in mappings]),
    )


def _notes(layout: ParameterLayout, used: int, points: int) -> list[str]:
    notes = [
        f"{label}: messages above {size_B:.0f} B wait for their receiver"
        for label, size_B in layout.rendezvous_above_B.items()
    ]
    if layout.knots[-1] > layout.held_above_B:
        notes.append(f"senders of messages above {layout.held_above_B:.0f} B wait until they are out")
    if np.isfinite(layout.step_from):
        notes.append(f"the network costs more from {layout.step_from:.0f} ranks on")
    if used < points:
        notes.append(f"calibrated on {used} of {points} training points, chosen at random")
    return notes


@dataclass(frozen=True)
class _Simulated:
    scenarios: Scenarios
    calibration: Calibration
    statistic: str
    groups: Groups
    corrector: Corrector
    growth: Growth
    runs: Runs
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
        prediction, correction = unknown(len(points)), _uncorrected(len(points))
        by_point = self.scenarios.of_points(points)
        unseen = _localities(filter(None, by_point)) - self.known
        if NETWORK in unseen and not self.has_published_network:
            for i, scenario in enumerate(by_point):
                if scenario is not None and scenario.place.is_spread:
                    self.scenarios.missing[str(points["algorithm"].iloc[i])] = _NO_NETWORK
                    by_point[i] = None
            unseen.remove(NETWORK)
        for first in range(0, len(by_point), _BATCH):
            batch = [
                (first + i, scenario)
                for i, scenario in enumerate(by_point[first : first + _BATCH])
                if scenario is not None
            ]
            if batch:
                index = np.array([i for i, _ in batch], dtype=np.intp)
                made = self._batch([scenario for _, scenario in batch], points.iloc[index])
                _fill(prediction, correction, index, made)
            self.progress(min((first + _BATCH) / len(by_point), 1.0), "predicting")
        missing = sorted(self.scenarios.missing.items())
        stand_ins = [f"{LOCALITIES[level]}: {_STAND_IN[level == NETWORK]}" for level in sorted(unseen)]
        ppn = max((scenario.place.ppn for scenario in by_point if scenario is not None), default=0)
        if ppn > self.most_ppn:
            stand_ins.append(
                f"{ppn} ranks are taken to be on one node, training has at most {self.most_ppn} on one"
            )
        notes = [*self.notes, *stand_ins, *(f"{name}, where it is not simulated: {why}" for name, why in missing)]
        return replace(prediction, note=notes, correction=correction)

    def plain_s(self, points: pd.DataFrame) -> Array:
        """As of `_Apart`."""
        fit, time_s = self.calibration, np.full(len(points), np.nan)
        by_point = self.scenarios.of_points(points)
        for first in range(0, len(by_point), _BATCH):
            batch = by_point[first : first + _BATCH]
            plain = [replace(scenario, label="") for scenario in batch if scenario is not None]
            replays = replay_all(plain, [self.statistic] * len(plain), fit.layout, fit.theta)
            has = first + np.flatnonzero([scenario is not None for scenario in batch])
            time_s[has] = [replay.time_s(fit.theta) for replay in replays]
        return time_s

    def _batch(self, scenarios: list[Scenario], points: pd.DataFrame) -> Prediction:
        fit = self.calibration
        replays = replay_all(scenarios, [self.statistic] * len(scenarios), fit.layout, fit.theta)
        slopes = [replay.slope(fit.theta) for replay in replays]
        simulated_ln = np.array([value for value, _ in slopes])
        open_ln = NORMAL * fit.deviation([slope for _, slope in slopes])
        mappings = points["mapping"].astype(str).tolist()
        where = _where(scenarios, mappings, self.groups)
        beyond = self.runs.beyond(scenarios, mappings)
        corrected = self.corrector.at(points, where, simulated_ln)
        time_s = np.exp(simulated_ln + corrected.ln)
        width = np.exp(np.sqrt(corrected.reach**2 + self.growth.reach(beyond) ** 2 + open_ln**2))
        correction = Correction(np.exp(simulated_ln), corrected.weight)
        return Prediction(time_s, time_s / width, time_s * width, correction=correction)
