"""How far predictions of a collective are off on points that were left out: which points, and the picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.machine.system import System
from hockney.predict.evaluate import evaluate
from hockney.predict.points import POINT, points
from hockney.predict.split import select
from hockney.report.figures import Drawing
from hockney.report.predicted import predicted

MODELS = ("simulated", "linear_in_ranks", "textbook_hockney")
"""Ours beside the usual ones, as many as stand in a row."""
FEWEST = 24
"""Points of a collective, and half as many on either side of the split, below which errors say nothing."""
FEWEST_RANK_COUNTS = 4
"""From so many on, more ranks than were trained are asked for."""
MOST = 200
"""Points to learn from, and to predict: of a few hundred ranks, they take ten to twenty seconds."""


@dataclass(frozen=True)
class Judged:
    """The picture, or None with the reason in `note`; `result` as `hockney evaluate --json` prints it."""

    drawing: Drawing | None
    note: str = ""
    result: dict[str, Any] = field(default_factory=dict)


def judged(frame: pd.DataFrame, operation: str, system_of: Callable[[str], System | None]) -> Judged:
    """Predicted against measured times of the points of a collective that were not trained.

    With several numbers of ranks the lower half is trained, else half of the points at random. Of several systems
    it is the one with most points; of more points than `MOST`, so many at random.
    """
    left_out = "Predicted against measured is left out: "
    try:
        known = points(frame, operation).frame
        name = str(known["system"].mode().iloc[0])
        of_it = known[known["system"] == name].reset_index(drop=True)
        if len(of_it) < FEWEST:
            raise RequestError(f"{len(of_it)} points are too few to leave some out (at least {FEWEST})")
        train, test = split_of(of_it)
        table = frame[(frame["operation"] != operation) | (frame["system"].fillna("") == name)]
        evaluation = evaluate(table, operation, train, test, names=MODELS, system=system_of(name))
        drawing = predicted(operation, evaluation.test, evaluation.predictions)
    except RequestError as error:
        return Judged(None, f"{left_out}{error.message}.")
    result = evaluation.result
    chosen = f" of {name}" if len(of_it) < len(known) else ""
    caption = (
        f"Models learned from {result['n_train']} points{chosen} ({train}) and were asked for {result['n_test']} "
        f"that they had not seen ({test}); in all there are {len(of_it)}. {drawing.caption}"
    )
    rows = result["models"].items()
    unable = [f"{model} did not run: {row['skipped']}." for model, row in rows if "skipped" in row]
    unable += [
        f"{model} predicted none of these points: {'; '.join(row['notes'])}."
        for model, row in rows
        if row.get("failed") == result["n_test"]
    ]
    unscored = [f"{algorithm} was not predicted: {why}." for algorithm, why in result["not_scored"].items()]
    return Judged(replace(drawing, caption=caption), " ".join([*unable, *unscored]), result)


def split_of(known: pd.DataFrame) -> tuple[str, str]:
    """Expressions that choose training and test points. RequestError where one of them has too few."""
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
            raise RequestError(f"{held} points ({side}) are too few for one side of a split")
        if held > MOST:
            # Another seed than that of the split, whose half would be all or nothing.
            sides[i] = f"{side} and sample({MOST / held:.3f}, seed=2)"
    return sides[0], sides[1]
