"""A verifier that finds nothing proves nothing: every broken schedule must be refused."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from hockney import _core
from hockney._core import Algorithm, Kind, Problem, Schedule, Step

ALGORITHMS = _core.algorithms()
NAMES = [f"{algorithm.collective}-{algorithm.name}" for algorithm in ALGORITHMS]
RANKS = 8  # even and a power of two, so that every algorithm takes part
TRIALS = 40
"""Mutations of each kind and algorithm."""

Mutation = Callable[[Schedule, random.Random], bool]
"""Breaks a schedule in place; False where this kind does not apply to what was drawn."""


def problem(algorithm: Algorithm) -> Problem:
    # Three bytes for each rank: blocks differ, none is empty.
    size_B = 0 if algorithm.collective == "barrier" else 3 * RANKS + 1
    return Problem(ranks=RANKS, bytes=size_B, segment_B=5 if algorithm.is_segmented else 0)


def draw(schedule: Schedule, dice: random.Random, fits: Callable[[Step], bool]) -> tuple[int, int] | None:
    places = [(r, i) for r in range(len(schedule)) for i, step in enumerate(schedule[r].steps) if fits(step)]
    return dice.choice(places) if places else None


def is_message(step: Step) -> bool:
    return step.kind in (Kind.send, Kind.receive)


def wrong_peer(schedule: Schedule, dice: random.Random) -> bool:
    place = draw(schedule, dice, is_message)
    if place is None:
        return False
    rank, index = place
    step = schedule[rank].steps[index]
    step.peer = dice.choice([peer for peer in range(RANKS) if peer not in (rank, step.peer)])
    return True


def wrong_tag(schedule: Schedule, dice: random.Random) -> bool:
    place = draw(schedule, dice, is_message)
    if place is None:
        return False
    schedule[place[0]].steps[place[1]].tag += 1
    return True


def wrong_block(schedule: Schedule, dice: random.Random) -> bool:
    """One element on: the message or the sum takes data from beside where it should."""
    place = draw(schedule, dice, lambda step: step.source.length_B > 0)
    if place is None:
        return False
    schedule[place[0]].steps[place[1]].source.offset_B += dice.choice([-1, 1])
    return True


def wrong_target(schedule: Schedule, dice: random.Random) -> bool:
    place = draw(schedule, dice, lambda step: step.target.length_B > 0)
    if place is None:
        return False
    schedule[place[0]].steps[place[1]].target.offset_B += dice.choice([-1, 1])
    return True


def shorter(schedule: Schedule, dice: random.Random) -> bool:
    """The last byte is left out, consistently in a copy or a sum, on one side of a message."""
    place = draw(schedule, dice, lambda step: max(step.source.length_B, step.target.length_B) > 1)
    if place is None:
        return False
    step = schedule[place[0]].steps[place[1]]
    for region in (step.source, step.target):
        region.length_B = max(0, region.length_B - 1)
    return True


def missing_dependency(schedule: Schedule, dice: random.Random) -> bool:
    """A step that reads what an earlier one brings forgets to wait for it."""
    places = []
    for r in range(len(schedule)):
        steps = schedule[r].steps
        for i, step in enumerate(steps):
            for before in step.after:
                brings, needs = steps[before].target, step.source
                reads = (
                    brings.length_B > 0
                    and needs.length_B > 0
                    and brings.memory == needs.memory
                    and brings.offset_B < needs.offset_B + needs.length_B
                    and needs.offset_B < brings.offset_B + brings.length_B
                )
                # Another path to the same step would make this dependency superfluous, not missing.
                others = [other for other in step.after if other != before]
                if reads and not any(_reaches(schedule, r, other, before) for other in others):
                    places.append((r, i, before))
    if not places:
        return False
    rank, index, before = dice.choice(places)
    step = schedule[rank].steps[index]
    step.after = [other for other in step.after if other != before]
    return True


def _reaches(schedule: Schedule, rank: int, start: int, goal: int) -> bool:
    open_ = [start]
    while open_:
        step = open_.pop()
        if step == goal:
            return True
        open_.extend(schedule[rank].steps[step].after)
    return False


def message_left_out(schedule: Schedule, dice: random.Random) -> bool:
    place = draw(schedule, dice, is_message)
    if place is None:
        return False
    rank, index = place
    steps = schedule[rank].steps
    del steps[index]
    for step in steps:
        step.after = [before - (before > index) for before in step.after if before != index]
    return True


def added_twice(schedule: Schedule, dice: random.Random) -> bool:
    place = draw(schedule, dice, lambda step: step.kind == Kind.reduce)
    if place is None:
        return False
    rank, index = place
    again, step = Step(), schedule[rank].steps[index]
    again.kind, again.source, again.target = Kind.reduce, step.source, step.target
    again.after = list(range(len(schedule[rank].steps)))
    schedule[rank].steps.append(again)
    return True


MUTATIONS: list[Mutation] = [
    wrong_peer,
    wrong_tag,
    wrong_block,
    wrong_target,
    shorter,
    missing_dependency,
    message_left_out,
    added_twice,
]


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=NAMES)
def test_every_mutation_is_caught(algorithm: Algorithm) -> None:
    asked, dice, tried = problem(algorithm), random.Random(7), 0
    for mutate in MUTATIONS:
        for _ in range(TRIALS):
            schedule = _core.generate(algorithm.collective, algorithm.name, asked)
            if not mutate(schedule, dice):
                break
            tried += 1
            complaints = _core.verify(algorithm.collective, asked, schedule)
            assert complaints, f"{mutate.__name__} went unnoticed"
    assert tried >= 2 * TRIALS


def test_a_circular_wait_is_a_deadlock() -> None:
    # Two ranks that each wait for the other's message before they send their own.
    asked = Problem(ranks=2)
    schedule = _core.generate("barrier", "dissemination", asked)
    for rank in range(2):
        steps = schedule[rank].steps
        send = next(i for i, step in enumerate(steps) if step.kind == Kind.send)
        receive = next(i for i, step in enumerate(steps) if step.kind == Kind.receive)
        steps[send].kind, steps[receive].kind = Kind.receive, Kind.send
        steps[receive].after = [send]
    assert any("partner" in text or "ever" in text for text in _core.verify("barrier", asked, schedule))


def test_a_sum_out_of_rank_order_is_refused_for_an_operator_that_needs_it() -> None:
    asked = Problem(ranks=2, bytes=4, commutative=False)
    schedule = _core.generate("allreduce", "recursive_doubling", asked)
    for rank in range(2):
        for step in schedule[rank].steps:
            if step.kind == Kind.reduce:
                # The operands change sides: `target = source + target`.
                step.source, step.target = step.target, step.source
    assert _core.verify("allreduce", asked, schedule) != []
