"""Cells: what is known of one call, on so many ranks and for so many bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd

from hockney.errors import RequestError
from hockney.models.over_ranks.choice import DEFAULT, UNKNOWN, Time, fastest, timed
from hockney.models.over_ranks.points import Visits, points
from hockney.records.keys import COLLECTIVES
from hockney.tune.rules import Method
from hockney.units import listed, percent

Origin = Literal["measured", "model"]

ASSUMED = f"assumed ±{percent(UNKNOWN)}"
"""What is said of an interval that nobody stated."""


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
        """The algorithms that are faster than the default."""
        return {name: time for name, time in self.others.items() if time.is_faster(self.default)}

    def fastest(self, before: Method | None = None) -> Method | None:
        """The fastest algorithm as pages name it; None: the default. `before`: what it was at the size before."""
        default = Method(DEFAULT)
        best = fastest({default: self.default, **self.others}, default, before).best
        return None if best == default else best

    @property
    def candidate(self) -> Method:
        """The algorithm of the shortest time, whether or not it is faster than the default."""
        return min(self.others, key=lambda one: (self.others[one].time_s, str(one)))


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
    frame: pd.DataFrame,
    operation: str,
    knows: Callable[[str], bool],
    ranks: Iterable[int] = (),
    visits: Visits | None = None,
) -> list[CallTimes]:
    """A cell for each number of ranks and size at which the default and an algorithm were measured, in order.

    `knows`: whether the name of an algorithm counts. `ranks`: those that are wanted, none for all; `visits`: as
    of `points.visits_of`. RequestError
    where times were taken under more than one setting.
    """
    known = points(frame, operation)
    known = known.assign(time=pd.Series(timed(known, visits), known.index))
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
            Method(name, whole(segment), whole(radix)): time
            for name, segment, radix, time in rows[["algorithm", "segment_bytes", "radix", "time"]].itertuples(
                index=False
            )
        }
        default = times.pop(Method(DEFAULT), None)
        others = {one: time for one, time in times.items() if knows(one.algorithm)}
        if default is not None and others and count in wanted:
            cells.append(CallTimes(operation, count, size_B, default, others))
    return cells


def whole(value: Any) -> int:
    """A segment size or a radix of a table; 0 where it has none."""
    return 0 if pd.isna(value) else int(value)
