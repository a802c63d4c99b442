"""Points of the tidy table: one row for each (algorithm, placement, ranks, bytes), repetitions pooled."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.models.base import DEFAULT as DEFAULT
from hockney.records import columns
from hockney.records.series_of_table import default_statistic, of_operation
from hockney.records.statistic import RATES
from hockney.units import format_bytes

_IDENTIFYING = [
    column
    for column in columns.ALL
    if column.identifies in ("setting", "scale", "choice", "call", "point", "visit")
    and column.name != "statistic"
]
_SAMPLED = ("system", "mpi", "operation", "source", "variant", "cache", "algorithm", "mapping")
"""The order in which `sample` of a split hashes the text columns: another order would draw another sample,
so a new column comes last."""

_TEXTS = [column.name for column in _IDENTIFYING if column.kind == "text"]
TEXT = (*_SAMPLED, *(name for name in _TEXTS if name not in _SAMPLED))
NUMBERS = tuple(column.name for column in _IDENTIFYING if column.kind in ("count", "whole"))
POINT = (*TEXT, *NUMBERS, *(column.name for column in _IDENTIFYING if column.kind == "truth"))
"""Columns that identify a point of a collective. Unknown text is "", an unknown number NA."""

GROWING = columns.SCALE
"""What changes together when the same run is made larger."""
CHOICE = columns.CHOICE
"""What a library may choose."""
APART = ("system", "mpi", "source", "variant", "cache", "oversubscribed")
"""Points that differ in one of these were measured under other conditions: each set has its own calibration."""

SHORTEST_S = 1e-12
"""Shorter times are none."""


@dataclass(frozen=True)
class Points:
    """`frame` has the columns `POINT`, `time_s` (median), `repetitions`, `spread` (largest / smallest), and
    `low_s`, `high_s`: the hull of the repetitions' values and intervals.

    `dropped` counts rows of the table by the reason for which they were left out; `warnings` are for the user.
    """

    frame: pd.DataFrame
    statistic: str
    dropped: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def points(frame: pd.DataFrame, operation: str, statistic: str = "") -> Points:
    """The points of one operation and one statistic of a tidy table; nothing else is ever pooled.

    `statistic` empty: the one that says most about the operation, of those in the table. RequestError where the
    table has no such operation or statistic, or no row with a positive time and a number of ranks.
    """
    chosen = statistic or default_statistic(frame, operation)
    rows = _rows(frame, operation, chosen)
    kept, dropped = _usable(rows)
    if kept.empty:
        reasons = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in dropped.items())
        raise RequestError(
            f"no usable row of {operation} ({chosen}) in this table: {reasons}",
            "a row needs a positive time and its number of ranks, which `hockney import --ranks N` says",
        )
    grouped = kept.groupby(list(POINT), dropna=False, sort=False)
    pooled = grouped.agg(
        time_s=("time_s", "median"),
        repetitions=("time_s", "size"),
        low=("time_s", "min"),
        high=("time_s", "max"),
        low_s=("low_s", "min"),
        high_s=("high_s", "max"),
    ).reset_index()
    pooled["spread"] = pooled["high"] / pooled["low"]
    contradictory = int((pooled["spread"] > columns.CONTRADICTION).sum())
    warnings = []
    if contradictory:
        warnings.append(
            f"{contradictory} of {len(pooled)} points have repetitions that differ by more than "
            f"a factor of {columns.CONTRADICTION:g}; their median is used"
        )
    if lost := sum(dropped.values()):
        reasons = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in dropped.items() if count)
        warnings.append(f"{lost} rows left out: {reasons}")
    return Points(pooled.drop(columns=["low", "high"]), chosen, dropped, warnings)


def _rows(frame: pd.DataFrame, operation: str, statistic: str) -> pd.DataFrame:
    if statistic in RATES:
        raise RequestError(f"{statistic} is not a time", "times are predicted: ask for one_way or completion")
    of_it = of_operation(frame, operation)
    rows = of_it[of_it["statistic"] == statistic]
    if rows.empty:
        known = ", ".join(sorted(set(of_it["statistic"].astype(str)) - set(RATES))) or "only rates"
        raise RequestError(f"no statistic {statistic!r} of {operation} in this table", f"it holds {known}")
    table = texts_and_numbers(rows)
    truth = rows["oversubscribed"] if "oversubscribed" in rows.columns else pd.Series(pd.NA, rows.index)
    table["oversubscribed"] = truth.astype("boolean").fillna(value=False).astype(bool)
    table["time_s"] = rows["time_s"].astype("float64")
    for name in ("low_s", "high_s"):
        bound = rows[name].astype("float64") if name in rows.columns else table["time_s"]
        table[name] = bound.where(bound > 0, table["time_s"])
    return table


def texts_and_numbers(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns `TEXT` and `NUMBERS` of the rows; what they do not have is empty."""
    table = pd.DataFrame(index=rows.index)
    for name in TEXT:
        table[name] = _as_text(rows[name]) if name in rows.columns else ""
    for name in NUMBERS:
        table[name] = (rows[name] if name in rows.columns else pd.Series(pd.NA, rows.index)).astype("Int64")
    return table


def _as_text(column: pd.Series) -> pd.Series:
    """The values of a column as text, what is unknown as none."""
    if column.dtype == "str":
        return column.fillna("")
    return column.astype(object).fillna("").astype(str)


