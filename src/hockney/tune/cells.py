"""Cells: what is known of one call, on so many ranks and for so many bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.models.over_ranks.choice import DEFAULT, TIE, UNKNOWN
from hockney.models.over_ranks.points import points, with_schedules_joined
from hockney.records.keys import COLLECTIVES
from hockney.tune.rules import Method
from hockney.words import listed

Origin = Literal["measured", "model"]


@dataclass(frozen=True)
class Time:
    """Seconds with the ends of their interval: of one launch at 95 %, of several from the least to the most."""

    time_s: float
    low_s: float
    high_s: float

    def is_beyond(self, other: Time) -> bool:
        """Whether this is shorter than the other, beyond both intervals and by more than what counts as equal."""
        return self.high_s < other.low_s and self.time_s * (1 + TIE) < other.time_s

    def exact(self) -> Time:
        """The same without an interval."""
        return Time(self.time_s, self.time_s, self.time_s)

    def ratio(self, other: Time) -> tuple[float, float, float]:
        """How many times as long the other takes: its value and the least and the most it may be."""
        return other.time_s / self.time_s, other.low_s / self.high_s, other.high_s / self.low_s


@dataclass(frozen=True)
class CallTimes:
    """Times of one call: `default` by the library's own choice, `others` by its algorithms."""

    operation: str
    ranks: int
    bytes: int
    default: Time
    others: Mapping[Method, Time]
    origin: Origin = "measured"

    @property
    def place(self) -> tuple[str, int, int]:
        """Operation, ranks and bytes."""
        return self.operation, self.ranks, self.bytes

    def by_medians(self) -> CallTimes:
        """The same as if every time were exact."""
        others = {name: time.exact() for name, time in self.others.items()}
        return replace(self, default=self.default.exact(), others=others)

    def faster(self) -> dict[Method, Time]:
        """The algorithms that are faster than the default beyond their intervals."""
        return {name: time for name, time in self.others.items() if time.is_beyond(self.default)}


def operations_in(frame: pd.DataFrame, asked: Sequence[str]) -> list[str]:
    """The collectives to tune: those asked for, or all in the table; RequestError where one is not there."""
    present = [name for name in COLLECTIVES if (frame["operation"] == name).any()]
    if absent := [name for name in asked if name not in present]:
        raise RequestError(
            f"the table has no times of {absent[0]}",
            f"it has {listed(present)}" if present else "measure it first",
        )
    if not present:
        raise RequestError("the table has no collectives", "measure some: `hockney measure --operation bcast …`")
    return list(asked) or present


def measured(
    frame: pd.DataFrame, operation: str, knows: Callable[[str], bool], ranks: Iterable[int] = ()
) -> list[CallTimes]:
    """A cell for each number of ranks and size at which the default and an algorithm were measured, in order.

    `knows`: whether the name of an algorithm counts. `ranks`: those that are wanted, none for all. RequestError
    where times were taken under more than one setting.
    """
    known = with_schedules_joined(points(frame, operation))
    known = known[known["ranks"].notna()]
    for name in ("system", "mpi", "variant", "mapping", "cache", "root", "nodes", "ppn"):
        by_ranks = known.groupby("ranks")[name].nunique(dropna=False)
        words = sorted({"" if pd.isna(word) else str(word) for word in known[name]})
        if len(by_ranks) and by_ranks.max() > 1:
            raise RequestError(
                f"{operation} was measured with {name} {listed(words)}",
                f"choose one: --where {name}='{words[0]}'",
            )
    wanted = set(ranks) or {int(count) for count in known["ranks"]}
    cells = []
    for (ranks_key, bytes_key), rows in known.groupby(["ranks", "bytes"], sort=True):
        count, size_B = int(str(ranks_key)), int(str(bytes_key))
        times = {
            Method(name, whole(segment), whole(radix)): interval(*values)
            for name, segment, radix, *values in rows[
                ["algorithm", "segment_bytes", "radix", "time_s", "low_s", "high_s"]
            ].itertuples(index=False)
        }
        default = times.pop(Method(DEFAULT), None)
        others = {one: time for one, time in times.items() if knows(one.name)}
        if default is not None and others and count in wanted:
            cells.append(CallTimes(operation, count, size_B, default, others))
    return cells


def whole(value: Any) -> int:
    """A segment size or a radix of a table; 0 where it has none."""
    return 0 if pd.isna(value) else int(value)


def interval(time_s: float, low_s: float, high_s: float) -> Time:
    """The time with these ends, or with the usual ones where they are not known."""
    if not low_s < high_s or not np.isfinite([low_s, high_s]).all():
        return Time(time_s, time_s * (1 - UNKNOWN), time_s * (1 + UNKNOWN))
    return Time(time_s, min(low_s, time_s), max(high_s, time_s))
