"""The times of a campaign or a tidy table by what was timed, one column a launch: what guidelines compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pandas as pd

from hockney.records.columns import names
from hockney.records.contents import Contents
from hockney.records.keys import COLLECTIVES
from hockney.records.series_of_table import texts
from hockney.records.statistic import RATES, STATISTICS
from hockney.records.visits import SUBTRACTED
from hockney.statistics import Array
from hockney.units import counted

DEFAULT = "default"
SETTING = names("setting", "pair")
"""Two times that differ in one of these are not of the same library in the same place."""


@dataclass(frozen=True)
class TimedCall:
    """What was timed, but for its size. `setting`: the values of `SETTING`; None: unknown, or there is none."""

    operation: str
    algorithm: str = DEFAULT
    ranks: int | None = None
    nodes: int | None = None
    ppn: int | None = None
    segment_B: int | None = None
    radix: int | None = None
    root: int | None = None
    pairs: int | None = None
    window: int | None = None
    statistic: str = ""
    setting: tuple[str, ...] = ()

    def of(self, operation: str, root: int | None = None) -> TimedCall:
        """The library's own `operation` at the same place, from that root if it has one."""
        rooted = operation in COLLECTIVES and COLLECTIVES[operation].rooted
        return replace(
            self,
            operation=operation,
            algorithm=DEFAULT,
            segment_B=None,
            radix=None,
            root=root if rooted else None,
        )

    def named(self) -> str:
        """The words for what was called: `bcast binomial`; the library's own choice is not named."""
        parts = [self.operation, "" if self.algorithm == DEFAULT else self.algorithm]
        parts += [f"segment {self.segment_B} B"] if self.segment_B else []
        parts += [f"radix {self.radix}"] if self.radix else []
        return " ".join(filter(None, parts))

    @property
    def known_setting(self) -> dict[str, str]:
        """What is known of its setting, by the names of `SETTING`."""
        return {name: word for name, word in zip(SETTING, self.setting, strict=False) if word}

    def where(self) -> str:
        """On how many ranks and nodes, and in which setting, in words."""
        ranks = "" if self.ranks is None else counted(self.ranks, "rank")
        spread = "" if self.nodes in (None, 1) else counted(self.nodes, "node")
        known = self.known_setting
        other = [known.get(name, "") for name in ("mpi", "mapping", "locality")]
        variant, cache = known.get("variant", ""), known.get("cache", "")
        other += [variant if variant != DEFAULT else "", "off cache" if cache == "off" else ""]
        return ", ".join(filter(None, [ranks, spread, *other]))


@dataclass(frozen=True)
class SizedCall:
    """A call of one size; `size_B` as in the tidy table: the whole vector, or one rank's block."""

    call: TimedCall
    size_B: int


@dataclass(frozen=True, eq=False)
class LaunchTimes:
    """Seconds of each cell in each launch with the 95 % interval within it, shapes (cells, launches), NaN: none.

    `curves` has the sizes of each call, rising, with the row of each. Nothing is compared with `left_out`, points
    that were met at another level of the machine than the rest, and with `of_other_statistics`, operations whose
    times are of other statistics than those of the rest.
    """

    cells: tuple[SizedCall, ...]
    time_s: Array
    low_s: Array
    high_s: Array
    curves: Mapping[TimedCall, Mapping[int, int]] = field(default_factory=dict)
    left_out: int = 0
    of_other_statistics: tuple[str, ...] = ()

    @property
    def launches(self) -> int:
        """How many launches there are."""
        return int(self.time_s.shape[1])


def counterparts(
    calls: Iterable[TimedCall], others: Iterable[TimedCall], may_differ: Iterable[tuple[str, ...]]
) -> dict[TimedCall, TimedCall]:
    """The same call among others, for each that has one.

    `may_differ`: names of `SETTING` that may be another there, the first of these choices with which no two calls
    of a side become one.
    """
    sides = list(calls), list(others)
    for names_ in may_differ:
        bare, there = ([_without(call, names_) for call in side] for side in sides)
        if len(set(bare)) == len(bare) and len(set(there)) == len(there):
            found = dict(zip(there, sides[1], strict=True))
            return {call: found[one] for call, one in zip(sides[0], bare, strict=True) if one in found}
    return {}


def _without(call: TimedCall, names_: tuple[str, ...]) -> TimedCall:
    setting = tuple("" if name in names_ else word for name, word in zip(SETTING, call.setting, strict=True))
    return replace(call, setting=setting)


