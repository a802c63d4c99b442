"""What an estimator predicts, held to the measured points: where one lies, its time is not contradicted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from hockney.models.collectives.around import Around
from hockney.predict.estimators.base import Array, FittedEstimator, Prediction
from hockney.predict.points import CHOICE, POINT, positions
from hockney.units import format_bytes, format_time

UNKNOWN = 0.02
"""Half the width, as a share, of the interval of a measured time for which the table has none."""
TOLD = 0.1
"""Beyond this share of the time it is said by how much the estimator alone is off."""


def held(
    prediction: Prediction, asked: pd.DataFrame, learn: pd.DataFrame, fitted: FittedEstimator
) -> tuple[Prediction, list[str]]:
    """The prediction of `asked`, and what the estimator alone would say where that is far off, in words.

    At a measured point (rows of `learn`, with `time_s`, `low_s`, `high_s`) the time lies in its interval, and the
    interval of the prediction holds that; what it takes to get there fades to the next points (`Around`). Points
    that an estimator describes stay as they are.
    """
    shift, least = np.zeros(len(asked)), np.zeros((2, len(asked)))
    texts: list[str] = []
    groups = positions(learn, (*CHOICE, "mapping"))
    around: dict[int, tuple[pd.DataFrame, Array]] = {}
    for key, rows in positions(asked, (*CHOICE, "mapping")).items():
        for row in rows:
            alike = learn.iloc[groups.get(key, np.array([], np.intp))]
            alike = alike[_placed_alike(alike, asked.iloc[row])]
            if not alike.empty and np.isfinite(prediction.time_s[row]):
                around[row] = _around(alike, asked.iloc[row])
    if not around:
        return prediction, texts
    # All in one call: each call has a fixed cost.
    near = pd.concat([points for points, _ in around.values()], ignore_index=True)
    calibrated_s = fitted.predict(near[[*POINT, "time_s"]]).time_s
    ends = np.cumsum([len(weight) for _, weight in around.values()])
    for (row, (points, weight)), alone_s in zip(around.items(), np.split(calibrated_s, ends[:-1]), strict=True):
        if not np.isfinite(alone_s).all():
            continue
        shift[row], least[:, row] = _moved(points, weight, alone_s)
        first = points.iloc[0]
        asked_at, first_at = (each[["ranks", "bytes"]].tolist() for each in (asked.iloc[row], first))
        if weight.max() == 1.0 and first_at == asked_at and abs(shift[row]) > TOLD:
            texts.append(
                f"{asked.iloc[row]['algorithm']}, {format_bytes(float(asked.iloc[row]['bytes']))}: "
                f"{format_time(float(first['time_s']))} was measured here; the calibrated simulation alone says "
                f"{format_time(float(prediction.time_s[row]))}"
            )
    time_s = prediction.time_s * np.exp(shift)
    low_s = np.minimum(prediction.low_s * np.exp(shift), time_s * np.exp(-least[0]))
    high_s = np.maximum(prediction.high_s * np.exp(shift), time_s * np.exp(least[1]))
    return replace(prediction, time_s=time_s, low_s=low_s, high_s=high_s), texts


def _placed_alike(learn: pd.DataFrame, point: pd.Series) -> pd.Series:
    """The rows whose root and, where they are asked for, nodes and ranks per node are those of a point."""
    alike = learn["root"].fillna(0) == (0 if pd.isna(point["root"]) else point["root"])
    for name in ("nodes", "ppn"):
        if not pd.isna(point[name]):
            alike &= learn[name].eq(point[name]).fillna(value=False)
    return alike


def _around(alike: pd.DataFrame, point: pd.Series) -> tuple[pd.DataFrame, Array]:
    """The measured points around one, and the weight of each."""
    ranks, size_B = (alike[name].to_numpy(np.float64) for name in ("ranks", "bytes"))
    around = Around(ranks, size_B, np.ones_like(ranks), np.full(ranks.size, np.nan), np.full(ranks.size, np.nan))
    places, weights, _ = around.neighbours(np.array([float(point["ranks"])]), np.array([float(point["bytes"])]))
    return alike.iloc[places[0][weights[0] > 0]], weights[0][weights[0] > 0]


def _moved(points: pd.DataFrame, weight: Array, calibrated_s: Array) -> tuple[float, Array]:
    """By how much ln time moves beside points calibrated to these times; least widths of intervals in ln."""
    time_s, low_s, high_s = (points[name].to_numpy(np.float64) for name in ("time_s", "low_s", "high_s"))
    bare = low_s >= high_s
    low_s = np.where(bare, time_s * (1 - UNKNOWN), low_s)
    high_s = np.where(bare, time_s * (1 + UNKNOWN), high_s)
    held_s = np.clip(calibrated_s, low_s, high_s)
    shift = float(weight @ np.log(held_s / calibrated_s))
    return shift, np.array([weight @ np.log(held_s / low_s), weight @ np.log(high_s / held_s)])
