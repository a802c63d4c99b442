"""The series that a tidy table holds, and what their launches come to.

Those are 95 % intervals for the median of what all launches would give. They differ in two
ways. What a launch does to all sizes alike (where its memory lies) has one degree of freedom less than there are
launches. What it does to each has those of the size and, because a few launches tell a spread badly, at most
`MOST_POOLED` of the spread that all sizes have in common.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import special

from hockney.errors import RequestError
from hockney.records.columns import SAME_RANKS, SERIES
from hockney.records.keys import POINT_TO_POINT
from hockney.records.series import Series, completed
from hockney.records.statistic import RATES, STATISTICS
from hockney.records.visits import SUBTRACTED
from hockney.statistics import (
    LEAST_FREEDOM,
    MEDIAN_FACTOR,
    MOST_POOLED,
    MOST_REACH,
    TAILS,
    Array,
    most_like,
    standard_error,
    steady_median,
    steady_median_factor,
    typical_variance,
)
from hockney.units import grouped

if TYPE_CHECKING:
    import pandas as pd


def series(frame: pd.DataFrame, operation: str, statistic: str = "one_way") -> list[Series]:
    """All series of one operation in a tidy table, in the table's order, sizes in bytes, times in seconds.

    A series holds the columns `SERIES` fixed; an unknown value is "". Rows of one size are launches: the value is
    their steady median, the interval that of `launches.intervals`, which knows the spread between them, or the
    hull of their values and intervals where launches are too few for that. Where a point-to-point table names no
    `pair`, each repetition is a series of its own. `related` holds the other point-to-point operations measured
    on the same ranks.

    RequestError where the table has no such operation or statistic (the message lists what there is).
    """
    if statistic in RATES:
        raise RequestError(f"a series is made of times, not of {statistic}", "ask for one_way or completion")
    known = _times(frame, operation)
    if statistic not in known:
        listed = ", ".join(known) or "only rates"
        raise RequestError(f"no statistic {statistic!r} of {operation} in this table", f"it holds {listed}")
    curves = _grouped(frame, operation, statistic)
    if operation not in POINT_TO_POINT or statistic != "one_way":
        return curves
    others: dict[tuple[str, ...], dict[str, Series]] = {}
    for name in POINT_TO_POINT:
        if name == operation:
            continue
        # Of several windows the longest fills the pipe best; it comes last.
        for other in sorted(_grouped(frame, name, statistic), key=_concurrency):
            others.setdefault(_identity(other), {})[name] = other
    return [replace(curve, related=others.get(_identity(curve), {})) for curve in curves]


def default_statistic(frame: pd.DataFrame, operation: str) -> str:
    """The statistic in the table that says most about an operation; RequestError without the operation."""
    known = _times(frame, operation)
    return next((name for name in STATISTICS if name in known), STATISTICS[0])


def of_operation(frame: pd.DataFrame, operation: str) -> pd.DataFrame:
    """Its rows of a table; RequestError where there are none."""
    rows = frame[frame["operation"] == operation]
    if rows.empty:
        held = ", ".join(sorted(map(str, frame["operation"].unique()))) or "nothing"
        raise RequestError(f"no {operation!r} in this table", f"it holds {held}")
    return rows


def _times(frame: pd.DataFrame, operation: str) -> list[str]:
    return sorted(set(of_operation(frame, operation)["statistic"].unique()) - set(RATES))


def _concurrency(measured: Series) -> tuple[float, float]:
    return -float(measured.key["pairs"] or 1), float(measured.key["window"] or 0)


def _identity(measured: Series) -> tuple[str, ...]:
    return tuple(measured.key[name] for name in (*SAME_RANKS, "repetition"))


def _grouped(frame: pd.DataFrame, operation: str, statistic: str) -> list[Series]:
    rows = frame[(frame["operation"] == operation) & (frame["statistic"] == statistic)]
    if rows.empty:
        return []
    columns = {name: texts(rows, name) for name in SERIES}
    if statistic == "one_way":
        named = columns["pair"] != ""
        columns["repetition"] = np.where(named, "", columns["repetition"])
    else:
        columns["repetition"] = np.full(len(rows), "", dtype=object)
    keys = list(zip(*columns.values(), strict=True))
    groups = grouped(range(len(keys)), keys.__getitem__)
    size = rows["bytes"].to_numpy(dtype=np.float64)
    time = rows["time_s"].to_numpy(dtype=np.float64)
    low = _numbers(rows, "low_s", time)
    high = _numbers(rows, "high_s", time)
    limit = _numbers(rows, "eager_limit_B", np.full(len(rows), np.nan))
    launch, breaks = texts(rows, "repetition"), texts(rows, "breaks_B")
    return [
        _pooled(
            dict(zip(columns, key, strict=True)),
            launch[index],
            breaks[index],
            *(values[index] for values in (size, time, low, high, limit)),
        )
        for key, index in ((key, np.array(index)) for key, index in groups.items())
    ]


def texts(rows: pd.DataFrame, name: str) -> NDArray[np.object_]:
    """The values of a column as text, shape (rows,); "" where one is unknown, or the table has no such column."""
    if name not in rows.columns:
        return np.full(len(rows), "", dtype=object)
    codes, values = rows[name].factorize()
    # The code of what is unknown is −1, the last.
    known: NDArray[np.object_] = np.array([*map(str, values.tolist()), ""], dtype=object)
    return np.take(known, codes)


def _numbers(rows: pd.DataFrame, name: str, unknown: NDArray[np.float64]) -> NDArray[np.float64]:
    if name not in rows.columns:
        return unknown
    values = rows[name].to_numpy(dtype=np.float64)
    return np.where(np.isnan(values), unknown, values)


def _pooled(
    key: Mapping[str, str],
    launch: NDArray[np.object_],
    breaks: NDArray[np.object_],
    size: NDArray[np.float64],
    time: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    limit: NDArray[np.float64],
) -> Series:
    order = np.argsort(size, kind="stable")
    limits = set(limit[~np.isnan(limit)].tolist())
    # Launches that disagree say nothing about their median.
    limit_B = limits.pop() if len(limits) == 1 else None
    stated = [set(map(float, each.split())) for each in set(breaks) if each.strip()]
    breaks_B = tuple(sorted(set.intersection(*stated))) if stated else ()
    low, high = np.minimum(low, time), np.maximum(high, time)
    sizes, place, counts = np.unique(size[order], return_inverse=True, return_counts=True)
    if order.size == sizes.size:
        return Series(key, sizes, time[order], low[order], high[order], limit_B, breaks_B)
    # Rows of one launch and size, as some programs print, are launches of their own.
    number = np.concatenate([np.arange(count) for count in counts])
    names, column = np.unique(launch[order].astype(str), return_inverse=True)
    if np.unique(place * names.size + column).size == order.size:
        number = column
    by_launch = np.full((3, sizes.size, number.max() + 1), np.nan)
    by_launch[:, place, number] = low[order], time[order], high[order]
    is_multiplied = key["operation"] not in SUBTRACTED
    middle, lows, highs, freedom = intervals(*by_launch, is_multiplied=is_multiplied)
    known = ~np.isnan(freedom)
    # Where nobody knows how launches differ, the bounds are the outermost of theirs.
    lows = np.where(known, lows, np.nanmin(by_launch[0], axis=1))
    highs = np.where(known, highs, np.nanmax(by_launch[2], axis=1))
    return Series(key, sizes, middle, lows, highs, limit_B, breaks_B, freedom=freedom)


POOLED = ("pair", "repetition")
"""Parts of a series' key that may differ within a pool: pairs of one locality are samples of the same thing."""


