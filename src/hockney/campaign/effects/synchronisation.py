"""The size above which a send waits for its receiver, by doubling and bisection while the receiver is busy."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Literal

from hockney.campaign.effects.base import Here, NotMeasurable, Question, Questions, effects
from hockney.records.answers import Answer
from hockney.records.effect_answers import SynchronisationAnswer
from hockney.records.record import Locality

Receiver = Literal["present", "absent"]
Verdict = Callable[[SynchronisationAnswer], bool]

PATIENCE_S = 2e-4
SIMULATED_PATIENCE_S = 1.0
"""Simulated time costs nothing; it is longer than any transfer that a platform is likely to have."""
TRIES = 9
"""All or none of nine by chance has a probability of 0.4 %; a mixed majority shows in the answer."""
FEW_TRIES = 6
"""All of six differs from chance (p = 0.03 of two sides); all of five would not (0.06)."""
FULL_BUDGET_S = 0.5
ARRIVED_SHARE = 0.5
"""A message that lies there already is received in less than this share of its transfer."""


def is_free(answer: SynchronisationAnswer) -> bool:
    """Whether most sends were done before their receiver came."""
    return 2 * answer.done > answer.valid


def has_arrived(answer: SynchronisationAnswer) -> bool:
    """Whether the late receiver needed clearly less than a transfer; the least of each counts."""
    if not answer.receiving_s:
        return False
    return min(answer.receiving_s) < ARRIVED_SHARE * min(answer.transfers_s)


@effects.register("synchronisation")
def ask(here: Here) -> Questions:
    """Both kinds of receiver between the nearest pair of each locality; where data arrive early, too."""
    for locality, a, b in here.pairs:
        yield from _limit(here, locality, (a, b), "present", is_free, is_free)
        # Before the sender waits, one slow receive of a short message is no limit: the search goes on.
        yield from _limit(here, locality, (a, b), "present", has_arrived, is_free)
        if here.oversubscribed:
            yield NotMeasurable(
                f"a receiver that computes takes the sender's processor away ({here.oversubscribed})", locality
            )
        else:
            yield from _limit(here, locality, (a, b), "absent", is_free, is_free)


def _limit(
    here: Here,
    locality: Locality,
    pair: tuple[int, int],
    receiver: Receiver,
    verdict: Verdict,
    goes_on: Verdict,
) -> Generator[Question | NotMeasurable, Answer | None, None]:
    """Double sizes while `goes_on` or the verdict holds, then bisect the gap above the last size that holds."""

    def question(size_B: int) -> Question:
        tries = 1 if here.simulated else TRIES if here.budget_s >= FULL_BUDGET_S else FEW_TRIES
        patience_s = SIMULATED_PATIENCE_S if here.simulated else PATIENCE_S
        parameters = {"bytes": size_B, "receiver": receiver, "patience_s": patience_s, "tries": tries}
        return Question(pair, parameters, locality)

    # The largest size with a yes, and the first no above it.
    yes_B = no_B = -1
    size_B = 0
    while True:
        answer = yield question(size_B)
        if answer is None:
            break
        tries = answer.read_as(SynchronisationAnswer)
        if verdict(tries):
            yes_B = size_B
        elif no_B <= yes_B:
            no_B = size_B
        if size_B == here.largest_B or not (verdict(tries) or goes_on(tries)):
            break
        size_B = min(max(1, 2 * size_B), here.largest_B)
    while no_B - yes_B > 1:
        middle_B = (yes_B + no_B) // 2
        answer = yield question(middle_B)
        if answer is None:
            return
        if verdict(answer.read_as(SynchronisationAnswer)):
            yes_B = middle_B
        else:
            no_B = middle_B
