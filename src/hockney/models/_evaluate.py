"""Accuracy on sizes a model has not seen: every second size of a series held out, errors pooled."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.models.base import PREFERRED, FitFunction, corrected, interval, models, predict
from hockney.records.series import Series
from hockney.units import percent

LEAST_SIZES = 3
"""First and last size stay in training, so a shorter series has nothing to hold out."""

ANSWER = PREFERRED[0]
"""The model by which `hockney predict` answers; the others are baselines."""

BETWEEN = "interpolation"
"""Lines between the neighbouring sizes: the baseline that needs no model."""

SIMPLER = {BETWEEN: "interpolation between the neighbours", "hockney": "one line (hockney)"}
"""What `piecewise` has to be as good as, and its name in a sentence."""

CERTAIN = 0.05
"""The p-value below which `piecewise` is called worse."""

LEAST_SERIES = 6
"""The fewest series that a signed-rank test tells apart; with fewer, sizes are compared one by one."""

Errors = Sequence[NDArray[np.float64]]
"""Relative errors on the held-out sizes of each series."""


@dataclass(frozen=True)
class RelativeErrors:
    """Quantiles of errors as shares of the measured time; None where nothing was predicted."""

    median_relative_error: float | None
    p90_relative_error: float | None
    p95_relative_error: float | None


def quantiles(errors: NDArray[np.float64]) -> RelativeErrors:
    """Of any number of errors, shape (n,)."""
    return RelativeErrors(*(float(np.percentile(errors, at)) if errors.size else None for at in (50, 90, 95)))


@dataclass(frozen=True)
class FitErrors(RelativeErrors):
    """Errors of a model of messages; `series_failed` counts series that it could not be fitted to, and `why`."""

    nonphysical: int
    coverage_95: float | None
    series_failed: int
    why: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class CorrectedErrors(FitErrors):
    """Errors of what `hockney predict` answers by that model."""

    model: str


@dataclass(frozen=True)
class BestBaseline(RelativeErrors):
    """The baseline with the smallest median error."""

    name: str


@dataclass(frozen=True)
class MessagesEvaluation:
    """Errors on the sizes of each series that were held out."""

    operation: str
    statistic: str
    best_baseline: BestBaseline | None
    n_series: int
    n_skipped: int
    n_train: int
    n_test: int
    models: Mapping[str, FitErrors]
    corrected: CorrectedErrors | None
    interpolation: FitErrors
    shortfalls: Sequence[str]


@dataclass
class _Tally:
    errors: list[NDArray[np.float64]] = field(default_factory=list)
    covered: list[NDArray[np.bool_]] = field(default_factory=list)
    nonphysical: int = 0
    failed: int = 0
    why: str = ""

    def summary(self) -> FitErrors:
        pooled = np.concatenate(self.errors) if self.errors else np.array([])
        covered = np.concatenate(self.covered) if self.covered else np.array([])
        coverage = float(covered.mean()) if covered.size else None
        return FitErrors(
            **vars(quantiles(pooled)),
            nonphysical=self.nonphysical,
            coverage_95=coverage,
            series_failed=self.failed,
            why=self.why,
        )


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
        # Where both say the same neither is worse; with such pairs the test would try all 2ⁿ signs, for seconds.
        difference = difference[difference != 0]
        if not difference.size:
            continue
        # It takes half a second to import, for which whoever only fits, or has no messages, does not wait.
        from scipy.stats import wilcoxon

        p_value = float(wilcoxon(difference, alternative="greater").pvalue)
        if p_value < CERTAIN:
            means = (percent(float(np.concatenate(list(each)).mean())) for each in (ours, theirs))
            sentences.append(
                f"on sizes left out piecewise is worse than {title}: mean error {' against '.join(means)} "
                f"(p = {p_value:.2g}); measure more sizes, or on a quieter machine"
            )
    return sentences


@dataclass(frozen=True)
class HeldOut:
    """Measured and predicted times of points that the fit has not seen, and quantiles of the error."""

    measured_s: NDArray[np.float64]
    predicted_s: NDArray[np.float64]
    median: float
    p95: float


def predicted_apart(measured: Iterable[tuple[Series, Collection[str]]]) -> dict[str, HeldOut]:
    """Predictions of each model for the points that `hockney evaluate` would hold out, over series with models.

    A series to whose remaining points a model cannot be fitted adds nothing to that model; a model without any
    point is left out.
    """
    times: dict[str, list[tuple[NDArray[np.float64], NDArray[np.float64]]]] = {}
    for series, names in measured:
        if series.size_B.size < LEAST_SIZES:
            continue
        mask = held_out(series.size_B.size)
        train, test = series.take(~mask), series.take(mask)
        for name, fit in models:
            if name not in names:
                continue
            with suppress(RequestError):
                predicted_s = corrected(fit(train), test.size_B, train)
                times.setdefault(name, []).append((test.time_s, predicted_s))
    results = {}
    for name, pairs in times.items():
        measured_s, predicted_s = (np.concatenate(side) for side in zip(*pairs, strict=True))
        errors = np.abs(predicted_s - measured_s) / measured_s
        results[name] = HeldOut(
            measured_s, predicted_s, float(np.median(errors)), float(np.percentile(errors, 95))
        )
    return results


def evaluate(
    series: Sequence[Series],
    names: Sequence[str] = (),
    hold_out: Callable[[int], NDArray[np.bool_]] = held_out,
    *,
    operation: str = "",
    statistic: str = "",
) -> MessagesEvaluation:
    """Errors |predicted − measured| / measured of each model on the sizes that `hold_out` takes from a series.

    All models when no `names`, or when the one by which `hockney predict` answers is among them: its errors
    never stand alone. Besides `models` the result has that model's answer `corrected` (None where it was left
    out), `interpolation` between the neighbours, `best_baseline` (the smallest median of interpolation and the
    other models), the sentences of `shortfalls`, `n_series`, `n_skipped` (series with fewer than three sizes),
    `n_train` and `n_test` in points. A model that cannot be fitted to a series counts it in `series_failed`;
    RequestError where no series is long enough.
    """
    used = [curve for curve in series if curve.size_B.size >= LEAST_SIZES]
    if not used:
        raise RequestError(
            f"no series has {LEAST_SIZES} message sizes, so none can be held out", "measure more sizes"
        )
    chosen = {name: models.get(name) for name in names}
    if not names or ANSWER in names:
        chosen = dict(models)
    tallies = {name: _Tally() for name in chosen}
    floor, answer = _Tally(), _Tally()
    n_test = 0
    for curve in used:
        mask = hold_out(curve.size_B.size)
        n_test += int(mask.sum())
        train, test = curve.take(~mask), curve.take(mask)
        between = np.interp(test.size_B, train.size_B, train.time_s)
        floor.errors.append(np.abs(between - test.time_s) / test.time_s)
        for name, fit in chosen.items():
            _try(fit, train, test, tallies[name], answer if name == ANSWER else None)
    rows = {name: tally.summary() for name, tally in tallies.items()}
    baselines = {BETWEEN: floor.summary()} | {name: row for name, row in rows.items() if name != ANSWER}
    return MessagesEvaluation(
        operation,
        statistic,
        best_baseline(baselines),
        n_series=len(used),
        n_skipped=len(series) - len(used),
        n_train=sum(curve.size_B.size for curve in used) - n_test,
        n_test=n_test,
        models=rows,
        corrected=CorrectedErrors(**vars(answer.summary()), model=ANSWER) if ANSWER in chosen else None,
        interpolation=baselines[BETWEEN],
        shortfalls=shortfalls(
            {name: tally.errors for name, tally in tallies.items()}
            | {ANSWER: answer.errors, BETWEEN: floor.errors}
        ),
    )


def best_baseline(rows: Mapping[str, RelativeErrors]) -> BestBaseline | None:
    """The name and the errors of the row with the smallest median error; None where none has one.

    A row without any failure goes before one with failures, which may have left out what is hard.
    """
    medians = {
        name: (getattr(row, "series_failed", 0) > 0, row.median_relative_error)
        for name, row in rows.items()
        if row.median_relative_error is not None
    }
    if not medians:
        return None
    best = min(medians, key=lambda name: medians[name])
    row = rows[best]
    return BestBaseline(row.median_relative_error, row.p90_relative_error, row.p95_relative_error, best)


def _try(fit: FitFunction, train: Series, test: Series, tally: _Tally, answer: _Tally | None) -> None:
    try:
        fitted = fit(train)
    except RequestError as error:
        for each in filter(None, (tally, answer)):
            each.failed += 1
            each.why = error.message
        return
    tally.nonphysical += fitted.nonphysical
    tally.errors.append(np.abs(predict(fitted, test.size_B) - test.time_s) / test.time_s)
    bounds = interval(fitted, test.size_B, train)
    covered = None if bounds is None else (bounds[0] <= test.time_s) & (test.time_s <= bounds[1])
    if covered is not None:
        tally.covered.append(covered)
    if answer is not None:
        answer.errors.append(np.abs(corrected(fitted, test.size_B, train) - test.time_s) / test.time_s)
        answer.covered += [] if covered is None else [covered]
