"""Several communicators at once: a collective on each of equal, disjoint subsets, alone and with the others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from hockney.campaign.effects.base import ONCE, Here, NotMeasurable, Question, Questions, effects
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
    keys: dict[CollectiveKey, None] = {}
    for key in here.collectives(TRANSPOSITION):
        counts = [key.ranks] if key.ranks else near_square(ranks)
        if not counts:
            yield NotMeasurable(f"{ranks} ranks have no equal subsets of two ranks and more", locality)
        for count in counts:
            if ranks % count or ranks == count:
                yield NotMeasurable(f"{ranks} ranks are not two subsets or more of {count}", locality)
            elif key.cache == "warm":
                keys[replace(key, ranks=count)] = None
    for visit in range(1 if here.simulated else VISITS):
        for key in keys:
            for size_B in key.sizes(list(sizes_B)):
                for arrangement in ARRANGEMENTS:
                    words = {
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
                        alone = {"part": "alone", "subset": number}
                        yield Question(subsets[number], {**words, **alone}, locality)
                    everyone = [rank for subset in subsets for rank in subset]
                    yield Question(everyone, {**words, "part": "together"}, locality)


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