def _usable(rows: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """Rows with a positive, finite time and a number of ranks, and how many were not, by reason."""
    time = rows["time_s"].to_numpy(np.float64)
    reasons = {
        "without_a_time": ~np.isfinite(time),
        "with_a_zero_time": (time >= 0) & (time < SHORTEST_S),
        "with_a_negative_time": np.isfinite(time) & (time < 0),
    }
    bad = ~(np.isfinite(time) & (time >= SHORTEST_S))
    reasons["without_ranks"] = ~bad & rows["ranks"].isna().to_numpy()
    bad |= reasons["without_ranks"]
    return rows[~bad], {name: int(mask.sum()) for name, mask in reasons.items()}


def beside(frame: pd.DataFrame, kept: pd.DataFrame, operation: str, statistic: str) -> dict[str, pd.DataFrame]:
    """The points `kept` of one statistic of a tidy table by each other time that it holds of the same calls.

    They serve to tell the algorithm behind a default: none without one.
    """
    if not (kept["algorithm"] == DEFAULT).any():
        return {}
    others = set(frame.loc[frame["operation"] == operation, "statistic"].astype(str)) - {statistic, *RATES}
    found = {}
    for other in sorted(others):
        try:
            made = points(frame, operation, other).frame
        except RequestError:  # it has no usable row
            continue
        same = positions(kept, POINT)
        is_same = [key in same for key in keys(made, POINT)]
        if any(is_same):
            found[other] = made[is_same].reset_index(drop=True)
    return found


class PointRow(NamedTuple):
    """A point as plain values; None: an unknown number. `segment_B` and `radix` 0: none that is known."""

    operation: str
    algorithm: str
    mapping: str
    mpi: str
    variant: str
    source: str
    ranks: int
    bytes: int
    nodes: int | None
    ppn: int | None
    segment_B: int
    radix: int
    root: int


def rows(points: pd.DataFrame) -> list[PointRow]:
    """The points one by one."""
    text = (
        points[name].astype(str).tolist()
        for name in ("operation", "algorithm", "mapping", "mpi", "variant", "source")
    )
    numbers = {
        name: [None if pd.isna(value) else int(value) for value in points[name].tolist()]
        for name in ("ranks", "bytes", "nodes", "ppn", "segment_bytes", "radix", "root")
    }
    for name in ("segment_bytes", "radix", "root"):
        numbers[name] = [value or 0 for value in numbers[name]]
    return list(map(PointRow, *text, *numbers.values()))


def keys(points: pd.DataFrame, names: Sequence[str]) -> list[Hashable]:
    """The values of each point in the columns `names` (None: unknown)."""
    # An unknown number is a value like any other, but NA is not equal to itself. Each value is made once.
    held = []
    for name in names:
        places, values = pd.factorize(points[name])
        known = [*pd.Series(values).tolist(), None]
        held.append([known[place] for place in places.tolist()])
    return list(zip(*held, strict=True))


def is_grid(points: pd.DataFrame) -> NDArray[np.bool_]:
    """Which points say how many nodes have how many ranks each but no mapping: ranks fill nodes in blocks."""
    known = points["nodes"].notna() & points["ppn"].notna() & (points["mapping"] == "")
    return known.to_numpy(dtype=np.bool_)


def sliced(points: pd.DataFrame) -> pd.DataFrame:
    """The points with their ranks a node on a grid alone: elsewhere the ranks and the mapping say them."""
    return points.assign(ppn=points["ppn"].where(is_grid(points)))


def positions(points: pd.DataFrame, names: Sequence[str]) -> dict[Hashable, NDArray[np.intp]]:
    """Positions of the points that agree in the columns `names`, by their values there (None: unknown)."""
    groups: dict[Hashable, list[int]] = {}
    for position, key in enumerate(keys(points, names)):
        groups.setdefault(key, []).append(position)
    return {key: np.array(index, dtype=np.intp) for key, index in groups.items()}


def limits(train: pd.DataFrame) -> list[str]:
    """Limits of the training points, in words: no placement, a single size, a single number of ranks."""
    texts = []
    if is_grid(train).all():
        texts.append("the table names no mapping: ranks are taken to fill nodes in blocks")
    elif (train["mapping"] == "").all():
        texts.append(
            "the table does not say how ranks were placed (mapping is empty): all points count as one placement"
        )
    sizes, ranks = train["bytes"].unique(), train["ranks"].unique()
    if len(sizes) == 1:
        texts.append(f"training has a single size ({sizes[0]} B): other sizes are extrapolated")
    if len(ranks) == 1:
        texts.append(
            f"training has a single number of ranks ({ranks[0]}): it cannot show how the time grows with ranks"
        )
    return texts


def beyond(train: pd.DataFrame, test: pd.DataFrame) -> list[str]:
    """How far test points lie outside the ranks and sizes of training, in words; empty inside."""
    texts = []
    for column, said in (("ranks", "{} ranks".format), ("bytes", format_bytes)):
        low, high = int(train[column].min()), int(train[column].max())
        least, most = int(test[column].min()), int(test[column].max())
        # The ratio to 0 B says nothing.
        if most > high:
            far = f" ({most / high:.3g} times)" if high else ""
            texts.append(f"asked for up to {said(most)}, training ends at {said(high)}{far}: extrapolated")
        if least < low:
            far = f" ({low / least:.3g} times)" if least else ""
            texts.append(f"asked for down to {said(least)}, training begins at {said(low)}{far}: extrapolated")
    return texts
