"""A verifier that finds nothing proves nothing: every broken schedule must be refused."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest
from tests.factories import draws

from hockney import _core
from hockney._core import Algorithm, Kind, Memory, Problem, RankSchedule, Region, Schedule, Step

ALGORITHMS = _core.algorithms()
NAMES = [f"{algorithm.collective}-{algorithm.name}" for algorithm in ALGORITHMS]
RANKS = 8  # even and a power of two, so that every algorithm takes part
TRIALS = draws(40)
"""Mutations of each kind and algorithm."""


@dataclass
class DraftRegion:
    """A region that may be changed."""

    memory: Memory
    offset_B: int
    length_B: int

    @classmethod
    def copied(cls, region: Region) -> DraftRegion:
        return cls(region.memory, region.offset_B, region.length_B)

    def region(self) -> Region:
        return Region(self.memory, self.offset_B, self.length_B)


@dataclass
class DraftStep:
    """A step that may be changed."""

    kind: Kind
    peer: int
    tag: int
    source: DraftRegion
    target: DraftRegion
    after: list[int]

    @classmethod
    def copied(cls, step: Step) -> DraftStep:
        source, target = DraftRegion.copied(step.source), DraftRegion.copied(step.target)
        return cls(step.kind, step.peer, step.tag, source, target, step.after)

    def step(self) -> Step:
        source, target = self.source.region(), self.target.region()
        return Step(self.kind, peer=self.peer, tag=self.tag, source=source, target=target, after=self.after)


Draft = list[list[DraftStep]]
"""The steps of each rank."""
Mutation = Callable[[Draft, random.Random], bool]
"""Breaks a draft in place; False where this kind does not apply to what was drawn."""


def drafted(schedule: Schedule) -> Draft:
    return [[DraftStep.copied(step) for step in mine.steps] for mine in schedule]


def complaints(collective: str, asked: Problem, draft: Draft, scratch_B: Sequence[int]) -> list[str]:
    """The verifier's, or that of the schedule itself, which takes no step that no schedule can have."""
    try:
        ranks = [
            RankSchedule([move.step() for move in mine], size_B)
            for mine, size_B in zip(draft, scratch_B, strict=True)
        ]
        return _core.verify(collective, asked, Schedule(ranks))
    except ValueError as error:
        return [str(error)]


def problem(algorithm: Algorithm) -> Problem:
    # Three bytes for each rank: blocks differ, none is empty.
    size_B = 0 if algorithm.collective == "barrier" else 3 * RANKS + 1
    return Problem(ranks=RANKS, bytes=size_B, segment_B=5 if algorithm.is_segmented else 0)


def is_message(step: DraftStep) -> bool:
    return step.kind in (Kind.send, Kind.receive)


def of_a_step(
    fits: Callable[[DraftStep], bool], change: Callable[[Draft, random.Random, int, int], None]
) -> Mutation:
    """`change(draft, dice, rank, index)` one of the steps that fit."""

    def mutate(draft: Draft, dice: random.Random) -> bool:
        places = [(r, i) for r in range(len(draft)) for i, step in enumerate(draft[r]) if fits(step)]
        if places:
            change(draft, dice, *dice.choice(places))
        return bool(places)

    return mutate


def wrong_peer(draft: Draft, dice: random.Random, rank: int, index: int) -> None:
    step = draft[rank][index]
    step.peer = dice.choice([peer for peer in range(RANKS) if peer not in (rank, step.peer)])


def wrong_tag(draft: Draft, _dice: random.Random, rank: int, index: int) -> None:
    draft[rank][index].tag += 1


def wrong_block(draft: Draft, dice: random.Random, rank: int, index: int) -> None:
    """One element on: the message or the sum takes data from beside where it should."""
    draft[rank][index].source.offset_B += dice.choice([-1, 1])


def wrong_target(draft: Draft, dice: random.Random, rank: int, index: int) -> None:
    draft[rank][index].target.offset_B += dice.choice([-1, 1])


