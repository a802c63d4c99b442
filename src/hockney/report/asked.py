"""What a reader asks of the sections on collectives, against what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from hockney.errors import RequestError
from hockney.models.over_ranks.points import collectives_in
from hockney.records.keys import COLLECTIVES
from hockney.records.series import default_statistic
from hockney.units import format_bytes


@dataclass(frozen=True)
class Asked:
    """The statistic of each collective of a table, and what of the reader's wish cannot be shown."""

    statistics: Mapping[str, str]
    warnings: list[str]


def asked(frame: pd.DataFrame, statistic: str, sizes_B: Sequence[int]) -> Asked:
    """The reader's `statistic` (empty: the one that says most) and `sizes_B`, for each collective that has them.

    RequestError where none has them.
    """
    names = collectives_in(frame)
    statistics = {name: default_statistic(frame, name) for name in names}
    rows = {name: frame[frame["operation"] == name] for name in names}
    sized = [name for name in names if COLLECTIVES[name].has_size]
    unmet = []
    if statistic:
        held = {name: set(rows[name]["statistic"]) for name in names}
        if not any(statistic in known for known in held.values()):
            there = ", ".join(sorted(set().union(*held.values()) - {""})) or "no collective"
            raise RequestError(f"no collective has times of the statistic {statistic!r}", f"there is {there}")
        lacking = [name for name in names if statistic not in held[name]]
        statistics |= dict.fromkeys([name for name in names if name not in lacking], statistic)
        unmet += [f"{name} has no {statistic}: shown is {statistics[name]}." for name in lacking]
    for size_B in sizes_B:
        lacking = [name for name in sized if size_B not in set(rows[name]["bytes"])]
        if lacking == sized:
            known = sorted({int(size) for name in sized for size in rows[name]["bytes"]})
            there = ", ".join(map(format_bytes, known)) or "no collective"
            raise RequestError(f"no collective was measured at {format_bytes(size_B)}", f"there is {there}")
        if lacking:
            unmet.append(f"{', '.join(lacking)}: not measured at {format_bytes(size_B)}, so not shown there.")
    return Asked(statistics, unmet)
