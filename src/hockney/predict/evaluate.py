"""Every estimator on the same split of a collective's points: training, predictions and their errors."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from hockney.errors import EnvironmentLack, RequestError
from hockney.predict import accuracy
from hockney.predict.accuracy import ModelRegret, PointErrors, RegretReferences
from hockney.predict.estimators.base import (
    ANSWER,
    FALLBACK,
    Array,
    Prediction,
    Simulating,
    estimators,
    training_of,
)
from hockney.predict.estimators.linear_in_ranks import Trend
from hockney.predict.points import POINT, beyond, limits, points
from hockney.predict.scenario import expected_steps
from hockney.predict.split import Mask, split
from hockney.progress import Progress, silent
from hockney.units import counted, format_duration, percent

MOST_STEPS = 40_000_000
"""Of all test points that are simulated: half a minute of one processor."""
LAST = ("collective_model", ANSWER)
"""What takes longest has others' answers before it."""
LONG_S = 10.0
"""Whoever waits longer is told how long, and each answer as it comes."""
_STEPS_PER_S, _POINTS_PER_S = 2e6, 700.0


@dataclass(frozen=True)
class CorrectionErrors:
    """Errors of the readable model alone, and the weight of what corrects it."""

    readable: PointErrors
    largest_weight: float
    n_weighted: int


@dataclass(frozen=True)
class JudgedEstimator(PointErrors):
    """An estimator on all test points, on those that all compared predict, and on parts of them."""

    notes: Sequence[str]
    correction: CorrectionErrors | None
    common: PointErrors
    regret: ModelRegret
    by_algorithm: Mapping[str, PointErrors]
    by_mapping: Mapping[str, PointErrors]


@dataclass(frozen=True)
class SkippedEstimator:
    """An estimator that cannot work here, and why."""

    skipped: str


@dataclass(frozen=True)
class BestEstimator(PointErrors):
    """The baseline with the smallest median error on the common points, with its errors there."""

    name: str


@dataclass(frozen=True)
class CollectiveEvaluation:
    """Points of a collective, learned from and asked for."""

    best_baseline: BestEstimator | None
    operation: str
    statistic: str
    train: str
    test: str
    seed: int
    n_train: int
    n_test: int
    compared: Sequence[str]
    n_common: int
    dropped: Mapping[str, int]
    warnings: Sequence[str]
    algorithms: Sequence[str]
    not_scored: Mapping[str, str]
    models: Mapping[str, JudgedEstimator | SkippedEstimator]
    references: RegretReferences

    @property
    def judged(self) -> dict[str, JudgedEstimator]:
        """The models that ran."""
        return {name: row for name, row in self.models.items() if isinstance(row, JudgedEstimator)}

    @property
    def skipped(self) -> dict[str, str]:
        """Why others did not."""
        return {name: row.skipped for name, row in self.models.items() if isinstance(row, SkippedEstimator)}


@dataclass(frozen=True)
class EvaluatedPoints:
    """`test` is the test points, `predictions` those of each estimator that ran, `result` the numbers."""

    test: pd.DataFrame
    predictions: dict[str, Prediction]
    result: CollectiveEvaluation


