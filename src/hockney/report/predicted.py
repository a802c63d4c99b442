"""Predicted against measured times of a collective on points that the models have not seen.

A panel for each estimator, a colour for each algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.machine.system import System
from hockney.predict.accuracy import errors
from hockney.predict.estimators.base import Prediction
from hockney.predict.evaluate import CollectiveEvaluation, evaluate
from hockney.predict.points import POINT, points
from hockney.predict.split import select
from hockney.report.drawing import WIDTH_IN, Drawing, write_drawing
from hockney.report.explorer.chart import NOTHING, Axis, Chart, Line, Panel
from hockney.report.marks import percent
from hockney.report.style import QUIET, Looks, Style
from hockney.units import counted

COLUMNS = 3
NAMED = 10
"""Most algorithms with a colour of their own, those with most points; all others are grey."""
BAND = 0.1
WITH_INTERVALS = 400
"""Most points with bars; more would hide each other's bars."""
OTHERS = Style(QUIET, (), ".")
ROOM, EDGE = 1.5, 1.35
"""The frame over the measured times, and what the axis adds to it."""
Array = NDArray[np.float64]
Objects = NDArray[np.object_]


def predicted(
    operation: str, test: pd.DataFrame, predictions: Mapping[str, Prediction], looks: Looks | None = None
) -> Drawing:
    """A panel for each estimator: predicted against measured time of the test points that it predicts.

    Axes are logarithmic and the same in all panels; the line is equality, the band ±10 %. Open symbols lie
    beyond the frame. `looks` are those of the page. Up to `WITH_INTERVALS` points have their 95 % intervals.
    RequestError if no estimator predicts anything.
    """
    measured_s = test["time_s"].to_numpy(np.float64)
    drawn = {name: prediction for name, prediction in predictions.items() if np.isfinite(prediction.time_s).any()}
    if not drawn:
        raise RequestError(
            "there is no prediction to draw", "choose other models, or test points that they can predict"
        )
    algorithm = test["algorithm"].to_numpy(dtype=object)
    look = (looks or Looks()).of([str(name) for name in test["algorithm"].value_counts().index[:NAMED]])
    columns = min(COLUMNS, len(drawn))
    panels, words = [], []
    for place, (name, prediction) in enumerate(drawn.items()):
        numbers = errors(prediction, measured_s)
        median, p95 = (
            percent(part or 0.0) for part in (numbers.median_relative_error, numbers.p95_relative_error)
        )
        covered = numbers.coverage_95
        coverage = "no intervals" if covered is None else f"{percent(covered)} in their 95 % interval"
        failed = f", {numbers.failed} not predicted" if numbers.failed else ""
        lines = _points(algorithm, measured_s, prediction, look)
        others = len(set(algorithm)) - len(look)
        named = {**{label: label for label in look}, "": f"{others} others" if others > 0 else ""}
        panels.append(
            Panel(
                # Every name is in the legend, drawn here or not.
                [
                    *(
                        Line(named[label], NOTHING, NOTHING, style=look.get(label, OTHERS), width=0, dots=4.0)
                        for label in named
                        if not place
                    ),
                    *lines,
                ],
                Axis("measured (µs)", "log", 1e-6),
                Axis("predicted (µs)", "log", 1e-6, np.array([measured_s.min() / ROOM, measured_s.max() * ROOM])),
                f"{name}\nerror: median {median}, P95 {p95}\n{coverage}{failed}",
                band=(1 - BAND, 1 + BAND),
                is_square=True,
            )
        )
        words.append(f"{name} median {median} and P95 {p95}, {coverage}{failed}")
    rows = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    return Drawing(
        f"{operation}-predicted",
        f"{operation}: predicted against measured.",
        f"{operation}: predicted against measured time of {len(test)} points the models have not seen. "
        f"Error: {'; '.join(words)}.",
        "The line is equality, the band ±10 %. Open symbols lie beyond the frame."
        + (" Bars are 95 % intervals of the predictions." if len(test) <= WITH_INTERVALS else ""),
        Chart(rows, 0.7 + 3.5 * len(rows), WIDTH_IN * columns / COLUMNS, shared="all", columns=2 * columns),
    )