def shorter(draft: Draft, _dice: random.Random, rank: int, index: int) -> None:
    """The last byte is left out, consistently in a copy or a sum, on one side of a message."""
    step = draft[rank][index]
    for region in (step.source, step.target):
        region.length_B = max(0, region.length_B - 1)


def message_left_out(draft: Draft, _dice: random.Random, rank: int, index: int) -> None:
    steps = draft[rank]
    del steps[index]
    for step in steps:
        step.after = [before - (before > index) for before in step.after if before != index]


def added_twice(draft: Draft, _dice: random.Random, rank: int, index: int) -> None:
    draft[rank].append(replace(draft[rank][index], after=list(range(len(draft[rank])))))


def missing_dependency(draft: Draft, dice: random.Random) -> bool:
    """A step that reads what an earlier one brings forgets to wait for it."""
    places = []
    for r in range(len(draft)):
        steps = draft[r]
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
                if reads and not any(_reaches(draft, r, other, before) for other in others):
                    places.append((r, i, before))
    if not places:
        return False
    rank, index, before = dice.choice(places)
    step = draft[rank][index]
    step.after = [other for other in step.after if other != before]
    return True


def _reaches(draft: Draft, rank: int, start: int, goal: int) -> bool:
    open_ = [start]
    while open_:
        step = open_.pop()
        if step == goal:
            return True
        open_.extend(draft[rank][step].after)
    return False


MUTATIONS: dict[str, Mutation] = {
    "peer": of_a_step(is_message, wrong_peer),
    "tag": of_a_step(is_message, wrong_tag),
    "block": of_a_step(lambda step: step.source.length_B > 0, wrong_block),
    "target": of_a_step(lambda step: step.target.length_B > 0, wrong_target),
    "shorter": of_a_step(lambda step: max(step.source.length_B, step.target.length_B) > 1, shorter),
    "dependency": missing_dependency,
    "left out": of_a_step(is_message, message_left_out),
    "twice": of_a_step(lambda step: step.kind == Kind.reduce, added_twice),
}


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=NAMES)
def test_every_mutation_is_caught(algorithm: Algorithm) -> None:
    asked, dice, tried = problem(algorithm), random.Random(7), 0
    for name, mutate in MUTATIONS.items():
        for _ in range(TRIALS):
            schedule = _core.generate(algorithm.collective, algorithm.name, asked)
            draft = drafted(schedule)
            if not mutate(draft, dice):
                break
            tried += 1
            scratch_B = [mine.scratch_B for mine in schedule]
            assert complaints(algorithm.collective, asked, draft, scratch_B), f"{name} went unnoticed"
    assert tried >= 2 * TRIALS


def test_a_circular_wait_is_a_deadlock() -> None:
    # Two ranks that each wait for the other's message before they send their own.
    asked = Problem(ranks=2)
    draft = drafted(_core.generate("barrier", "dissemination", asked))
    for steps in draft:
        send = next(i for i, step in enumerate(steps) if step.kind == Kind.send)
        receive = next(i for i, step in enumerate(steps) if step.kind == Kind.receive)
        steps[send].kind, steps[receive].kind = Kind.receive, Kind.send
        steps[receive].after = [send]
    assert any("partner" in text or "ever" in text for text in complaints("barrier", asked, draft, [0, 0]))


def test_a_sum_out_of_rank_order_is_refused_for_an_operator_that_needs_it() -> None:
    asked = Problem(ranks=2, bytes=4, commutative=False)
    schedule = _core.generate("allreduce", "recursive_doubling", asked)
    draft = drafted(schedule)
    for steps in draft:
        for step in steps:
            if step.kind == Kind.reduce:
                # The operands change sides: `target = source + target`.
                step.source, step.target = step.target, step.source
    assert complaints("allreduce", asked, draft, [mine.scratch_B for mine in schedule]) != []