def evaluate(
    frame: pd.DataFrame,
    operation: str,
    train: str,
    test: str,
    *,
    statistic: str = "",
    names: Sequence[str] = (),
    system: object | None = None,
    seed: int = 1,
    progress: Progress = silent,
) -> EvaluatedPoints:
    """Fit each estimator to training points of a tidy table, score it on the test points.

    All when no `names`, or when one by which `hockney predict` answers is among them: its errors never stand
    alone. `best_baseline` is, of the others that are `compared`, the one with the smallest median on the
    `n_common` points on which they are.

    `train` and `test` are expressions (see `split`); one of them may be empty and stands for the rest. An
    estimator that cannot work here has a row that says `skipped` and why. `progress` hears of each one's
    beginning, and what it says itself. RequestError for everything that is
    wrong with the table or the expressions.
    """
    chosen = {name: estimators.get(name) for name in names}
    if not names or {ANSWER, FALLBACK} & set(names):
        # Simulating takes long: whoever asks for the other answer alone does not wait for it.
        chosen = {
            name: fit for name, fit in dict(estimators).items() if name != ANSWER or not names or name in names
        }
    pooled = points(frame, operation, statistic)
    trained, tested = split(pooled.frame[list(POINT)], train, test, seed)
    learn = pooled.frame[trained].reset_index(drop=True)
    unseen = pooled.frame[tested].reset_index(drop=True)
    training = training_of(frame, learn, operation, pooled.statistic, system)
    predictions: dict[str, Prediction] = {}
    skipped: dict[str, str] = {}
    # What simulates takes long: the others have answered before it begins.
    measured_s = unseen["time_s"].to_numpy(np.float64)
    so_far: dict[str, float] = {}
    kept, sampled = np.ones(len(unseen), dtype=np.bool_), list[str]()
    tell = logging.getLogger(__name__).warning
    if is_long := (whole_s := _most_s(learn, unseen, chosen, operation)) > LONG_S:
        tell("note: this takes up to %s, twice that to identify a default", format_duration(whole_s))
    for name, fit in sorted(chosen.items(), key=lambda pair: pair[0] in LAST and LAST.index(pair[0]) + 1):
        least = min(so_far, key=lambda other: so_far[other], default="")
        beside = f"; {least} misses by {percent(so_far[least])}" if least else ""
        progress(0.0, f"{name}{beside}")
        watched = replace(training, progress=partial(_named, progress, name, beside))
        try:
            fitted = fit(watched)
            if isinstance(fitted, Simulating):
                kept, sampled = _affordable(unseen, fitted.steps(unseen), seed)
            predictions[name] = fitted.predict(unseen[kept].reset_index(drop=True))
            missed = accuracy.errors(predictions[name], measured_s[kept]).median_relative_error
            so_far |= {} if missed is None else {name: missed}
            if is_long and missed is not None:
                tell("note: %s misses by %s in the median", name, percent(missed))
        except (RequestError, EnvironmentLack) as error:
            skipped[name] = f"{error.message} ({error.hint})" if error.hint else error.message
    unseen = unseen[kept].reset_index(drop=True)
    predictions = {
        name: predictions[name] if name == ANSWER else predictions[name].take(kept)
        for name in chosen
        if name in predictions
    }
    scored, unscored = _scored(unseen, predictions)
    comparable, common = compared(predictions, len(unseen))
    trend_s = Trend.of(learn).at(unseen)
    rows = {
        name: _row(unseen, prediction, common, trend_s if name in (ANSWER, FALLBACK) else None)
        for name, prediction in predictions.items()
    }
    result = CollectiveEvaluation(
        _best_baseline({name: rows[name].common for name in comparable}),
        operation,
        pooled.statistic,
        train=train or f"not ({test})",
        test=test or f"not ({train})",
        seed=seed,
        n_train=len(learn),
        n_test=len(unseen),
        compared=comparable,
        n_common=int(common.sum()),
        dropped=pooled.dropped,
        warnings=[*sampled, *pooled.warnings, *limits(learn), *beyond(learn, unseen)],
        algorithms=scored,
        not_scored=unscored,
        models={name: rows.get(name) or SkippedEstimator(skipped[name]) for name in chosen},
        references=accuracy.references(learn, unseen),
    )
    return EvaluatedPoints(unseen, predictions, result)


def _most_s(learn: pd.DataFrame, unseen: pd.DataFrame, names: Collection[str], operation: str) -> float:
    """About how long all takes at most."""
    trained, tested = (float(expected_steps(part, operation).sum()) for part in (learn, unseen))
    simulated = 4 * min(trained, 10_000_000) + min(tested, MOST_STEPS)
    points_s = (len(learn) + len(unseen)) / _POINTS_PER_S
    return points_s + (simulated / _STEPS_PER_S + points_s if ANSWER in names else 0.0)


def _affordable(points: pd.DataFrame, steps: Array, seed: int) -> tuple[Mask, list[str]]:
    """Which points are judged, a random sample where all take too many steps; and what is said of it."""
    kept = np.ones(len(points), dtype=np.bool_)
    if steps.sum() <= MOST_STEPS:
        return kept, []
    order = np.random.default_rng(seed).permutation(len(points))
    kept[order] = np.cumsum(steps[order]) <= MOST_STEPS
    kept[order[0]] = True
    by_ranks = pd.Series(steps).groupby(points["ranks"].to_numpy(np.int64)).sum().cumsum()
    fewer = by_ranks.index[by_ranks <= MOST_STEPS]
    hint = f'; with --test "ranks <= {fewer[-1]}" all are judged' if len(fewer) else ""
    return kept, [
        f"judged on {int(kept.sum())} of {counted(len(points), 'point')}, drawn at random: "
        f"all take {steps.sum() / MOST_STEPS:.2g} times as long to simulate{hint}"
    ]


