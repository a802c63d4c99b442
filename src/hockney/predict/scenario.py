"""Scenarios: the schedule, procedure and placement that are simulated for a point of a table."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney import _core
from hockney._core import Problem
from hockney.errors import RequestError
from hockney.machine.placement import placement
from hockney.machine.system import System
from hockney.predict.decisions.base import ScheduleChoice, decisions_for
from hockney.predict.identify.told import DefaultCall, tell
from hockney.predict.place import Place, place_of
from hockney.predict.points import PointRow, rows
from hockney.predict.procedures import Phase, ProcedureRun, phase, procedures, schedules
from hockney.records.defaults import NOTHING_KNOWN, Defaults
from hockney.records.keys import COLLECTIVES, sizes_are_blocks
from hockney.records.statistic import ALL, Made

Array = NDArray[np.float64]
Given = ParamSpec("Given")
Done = TypeVar("Done")

MOST_STEPS = 4_000_000
"""Largest number of steps of a simulated point, over all ranks and phases: 0.2 GB and a second each time."""

OWN = "schedule:"
"""Before the name of an algorithm: the schedule of that name, whatever the library calls by it."""


@dataclass(frozen=True)
class Scenario:
    """One point. `label` names the schedule with its segment; `size_B` is the point's own size."""

    run: ProcedureRun
    place: Place
    label: str
    ranks: int
    size_B: int

    @property
    def key(self) -> Hashable:
        """The same for points that are simulated alike: mappings may put ranks at the same places."""
        return *self._course, self.place.key

    @property
    def _course(self) -> tuple[Hashable, ...]:
        phases = [
            (collective, algorithm, *(getattr(problem, name) for name in _TOLD))
            for collective, algorithm, problem in self.run.phases
        ]
        return self.label, self.ranks, self.size_B, self.run.start, self.run.end, tuple(phases)

    @property
    def digest(self) -> str:
        """Of `key`, the same in every process."""
        return hashlib.sha256(repr((*self._course, self.place.digest)).encode()).hexdigest()

    @cached_property
    def steps(self) -> int:
        """Of all ranks and phases."""
        return sum(_steps_of(*phase) for phase in self.run.phases)

    @property
    def largest_message_B(self) -> int:
        """The most that the schedule can send at once: blocks of all ranks may travel together."""
        return self.size_B * (self.ranks if sizes_are_blocks(self.label.split()[0]) else 1)


_TOLD = tuple(name for name in dir(Problem) if not name.startswith("_"))
"""What a `Problem` says."""


class Scenarios:
    """Makes scenarios of points that were measured on one system by one procedure."""

    def __init__(self, system: System, procedure: str, defaults: Defaults = NOTHING_KNOWN) -> None:
        self._of_what = system, procedure, defaults
        self.system = system
        self.procedure = procedures.get(procedure)
        self.is_own = procedure == "hockney"
        self.defaults = defaults
        self.missing: dict[str, str] = {}
        """Algorithms that cannot be simulated, with the reason."""
        self._place = lru_cache(maxsize=4096)(_or_refusal(self._placed))
        self._calls = lru_cache(maxsize=65536)(_or_refusal(self._call))
        self._barrier = lru_cache(maxsize=4096)(_barrier)

    def __reduce__(self) -> tuple[type[Scenarios], tuple[object, ...]]:
        """It is kept as what it was made of."""
        return Scenarios, self._of_what

    def _placed(self, mapping: str, ranks: int, nodes: int | None, ppn: int | None) -> tuple[Place, int]:
        """And how many nodes are used."""
        place = place_of(placement(self.system, mapping, ranks, nodes, ppn), self.system)
        return place, len(set(place.node))

    def of_points(
        self, points: pd.DataFrame, progress: Callable[[float, str], None] = lambda _share, _what: None
    ) -> list[Scenario | None]:
        """The scenario of each row, None where it has none: see `missing`. `progress` hears of each."""
        scenarios = []
        for number, row in enumerate(rows(points)):
            progress(number / len(points), "placing ranks and counting steps")
            scenarios.append(self._of(row))
        return scenarios

    def _of(self, point: PointRow) -> Scenario | None:
        name, ranks, size_B = point.algorithm, point.ranks, point.bytes
        if ranks < 2 or (size_B == 0 and COLLECTIVES[point.operation].has_size):
            self.missing[name] = "a single rank sends no message" if ranks < 2 else "0 B are sent in no message"
            return None
        placed = self._place(point.mapping, ranks, point.nodes, point.ppn)
        if isinstance(placed, RequestError):
            self.missing[name] = placed.message
            return None
        place, used = placed
        # Which ranks are where, and who measured it, does not change what is called.
        called = self._calls(point._replace(mapping="", source="", nodes=None, ppn=None), used)
        if isinstance(called, RequestError):
            self.missing[name] = called.message
            return None
        call, label = called
        scenario = Scenario(
            self.procedure.run(call, self._barrier(point.mpi, ranks, used)), place, label, ranks, size_B
        )
        if scenario.steps > MOST_STEPS:
            self.missing[name] = f"on {ranks} ranks it takes more than {MOST_STEPS} steps"
            return None
        return scenario

    def _call(self, point: PointRow, nodes: int) -> tuple[list[Phase], str]:
        element_B = self.procedure.element_B if point.bytes % self.procedure.element_B == 0 else 1
        choice = self._choice(point, nodes, element_B)
        inner = choice.phases(point.operation, point.bytes)
        root = 0 if choice.parts else point.root
        phases = [phase(part, point.ranks, element_B, root) for part in inner]
        if choice.parts:
            return phases, f"{point.operation} {point.algorithm}"
        segment = f" in {inner[0].segment_B} B" if inner[0].segment_B else ""
        return phases, f"{point.operation} {choice.algorithm}{segment}"

    def _choice(self, point: PointRow, nodes: int, element_B: int) -> ScheduleChoice:
        name, is_default = point.algorithm, point.algorithm == "default"
        own = ScheduleChoice(name.removeprefix(OWN), point.segment_B or None, point.radix or None)
        if name.startswith(OWN) or (self.is_own and ":" not in name and not is_default):
            return own
        call = DefaultCall(point.operation, point.mpi, point.variant, point.ranks, nodes, point.bytes)
        if is_default and (told := tell(self.defaults, call)) is not None:
            if told.choice is None:
                raise RequestError(f"{name}: {told.why or 'several algorithms send its messages'}", "")
            return told.choice
        library = decisions_for(point.mpi)
        if library.decisions is None:
            if (point.operation, name) in schedules():
                return own
            raise RequestError(f"which schedule {name} is, is not known: {library.reason}", "")
        at = {"ranks": point.ranks, "size_B": point.bytes, "element_B": element_B}
        choice = (
            library.default(point.operation, nodes=nodes, **at)
            if is_default
            else library.decisions.named(point.operation, name, library.version, segment_B=point.segment_B, **at)
        )
        if choice is None:
            raise RequestError(f"{name} of {point.mpi or 'this library'} has no schedule here", "")
        return choice


