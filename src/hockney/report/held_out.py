"""The held-out check: the points at odd positions of every curve are predicted by fits to the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.models._evaluate import LEAST_SIZES, held_out, shortfalls
from hockney.models.base import models, predict
from hockney.report.curves import MessageCurve
from hockney.report.figures import HeldOut


def check(curves: Sequence[MessageCurve]) -> dict[str, HeldOut]:
    """Predictions of each model for the points that `hockney evaluate` would hold out, over all curves.

    A curve to whose remaining points a model cannot be fitted adds nothing to that model; a model without any
    point is left out.
    """
    measured: dict[str, list[NDArray[np.float64]]] = {}
    predicted: dict[str, list[NDArray[np.float64]]] = {}
    between: list[NDArray[np.float64]] = []
    for curve in curves:
        whole = curve.series
        if whole.size_B.size < LEAST_SIZES:
            continue
        mask = held_out(whole.size_B.size)
        train, test = whole.take(~mask), whole.take(mask)
        between.append(_errors(test.time_s, np.interp(test.size_B, train.size_B, train.time_s)))
        for name, fit in models:
            if name not in curve.fits:
                continue
            try:
                fitted = fit(train)
            except RequestError:
                continue
            measured.setdefault(name, []).append(test.time_s)
            predicted.setdefault(name, []).append(predict(fitted, test.size_B))
    errors = {name: list(map(_errors, measured[name], predicted[name])) for name in measured}
    remarks = {"piecewise": "; ".join(shortfalls(errors | {"interpolation": between}))}
    middle = float(np.median(np.concatenate(between))) if between else 0.0
    return {name: _result(measured[name], predicted[name], middle, remarks.get(name, "")) for name in measured}


def _result(
    measured: Sequence[NDArray[np.float64]],
    predicted: Sequence[NDArray[np.float64]],
    between: float,
    remark: str,
) -> HeldOut:
    measured_s, predicted_s = np.concatenate(measured), np.concatenate(predicted)
    errors = _errors(measured_s, predicted_s)
    return HeldOut(
        measured_s, predicted_s, float(np.median(errors)), float(np.percentile(errors, 95)), between, remark
    )


def _errors(measured_s: NDArray[np.float64], predicted_s: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.abs(predicted_s - measured_s) / measured_s)
