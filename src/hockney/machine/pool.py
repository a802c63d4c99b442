"""Series on like pairs become one: the median over pairs, and an interval that holds the spread between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from hockney.records.series import Series

POOLED = ("pair", "repetition")
"""Parts of a series' key that may differ within a pool: pairs of one locality are samples of the same thing."""


def pool(members: Sequence[Series]) -> Series:
    """One series of several whose keys differ in `POOLED` only.

    Per size the time is the median over the series that have it, the interval the hull of their intervals.
    Its degrees of freedom are the fewest of theirs: the pairs are no sample of others. Related measurements are
    pooled likewise; the eager limit and further breaks are kept where all agree.
    """
    sizes = np.unique(np.concatenate([member.size_B for member in members]))
    time = np.full((len(members), sizes.size), np.nan)
    low, high, freedom = time.copy(), time.copy(), time.copy()
    for row, member in enumerate(members):
        place = np.searchsorted(sizes, member.size_B)
        time[row, place] = member.time_s
        low[row, place] = np.minimum(member.low_s, member.time_s)
        high[row, place] = np.maximum(member.high_s, member.time_s)
        if member.freedom is not None:
            freedom[row, place] = member.freedom
    names = dict.fromkeys(chain.from_iterable(member.related for member in members))
    limits = {member.eager_limit_B for member in members}
    breaks_B = set.intersection(*(set(member.breaks_B) for member in members))
    return Series(
        key={name: word for name, word in members[0].key.items() if name not in POOLED},
        size_B=sizes,
        # The median takes numpy a third of a millisecond, and most entries have one member.
        time_s=np.nanmedian(time, axis=0) if len(members) > 1 else time[0],
        low_s=np.fmin.reduce(low, axis=0),
        high_s=np.fmax.reduce(high, axis=0),
        eager_limit_B=limits.pop() if len(limits) == 1 else None,
        breaks_B=tuple(sorted(breaks_B)),
        related={
            name: pool([member.related[name] for member in members if name in member.related]) for name in names
        },
        freedom=np.fmin.reduce(freedom, axis=0),
    )