def _points(
    algorithm: Objects, measured_s: Array, prediction: Prediction, looks: Mapping[str, Style]
) -> list[Line]:
    """Dots of each algorithm with their intervals; those beyond the frame at its edge, open."""
    bottom, top = measured_s.min() / ROOM / EDGE, measured_s.max() * ROOM * EDGE
    lines = []
    for label in dict.fromkeys([*looks, *algorithm]):
        chosen = (algorithm == label) & np.isfinite(prediction.time_s)
        at, time_s = measured_s[chosen], prediction.time_s[chosen]
        style = looks.get(label, OTHERS)
        if measured_s.size <= WITH_INTERVALS:
            low, high = (np.clip(end_s[chosen], bottom, top) for end_s in (prediction.low_s, prediction.high_s))
            known = np.isfinite(low) & np.isfinite(high)
            lines.append(
                Line("", at[known], low[known], low[known], high[known], style, 0.0, opacity=0.35, order=2.5)
            )
        # A prediction that is not positive has no place on a logarithmic axis: it stands at the lower edge.
        inside = np.clip(time_s, bottom * 1.05, top / 1.05)
        for mask, is_open in ((inside == time_s, False), (inside != time_s, True)):
            lines.append(
                Line("", at[mask], inside[mask], style=style, width=0, dots=2.6, opacity=0.7, is_open=is_open)
            )
    return lines


def write(path: Path, operation: str, test: pd.DataFrame, predictions: Mapping[str, Prediction]) -> None:
    """Draw `predicted` into `.svg`, `.png` or `.html`; RequestError for another ending or place."""
    write_drawing(path, lambda: predicted(operation, test, predictions))


FEWEST = 24
"""Fewest points of a collective, and half as many on either side of the split, whose errors mean something."""
FEWEST_RANK_COUNTS = 4
"""Fewest numbers of ranks with which the models predict more ranks than they were trained on."""
MOST = 200
"""Most points on either side: with a few hundred ranks they take ten to twenty seconds."""


@dataclass(frozen=True)
class Judged:
    """The figure, or None with the reason in `note`; `result` as `hockney evaluate --json` prints it."""

    drawing: Drawing | None
    note: str = ""
    result: CollectiveEvaluation | None = None


def judged(
    frame: pd.DataFrame,
    operation: str,
    system_of: Callable[[str], System | None],
    looks: Looks | None = None,
    statistic: str = "",
) -> Judged:
    """Predicted against measured times of the points of a collective that the models were not trained on.

    With at least `FEWEST_RANK_COUNTS` numbers of ranks the models are trained on the lower half of them,
    otherwise on half of the points at random. `looks` are those of the page; `statistic` empty:
    the one that says most. If there are several systems, the one with most points is judged;
    if a side has more than `MOST` points, that many are taken at random.
    """
    left_out = "Predicted against measured is left out: "
    try:
        known = points(frame, operation, statistic).frame
        name = str(known["system"].mode().iloc[0])
        of_it = known[known["system"] == name].reset_index(drop=True)
        if len(of_it) < FEWEST:
            raise RequestError(f"{len(of_it)} points are too few to leave some out (at least {FEWEST})")
        train, test = split_of(of_it)
        table = frame[(frame["operation"] != operation) | (frame["system"].fillna("") == name)]
        evaluation = evaluate(table, operation, train, test, system=system_of(name), statistic=statistic)
        drawing = predicted(operation, evaluation.test, evaluation.predictions, looks)
    except RequestError as error:
        return Judged(None, f"{left_out}{error.message}.")
    result = evaluation.result
    chosen = f" of {name}" if len(of_it) < len(known) else ""
    caption = (
        f"The models were trained on {result.n_train} points{chosen} ({train}) and predict {result.n_test} "
        f"that they have not seen ({test}), of {len(of_it)} in all. {drawing.caption}"
    )
    unable = [f"{model} did not run: {why}." for model, why in result.skipped.items()]
    unable += [
        f"{model} predicted none of these points: {'; '.join(row.notes)}."
        for model, row in result.judged.items()
        if row.failed == result.n_test
    ]
    unscored = [f"{algorithm} was not predicted: {why}." for algorithm, why in result.not_scored.items()]
    return Judged(replace(drawing, caption=caption), " ".join([*unable, *unscored]), result)


def split_of(known: pd.DataFrame) -> tuple[str, str]:
    """Expressions that select training and test points. RequestError if one of them selects too few."""
    ranks = sorted(int(count) for count in known["ranks"].unique())
    if len(ranks) >= FEWEST_RANK_COUNTS:
        middle = ranks[(len(ranks) - 1) // 2]
        sides = [f"ranks <= {middle}", f"ranks > {middle}"]
    else:
        sides = ["sample(0.5, seed=1)", "not sample(0.5, seed=1)"]
    columns = known[list(POINT)]
    for i, side in enumerate(sides):
        held = int(np.count_nonzero(select(columns, side)))
        if 2 * held < FEWEST:
            raise RequestError(f"{counted(held, 'point')} ({side}) are too few for one side of a split")
        if held > MOST:
            # The seed of the split would select all or none of its half.
            sides[i] = f"{side} and sample({MOST / held:.3f}, seed=2)"
    return sides[0], sides[1]
