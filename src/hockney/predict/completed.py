"""Predictions to choose by: what the model cannot simulate grows as the fastest that it can.

A library's own choice, or a schedule that nobody has written down, was measured on other numbers of ranks all the
same. To leave it out is to choose among fewer; to take its time from there is to hold a small run against a large
one. Here the model decides among what it simulates, and the nearest ranks between the fastest of that and all
else: if all grew as the slow ones do, as chains on many ranks, nothing else would ever be chosen.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from hockney.predict.accuracy import INSTANCE
from hockney.predict.estimators.base import Array, Prediction
from hockney.predict.points import positions


def completed(points: pd.DataFrame, predicted: Prediction, nearest_s: Array) -> Prediction:
    """The prediction of points (columns of `predict.points.POINT`), filled in where it is unknown.

    `nearest_s`, shape (n,): what each took at the nearest number of ranks, in seconds; NaN: unknown. It is
    multiplied by the growth from there of the fastest that is predicted in the same instance (what may be chosen
    for one call), and the interval is as wide, as a factor, as the widest there. Where nothing of an instance is
    predicted, all stay as they were at the nearest ranks, without intervals.
    """
    time_s, low_s, high_s = (values.copy() for values in (predicted.time_s, predicted.low_s, predicted.high_s))
    for index in positions(points, INSTANCE).values():
        known = np.isfinite(predicted.time_s[index])
        unknown, known = index[~known], index[known]
        grown = known[np.isfinite(nearest_s[known])]
        if known.size and not grown.size:
            continue
        growth = 1.0
        if grown.size:
            fastest = grown[np.argmin(predicted.time_s[grown])]
            growth = float(predicted.time_s[fastest] / nearest_s[fastest])
        time_s[unknown] = nearest_s[unknown] * growth
        if known.size:
            widest = float(np.max(predicted.high_s[known] / predicted.time_s[known]))
            low_s[unknown], high_s[unknown] = time_s[unknown] / widest, time_s[unknown] * widest
    return replace(predicted, time_s=time_s, low_s=low_s, high_s=high_s)
