"""Accuracy on sizes a model has not seen: every second size of a series held out, errors pooled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wilcoxon

from hockney.errors import RequestError
from hockney.models.base import FitFunction, interval, models, predict
from hockney.records.series import Series

LEAST_SIZES = 3
"""First and last size stay in training, so a shorter series has nothing to hold out."""

SIMPLER = {"interpolation": "interpolation between the neighbours", "hockney": "one line (hockney)"}
"""What `piecewise` has to be as good as, and its name in a sentence."""

CERTAIN = 0.05
"""The p-value below which `piecewise` is called worse."""

LEAST_SERIES = 6
"""The fewest series that a signed-rank test tells apart; with fewer, sizes are compared one by one."""

Errors = Sequence[NDArray[np.float64]]
"""Relative errors on the held-out sizes of each series."""


@dataclass
class _Tally:
    errors: list[NDArray[np.float64]] = field(default_factory=list)
    covered: list[NDArray[np.bool_]] = field(default_factory=list)
    nonphysical: int = 0
    failed: int = 0

    def summary(self) -> dict[str, Any]:
        pooled = np.concatenate(self.errors) if self.errors else np.array([])
        covered = np.concatenate(self.covered) if self.covered else np.array([])
        return {
            "median_relative_error": float(np.median(pooled)) if pooled.size else None,
            "p90_relative_error": float(np.percentile(pooled, 90)) if pooled.size else None,
            "p95_relative_error": float(np.percentile(pooled, 95)) if pooled.size else None,
            "nonphysical": self.nonphysical,
            "coverage_95": float(covered.mean()) if covered.size else None,
            "series_failed": self.failed,
        }


def held_out(points: int) -> NDArray[np.bool_]:
    """Which of the sorted sizes are held out: odd positions (1, 3, 5 …), but never the last."""
    mask = np.zeros(points, dtype=np.bool_)
    mask[1 : points - 1 : 2] = True
    return mask


def shortfalls(errors: Mapping[str, Errors]) -> list[str]:
    """A sentence for each simpler answer that beats `piecewise`; `errors` by model, and those of `interpolation`.

    The mean errors of each series are compared in pairs (Wilcoxon's signed-rank test, one-sided), those of each
    size where the series are few.
    """
    ours = errors.get("piecewise", ())
    sentences = []
    for name, title in SIMPLER.items():
        theirs = errors.get(name, ())
        # A model that failed on some series cannot be compared in pairs.
        if not ours or len(theirs) != len(ours):
            continue
        if len(ours) < LEAST_SERIES:
            pairs = np.concatenate(list(ours)), np.concatenate(list(theirs))
        else:
            pairs = np.array([each.mean() for each in ours]), np.array([each.mean() for each in theirs])
        difference = pairs[0] - pairs[1]
        if not np.any(difference):
            continue
        p_value = float(wilcoxon(difference, alternative="greater").pvalue)
        if p_value < CERTAIN:
            means = (f"{float(np.concatenate(list(each)).mean()):.1%}" for each in (ours, theirs))
            sentences.append(
                f"on sizes left out piecewise is worse than {title}: mean error {' against '.join(means)} "
                f"(p = {p_value:.2g}); measure more sizes, or on a quieter machine"
            )
    return sentences


def evaluate(series: Sequence[Series], names: Sequence[str] = ()) -> dict[str, Any]:
    """Errors |predicted − measured| / measured of each model (all when no `names`) on the held-out sizes.

    Besides `models` the result has `interpolation` between the neighbours as the floor, the sentences of
    `shortfalls`, `n_series`, `n_skipped` (series with fewer than three sizes), `n_train` and `n_test` in points.
    A model that cannot be fitted to a series counts it in `series_failed`; RequestError where no series is long
    enough.
    """
    used = [curve for curve in series if curve.size_B.size >= LEAST_SIZES]
    if not used:
        raise RequestError(
            f"no series has {LEAST_SIZES} message sizes, so none can be held out", "measure more sizes"
        )
    chosen = {name: models.get(name) for name in names} if names else dict(models)
    tallies = {name: _Tally() for name in chosen}
    floor = _Tally()
    n_test = 0
    for curve in used:
        mask = held_out(curve.size_B.size)
        n_test += int(mask.sum())
        train, test = curve.take(~mask), curve.take(mask)
        between = np.interp(test.size_B, train.size_B, train.time_s)
        floor.errors.append(np.abs(between - test.time_s) / test.time_s)
        for name, fit in chosen.items():
            _try(fit, train, test, tallies[name])
    return {
        "n_series": len(used),
        "n_skipped": len(series) - len(used),
        "n_train": sum(curve.size_B.size for curve in used) - n_test,
        "n_test": n_test,
        "models": {name: tally.summary() for name, tally in tallies.items()},
        "interpolation": floor.summary(),
        "shortfalls": shortfalls(
            {name: tally.errors for name, tally in tallies.items()} | {"interpolation": floor.errors}
        ),
    }


def _try(fit: FitFunction, train: Series, test: Series, tally: _Tally) -> None:
    try:
        fitted = fit(train)
    except RequestError:
        tally.failed += 1
        return
    tally.nonphysical += fitted.nonphysical
    tally.errors.append(np.abs(predict(fitted, test.size_B) - test.time_s) / test.time_s)
    bounds = interval(fitted, test.size_B, train)
    if bounds is not None:
        tally.covered.append((bounds[0] <= test.time_s) & (test.time_s <= bounds[1]))
