"""Times on numbers of ranks that were not measured: the model's, corrected by what was measured around them.

By how much the model is off, as a logarithm, lies for each algorithm on lines: over ln bytes between the sizes of
a run, over ln ranks between runs; beyond the runs it stays what it is at the nearest. What has no model takes the
fastest that has one for its model, and so keeps its ratio to that; the fastest of the same algorithms everywhere,
also where one was not measured. Where the ratio is unknown, the measured times themselves lie on those lines, and
are unknown beyond the runs.

How far off that is shows where it is known: each measured number of ranks is left out once and told from the
others. The model is not fitted again for that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pandas as pd

from hockney.models.over_ranks.choice import UNKNOWN
from hockney.predict.estimators.base import Prediction
from hockney.predict.points import CHOICE, positions
from hockney.records.series import size_place
from hockney.statistics import CONFIDENCE, Array

Model: TypeAlias = "Callable[[pd.DataFrame], Prediction]"
"""Predicts points; NaN where nothing is known."""
LADDER = 4.0
"""Ratio of neighbouring sizes of a campaign.

Over a gap that is wider than this and than the table's own steps, as where the time was over before a size came,
an algorithm may change its ways.
"""
ENOUGH = 8
"""Errors of which the quantile says anything; of fewer the largest counts, and no less than what is usual."""
CALL = ["ranks", "size"]


def between(known: pd.DataFrame, asked: pd.DataFrame, model: Model) -> Array:
    """Seconds of the asked points with the ends of their 95 % intervals, of shape (n, 3); NaN where unknown.

    Both frames have the columns of `predict.points.POINT`, `known` also `time_s`. An algorithm is unknown at
    sizes that are smaller or larger than all at which it was measured, and in gaps between them (`LADDER`).
    """
    asked = _logarithms(asked, model(asked))
    if asked["model"].isna().any() and len(lacking := _lacking(known)):
        known = pd.concat([known, lacking], ignore_index=True)
    known = _logarithms(known, model(known))
    told = _told(known, asked)
    half = _halves(known, asked)
    return np.exp(np.column_stack([told, told - half, told + half]))


def _lacking(known: pd.DataFrame) -> pd.DataFrame:
    """Each algorithm on the ranks and sizes on which only others were measured; its time there is NaN."""
    kinds, call = list(CHOICE), ["ranks", "bytes"]
    places = known.drop_duplicates(call).drop(columns=kinds)
    crossed = known[kinds].drop_duplicates().merge(places, how="cross")[known.columns]
    measured = known[[*kinds, *call]].drop_duplicates()
    merged = crossed.merge(measured, how="left", on=[*kinds, *call], indicator=True)
    return crossed[(merged["_merge"] == "left_only").to_numpy()].assign(time_s=math.nan)


def _logarithms(points: pd.DataFrame, made: Prediction) -> pd.DataFrame:
    """The choice as text; ln of ranks, size and seconds, those by the model (NaN: none), half its width."""
    return pd.DataFrame(
        {
            "choice": [" ".join(map(str, names)) for names in points[list(CHOICE)].itertuples(index=False)],
            "ranks": np.log(points["ranks"].to_numpy(np.float64)),
            "size": size_place(points["bytes"].to_numpy(np.float64)),
            "time": np.log(points["time_s"].to_numpy(np.float64)),
            "model": np.log(made.time_s),
            "half": np.log(made.high_s / made.time_s),
        }
    )


def _told(known: pd.DataFrame, asked: pd.DataFrame) -> Array:
    """ln seconds of the asked points, shape (n,)."""
    known = known[known["choice"].isin(asked["choice"])]
    corrected = pd.Series(_corrected(known, asked), asked.index)
    lacking = known[known["time"].isna()]
    there = known["time"].fillna(pd.Series(_corrected(known, lacking), lacking.index))
    beside = _corrected(
        known.assign(model=_fastest(known, there.where(known["model"].notna()))),
        asked.assign(model=_fastest(asked, corrected)),
    )
    alone = _corrected(known.assign(model=0.0), asked.assign(model=0.0), beyond=False)
    told = corrected.fillna(pd.Series(beside, asked.index)).fillna(pd.Series(alone, asked.index))
    return np.asarray(told, dtype=np.float64)


def _fastest(points: pd.DataFrame, time: pd.Series) -> pd.Series:
    """The least of the times (NaN: none) on the same ranks and bytes, for each point."""
    return time.groupby([points[name] for name in CALL]).transform("min")


def _corrected(known: pd.DataFrame, asked: pd.DataFrame, *, beyond: bool = True) -> Array:
    """The model's ln seconds with what it is off by around them, shape (n,); NaN where one is unknown.

    `beyond` the runs of an algorithm it is off as at the nearest; else it is unknown there.
    """
    off = known["time"] - known["model"]
    runs: dict[str, list[tuple[float, Array, Array]]] = {}
    medians = off.groupby([known[name] for name in ("choice", *CALL)]).median().dropna().reset_index(name="off")
    for index in positions(medians, ["choice", "ranks"]).values():
        run = medians.iloc[index]
        curve = float(run["ranks"].iloc[0]), run["size"].to_numpy(np.float64), run["off"].to_numpy(np.float64)
        runs.setdefault(str(run["choice"].iloc[0]), []).append(curve)
    model_s = asked["model"].to_numpy(np.float64, copy=True)
    widest = _widest(known)
    ends = () if beyond else (np.nan, np.nan)
    for row, (choice, ranks, size) in enumerate(asked[["choice", *CALL]].itertuples(index=False)):
        curves = runs.get(choice, [])
        at = np.array([_on_line(size, sizes, values, widest) for _, sizes, values in curves])
        known_at = np.flatnonzero(np.isfinite(at))
        run_ranks = [curves[i][0] for i in known_at]
        model_s[row] += np.interp(ranks, run_ranks, at[known_at], *ends) if known_at.size else np.nan
    return model_s


def _widest(known: pd.DataFrame) -> float:
    """The widest step of sizes (logarithms) that is no gap: the usual one of what was measured on some ranks.

    Two sizes are no ladder.
    """
    steps = [np.diff(np.unique(sizes)) for _, sizes in known["size"].groupby(known["ranks"])]
    ladders = [step for step in steps if step.size > 1]
    usual = float(np.median(np.concatenate(ladders))) if ladders else 0.0
    # Sizes are whole elements: a step of the ladder may be a little wider.
    return max(math.log(LADDER), usual) + 0.1


def _on_line(size: float, sizes: Array, values: Array, widest: float) -> float:
    """The value at a size (logarithms) of a run; NaN beyond its ends and in its gaps."""
    after = int(np.searchsorted(sizes, size))
    is_between = 0 < after < sizes.size and sizes[after] > size
    if is_between and sizes[after] - sizes[after - 1] > widest:
        return math.nan
    return float(np.interp(size, sizes, values, np.nan, np.nan))


def _halves(known: pd.DataFrame, asked: pd.DataFrame) -> Array:
    """ln of the factor within which 95 % of what is told lie, of each asked point, shape (n,).

    Where nothing can be left out, the model says it, of what has none as of the least certain beside it.
    """
    errors = _errors(known)
    least, most = known["ranks"].min(), known["ranks"].max()
    widest = asked["half"].groupby([asked[name] for name in CALL]).transform("max")
    half: Array = np.maximum(asked["half"].fillna(widest).fillna(0.0).to_numpy(np.float64), math.log1p(UNKNOWN))
    for index in positions(asked, CALL).values():
        ranks, size = asked[CALL].iloc[index[0]]
        # What disturbs small messages says nothing of large ones.
        here = errors[errors["size"] == size]
        alike = here[here["is_inside"] == (least <= ranks <= most)]
        if len(of_kind := alike if len(alike) else here):
            half[index] = _half(of_kind["error"].to_numpy(np.float64))
    return half


def _errors(known: pd.DataFrame) -> pd.DataFrame:
    """|ln of measured over told| with its size, of each point told from other ranks, inside these or beyond."""
    counts = np.unique(known["ranks"])
    if counts.size < 2:
        return pd.DataFrame(columns=["size", "error", "is_inside"])
    found: list[pd.DataFrame] = []
    for ranks in counts:
        left = known["ranks"] == ranks
        told = _told(known[~left], known[left])
        error = (known.loc[left, "time"] - told).abs()
        found.append(known.loc[left, ["size"]].assign(error=error, is_inside=counts[0] < ranks < counts[-1]))
    return pd.concat(found).dropna()


def _half(errors: Array) -> float:
    if errors.size >= ENOUGH:
        return float(np.quantile(errors, CONFIDENCE))
    return max(math.log1p(UNKNOWN), float(errors.max()))