def pool(members: Sequence[Series]) -> Series:
    """One series of several whose keys differ in `POOLED` only.

    Per size the time is the median over all series (`completed`), the interval the hull of theirs, the degrees of
    freedom their fewest: the pairs are no sample of others. Limits hold where all agree.
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
    low, time, high = (completed(sizes, ends) for ends in (low, time, high))
    names = dict.fromkeys(chain.from_iterable(member.related for member in members))
    limits = {member.eager_limit_B for member in members}
    breaks_B = set.intersection(*(set(member.breaks_B) for member in members))
    return Series(
        key={name: word for name, word in members[0].key.items() if name not in POOLED},
        size_B=sizes,
        # The median takes numpy a third of a millisecond, and most entries have one member.
        time_s=np.nanmedian(time, axis=0) if len(members) > 1 else time[0],
        low_s=np.fmin.reduce(np.fmin(low, time), axis=0),
        high_s=np.fmax.reduce(np.fmax(high, time), axis=0),
        eager_limit_B=limits.pop() if len(limits) == 1 else None,
        breaks_B=tuple(sorted(breaks_B)),
        related={
            name: pool([member.related[name] for member in members if name in member.related]) for name in names
        },
        freedom=np.fmin.reduce(freedom, axis=0),
    )


UNLIKE = 0.05
"""A spread that the others' would give so rarely is a size's own."""


def intervals(
    low_s: Array, time_s: Array, high_s: Array, *, is_multiplied: bool = True
) -> tuple[Array, Array, Array, Array]:
    """Each size's median (s), its lower and upper bound, and their degrees of freedom, shapes (sizes,).

    The times of each launch and the 95 % interval within it have the shape (sizes, launches), NaN where a launch
    lacks a size. What lies between launches multiplies times, unless they are differences of two (`is_multiplied`
    is false); medians are then plain ones, and else those of `steady_median`. Bounds and freedom are NaN where
    there is less than `LEAST_FREEDOM`.
    """
    if is_multiplied:
        low_s = np.maximum(low_s, time_s / math.exp(MOST_REACH))
        low, time, high = np.log(low_s), np.log(time_s), np.log(high_s)
        reach, freedom = _reach(time, standard_error(low, high), steady_median_factor(time))
        median_s = steady_median(time_s)
        factor = np.exp(np.minimum(reach, MOST_REACH))
        return median_s, median_s / factor, median_s * factor, freedom
    of_median = np.where(np.sum(~np.isnan(time_s), axis=1) > 2, MEDIAN_FACTOR, 1.0)
    reach, freedom = _reach(time_s, standard_error(low_s, high_s), of_median)
    median_s = _median(time_s, axis=1)
    return median_s, np.maximum(0.0, median_s - reach), median_s + reach, freedom


def _median(values: Array, axis: int) -> Array:
    """`np.nanmedian`, which takes ten times as long as the median where nothing is missing."""
    median = np.nanmedian if np.isnan(values).any() else np.median
    return np.asarray(median(values, axis=axis))


def _reach(values: Array, errors: Array, factor: Array) -> tuple[Array, Array]:
    """Half the width of the interval of each median, and its freedom; values and errors of (sizes, launches).

    `factor`: the standard error of each median beside that of a mean.

    The freedom of two variances that add up is Satterthwaite's (1946).
    """
    count = np.sum(~np.isnan(values), axis=1)
    own_freedom = (count - 1).astype(float)
    several = own_freedom > 0
    sizes, launches = int(several.sum()), values.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of launches that have nothing
        residual = values - np.nanmean(values, axis=1, keepdims=True)
        # Of a single size nobody can say which part is the launch's.
        of_launch = np.nan_to_num(_median(residual[several], axis=0)) if sizes > 1 else np.zeros(launches)
        within = np.nan_to_num(_median(errors, axis=1)) ** 2
    # The launches' common part is taken out of all sizes together: it costs each its share.
    share = sizes / max(sizes - 1, 1)
    square = np.nansum((residual - of_launch) ** 2, axis=1)
    variance = np.divide(square * share, own_freedom, out=np.zeros_like(square), where=several)
    common = typical_variance(variance[several], own_freedom[several]) if sizes > 1 else float(variance.sum())
    pooled_freedom = np.minimum(own_freedom.sum() - own_freedom, MOST_POOLED)  # its own are among them
    freedom = pooled_freedom + own_freedom
    spread = (pooled_freedom * common + own_freedom * variance) / np.maximum(freedom, 1)
    # What scatters so much more than its like keeps its own spread.
    is_unlike = variance > [
        common * most_like(UNLIKE, *both) for both in zip(own_freedom, pooled_freedom, strict=True)
    ]
    spread = np.where(is_unlike, variance, spread)
    freedom = np.where(is_unlike & (own_freedom >= LEAST_FREEDOM), own_freedom, freedom)
    of_median = factor**2 / count
    each = np.maximum(spread * of_median, within / count)
    moved = float(np.var(of_launch, ddof=1)) if sizes > 1 else 0.0
    shared = max(0.0, moved - common / max(sizes, 1)) * of_median
    total = each + shared
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = each**2 / freedom + shared**2 / max(launches - 1, 1)
        freedom = np.where(total > 0, np.minimum(total**2 / parts, freedom + launches - 1), freedom)
    freedom = np.where(freedom >= LEAST_FREEDOM, freedom, np.nan)
    return special.stdtrit(freedom, TAILS[1]) * np.sqrt(total), freedom
