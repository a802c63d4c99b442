"""What a campaign will take before it is begun: its points, visits and launches, and an estimate of its time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from hockney.campaign import collectives
from hockney.campaign.effect_runs import questions_of_subsets
from hockney.campaign.effects.subsets import SHARE
from hockney.campaign.plan import Plan
from hockney.campaign.visits_so_far import LEAST_BUDGET_S, VisitsSoFar, visits_of
from hockney.campaign.work import Work
from hockney.errors import HockneyError
from hockney.records.answers import Candidate, Kind
from hockney.records.keys import COLLECTIVES, MESSAGES, CollectiveKey, Key, PairKey, caches_of
from hockney.records.record import Locality
from hockney.runner.build import is_built
from hockney.runner.find import find
from hockney.runner.inventory import inventory
from hockney.runner.transports import ALL
from hockney.schedule.catalogue import algorithms
from hockney.units import format_duration

COMPILE_S = 60.0
"""What compiling the runner takes, the first time on a machine."""
LAUNCH_S = 1.5
"""What a launch takes until it says hello, on one host."""
EFFECT_S = 5.0
"""What an effect takes of a campaign without a time."""
LIBRARY_ALGORITHMS = 5
"""Of a collective, where the library has not been asked yet."""
TRANSPORTS, TRIALS_S = 4, 20.0
"""Transports of a library that start, and what trying all takes, where nobody has tried yet."""
VISIT_SHARE = 3.5
"""A visit with the references around it and the further ones that follow, over its budget, on two busy cores."""


class Waiting(Protocol):
    """What is known of ranks that share cores."""

    @property
    def start_s(self) -> float:
        """Until a launch says hello."""

    def least_s(self, ranks: int) -> float:
        """What a measurement of a collective among so many ranks takes at least, in seconds."""


@dataclass(frozen=True)
class Estimate:
    """What a campaign takes: `points` and `visits` in each of its launches.

    `estimate_s`: what it takes, at most its own time, `bound_s` (--time, or None); `whole_s`: without that.
    """

    launches: int
    points: int
    visits: int
    estimate_s: float
    whole_s: float
    bound_s: float | None

    def __str__(self) -> str:
        """What it takes, in words."""
        if self.bound_s is None:
            return f"about {format_duration(self.whole_s)}"
        bound = format_duration(self.bound_s)
        if self.whole_s <= self.bound_s:
            return f"about {format_duration(self.whole_s)}, at most {bound} (--time)"
        return f"{bound} (--time), in which not all fits: all of it takes about {format_duration(self.whole_s)}"


def estimate(plan: Plan, waiting: Waiting | None = None) -> Estimate:
    """What is known of a campaign before its first launch; effects count as a point, subsets by questions.

    A visit takes its budget, or what ranks that share cores wait.
    """
    points = visits = visits_s = 0.0
    for key in series(plan) if plan.points else ():
        count, of_point = _points(key, plan), visits_of(key, plan)
        points += count
        visits += count * of_point
        visits_s += count * max(VISIT_SHARE * plan.budget_s, of_point * _waited_s(key, waiting))
    launched, of_subsets = _launched(plan), questions_of_subsets(plan, _candidates)
    trials_s = TRIALS_S if ALL in plan.variants else 0.0
    others = len(plan.effects) - (of_subsets > 0)
    effects_s = EFFECT_S * others + SHARE * plan.budget_s * of_subsets
    whole_s = launched * (launch_s(waiting) + visits_s + effects_s)
    return Estimate(
        launches=launched,
        points=round(points) + others + of_subsets,
        visits=round(visits) + others + of_subsets,
        estimate_s=trials_s + min(math.inf if plan.time_s is None else plan.time_s, whole_s),
        whole_s=trials_s + whole_s,
        bound_s=plan.time_s,
    )


def compile_s(mpi: str) -> float:
    """What compiling the runner will take, in seconds; 0 where it is there, or nobody can say."""
    try:
        return 0.0 if is_built(find(mpi)) else COMPILE_S
    except HockneyError:
        return 0.0


def first_pass_s(plan: Plan, waiting: Waiting | None = None) -> float:
    """What one visit of each point in each launch takes, in seconds, at the least budget of a campaign."""
    least_s = VISIT_SHARE * LEAST_BUDGET_S
    a_launch_s = sum(_points(key, plan) * max(least_s, _waited_s(key, waiting)) for key in series(plan))
    return _launched(plan) * a_launch_s


def _launched(plan: Plan) -> int:
    variants = TRANSPORTS if ALL in plan.variants else max(1, len(plan.variants))
    return plan.launches * variants * max(1, len(plan.mappings))


def _points(key: Key, plan: Plan) -> float:
    work = Work(plan, {}, VisitsSoFar(plan.level), largest_B={key: 0})
    return work.expected_points() / visits_of(key, plan)


def _waited_s(key: Key, waiting: Waiting | None) -> float:
    return waiting.least_s(key.ranks) if waiting and isinstance(key, CollectiveKey) else 0.0


def launch_s(waiting: Waiting | None) -> float:
    """What a launch takes until it says hello, in seconds."""
    return max(LAUNCH_S, waiting.start_s if waiting else 0.0)


def series(plan: Plan) -> list[Key]:
    """The series of a plan as far as they are known before a launch."""
    places: list[Locality] = list(inventory().localities[: max(1, plan.ranks - 1)]) or ["package"]
    places += ["network"] if len(plan.hosts) > 1 or (plan.nodes or 1) > 1 else []
    kernels = [name for name in plan.operations if name not in COLLECTIVES] or (
        [] if plan.operations else list(MESSAGES)
    )
    pairs: list[Key] = [
        PairKey(name, place, pair, pair + 1, cache)
        for name in kernels
        for place in (place for place in places if not plan.localities or place in plan.localities)
        for pair in range(plan.pairs)
        for cache in caches_of(name, plan.caches)
    ]
    return [*pairs, *collectives.keys(_candidates(plan), plan)]


def _candidates(plan: Plan) -> list[Candidate]:
    """The algorithms that a plan asks for; of the library's, which only a launch knows, a usual number."""
    known = []
    for operation in (name for name in plan.operations if name in COLLECTIVES):
        ours = algorithms(operation)
        named = {*plan.algorithms} - {*collectives.KINDS, "all", *(schedule.name for schedule in ours)}
        known.append(_candidate(operation, "default", "default"))
        known += [
            _candidate(operation, schedule.name, "schedule", schedule.is_segmented, schedule.default_radix)
            for schedule in ours
        ]
        known += [_candidate(operation, f"library:{number}", "library") for number in range(LIBRARY_ALGORITHMS)]
        known += [_candidate(operation, name, "library") for name in sorted(named)]
    return collectives.choose(known, plan)


def _candidate(operation: str, name: str, kind: Kind, segmented: bool = False, radix: int = 0) -> Candidate:
    return Candidate(operation=operation, algorithm=name, kind=kind, segmented=segmented, radix=radix)