def _best_baseline(rows: Mapping[str, PointErrors]) -> BestEstimator | None:
    """The baseline with the smallest median on the common points, with its errors there; None without any."""
    medians = {
        name: row.median_relative_error
        for name, row in rows.items()
        if name not in (ANSWER, FALLBACK) and row.median_relative_error is not None
    }
    if not medians:
        return None
    best = min(medians, key=lambda name: medians[name])
    return BestEstimator(**vars(rows[best]), name=best)


def _named(progress: Progress, name: str, beside: str, share: float, what: str) -> None:
    progress(share, f"{name}: {what}{beside}")


def _row(test: pd.DataFrame, prediction: Prediction, common: Mask, trend_s: Array | None) -> JudgedEstimator:
    measured = test["time_s"].to_numpy(np.float64)
    return JudgedEstimator(
        **vars(accuracy.errors(prediction, measured)),
        notes=prediction.note or [],
        correction=_correction(prediction, measured),
        common=accuracy.errors(prediction.take(common), measured[common]),
        regret=accuracy.regret(test, prediction, trend_s),
        by_algorithm=accuracy.by(test, prediction, "algorithm"),
        by_mapping=accuracy.by(test, prediction, "mapping"),
    )


def _correction(prediction: Prediction, measured_s: Array) -> CorrectionErrors | None:
    """Errors of the readable model alone, and the weights of the other; None for an estimator without one."""
    if prediction.correction is None:
        return None
    readable_s, weight = prediction.correction.readable_s, prediction.correction.weight
    open_s = np.full(measured_s.shape, np.nan)
    return CorrectionErrors(
        readable=accuracy.errors(Prediction(readable_s, open_s, open_s), measured_s),
        largest_weight=float(weight.max(initial=0.0)),
        n_weighted=int((weight > 0).sum()),
    )


def compared(predictions: Mapping[str, Prediction], count: int) -> tuple[list[str], Mask]:
    """Estimators whose errors can be compared, and the points, shape (count,), on which.

    These are the points that the answer predicts and all that are compared: what the answer refuses is compared
    with nothing. An estimator that refuses most of what the answer predicts is not compared, because it would
    leave the others a few points, or none. Nor is the answer where it refuses most of the points: what it has
    chosen there are no more than examples.
    """
    predicted = {name: np.isfinite(prediction.time_s) for name, prediction in predictions.items()}
    asked = predicted.get(ANSWER, np.zeros(count, dtype=np.bool_))
    if not asked.any():
        asked = np.logical_or.reduce([np.zeros(count, dtype=np.bool_), *predicted.values()])
    names = [
        name
        for name, own in predicted.items()
        if asked.any() and (own & asked).sum() >= (count if name == ANSWER else asked.sum()) / 2
    ]
    return names, np.logical_and.reduce([asked, *(predicted[name] for name in names)])


def _scored(test: pd.DataFrame, predictions: dict[str, Prediction]) -> tuple[list[str], dict[str, str]]:
    """Algorithms that at least one estimator predicted somewhere; the others with the reason."""
    names = test["algorithm"].to_numpy(dtype=object)
    predicted = np.zeros(len(test), dtype=np.bool_)
    for prediction in predictions.values():
        predicted |= np.isfinite(prediction.time_s)
    every = sorted(set(names))
    scored = [name for name in every if predicted[names == name].any()]
    return scored, {name: "no estimator predicts any of its test points" for name in every if name not in scored}


def table(evaluation: EvaluatedPoints) -> pd.DataFrame:
    """The test points as a tidy table (medians in `time_s`) with NAME_us, NAME_low_us, NAME_high_us of each.

    Of an estimator that corrects a readable model, also NAME_readable_us and NAME_weight.
    """
    wide = evaluation.test.assign(
        statistic=evaluation.result.statistic,
        repetition=0,
    ).drop(columns=["spread", "low_s", "high_s"])
    for name, prediction in evaluation.predictions.items():
        for part, values in (("", prediction.time_s), ("_low", prediction.low_s), ("_high", prediction.high_s)):
            wide[f"{name}{part}_us"] = values * 1e6
        if prediction.correction is not None:
            wide[f"{name}_readable_us"] = prediction.correction.readable_s * 1e6
            wide[f"{name}_weight"] = prediction.correction.weight
    return wide
