"""Where the times of an algorithm break over ranks: first where there is a reason for it, then anywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hockney.models.over_ranks.boundaries import Boundary
from hockney.models.over_ranks.jumps import Jump, lasting
from hockney.models.over_ranks.steps import (
    UNTOLD,
    FoundStep,
    LevelStep,
    Searched,
    StepPlace,
    at_candidates,
)
from hockney.statistics import Array


def search(
    curves: Mapping[str, tuple[Array, Array]],
    places: Mapping[str, Sequence[StepPlace]],
    boundaries: Mapping[str, Sequence[Boundary]] | None = None,
    alike: Mapping[str, Sequence[tuple[Array, Array]]] | None = None,
) -> Searched:
    """Breaks of one algorithm; `curves`: allocation → ranks and times, shape (n,).

    The candidates `places` are tested first (`at_candidates`); then each curve is searched at its `boundaries`
    and everywhere else (`lasting`). What that finds at a step is the bend beside it, or a break of its own.
    """
    searched = at_candidates(curves, places, alike)
    found = searched.found
    for allocation, (ranks, time_s) in curves.items():
        for jump in lasting(ranks, time_s, (boundaries or {}).get(allocation, ())):
            same = [step for step in found if _is_at(step, jump, allocation)]
            for step in same:
                own = replace(step.each[allocation], slope_ratio=jump.slope_ratio)
                found[found.index(step)] = replace(step, each={**step.each, allocation: own})
            if not same:
                found.append(_alone(jump, allocation))
    return Searched(sorted(found, key=lambda step: step.candidate.before), searched.untested)


def _is_at(step: FoundStep, jump: Jump, allocation: str) -> bool:
    """Whether a break lies where the allocation steps, or has a point between the two."""
    is_its_own = step.is_common or allocation in step.shown_by
    place = step.candidate
    return is_its_own and allocation in step.each and place.before <= jump.after and jump.before <= place.after


def _alone(jump: Jump, allocation: str) -> FoundStep:
    """A break of one curve, whose step has no interval."""
    level = LevelStep(jump.level_ratio, math.nan, math.nan, jump.p_value, math.nan, jump.slope_ratio)
    place = StepPlace(jump.before, jump.after, () if jump.boundary is None else (jump.boundary,))
    return FoundStep(place, UNTOLD, {allocation: level}, False, (allocation,))