def times_of(contents: Contents) -> LaunchTimes:
    """What a campaign folder or a table holds, without times of another level and without wrong results."""
    frame, left_out = contents.of_one_level()
    return replace(times_in(frame), left_out=left_out)


def times_in(frame: pd.DataFrame) -> LaunchTimes:
    """The cells of a tidy table, in each setting by the statistic that most operations have.

    Where several are had by as many, it is the one that says most. Operations that lack it are named.
    Rows of one cell and `repetition` are of one launch, which has their median: nothing tells that they are not.
    """
    rows = frame[~frame["statistic"].isin(RATES) & ~frame["operation"].isin(SUBTRACTED)].reset_index(drop=True)
    if rows.empty:
        none = np.empty((0, 0))
        return LaunchTimes((), none, none, none)
    setting = list(zip(*(texts(rows, name).tolist() for name in SETTING), strict=True))
    rank = rows["statistic"].map(STATISTICS.index).to_numpy()
    # Collectives are compared with each other, other operations each with itself.
    kind = ["" if name in COLLECTIVES else str(name) for name in rows["operation"]]
    groups: dict[tuple[object, str], dict[int, set[str]]] = {}
    for here, of_kind, operation, place in zip(setting, kind, rows["operation"], rank, strict=True):
        groups.setdefault((here, of_kind), {}).setdefault(place, set()).add(operation)
    best = {group: min(of, key=lambda place: (-len(of[place]), place)) for group, of in groups.items()}
    chosen = [place == best[group] for place, group in zip(rank, zip(setting, kind, strict=True), strict=True)]
    cells: dict[SizedCall, list[int]] = {}
    # One column after the other: rows as objects take a hundred times as long.
    columns = {name: _counts(rows, name) for name in _COUNTED}
    texts_of = rows["operation"], rows["algorithm"], rows["bytes"], rank, setting
    left: set[SizedCall] = set()
    for index, (operation, algorithm, size_B, place, here) in enumerate(zip(*texts_of, strict=True)):
        counts = {name: values[index] for name, values in columns.items()}
        call = TimedCall(
            str(operation), str(algorithm) or DEFAULT, **counts, statistic=STATISTICS[place], setting=here
        )
        if chosen[index]:
            cells.setdefault(SizedCall(call, int(size_B)), []).append(index)
        else:
            left.add(SizedCall(replace(call, statistic=""), int(size_B)))
    repetition = rows["repetition"].to_numpy(dtype=np.int64)
    launches, column = np.unique(repetition, return_inverse=True)
    matrices = np.full((3, len(cells), launches.size), np.nan)
    time = rows["time_s"].to_numpy(dtype=np.float64)
    bounds = [rows[name].to_numpy(dtype=np.float64) if name in rows else time for name in ("low_s", "high_s")]
    values = np.stack([np.where(np.isnan(bound), time, bound) for bound in (*bounds[:1], time, *bounds[1:])])
    values[0], values[2] = np.minimum(values[0], time), np.maximum(values[2], time)
    for row, members in enumerate(cells.values()):
        of_launch = column[members]
        for launch in np.unique(of_launch):
            chosen = np.array(members)[of_launch == launch]
            matrices[:, row, launch] = np.median(values[:, chosen], axis=1)
    found = tuple(cells)
    timed = {SizedCall(replace(cell.call, statistic=""), cell.size_B) for cell in found}
    others = {cell.call.operation for cell in left if cell not in timed}
    return LaunchTimes(
        found,
        matrices[1],
        matrices[0],
        matrices[2],
        _curves(found),
        of_other_statistics=tuple(sorted(others)),
    )


_COUNTED = {name: name for name in ("ranks", "nodes", "ppn", "radix", "root", "pairs", "window")}
_COUNTED["segment_B"] = "segment_bytes"
"""Fields of a call, with the columns that they are read from."""


def _counts(rows: pd.DataFrame, name: str) -> list[int | None]:
    text = texts(rows, _COUNTED[name])
    return [int(float(word)) if word else None for word in text]


def _curves(cells: tuple[SizedCall, ...]) -> dict[TimedCall, dict[int, int]]:
    curves: dict[TimedCall, dict[int, int]] = {}
    for row, cell in sorted(enumerate(cells), key=lambda each: each[1].size_B):
        curves.setdefault(cell.call, {})[cell.size_B] = row
    assert all(a < b for sizes in curves.values() for a, b in pairwise(sizes))
    return curves
