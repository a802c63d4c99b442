"""What a process injects alone and what several share: k pairs stream at once, at sizes over decades."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from hockney.campaign.effects.base import (
    NO_BYTES,
    ONCE,
    Here,
    NotMeasurable,
    Question,
    Questions,
    Request,
    effects,
)
from hockney.records.answers import StreamsAnswer
from hockney.records.record import LOCALITIES, Locality
from hockney.units import grouped

SIZES_B = (8, 64, 512, 2048, 2**16, 2**18, 2**20)
"""None of 4 KiB: a library whose eager limit that is may count its header in, and the regime would be a guess."""
WINDOW, LONG_WINDOW, SIMULATED_WINDOW = 64, 8, 8
"""Messages in flight; of messages up to `SHORT_B`, of longer ones (a sample of more bytes would outlast a
scheduler's time slice), and where every message costs computing."""
SHORT_B = 4096
SAMPLE_S = 5e-4
"""Long beside the some µs by which ranks leave a barrier one after another."""
SHARE = 0.15
VISITS = 2
ONCE_S = 0.02
"""Samples of windows that take longer outlast what disturbs a visit."""
SLOWEST_S = 0.2
"""A window that takes longer makes a point of seconds: longer messages are left out then."""
LEAST_LONGEST_B = 2**18
FACING: tuple[Locality, ...] = ("numa", "package", "node", "network")
"""Localities at which all pairs can lie between the same two domains and share what joins them."""


@effects.register("injection")
def ask(here: Here) -> Questions:
    """Measure 1, 2, … pairs of each locality, up to all that there are; each point is visited twice, far apart.

    Sizes grow until a window takes too long. Slow points and simulated ones are visited once.
    """
    sizes_B = here.sizes_B or [size_B for size_B in SIZES_B if size_B <= here.largest_B] or [here.largest_B]
    if not max(sizes_B):
        yield NotMeasurable(NO_BYTES)
        return
    window_s: dict[tuple[Locality, int, int], float] = {}
    for visit in range(1 if here.simulated else VISITS):
        for locality, _, _ in here.pairs:
            if here.oversubscribed and locality != "network":
                yield NotMeasurable(f"{locality}: ranks share cores ({here.oversubscribed})", locality)
                continue
            pairs, layout = pairs_at(here, locality)
            if len(pairs) < 2:
                yield NotMeasurable(
                    f"{locality}: two pairs at once need 4 ranks, each on a core of its own", locality
                )
            for count in counts(len(pairs)):
                members = [rank for pair in pairs[:count] for rank in pair]
                for size_B in sizes_B:
                    place = (locality, count, size_B)
                    if visit > 0 and not 0 < window_s.get(place, 0.0) <= ONCE_S:
                        continue
                    request: Request = {"bytes": size_B, "layout": layout, "visit": visit}
                    answer = yield Question(members, {**request, **_timing(here, size_B)}, locality)
                    window_s[place] = answer.read_as(StreamsAnswer).time_s if answer is not None else 0.0
                    if window_s[place] > SLOWEST_S and size_B >= LEAST_LONGEST_B and not here.simulated:
                        break


def _timing(here: Here, size_B: int) -> dict[str, float]:
    if here.simulated:
        return {"window": SIMULATED_WINDOW, "sample_s": 0.0, **ONCE}
    window = WINDOW if size_B <= SHORT_B else LONG_WINDOW
    return {"window": window, "sample_s": SAMPLE_S, **here.timing(SHARE)}


def counts(most: int) -> list[int]:
    """Numbers of pairs to measure: 1, 2, 3, 4, 6, 8, 12, … and the most; each step is a factor of at most 2."""
    steps = {1, most} | {base * 2**power for base in (2, 3) for power in range(most.bit_length())}
    return sorted(step for step in steps if step <= most)


def pairs_at(here: Here, locality: Locality) -> tuple[list[tuple[int, int]], str]:
    """Disjoint (sender, receiver) of this locality inside one domain, as many as there are; and how they lie.

    `facing`: all senders in one domain and all receivers in another, so that they share what joins the two (a
    node's link). `disjoint`: no two need be between the same domains. The domain of most pairs is taken.
    """
    level = LOCALITIES.index(locality)
    best: list[tuple[int, int]] = []
    layout = "disjoint"
    for domain in _domains(here, range(len(here.ranks)), level):
        inner = sorted(_domains(here, domain, level - 1), key=lambda ranks: (-len(ranks), ranks[0]))
        if locality in FACING and len(inner) > 1 and len(inner[1]) > 1:
            first, second = sorted(inner[:2])
            pairs, how = list(zip(first, second, strict=False)), "facing"
        else:
            pairs, how = _across(inner), "disjoint"
        if len(pairs) > len(best):
            best, layout = pairs, how
    return best, layout


def _across(groups: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """The most disjoint pairs of different groups, each from the two groups with most ranks left."""
    left = [list(group) for group in groups]
    pairs = []
    while len(left) > 1:
        left.sort(key=lambda group: (-len(group), group[0]))
        a, b = left[0].pop(0), left[1].pop(0)
        pairs.append((min(a, b), max(a, b)))
        left = [group for group in left if group]
    return pairs


def _domains(here: Here, ranks: Sequence[int], level: int) -> list[list[int]]:
    """The ranks in groups that are no farther apart than that index of LOCALITIES; -1: each alone."""
    place = {rank: index for index, rank in enumerate(ranks)}
    near = [
        (place[a], place[b])
        for (a, b), locality in here.localities.items()
        if a in place and b in place and LOCALITIES.index(locality) <= level
    ]
    rows, columns = [a for a, _ in near], [b for _, b in near]
    graph = sparse.coo_array((np.ones(len(near)), (rows, columns)), shape=(len(place), len(place)))
    _, labels = sparse.csgraph.connected_components(graph, directed=False)
    return list(grouped(ranks, lambda rank: int(labels[place[rank]])).values())
