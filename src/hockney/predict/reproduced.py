"""What a simulation of the procedure makes of a measured curve, with all of it and without one of its parts.

The procedure is what the benchmark does: a call, a barrier, the next call, each rank with its own clock. A step
that the simulation has too, and has no longer without the barrier, comes from the barrier.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.machine.system import System
from hockney.predict.calibrate import Calibration, times_s
from hockney.predict.estimators.base import Array, training_of
from hockney.predict.estimators.simulated import calibration_of, system_of
from hockney.predict.place import NETWORK, Place
from hockney.predict.points import APART, points, positions
from hockney.predict.procedures import ProcedureRun
from hockney.predict.scenario import STATISTICS, Scenario, Scenarios

MOST_TRAINED = 240
"""Points of one set of conditions that calibrate: what is asked are ratios along a curve, not times."""
FEWEST = 24
STEPS = 8
NEAR = 64
"""Sizes within this factor of those asked for calibrate, if enough were measured: others say little of them."""
PROTOCOLS_FROM_B = 8192
"""Messages up to this size are sent at once by every library: whether larger ones wait need not be known."""

Part = Literal["barrier", "level", "protocol"]
"""What can be taken away: the benchmark's barrier; the level of the machine that begins at a place; the library's
protocols, which let senders wait."""
PARTS: tuple[Part, ...] = ("barrier", "level", "protocol")


@dataclass(frozen=True)
class Reproduction:
    """A simulation that was calibrated on points of one set of conditions.

    `is_unseen`: none of the sizes that are asked for was among these points. `trained`: how many they were.
    """

    scenarios: Scenarios
    calibration: Calibration
    statistic: str
    is_unseen: bool
    trained: int
    _known_s: dict[Hashable, float] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was simulated: most parts of a procedure change nothing at most points."""

    @property
    def has_barrier(self) -> bool:
        """Whether the procedure has one that is simulated."""
        return self.scenarios.procedure.has_barrier

    def time_s(self, curve: Sequence[Scenario | None], without: Sequence[Part] = (), before: int = 0) -> Array:
        """Seconds at the points of a curve (`Scenarios.of_points`), shape (n,); NaN where there is no schedule.

        `before`: the place up to whose ranks levels of the machine count, where `without` has `level`.
        """
        time_s = np.full(len(curve), np.nan)
        has = [i for i, scenario in enumerate(curve) if scenario is not None]
        chosen = [scenario for scenario in curve if scenario is not None]
        if "barrier" in without:
            chosen = [replace(scenario, run=_call_alone(scenario.run)) for scenario in chosen]
        if "level" in without:
            fewer = [scenario for scenario in chosen if scenario.ranks <= before]
            outermost = max((max(scenario.place.localities, default=0) for scenario in fewer), default=NETWORK)
            chosen = [replace(scenario, place=within(scenario.place, outermost)) for scenario in chosen]
        layout = self.calibration.layout
        if "protocol" in without:
            layout = replace(layout, rendezvous_above_B={}, held_above_B=np.inf)
        theta = self.calibration.theta
        protocols = layout.held_above_B, tuple(layout.rendezvous_above_B.items())
        keys = [(scenario.key, protocols) for scenario in chosen]
        new = {key: one for key, one in zip(keys, chosen, strict=True) if key not in self._known_s}
        new_s = times_s([*new.values()], self.statistic, layout, theta)
        self._known_s.update(zip(new, new_s, strict=True))
        time_s[has] = [self._known_s[key] for key in keys]
        return time_s

    def limits_B(self, label: str) -> list[float]:
        """Sizes above which messages of a schedule go another way, as the calibration found."""
        layout = self.calibration.layout
        limits = (layout.held_above_B, layout.rendezvous_above_B.get(label, math.inf))
        return [limit for limit in limits if math.isfinite(limit) and limit < layout.knots[-1]]


def _call_alone(run: ProcedureRun) -> ProcedureRun:
    """The last call of a procedure, which all ranks enter together."""
    calls = run.end - (run.start or 0) if run.start is not None else run.end + 1
    return ProcedureRun(run.phases[run.end + 1 - calls : run.end + 1], None, calls - 1)


