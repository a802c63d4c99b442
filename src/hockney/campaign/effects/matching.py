"""What a search in the queues of posted receives and unexpected messages costs, by depth and position."""

from __future__ import annotations

from hockney.campaign.effects.base import Here, NotMeasurable, Question, Questions, Request, effects
from hockney.records.record import Locality

DEPTHS = (0, 1, 4, 16, 64, 128, 256, 512, 1024, 2048, 4096)
POSITIONED = (256, 1024, 4096)
"""Depths at which the match is also the first and in the middle."""
QUEUES = ("posted", "unexpected")
TIME_SHARE = 0.1


@effects.register("matching")
def ask(here: Here) -> Questions:
    """Both queues, receives from a named and from any source; entries by tag, with a third rank by source."""
    if here.simulated:
        yield NotMeasurable("a simulation has no host time: a search in a queue takes none in it")
        return
    if here.oversubscribed:
        yield NotMeasurable(f"ranks that share a core wait for each other ({here.oversubscribed})")
        return
    for locality, a, b in here.pairs:
        others = [rank for rank in range(len(here.ranks)) if rank not in (a, b)]
        for queue in QUEUES:
            for ahead, behind in places():
                yield _question(here, (a, b), queue, ahead, behind, locality=locality)
            for depth in DEPTHS:
                yield _question(here, (a, b), queue, depth, 0, source="any", locality=locality)
            for depth in DEPTHS if others else ():
                yield _question(here, (a, b, others[0]), queue, depth, 0, by="source", locality=locality)
        if not others:
            why = "matching by source needs a third rank, whose messages wait in the queue"
            yield NotMeasurable(why, locality)


def places() -> list[tuple[int, int]]:
    """(entries ahead, entries behind) of the match: last at every depth, first and middle at some."""
    return [
        *((depth, 0) for depth in DEPTHS),
        *((0, depth) for depth in POSITIONED),
        *((depth // 2, depth // 2) for depth in POSITIONED),
    ]


def _question(
    here: Here,
    members: tuple[int, ...],
    queue: str,
    ahead: int,
    behind: int,
    *,
    by: str = "tag",
    source: str = "named",
    locality: Locality,
) -> Question:
    request: Request = {"queue": queue, "ahead": ahead, "behind": behind, "by": by, "source": source}
    return Question(members, {**request, "planted_entry_s": 0, **here.timing(TIME_SHARE)}, locality)
