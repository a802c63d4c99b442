"""Calibrates the simulation on points of one set of conditions: protocols, costs, and how far off they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from hockney.machine.system import System
from hockney.predict.calibrate import Calibration, CalibrationGoal, Paths, Replay, calibrate, replay_all
from hockney.predict.discrepancy import Discrepancy, Groups
from hockney.predict.estimators._beyond import FEWEST, UNKNOWN, Beyond, ErrorGrowth, TrainedRuns
from hockney.predict.estimators._correction import Corrector
from hockney.predict.estimators._simulation import SimulatedPoints, localities, where_of
from hockney.predict.estimators.base import Array, Training
from hockney.predict.estimators.combination import fit as combination_of
from hockney.predict.parameters import ParameterLayout, Start
from hockney.predict.point_to_point import MessageTimes
from hockney.predict.scenario import Scenario, Scenarios
from hockney.runner.cache import digest_of
from hockney.runner.remembered import remembered
from hockney.statistics import CONFIDENCE, least_absolute_share

_MOST = 4000
"""Training points that are simulated; more add time, not knowledge."""
_MOST_STEPS = 10_000_000
"""Their steps: 0.5 GB, and half a minute."""
_TRIAL = 300
"""Points on which protocols are tried."""
_FEW = 100
"""Points that say whether a protocol is worth to be tried on all of these."""
_BELIEVE = 10.0
"""Gain in log-likelihood from which on a protocol is believed."""
_PROMISED = 0.25
"""Share of it that one simulation must promise before a protocol is calibrated (half missed simulated ports)."""
_RENDEZVOUS_B = (8192.0, 131072.0)
"""Sizes at which libraries switch protocol for non-blocking and blocking sends (UCX: above 8 and 256 KiB)."""
_HELD_B = 8192.0
"""The size above which libraries no longer copy what they send (UCX's zero copy)."""
_STEPS = 8
_TRIED = 4
"""Steps at most of a calibration, and of one that begins near another's parameters."""
_KEPT_FROM = 600
"""Points of a calibration that takes longer than to find it in the cache."""
_LATE = 0.8
"""A step in the network's costs is looked for in the upper fifth of the training rank counts."""
_AHEAD = 1 / 3
"""The most that curves which know no schedule weigh beyond training; chosen on broadcasts of `orfeo-epyc`."""
_PARTS = (2, 4)
"""Divisors of the largest training run: fits to the smaller runs predict the larger, to see how errors grow."""

Index = NDArray[np.intp]
_COUNTING = Lock()


@dataclass
class CalibratedFit:
    """The points of one set of conditions, and the scenario of each."""

    training: Training
    system: System
    chosen: Sequence[Scenario]
    held_above_B: float = _HELD_B
    has_port: bool = False
    near: Array | None = None
    """Parameters from which trials begin, where a calibration has them."""
    order: Array | None = None
    """Those under which traces are recorded, where they are not these."""

    def __post_init__(self) -> None:
        self.mappings = self.training.points["mapping"].astype(str).tolist()
        self.measured_s = self.training.points["time_s"].to_numpy(np.float64)
        self._begin("calibrating", self.work())
        self.times = MessageTimes(self.training.point_to_point, self.system)
        rate = self.system.network.bandwidth_B_per_s or 1e10
        self.start = Start(self.times, lambda size_B: 1e-7 + size_B / rate)
        self.labels = np.array([scenario.label for scenario in self.chosen], dtype=object)
        self.sizes = np.array([scenario.size_B for scenario in self.chosen])
        self.largest_B = [scenario.largest_message_B for scenario in self.chosen]
        self.steps = np.array([scenario.steps for scenario in self.chosen])
        self.drawn = self._sample(np.arange(len(self.chosen)), _MOST)
        self._replays: dict[tuple[int, float, bool, float], Replay] = {}

    def layout(self, step_from: float = np.inf, above_B: Mapping[str, float] | None = None) -> ParameterLayout:
        return ParameterLayout(
            self.knots,
            tuple(sorted(set(self.labels))),
            self.system.node.cores,
            step_from,
            above_B or {},
            held_above_B=self.held_above_B,
            has_port=self.has_port,
        )

    @cached_property
    def knots(self) -> Array:
        largest = max(*self.largest_B, 1)
        return np.array(
            [0.0, *2.0 ** np.arange(int(np.ceil(np.log2(largest))) + 1), *([2.0] if largest < 2 else [])]
        )

    def fitted(self, layout: ParameterLayout, index: Index, steps: int = _TRIED) -> Calibration:
        """The calibration on some points, tried from the parameters of the latest on all kinds of points on."""
        begin, near, measured_s = layout.start(self.start), self._begun(layout), self.measured_s[index]

        def anew() -> Calibration:
            replays = self._recorded(layout, index, near if self.order is None else self.order)
            return calibrate(replays, measured_s, layout, begin, near=near, steps=steps, replayed=self._replay)

        if index.size < _KEPT_FROM:
            return anew()
        choices = [getattr(layout, each.name) for each in fields(layout)]
        depends = [begin.tobytes(), near.tobytes(), measured_s.tobytes(), choices, self.training.statistic, steps]
        depends += [scenario.digest for scenario in self._scenarios(index)]
        return remembered(digest_of(*depends), anew)

    def _begun(self, layout: ParameterLayout) -> Array:
        """The parameters from which trials begin: those of a calibration on points of all kinds."""
        if self.near is None:
            self.near = layout.start(self.start)
            self.near = self.fitted(layout, self._trial(self.steps > 0), _STEPS).theta
            # What passes shared links first is simulated anew.
            self._replays.clear()
        return self.near

    def _recorded(self, layout: ParameterLayout, index: Index, theta: Array) -> list[Replay]:
        """The traces of these points, under the protocols of a layout; each is recorded once."""
        keys = [(int(i), *layout.protocol(self.labels[i], self.largest_B[i])) for i in index]
        new = [key for key in keys if key not in self._replays]
        if self.steps[[i for i, *_ in [*self._replays, *new]]].sum() > _MOST_STEPS:
            self._replays = {key: self._replays[key] for key in keys if key in self._replays}
        scenarios = [self.chosen[i] for i, *_ in new]
        made = replay_all(scenarios, self.training.statistic, layout, theta, self._replay)
        self._replays.update(zip(new, made, strict=True))
        return [self._replays[key] for key in keys]

    def _replay(self) -> None:
        # Several threads replay: what is said of them goes on, and never back.
        with _COUNTING:
            self._replayed += 1
            self.training.progress(min(self._replayed / self._most, 1.0), self._piece)

    def _begin(self, piece: str, most: float) -> None:
        """A piece of work, of at most so many simulations, each step counted."""
        self._piece, self._most, self._replayed = piece, most, 0.0

    def work(self) -> float:
        """An upper bound of the simulations that the calibration takes, each recording counted."""
        points = min(len(self.chosen), _MOST)
        trials = 3 + (1 + len(_RENDEZVOUS_B)) * len({scenario.label for scenario in self.chosen})
        return 4 * min(points, _TRIAL) * (trials + 4) + (2 + _STEPS) * _TRIAL + 4 * points

    def hold(self) -> None:
        """Let senders of larger messages wait until these are out, unless the times contradict it, and let those
        inside a node leave one after another if the times say so."""
        trial = self._trial(self.sizes > _HELD_B)
        if trial.size < FEWEST:
            return
        choices = ((_HELD_B, False), (np.inf, False), (_HELD_B, True))
        layouts = [replace(self.layout(), held_above_B=held_B, has_port=has_port) for held_B, has_port in choices]
        self.held_above_B, self.has_port = choices[self._best(layouts, trial)]

    def rendezvous(self) -> dict[str, float]:
        """Rendezvous limit in bytes of each schedule whose times support one.

        Schedules are tried one by one, because libraries treat blocking and non-blocking sends differently.
        """
        limits_B: dict[str, float] = {}
        for label in sorted(set(self.labels)):
            trial = self._trial(self.labels == label)
            over = {limit_B: int((self.sizes[trial] > limit_B).sum()) for limit_B in _RENDEZVOUS_B}
            tried = [limit_B for limit_B, count in over.items() if FEWEST <= count <= trial.size - FEWEST]
            layouts = [self.layout(), *(self.layout(above_B={label: limit_B}) for limit_B in tried)]
            if tried and (best := self._best(layouts, trial)):
                limits_B[label] = tried[best - 1]
        return limits_B

    def _best(self, layouts: Sequence[ParameterLayout], trial: Index) -> int:
        """Which of these explains the trial points: the first, unless another is believed to explain them better.

        Few points, and the paths of one simulation, show which ones are worth to be calibrated.
        """
        few = trial[:: -(-trial.size // _FEW)]
        promised = [self._settled(layout, self._paths(layout, few), few) for layout in layouts]
        enough = promised[0] - _PROMISED * _BELIEVE * few.size / trial.size
        left = [number for number, loss in enumerate(promised) if loss < enough]
        best, least = 0, self.fitted(layouts[0], trial).loss if left else np.inf
        for number in left:
            if (loss := self.fitted(layouts[number], trial).loss) < least - _BELIEVE:
                best, least = number, loss
        return best

    def _paths(self, layout: ParameterLayout, index: Index) -> Paths:
        """The critical paths of these points under the parameters from which trials begin."""
        near = self._begun(layout)
        return Paths.critical(self._recorded(layout, index, near), layout, near, self._replay)[0]

    def _settled(self, layout: ParameterLayout, paths: Paths, index: Index) -> float:
        """The loss of parameters that settle on these paths: a calibration's, if no other becomes critical."""
        scenarios, begin = self._scenarios(index), layout.start(self.start)
        fit = CalibrationGoal.of(scenarios, self.measured_s[index], layout, begin)
        theta = fit.settled(paths, self._begun(layout))
        return fit.unlikely(theta, fit.observed_ln - paths.ln_s(theta))

    def step(self, above_B: dict[str, float]) -> float:
        """The number of ranks from which on the network costs more; infinity where the times support none."""
        is_spread = np.array([scenario.place.is_spread for scenario in self.chosen])
        ranks = sorted({self.chosen[int(i)].ranks for i in np.flatnonzero(is_spread)})
        late = [count for count in ranks if ranks[0] < _LATE * ranks[-1] <= count][-3:]
        if is_spread.sum() < FEWEST or not late:
            return np.inf
        trial = self._trial(is_spread, 4 * _TRIAL)
        paths = self._paths(self.layout(above_B=above_B), trial)

        def loss(step_from: float) -> float:
            # Without the step its parameters are where it costs nothing: the paths are those of the others.
            tried = self.layout(step_from, above_B)
            return self._settled(tried, Paths(paths.points, tried), trial)

        best, step_from = loss(np.inf), np.inf
        for candidate in late:
            if (own := loss(float(candidate))) < best - _BELIEVE:
                best, step_from = own, float(candidate)
        if np.isfinite(step_from):
            # Along paths that are simulated anew, too.
            without, stepped = (
                self.fitted(self.layout(each, above_B), trial).loss for each in (np.inf, step_from)
            )
            step_from = step_from if stepped < without - _BELIEVE else np.inf
        return step_from

    def _trial(self, has: NDArray[np.bool_], most: int = _TRIAL) -> Index:
        """At most so many of the drawn points, of those that have something."""
        return self._sample(self.drawn[has[self.drawn]], most, _MOST_STEPS / (2 + len(set(self.labels))))

    def _sample(self, index: Index, most: int, most_steps: float = _MOST_STEPS) -> Index:
        """A random sample of at most so many points and steps, the same each time."""
        dice = np.random.default_rng(1)
        drawn = np.sort(dice.choice(index, most, replace=False)) if index.size > most else index
        if self.steps[drawn].sum() <= most_steps:
            return drawn
        # In the same time most is learned where chances fall with the root of the cost (Neyman 1934); in order of
        # such keys points are drawn with these (Efraimidis and Spirakis 2006).
        order = np.argsort(dice.exponential(size=drawn.size) * np.sqrt(self.steps[drawn]), kind="stable")
        within = np.cumsum(self.steps[drawn[order]]) <= most_steps
        within[0] = True
        return np.sort(drawn[order[within]])

    def run(self, scenarios: Scenarios) -> SimulatedPoints:
        self.hold()
        above_B = self.rendezvous()
        step_from = self.step(above_B)
        layout = self.layout(step_from, above_B)
        index, begun = self.drawn, self._begun(layout)
        whole = self.fitted(layout, index, int(np.clip(2 * _MOST / index.size, 2, _STEPS)))
        self.near = whole.theta
        groups = Groups()
        at = where_of(self._scenarios(index), self._mappings(index), groups)
        if index.size < len(self.chosen):
            # They take the memory that the corrections of so many points need.
            self._replays.clear()
        curves = combination_of(self.training)
        discrepancy = Discrepancy(at, whole.residual, whole.leverage)
        return SimulatedPoints(
            scenarios,
            whole,
            self.training.statistic,
            groups,
            Corrector(at, discrepancy, curves, curves.surfaces.left_out[index]),
            LeftOutRuns(replace(self.training, beside={}), self.system, scenarios, layout, whole.theta, begun),
            dict(scenarios.missing),
            TrainedRuns.of(self.chosen, self.mappings),
            max(scenario.place.ppn for scenario in self.chosen),
            localities(self.chosen) | self.times.measured,
            _notes(layout, index.size, len(self.chosen)),
            self.training.progress,
        )

    def growth(self, layout: ParameterLayout) -> tuple[ErrorGrowth, float]:
        """How far predictions are off beyond training, and the weight there of curves that know no schedule:
        calibrations on the lower half and the lower quarter of the ranks, held against the rest."""
        ranks = np.array([scenario.ranks for scenario in self.chosen])
        fewer = self.layout(above_B=layout.rendezvous_above_B)
        self._begin("calibrating on fewer ranks", len(_PARTS) * (_TRIED + 3) * 2 * _TRIAL)
        missed, says_more, inside = (list[Array]() for _ in range(3))
        farther: list[Beyond] = []
        for limit in ranks.max() / np.array(_PARTS):
            low, high = np.flatnonzero(ranks <= limit), np.flatnonzero(ranks > limit)
            if low.size < FEWEST or high.size < FEWEST:
                continue
            fit = self.fitted(fewer, self._trial(ranks <= limit, 2 * _TRIAL))
            larger = self._trial(ranks > limit, 2 * _TRIAL)
            made = np.log([each.time_s(fewer, fit.theta) for each in self._recorded(fewer, larger, fit.theta)])
            missed.append(np.log(self.measured_s[larger]) - made)
            inside.append(np.full(larger.size, np.quantile(np.abs(fit.residual), CONFIDENCE)))
            seen = TrainedRuns.of(self._scenarios(low), self._mappings(low))
            farther.append(seen.beyond(self._scenarios(larger), self._mappings(larger)))
            points = self.training.points
            curves = combination_of(replace(self.training, points=points.iloc[low].reset_index(drop=True)))
            grown_ln = np.log(curves.predict(points.iloc[larger].reset_index(drop=True)).time_s)
            # Curves know nothing of a locality on which they have no point.
            says_more.append(np.where(farther[-1].is_new, np.nan, grown_ln - made))
        if not farther:
            return ErrorGrowth(UNKNOWN, UNKNOWN), 0.0
        beyond = Beyond(
            np.concatenate([part.doublings for part in farther]),
            np.concatenate([part.is_new for part in farther]),
        )
        off, more = np.concatenate(missed), np.concatenate(says_more)
        weight, known = 0.0, np.isfinite(more)
        if known.sum() >= FEWEST:
            weight = min(least_absolute_share(off[known], more[known]), _AHEAD)
            off[known] -= weight * more[known]
        return ErrorGrowth.of(off, np.concatenate(inside), beyond), weight

    def between(self, layout: ParameterLayout) -> float | None:
        """How far predictions of a schedule are off that no training point ran: how many of the deviations that
        the parameters leave open hold 95 % of the points of schedules left out one at a time, each predicted by
        the others and by what all that they miss has in common. None where no schedule can be left out.
        """
        is_own = [self.labels == label for label in sorted(set(self.labels))]
        most_steps = 2 * _MOST_STEPS / len(is_own)
        parts = [
            (self._trial(own, 2 * _TRIAL), self._sample(self.drawn[~own[self.drawn]], _MOST, most_steps))
            for own in is_own
            if min(own.sum(), (~own).sum()) >= FEWEST
        ]
        if not parts:
            return None
        ends = np.cumsum([others.size for _, others in parts])
        self._begin("calibrating without each schedule", (_TRIED + 2) * ends[-1])
        off: list[Array] = []
        for (asked, others), end in zip(parts, ends, strict=True):
            fit = self.fitted(layout, others)
            # It may have settled early.
            self._replayed = (_TRIED + 2) * end - 1
            self._replay()
            # What the schedule itself was seen to do, its correction and its protocol, goes with its name.
            nameless = [replace(scenario, label="") for scenario in self._scenarios(asked)]
            paths, simulated_ln = Paths.simulated(nameless, self.training.statistic, layout, fit.theta)
            groups = Groups()
            at = where_of(self._scenarios(others), self._mappings(others), groups)
            shared = Discrepancy(at, fit.residual, fit.leverage)
            corrected, _ = shared.at(where_of(self._scenarios(asked), self._mappings(asked), groups))
            missed = np.log(self.measured_s[asked]) - simulated_ln - corrected
            off.append(np.abs(missed) / fit.deviation(paths.slopes(fit.theta)))
        return float(np.quantile(np.concatenate(off), CONFIDENCE))

    def _scenarios(self, index: Index) -> list[Scenario]:
        return [self.chosen[int(i)] for i in index]

    def _mappings(self, index: Index) -> list[str]:
        return [self.mappings[int(i)] for i in index]


@dataclass(frozen=True)
class LeftOutRuns:
    """See `Untrained`; made of what the calibration was made of, so that it can be kept unasked."""

    training: Training
    system: System
    scenarios: Scenarios
    layout: ParameterLayout
    near: Array
    order: Array

    @cached_property
    def of_schedules(self) -> float | None:
        """What `CalibratedFit.between` returns."""
        return self._again().between(self.layout)

    @cached_property
    def of_more_ranks(self) -> tuple[ErrorGrowth, float]:
        """What `CalibratedFit.growth` returns."""
        return self._again().growth(self.layout)

    def _again(self) -> CalibratedFit:
        held_B, has_port = self.layout.held_above_B, self.layout.has_port
        chosen = list(filter(None, self.scenarios.of_points(self.training.points)))
        return CalibratedFit(self.training, self.system, chosen, held_B, has_port, self.near, self.order)


def _notes(layout: ParameterLayout, used: int, points: int) -> list[str]:
    notes = [
        f"{label}: messages above {size_B:.0f} B wait for their receiver"
        for label, size_B in layout.rendezvous_above_B.items()
    ]
    if layout.knots[-1] > layout.held_above_B:
        notes.append(f"senders of messages above {layout.held_above_B:.0f} B wait until they are out")
        if layout.has_port:
            notes.append("inside a node these leave one after another, beside what goes into the network")
    if np.isfinite(layout.step_from):
        notes.append(f"the network costs more from {layout.step_from:.0f} ranks on")
    if used < points:
        notes.append(f"calibrated on {used} of {points} training points, chosen at random")
    return notes