def within(place: Place, outermost: int) -> Place:
    """The same ranks on a machine whose pairs are at most as far apart as `outermost`, an index of LOCALITIES."""
    if outermost >= NETWORK:
        return place
    levels = place.levels.copy()
    levels[outermost:] = 0
    return replace(place, levels=levels, node=(0,) * levels.shape[1], torus=(), below=(), uplinks=())


def reproductions(
    frame: pd.DataFrame,
    operation: str,
    statistic: str,
    sizes_B: Sequence[int],
    system_of_name: Mapping[str, System],
) -> tuple[dict[Hashable, Reproduction], list[str]]:
    """A simulation for each set of conditions (`APART`) of one operation of a tidy table, and what stood against.

    It is calibrated on points of other sizes than `sizes_B`, or on all of them where there are too few others.
    """
    made: dict[Hashable, Reproduction] = {}
    against: list[str] = []
    if statistic not in STATISTICS:
        return {}, [f"{statistic} cannot be simulated"]
    known = points(frame, operation, statistic).frame
    for key, index in positions(known, APART).items():
        own = known.iloc[index].reset_index(drop=True)
        name, source = (str(own[column].iloc[0]) for column in ("system", "source"))
        others = own[~own["bytes"].isin(sizes_B)]
        near = others["bytes"].between(min(sizes_B) / NEAR, max(sizes_B) * NEAR)
        others = others[near] if near.sum() >= MOST_TRAINED else others
        is_unseen = len(others) >= FEWEST
        learn = _spread(others if is_unseen else own)
        try:
            training = training_of(frame, learn, operation, statistic, system_of_name.get(name))
            system = system_of(training, name)
        except RequestError as error:
            against.append(error.message)
            continue
        scenarios, fit = calibration_of(training, system, source, FEWEST)
        if fit is None:
            against += [f"{algorithm}: {why}" for algorithm, why in sorted(scenarios.missing.items())]
            continue
        above_B: dict[str, float] = {}
        if max(sizes_B, default=0) > PROTOCOLS_FROM_B:
            fit.hold()
            above_B = fit.rendezvous()
        layout = fit.layout(above_B=above_B)
        count = len(fit.chosen)
        calibration = fit.fitted(layout, np.arange(count), STEPS)
        made[key] = Reproduction(scenarios, calibration, statistic, is_unseen, count)
    return made, against


def _spread(known: pd.DataFrame) -> pd.DataFrame:
    """At most `MOST_TRAINED` of the points, the same each time."""
    return known.sample(min(len(known), MOST_TRAINED), random_state=1).reset_index(drop=True)


@dataclass(frozen=True)
class Explanation:
    """Where a measured step comes from. `simulated`: its ratio in the simulation of the whole procedure, None
    where nothing is simulated; `without`: its ratio without a part. `causes`: empty where it is not explained."""

    simulated: float | None
    without: Mapping[Part, float]
    causes: tuple[str, ...]


SCHEDULE = "schedule"
"""The cause that is left where no part takes the step away: the algorithm's own messages."""
REPRODUCED = 2 / 3, 3 / 2
"""Share of the measured step, in ln, that a simulated one must have to be the same step."""
TAKEN_AWAY = 0.5
"""Share of the simulated step, in ln, that goes with its cause."""


def is_reproduced(measured: float, simulated: float | None) -> bool:
    """Whether a simulated step, a ratio, is the measured one."""
    if simulated is None or not math.isfinite(simulated) or simulated <= 0:
        return False
    return REPRODUCED[0] <= math.log(simulated) / math.log(measured) <= REPRODUCED[1]


def explained(measured: float, simulated: float | None, without: Mapping[Part, float]) -> Explanation:
    """The causes of a measured step of this ratio: parts without which the simulation has it no longer."""
    if simulated is None or not math.isfinite(simulated) or simulated <= 0:
        return Explanation(None, without, ())
    if not is_reproduced(measured, simulated):
        return Explanation(simulated, without, ())
    simulated_ln = math.log(simulated)
    taken = {part: 1 - math.log(ratio) / simulated_ln for part, ratio in without.items() if ratio > 0}
    causes = sorted((part for part, share in taken.items() if share >= TAKEN_AWAY), key=lambda part: -taken[part])
    return Explanation(simulated, without, tuple(causes) or (SCHEDULE,))
