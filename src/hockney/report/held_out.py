"""The held-out check: the points at odd positions of every curve are predicted by fits to the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.errors import RequestError
from hockney.models._evaluate import LEAST_SIZES, held_out
from hockney.models.base import models, predict
from hockney.report.curves import MessageCurve
from hockney.report.figures import HeldOut


def check(curves: Sequence[MessageCurve]) -> dict[str, HeldOut]:
    """Predictions of each model for the points that `hockney evaluate` would hold out, over all curves.

    A curve to whose remaining points a model cannot be fitted adds nothing to that model; a model without any
    point is left out.
    """
    measured: dict[str, list[float]] = {}
    predicted: dict[str, list[float]] = {}
    for curve in curves:
        whole = curve.series
        if whole.size_B.size < LEAST_SIZES:
            continue
        mask = held_out(whole.size_B.size)
        train, test = whole.take(~mask), whole.take(mask)
        for name, fit in models:
            if name not in curve.fits:
                continue
            try:
                fitted = fit(train)
            except RequestError:
                continue
            measured.setdefault(name, []).extend(test.time_s)
            predicted.setdefault(name, []).extend(predict(fitted, test.size_B))
    return {name: _result(np.array(measured[name]), np.array(predicted[name])) for name in measured}


def _result(measured_s: np.ndarray, predicted_s: np.ndarray) -> HeldOut:
    errors = np.abs(predicted_s - measured_s) / measured_s
    return HeldOut(measured_s, predicted_s, float(np.median(errors)), float(np.percentile(errors, 95)))
