"""How well models predict what they have not seen: sizes, or points of a collective."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from hockney.api.alone import runs_alone
from hockney.api.shown import as_html
from hockney.errors import RequestError
from hockney.fields import flags_written
from hockney.machine.file import expect_measurements
from hockney.machine.locality import load, read
from hockney.machine.system import find_system
from hockney.models._evaluate import BestBaseline as BestBaseline
from hockney.models._evaluate import MessagesEvaluation as MessagesEvaluation
from hockney.models._evaluate import RelativeErrors as RelativeErrors
from hockney.models._evaluate import evaluate as evaluate_models
from hockney.models.base import models as fits
from hockney.options.evaluate import EvaluateOptions
from hockney.predict.accuracy import Regret as Regret
from hockney.predict.estimators.base import estimators
from hockney.predict.evaluate import BestEstimator as BestEstimator
from hockney.predict.evaluate import CollectiveEvaluation as CollectiveEvaluation
from hockney.predict.evaluate import EvaluatedPoints
from hockney.predict.evaluate import JudgedEstimator as JudgedEstimator
from hockney.predict.evaluate import evaluate as evaluate_estimators
from hockney.predict.evaluate import table as predicted_table
from hockney.progress import Progress, silent
from hockney.records import table
from hockney.records.keys import POINT_TO_POINT
from hockney.records.series_of_table import default_statistic, series
from hockney.units import counted, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Errors of each model. `result` is what `hockney evaluate --json` prints (docs/reference/evaluate.md)."""

    result: MessagesEvaluation | CollectiveEvaluation
    points: EvaluatedPoints | None = None
    """The test points and their predictions, of a collective."""
    warnings: list[str] = field(default_factory=list)

    @property
    def messages(self) -> MessagesEvaluation | None:
        """The result where messages were judged."""
        return self.result if isinstance(self.result, MessagesEvaluation) else None

    @property
    def frame(self) -> pd.DataFrame:
        """A row for each model: errors are shares of the measured time; the best baseline comes first."""
        return pd.DataFrame([{**_numbers(row), "model": name} for name, row in self.rows.items()])

    @property
    def rows(self) -> dict[str, RelativeErrors]:
        """Errors of each model that ran, the best baseline first."""
        result, rows = self.result, dict[str, RelativeErrors]()
        if isinstance(result, CollectiveEvaluation):
            rows |= result.judged
        else:
            rows |= {"interpolation": result.interpolation, **result.models}
            if result.corrected is not None:
                rows[f"{result.corrected.model}, corrected"] = result.corrected
        best = result.best_baseline and result.best_baseline.name
        return {name: rows[name] for name in sorted(rows, key=lambda name: name != best)}

    @property
    def predictions(self) -> pd.DataFrame:
        """Every test point of a collective with its predictions; RequestError where sizes were held out."""
        return predicted_table(self._points())

    @property
    def figure(self) -> Figure:
        """Predicted against measured times, a panel for each model; RequestError as `predictions`."""
        # Whoever draws nothing does not wait for what draws.
        from hockney.report.predicted import predicted
        from hockney.report.style import drawing_style

        evaluated = self._points()
        with drawing_style():
            return predicted(self.result.operation, evaluated.test, evaluated.predictions).figure

    def write_figure(self, path: Path) -> None:
        """The figure as a file, `.svg`, `.png` or `.html`; RequestError for another ending, and as there."""
        from hockney.report.predicted import write

        evaluated = self._points()
        write(path, self.result.operation, evaluated.test, evaluated.predictions)

    def _points(self) -> EvaluatedPoints:
        if self.points is None:
            raise RequestError(
                f"{self.result.operation}: sizes were held out, which are not kept one by one",
                "name points of a collective: train='ranks <= 64'",
            )
        return self.points

    def __repr__(self) -> str:
        return f"{self.result.operation}: errors on {counted(self.result.n_test, 'point')} never seen"

    def _repr_html_(self) -> str:
        best = self.result.best_baseline
        said = (
            f"best baseline: {best.name}, median error {percent(best.median_relative_error or 0.0)}"
            if best
            else ""
        )
        return as_html(repr(self), self.frame, [said, *getattr(self.result, "shortfalls", ()), *self.warnings])


OF_COLLECTIVES = ("system", "by", "predictions", "figure")
"""Options that need --train or --test."""


def evaluate_options(options: EvaluateOptions, progress: Progress = silent) -> Evaluation:
    """Fit each model to a part of what was measured, judge it on the rest, and write the files that are named.

    Of messages every second size of each series is held out. With the
    model that answers among those that are named all baselines are judged, as without any.
    RequestError where nothing can be held out, and for options that mean nothing together.
    """
    flags = flags_written(options)
    unfit = [flag for name, flag in flags.items() if name in OF_COLLECTIVES]
    if unfit and not options.is_split:
        raise RequestError(f"{unfit[0]} needs --train or --test", "for example --train 'ranks <= 64'")
    if options.figure:
        from hockney.report.drawing import checked_ending

        checked_ending(options.figure)
    evaluation = _evaluated(options, progress)
    if options.predictions:
        table.write(evaluation.predictions, options.predictions)
    if options.figure:
        evaluation.write_figure(options.figure)
    return evaluation


def _evaluated(options: EvaluateOptions, progress: Progress) -> Evaluation:
    path, operation, models = expect_measurements(options.campaign), options.operation, options.models
    described = find_system(options.system) if options.system else None
    frame = load(path, options.statistic, [described] if described else [])
    warnings: list[str] = frame.attrs.get("warnings", [])
    if frame.empty and (apps := read(path).apps):
        raise runs_alone(path, apps)
    if not options.is_split:
        if unfit := [name for name in models if name in estimators.names() and name not in fits.names()]:
            raise RequestError(f"{unfit[0]} needs --train or --test", "for example --train 'ranks <= 64'")
        statistic = options.statistic or default_statistic(frame, operation)
        curves = series(frame, operation, statistic)
        result = evaluate_models(curves, models, operation=operation, statistic=statistic)
        return Evaluation(result, warnings=warnings)
    if operation in POINT_TO_POINT:
        raise RequestError(
            f"--train and --test are for collectives, {operation} is point to point",
            "leave them out: every second size is held out; or name a collective with --operation",
        )
    points = evaluate_estimators(
        frame,
        operation,
        options.train,
        options.test,
        statistic=options.statistic,
        names=models,
        system=described,
        progress=progress,
    )
    return Evaluation(points.result, points, warnings)


def _numbers(row: RelativeErrors) -> dict[str, float | str | None]:
    """Of a row of the result, what is a number or a text; the mean regret of a choice by it."""
    numbers = {
        name: value for name, value in vars(row).items() if value is None or isinstance(value, int | float | str)
    }
    if isinstance(row, JudgedEstimator):
        numbers |= {"mean_regret": row.regret.mean, "p95_regret": row.regret.p95}
    return numbers
