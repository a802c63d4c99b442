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
    for key, rows in positions(asked, (*CHOICE, "mapping")).items():
        for row in rows:
            alike = learn.iloc[groups.get(key, np.array([], np.intp))]
            alike = alike[_placed_alike(alike, asked.iloc[row])].reset_index(drop=True)
            if alike.empty or not np.isfinite(prediction.time_s[row]):
                continue
            moved = _moved(alike, asked.iloc[row], fitted)
            if moved is None:
                continue
            shift[row], least[:, row], here_s = moved
            if here_s is not None and abs(shift[row]) > TOLD:
                texts.append(
                    f"{asked.iloc[row]['algorithm']}, {format_bytes(float(asked.iloc[row]['bytes']))}: "
                    f"{format_time(here_s)} was measured here; the calibrated simulation alone says "
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


def _moved(
    alike: pd.DataFrame, point: pd.Series, fitted: FittedEstimator
) -> tuple[float, Array, float | None] | None:
    """By how much ln time moves, the interval's least widths in ln, and the measured time if it is of this place.

    None where the estimator does not predict the measured points around.
    """
    ranks, size_B, time_s = (alike[name].to_numpy(np.float64) for name in ("ranks", "bytes", "time_s"))
    around = Around(ranks, size_B, np.ones_like(ranks), np.full(ranks.size, np.nan), np.full(ranks.size, np.nan))
    places, weights, _ = around.neighbours(np.array([float(point["ranks"])]), np.array([float(point["bytes"])]))
    rows, weight = places[0][weights[0] > 0], weights[0][weights[0] > 0]
    made_s = fitted.predict(alike.iloc[rows][[*POINT, "time_s"]].reset_index(drop=True)).time_s
    if not np.isfinite(made_s).all():
        return None
    low_s, high_s = (alike[name].to_numpy(np.float64)[rows] for name in ("low_s", "high_s"))
    bare = low_s >= high_s
    low_s = np.where(bare, time_s[rows] * (1 - UNKNOWN), low_s)
    high_s = np.where(bare, time_s[rows] * (1 + UNKNOWN), high_s)
    held_s = np.clip(made_s, low_s, high_s)
    shift = float(weight @ np.log(held_s / made_s))
    least = np.array([weight @ np.log(held_s / low_s), weight @ np.log(high_s / held_s)])
    is_here = weight.max() == 1.0 and (ranks[rows][0], size_B[rows][0]) == (point["ranks"], point["bytes"])
    return shift, least, float(time_s[rows][0]) if is_here else None
