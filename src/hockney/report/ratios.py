"""Times of the same points beside each other: their ratios, and where one can be told to be slower."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from hockney.models.over_ranks.choice import TIE, UNKNOWN
from hockney.units import counted


def ratios(first: pd.DataFrame, others: pd.DataFrame, same: Sequence[str]) -> pd.DataFrame:
    """The rows of `others` that agree with one of `first` in the columns `same`, with `ratio` and `is_told`.

    Both have `time_s`, `low_s` and `high_s`; those of `first` come back as `time_s_first` and so on. `ratio` is
    the time over that of the first; `is_told`: their intervals do not overlap, and the times differ by more than
    `TIE`. A time without an interval (NaN) is taken as ± `UNKNOWN`.
    """
    ends = (("low_s", 1 - UNKNOWN), ("high_s", 1 + UNKNOWN))
    known = [
        table.assign(**{bound: table[bound].fillna(table["time_s"] * share) for bound, share in ends})
        for table in (others, first[[*same, "time_s", "low_s", "high_s"]])
    ]
    both = known[0].merge(known[1], on=list(same), suffixes=("", "_first"))
    both["ratio"] = both["time_s"] / both["time_s_first"]
    apart = (both["low_s"] > both["high_s_first"]) | (both["high_s"] < both["low_s_first"])
    both["is_told"] = apart & (np.abs(np.log(both["ratio"])) > np.log1p(TIE))
    return both


def in_words(one: str, other: str, rows: pd.DataFrame) -> str:
    """How many times as long as `other` `one` takes, and where that can be told; no full stop."""
    told = rows[rows["is_told"]]
    counts = {"slower": int((told["ratio"] > 1).sum()), "faster": int((told["ratio"] < 1).sum())}
    clauses = [f"{word} at {_of(count, len(rows))}" for word, count in counts.items() if count]
    where = "it is " + " and ".join(clauses) if clauses else "the two cannot be told apart at any of them"
    if clauses and len(told) < len(rows):
        where += f", and at {len(rows) - len(told)} the two cannot be told apart"
    return (
        f"{one} takes {rows['ratio'].median():.2f} times as long as {other} in the median of "
        f"{counted(len(rows), 'point')}; {where}"
    )


def _of(count: int, every: int) -> str:
    return "all of them" if count == every else str(count)
