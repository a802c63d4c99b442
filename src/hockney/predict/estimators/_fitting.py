"""Calibrates the simulation on points of one set of conditions: protocols, costs, and how far off they are."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from hockney.machine.system import System
from hockney.predict.calibrate import Calibration, calibrate, replay_all
from hockney.predict.discrepancy import Discrepancy, Groups
from hockney.predict.estimators._beyond import FEWEST, UNKNOWN, Beyond, ErrorGrowth, TrainedRuns
from hockney.predict.estimators._correction import Corrector
from hockney.predict.estimators._simulation import SimulatedPoints, localities, where_of
from hockney.predict.estimators.base import Array, Training
from hockney.predict.estimators.gaussian_process import surfaces_of
from hockney.predict.parameters import ParameterLayout, Start
from hockney.predict.point_to_point import MessageTimes
from hockney.predict.scenario import Scenario, Scenarios
from hockney.records.keys import sizes_are_blocks
from hockney.runner.cache import code_version, computed
from hockney.statistics import CONFIDENCE

_MOST = 4000
"""Training points that are simulated at each step; more add time, not knowledge."""
_TRIAL = 600
"""Points on which protocols are tried."""
_BELIEVE = 10.0
"""Gain in log-likelihood from which on a protocol is believed."""
_SETTLED = 24
"""Steps after which a calibration on these gains next to nothing: 0.5 of the log-likelihood on planted times."""
_SETTLING = 8
"""Steps of a calibration on part of the points, which only says how far the others are missed."""
_RENDEZVOUS_B = (8192.0, 131072.0)
"""Sizes at which libraries switch protocol for non-blocking and blocking sends (UCX: above 8 and 256 KiB)."""
_HELD_B = 8192.0
"""The size above which libraries no longer copy what they send (UCX's zero copy)."""
_KEPT_FROM = 1800
"""Points times steps of a calibration that takes longer than to find it in the cache."""
_LATE = 0.8
"""A step in the network's costs is looked for in the upper fifth of the training rank counts."""
_PARTS = (2, 4)
"""Divisors of the largest training run: fits to the smaller runs predict the larger, to see how errors grow."""

Index = NDArray[np.intp]


@dataclass
class CalibratedFit:
    """The points of one set of conditions, and the scenario of each."""

    training: Training
    system: System
    chosen: Sequence[Scenario]
    held_above_B: float = _HELD_B

    def __post_init__(self) -> None:
        self.mappings = self.training.points["mapping"].astype(str).tolist()
        self.measured_s = self.training.points["time_s"].to_numpy(np.float64)
        self._begin("calibrating", self.work())
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
        measured_s, statistics = self.measured_s[index], [self.training.statistic] * len(scenarios)

        def anew() -> Calibration:
            # Each is recorded once, and replayed before the first step and after each.
            replayed = partial(self._replay, steps / (steps + 2))
            replays = replay_all(scenarios, statistics, layout, begin, replayed)
            return calibrate(replays, measured_s, layout, begin, steps=steps, replayed=replayed)

        if index.size * steps < _KEPT_FROM:
            return anew()
        choices = [getattr(layout, each.name) for each in fields(layout)]
        depends = [begin.tobytes(), measured_s.tobytes(), choices, self.training.statistic, steps]
        depends += [scenario.digest for scenario in scenarios]
        digest = hashlib.sha256(f"{code_version()} {depends!r}".encode()).hexdigest()
        return Calibration.loaded(computed(digest, lambda: anew().data()), layout)

    def _replay(self, steps: float) -> None:
        self._replayed += steps
        self.training.progress(min(self._replayed / self._most, 1.0), self._piece)

    def _begin(self, piece: str, most: float) -> None:
        """A piece of work, of at most so many simulations, each step counted."""
        self._piece, self._most, self._replayed = piece, most, 0.0

    def work(self) -> float:
        """An upper bound of the simulations that the calibration takes, each step counted."""
        points = len(self.chosen)
        of_label = (Counter(scenario.label for scenario in self.chosen)).values()
        protocols = (
            sum(min(n, _TRIAL // 2) * (1 + len(_RENDEZVOUS_B)) for n in of_label)
            + (4 + 2 * _SETTLED // 6) * min(points, 2 * _TRIAL)
            + 2 * min(points, _TRIAL)
        )
        return 6 * protocols + 10 * min(points, _MOST) + _SETTLING * len(_PARTS) * min(points, _TRIAL)

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
            over = {limit_B: int((sizes[trial] > limit_B).sum()) for limit_B in _RENDEZVOUS_B}
            tried = [limit_B for limit_B, count in over.items() if FEWEST <= count <= trial.size - FEWEST]
            if not tried:
                continue
            best = self.fitted(self.layout(), trial, 6).loss
            for candidate in tried:
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

    def run(self, scenarios: Scenarios) -> SimulatedPoints:
        self.hold()
        above_B = self.rendezvous()
        step_from = self.step(above_B)
        layout = self.layout(step_from, above_B)
        index = _sample(np.arange(len(self.chosen)), _MOST)
        whole = self.fitted(layout, index, 10)
        groups = Groups()
        at = where_of(self._scenarios(index), self._mappings(index), groups)
        surfaces = surfaces_of(self.training)
        discrepancy = Discrepancy(at, whole.residual, whole.leverage)
        return SimulatedPoints(
            scenarios,
            whole,
            self.training.statistic,
            groups,
            Corrector(at, discrepancy, surfaces, surfaces.left_out[index]),
            self.growth(layout),
            cache(partial(self.between, layout)),
            TrainedRuns.of(self.chosen, self.mappings),
            max(scenario.place.ppn for scenario in self.chosen),
            localities(self.chosen) | self.times.measured,
            _notes(layout, index.size, len(self.chosen)),
            self.training.progress,
        )

    def growth(self, layout: ParameterLayout) -> ErrorGrowth:
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
            fit = self.fitted(fewer, _sample(low, _TRIAL), _SETTLING)
            larger = _sample(high, _TRIAL)
            tried = self._scenarios(larger)
            replays = replay_all(tried, [self.training.statistic] * len(tried), fewer, fit.theta)
            made = np.array([np.log(replay.time_s(fit.theta)) for replay in replays])
            missed.append(made - np.log(self.measured_s[larger]))
            inside.append(np.full(larger.size, np.quantile(np.abs(fit.residual), CONFIDENCE)))
            seen = TrainedRuns.of(self._scenarios(low), self._mappings(low))
            farther.append(seen.beyond(tried, self._mappings(larger)))
        if not farther:
            return ErrorGrowth(UNKNOWN, UNKNOWN)
        beyond = Beyond(
            np.concatenate([part.doublings for part in farther]),
            np.concatenate([part.is_new for part in farther]),
        )
        return ErrorGrowth.of(np.concatenate(missed), np.concatenate(inside), beyond)

    def between(self, layout: ParameterLayout) -> float | None:
        """How far predictions of a schedule are off that no training point ran: how many of the deviations that
        the parameters leave open hold 95 % of the points of schedules left out one at a time, each predicted by
        the others and by what all that they miss has in common. None where no schedule can be left out.
        """
        labels = np.array([scenario.label for scenario in self.chosen], dtype=object)
        is_own = [labels == label for label in sorted(set(labels))]
        parts = [
            (np.flatnonzero(own), _sample(np.flatnonzero(~own), _MOST))
            for own in is_own
            if min(own.sum(), (~own).sum()) >= FEWEST
        ]
        if not parts:
            return None
        self._begin("calibrating without each schedule", _SETTLING * sum(others.size for _, others in parts))
        off: list[Array] = []
        for own, others in parts:
            fit = self.fitted(layout, others, _SETTLING)
            asked = _sample(own, _TRIAL)
            # What the schedule itself was seen to do, its correction and its protocol, goes with its name.
            nameless = [replace(scenario, label="") for scenario in self._scenarios(asked)]
            replays = replay_all(nameless, [self.training.statistic] * asked.size, layout, fit.theta)
            slopes = [replay.slope(fit.theta) for replay in replays]
            groups = Groups()
            at = where_of(self._scenarios(others), self._mappings(others), groups)
            shared = Discrepancy(at, fit.residual, fit.leverage)
            corrected, _ = shared.at(where_of(self._scenarios(asked), self._mappings(asked), groups))
            missed = np.log(self.measured_s[asked]) - np.array([value for value, _ in slopes]) - corrected
            off.append(np.abs(missed) / fit.deviation([slope for _, slope in slopes]))
        return float(np.quantile(np.concatenate(off), CONFIDENCE))

    def _scenarios(self, index: Index) -> list[Scenario]:
        return [self.chosen[int(i)] for i in index]

    def _mappings(self, index: Index) -> list[str]:
        return [self.mappings[int(i)] for i in index]


def _sample(index: Index, most: int) -> Index:
    """A random sample of at most `most` positions, the same each time."""
    if index.size <= most:
        return index
    return np.sort(np.random.default_rng(1).choice(index, most, replace=False))


def _largest_message_B(scenario: Scenario) -> int:
    """The largest message that a schedule can send: blocks of all ranks may travel together."""
    return scenario.size_B * (scenario.ranks if sizes_are_blocks(scenario.label.split()[0]) else 1)


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
