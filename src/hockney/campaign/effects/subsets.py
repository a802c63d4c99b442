"""Several communicators at once: a collective on each of equal, disjoint subsets, alone and with the others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hockney.campaign.effects.base import ONCE, Here, NotMeasurable, Question, Questions, Request, effects
from hockney.records.keys import CollectiveKey

TRANSPOSITION = "alltoall"
"""What is measured unless the plan names collectives: FFTs are why programs have several communicators."""
SIZES_B = (8, 2**12, 2**16, 2**20)
SHARE = 0.05
"""Of a point's time, for each question."""
VISITS = 4
"""A factor each. Student's t makes an interval reach 13 standard errors from two of them, 3.2 from four."""
MOST_ALONE = 4
"""Subsets that are measured alone, evenly spread over all."""
ARRANGEMENTS = ("blocks", "strided")
"""Which ranks are a subset: consecutive ones, or every so manyth."""


@effects.register("subsets")
def ask(here: Here) -> Questions:
    """Each collective of the plan on each size of subset, in both arrangements, each point `VISITS` times."""
    ranks = len(here.ranks)
    sizes_B = here.sizes_B or [size_B for size_B in SIZES_B if size_B <= here.largest_B] or [here.largest_B]
    timing = ONCE if here.simulated else here.timing(SHARE)
    locality = here.farthest()
    if not max(sizes_B):
        yield NotMeasurable(
            "a collective without bytes is not measured: measure with a larger --largest", locality
        )
        return
    asked = here.collectives(TRANSPOSITION)
    if not asked:
        yield NotMeasurable("the algorithms asked for are each selected at a launch of their own", locality)
    keys: dict[CollectiveKey, None] = {}
    for key in asked:
        counts, whys = subset_sizes(ranks, [key.ranks] if key.ranks else [])
        for why in whys:
            yield NotMeasurable(why, locality)
        if key.cache == "warm":
            keys |= {replace(key, ranks=count): None for count in counts}
    for visit in range(1 if here.simulated else VISITS):
        for key in keys:
            for size_B in key.sizes(list(sizes_B)):
                for arrangement in ARRANGEMENTS:
                    request: Request = {
                        "of": key.operation,
                        "algorithm": key.algorithm,
                        "ranks": key.ranks,
                        "bytes": size_B,
                        "segment_B": key.segment_B,
                        "radix": key.radix,
                        "arrangement": arrangement,
                        "visit": visit,
                        **timing,
                    }
                    subsets = list(subsets_of(ranks, key.ranks, arrangement))
                    step = math.ceil(len(subsets) / MOST_ALONE)
                    for number in range(0, len(subsets), step):
                        yield Question(subsets[number], {**request, "part": "alone", "subset": number}, locality)
                    everyone = [rank for subset in subsets for rank in subset]
                    yield Question(everyone, {**request, "part": "together"}, locality)


def subset_sizes(ranks: int, counts: Sequence[int]) -> tuple[list[int], list[str]]:
    """How many ranks a subset has, of `counts` (empty: those of `near_square`), and why the others are none."""
    if not counts:
        sides = near_square(ranks)
        return sides, [] if sides else [f"{ranks} ranks have no equal subsets of two ranks and more"]
    whys = {n: f"{ranks} ranks are not two subsets or more of {n}" for n in counts if ranks % n or ranks == n}
    return [n for n in counts if n not in whys], list(whys.values())


def near_square(ranks: int) -> list[int]:
    """The two sides of the squarest grid of so many ranks, one if they are equal, none for a prime number."""
    near = next(near for near in range(math.isqrt(ranks), 0, -1) if ranks % near == 0)
    return sorted({near, ranks // near}) if near > 1 else []


def subsets_of(ranks: int, count: int, arrangement: str) -> Iterator[list[int]]:
    """The ranks of each subset of `count`, in their order."""
    subsets = ranks // count
    for number in range(subsets):
        if arrangement == "blocks":
            yield list(range(number * count, (number + 1) * count))
        else:
            yield list(range(number, ranks, subsets))
