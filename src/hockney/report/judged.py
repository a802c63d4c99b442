"""Predicted against measured times of a collective on points that the models have not seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.machine.system import System
from hockney.predict.evaluate import CollectiveEvaluation, evaluate
from hockney.predict.points import POINT, points
from hockney.predict.split import select
from hockney.report.drawing import Drawing
from hockney.report.predicted import predicted
from hockney.report.style import Looks
from hockney.units import counted

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
