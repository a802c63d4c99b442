"""What ranks do when, and who waits for whom: parts of a replay that a page draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hockney.predict.replay.replay_case import ReplayCase

KINDS = ("computing", "waiting for a late rank", "waiting for a message")
MOST_MOMENTS = 40_000
MOST_RANKS = 64
A_CALL = 2
"""Moments that a call has, about: computing before it, and waiting in it."""


class Moment(NamedTuple):
    """A rank does one of `KINDS` before or in the call at a site (by their numbers), from start to end (s)."""

    rank: int
    kind: int
    site: int
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Timeline:
    """What some ranks do in a window of the run."""

    from_s: float
    until_s: float
    ranks: Sequence[int]
    sites: Sequence[str]
    moments: Sequence[Moment]


class IdlePair(NamedTuple):
    """Seconds that a rank waits for another."""

    rank: int
    other: int
    idle_s: float


def drawn(replayed: ReplayCase, run_s: float) -> tuple[Timeline, list[IdlePair]]:
    """The whole run where its moments are few; else a window in its middle, of ranks evenly spread."""
    run = replayed.run
    share = min(1.0, MOST_MOMENTS / max(1, A_CALL * run.events))
    middle_s, half_s = run_s / 2, share * run_s / 2
    from_s, until_s = middle_s - half_s, middle_s + half_s
    step = -(-run.ranks // MOST_RANKS)
    ranks = range(0, run.ranks, step)
    played, _ = replayed.played((from_s, until_s, 4 * MOST_MOMENTS))
    spots = played.result.spots
    if len(played.result.moments) == 4 * MOST_MOMENTS:
        # No more were kept: what comes later is not known.
        until_s = max(end_s for *_, end_s in played.result.moments)
    moments = [
        Moment(rank, kind, spots[spot][0], max(start_s, from_s), min(end_s, until_s))
        for rank, kind, spot, start_s, end_s in played.result.moments
        if rank % step == 0
    ]
    waiting = [IdlePair(*pair) for pair in played.result.idle_of_pairs]
    return Timeline(from_s, until_s, ranks, run.sites, moments), waiting