def _barrier(mpi: str, ranks: int, nodes: int) -> list[Phase]:
    """The phases of a library's barrier; none where its default is not known."""
    choice = decisions_for(mpi).default("barrier", ranks, 0, nodes=nodes)
    return [phase(part, ranks, 1) for part in choice.phases("barrier", 0)] if choice else []


def _or_refusal(make: Callable[Given, Done]) -> Callable[Given, Done | RequestError]:
    """The RequestError of `make` in place of what it makes: thousands of points are refused for one reason."""

    def made(*of: Given.args, **more: Given.kwargs) -> Done | RequestError:
        try:
            return make(*of, **more)
        except RequestError as error:
            return error

    return made


def expected_steps(points: pd.DataFrame, operation: str) -> Array:
    """About how many steps a point takes, shape (n,), not counted: a tree, a barrier and the tree again, or of an
    alltoall a message between any two ranks."""
    ranks = points["ranks"].to_numpy(np.float64)
    each = ranks if operation == "alltoall" else 4 * np.log2(ranks + 1)
    return np.asarray(np.minimum(2 * ranks * each, MOST_STEPS))


@lru_cache(maxsize=65536)
def _steps_of(collective: str, algorithm: str, problem: Problem) -> int:
    """Of this very call, which points share; more than `MOST_STEPS` where there are more."""
    fields = {name: getattr(problem, name) for name in _TOLD}
    if not problem.segment_B:
        # Vectors of an element a rank at least are sent in as many steps, however long they are.
        fields["bytes"] = min(problem.bytes, problem.ranks * problem.element_B)
    return _counted(collective, algorithm, tuple(fields.items()))


@lru_cache(maxsize=65536)
def _counted(collective: str, algorithm: str, told: tuple[tuple[str, Any], ...]) -> int:
    problem = Problem(**dict(told))
    if _core.symmetric_classes((collective, algorithm, problem), copies_cost=False) == 1:
        # Ranks that are alike, but for how many copies a rotation takes: the first stands for all.
        return problem.ranks * _core.count_steps(collective, algorithm, problem, 0)
    return _core.count_steps(collective, algorithm, problem, MOST_STEPS)


Weigh = Callable[[Array, ProcedureRun], Array]
"""Maps exits of shape (phases, ranks) to weights of that shape: Σ weight · exit is the statistic."""


def _of_ranks(share: Callable[[Array], Array]) -> Weigh:
    def weigh(exits_s: Array, run: ProcedureRun) -> Array:
        own = exits_s[run.end] - (0.0 if run.start is None else exits_s[run.start])
        weights = np.zeros_like(exits_s)
        weights[run.end] = share(own)
        if run.start is not None:
            weights[run.start] = -weights[run.end]
        return weights

    return weigh


def _indicator(index: int, count: int) -> Array:
    chosen = np.zeros(count)
    chosen[index] = 1.0
    return chosen


def share_of(made: Made) -> Callable[[Array], Array]:
    """Weights of the ranks' own times; they sum to one."""
    if made == "mean":
        return lambda own: np.full(own.size, 1 / own.size)
    if not isinstance(made, float):
        # Sender and receiver are ranks 0 and 1.
        return lambda own: _indicator(own.size - 1, own.size)
    is_early = made < 0.5

    def of_order(own: Array) -> Array:
        # From the nearer end, where of equal times the first rank counts.
        place = (made if is_early else 1 - made) * (own.size - 1)
        if place == 0:
            return _indicator(int(np.argmin(own) if is_early else np.argmax(own)), own.size)
        order = np.argsort(own if is_early else -own, kind="stable")
        below = int(place)
        chosen = _indicator(int(order[below]), own.size) * (1 - (place - below))
        if place > below:
            chosen[order[below + 1]] = place - below
        return chosen

    return of_order


def _completion(exits_s: Array, run: ProcedureRun) -> Array:
    """Last exit minus first entry."""
    weights = np.zeros_like(exits_s)
    weights[run.end] = _indicator(int(np.argmax(exits_s[run.end])), exits_s.shape[1])
    if run.start is not None:
        weights[run.start] -= _indicator(int(np.argmin(exits_s[run.start])), exits_s.shape[1])
    return weights


STATISTICS: dict[str, Weigh] = {
    statistic.name: _completion if statistic.made == "span" else _of_ranks(share_of(statistic.made))
    for statistic in ALL
    if statistic.made != "rate"
}
