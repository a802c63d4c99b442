"""The measured points of a collective, kept apart by everything that was held fixed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.records import columns
from hockney.records.record import Record
from hockney.records.series_of_table import default_statistic
from hockney.records.table import does_nothing
from hockney.records.visits import ByLaunch, visits_by_launch
from hockney.schedule.catalogue import signature
from hockney.statistics import pooled

if TYPE_CHECKING:
    from hockney.records.contents import Contents

OURS = "hockney"
"""The source of what this program measured."""
_ALIKE = ("source", "operation", "pairs", "window")
"""Columns in which points of one collective do not differ; the measuring programs count alike."""
CONFIGURATION = tuple(
    sorted(
        (name for name in (*columns.names("setting"), *columns.names("call")) if name not in _ALIKE),
        key="mapping".__eq__,
    )
)
"""Times that agree in these may be compared, or joined by a line; people name the mapping last."""
PLACED = (*CONFIGURATION, *(name for name in columns.SCALE if name != "ranks"))
"""Times at one rank count agree in these."""
HELD = (*PLACED, *columns.CHOICE, "ranks", "bytes")
"""These tell one point from another; what is unknown is empty."""


def points(frame: pd.DataFrame, operation: str, statistic: str = "") -> pd.DataFrame:
    """Columns of `HELD`, `time_s`, `low_s`, `high_s`, `repeats`, `label`, `schedule`; sorted by ranks and size.

    Repetitions are pooled: the median, and the hull of their intervals and values; one value without an interval
    has NaN for both bounds. `repeats`: of how many values without an interval the hull is, 0 where all have
    their 95 % interval. `statistic` empty: the one that says most (completion, then the slowest rank, then the
    mean). `label` names the algorithm with its segment and radix, `schedule` is the same for algorithms of this
    program that make the same schedule there (`hockney.schedule.catalogue.signature`; None: unknown). Calls that
    do nothing are left out.
    RequestError where the table has no such operation.
    """
    chosen = statistic or default_statistic(frame, operation)
    rows = frame[(frame["operation"] == operation) & (frame["statistic"] == chosen)].copy()
    rows = rows[~does_nothing(rows)]
    for name in HELD:
        if name not in rows.columns:
            rows[name] = pd.NA
    for bound in ("low_s", "high_s"):
        if bound not in rows.columns:
            rows[bound] = np.nan
    rows["repeats"] = (rows["low_s"].isna() | rows["high_s"].isna()).astype(int)
    for bound in ("low_s", "high_s"):
        rows[bound] = rows[bound].fillna(rows["time_s"])
    grouped = rows.groupby(list(HELD), dropna=False, sort=False)
    pooling = {"time_s": "median", "low_s": "min", "high_s": "max", "repeats": "sum"}
    merged = grouped.agg(pooling).reset_index()
    is_bare = (merged["repeats"] == 1) & (merged["low_s"] == merged["high_s"])
    merged.loc[is_bare, ["low_s", "high_s"]] = np.nan
    named = merged[["algorithm", "segment_bytes", "radix"]]
    labels = [_label(*row) for row in named.drop_duplicates().itertuples(index=False, name=None)]
    number = named.groupby([*named], dropna=False, sort=False).ngroup()
    merged["label"] = np.array(labels, dtype=object)[number.to_numpy()]
    # Another program's algorithm of that name may be another.
    is_ours = bool((rows["source"] == OURS).all()) if "source" in rows.columns else False
    merged["schedule"] = _schedules(operation, merged) if is_ours else None
    return merged.sort_values(["ranks", "bytes", "label"], ignore_index=True)


def _schedules(operation: str, merged: pd.DataFrame) -> list[int | None]:
    names = ["algorithm", "ranks", "bytes", "segment_bytes", "radix"]
    return [
        signature(operation, str(algorithm), ranks=ranks, size_B=size_B, segment_B=segment_B, radix=radix)
        for algorithm, *counts in merged[names].fillna(0).itertuples(index=False)
        for ranks, size_B, segment_B, radix in [map(int, counts)]
    ]


def with_schedules_joined(points: pd.DataFrame) -> pd.DataFrame:
    """The same points; algorithms that make the same schedule there have one time, of all their measurements.

    What differs between them is noise: the smallest of ten such times is the luckiest one.
    """
    times = ["time_s", "low_s", "high_s"]
    joined = points[times].to_numpy(np.float64)
    for rows in same_schedule(points):
        joined[rows] = pooled(*joined[rows].T)
    return points.assign(**dict(zip(times, joined.T, strict=True)))


def same_schedule(points: pd.DataFrame) -> Iterator[NDArray[np.intp]]:
    """Positions of the algorithms that make the same schedule at one point, two and more with known intervals."""
    known = points["schedule"].notna() & (points["low_s"] > 0) & (points["low_s"] < points["high_s"])
    place = np.flatnonzero(known)
    alike = [*(name for name in HELD if name not in columns.CHOICE), "schedule"]
    for _, rows in positions(points[known], alike):
        if rows.size > 1:
            yield place[rows]


Visits = Mapping[tuple[str, ...], ByLaunch]
"""The visits of points of one collective and statistic, by their values of `HELD` as text."""


def visits_of(contents: Contents, operation: str, statistic: str) -> Visits:
    """Those at the level that a campaign asks for; a table has none, nor has any statistic but completion."""
    at_point: dict[tuple[str, ...], list[Record]] = {}
    for record in contents.records:
        is_ours = record.source == OURS and record.verified is not False
        if is_ours and record.operation == operation and record.statistic == statistic == "completion":
            words = ("" if value is None else str(value) for value in _held(record))
            at_point.setdefault(tuple(words), []).append(record)
    return {
        point: visits_by_launch(records, contents.levels, contents.choice) for point, records in at_point.items()
    }


_held = attrgetter(*HELD)


def visits_at(points: pd.DataFrame, visits: Visits) -> list[ByLaunch]:
    """The visits of each row, none where they are not known."""
    texts = [_texts(points[name]) for name in HELD]
    return [visits.get(words, {}) for words in zip(*texts, strict=True)]


@dataclass(frozen=True)
class Configuration:
    """Values of some columns that rows share, as text; what is unknown is empty."""

    held: tuple[tuple[str, str], ...]

    def __getitem__(self, name: str) -> str:
        return dict(self.held).get(name, "")

    def words(self, names: Sequence[str]) -> str:
        """`system a, mapping core`: the values of `names` that are known, mapping as `allocation`."""
        shown = [(name, self[name]) for name in names if self[name]]
        return ", ".join(f"{HEADINGS.get(name, name)} {value}" for name, value in shown)


HEADINGS = {"mpi": "MPI", "mapping": "allocation", "ppn": "ranks per node"}
"""Columns of the table whose name in a report is another."""


def positions(measured: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[Configuration, NDArray[np.intp]]]:
    """Positions of the rows that share the values of `names`, in the order of those values.

    Thousands of groups are common: arrays are taken apart here, not frames, which cost a millisecond each.
    """
    number = measured.groupby(list(names), dropna=False, sort=True).ngroup().to_numpy()
    order = np.argsort(number, kind="stable")
    starts = np.flatnonzero(np.diff(number[order], prepend=-1))
    first = measured.iloc[order[starts]]
    held = [_texts(first[name]) for name in names]
    for values, rows in zip(zip(*held, strict=True), np.split(order, starts[1:]), strict=False):
        yield Configuration(tuple(zip(names, values, strict=True))), rows


def _texts(column: pd.Series[Any]) -> list[str]:
    """The values as text, what is unknown as none; each value is written once."""
    places, values = pd.factorize(column)
    words = [*map(str, pd.Series(values).tolist()), ""]
    return [words[place] for place in places.tolist()]


def groups(measured: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[Configuration, pd.DataFrame]]:
    """Rows that share the values of `names`, in the order of those values."""
    for configuration, rows in positions(measured, names):
        yield configuration, measured.iloc[rows]


def telling(measured: pd.DataFrame) -> list[str]:
    """Columns of `CONFIGURATION` with more than one value, and always `mapping`."""
    several = [name for name in CONFIGURATION if len(measured[name].unique()) > 1]
    return several if "mapping" in several else [*several, "mapping"]


def telling_placed(measured: pd.DataFrame) -> list[str]:
    """The columns of `telling`, with nodes and ranks per node where ranks and mapping do not determine them."""
    by_ranks = measured.groupby([*CONFIGURATION, "ranks"], dropna=False)
    several = [name for name in ("nodes", "ppn") if by_ranks[name].nunique(dropna=False).max() > 1]
    return [*telling(measured), *several]


def curves(measured: pd.DataFrame, size_B: int) -> dict[tuple[Configuration, str], pd.DataFrame]:
    """Times against ranks at one size, by configuration and label: columns `ranks`, `time_s`, `nodes`, `ppn`.

    Every curve was measured as it stands: one configuration, and at each rank count one point. Where one rank
    count was measured on several numbers of nodes, each number of nodes is a curve of its own; where that does
    not tell them apart, so is each number of ranks per node.
    """
    by_label: dict[tuple[Configuration, str], pd.DataFrame] = {}
    of_size = measured[(measured["bytes"] == size_B) & measured["ranks"].notna()]
    for _, alike in groups(of_size, CONFIGURATION):
        apart: list[str] = []
        for name in ("nodes", "ppn"):
            if alike.duplicated(["label", "ranks", *apart]).any():
                apart.append(name)
        drawn = alike[[*columns.SCALE, "time_s"]]
        for configuration, rows in positions(alike, [*CONFIGURATION, *apart, "label"]):
            *held, (_, label) = configuration.held
            curve = drawn.iloc[rows]
            by_label[Configuration(tuple(held)), label] = curve.sort_values("ranks")
    return by_label


def _label(algorithm: Any, segment: Any, radix: Any) -> str:
    words = [str(algorithm)]
    if not pd.isna(segment) and segment:
        words.append(f"segment {int(segment)} B")
    if not pd.isna(radix) and radix:
        words.append(f"radix {int(radix)}")
    return ", ".join(words)
