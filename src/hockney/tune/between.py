"""Times on numbers of ranks that were not measured: the model's, corrected by what was measured around them.

By how much the model is off, as a logarithm, lies on a line over ln ranks between the neighbours that were
measured for the same algorithm and size; where there is no model, the measured times themselves lie on it. How
far off that is shows where it is known: each measured number of ranks is left out once and told from its
neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hockney.models.over_ranks.choice import UNKNOWN
from hockney.predict.points import CHOICE
from hockney.statistics import CONFIDENCE, Array

Model = Callable[[pd.DataFrame], Array]
"""Seconds of each point; NaN where nothing is known."""
ENOUGH = 8
"""Errors of which the quantile says anything; of fewer the largest counts, and no less than what is usual."""
KEY = (*CHOICE, "bytes")


@dataclass(frozen=True)
class _Line:
    """One algorithm at one size: logarithms of ranks, of measured times and of the model's (0: none)."""

    ranks_ln: Array
    time_ln: Array
    model_ln: Array
    has_model: bool

    def at(self, ranks_ln: float, model_ln: float, left_out: int | None = None) -> float:
        """ln seconds; NaN beyond the measured ranks where there is no model."""
        kept = np.arange(self.ranks_ln.size) != (-1 if left_out is None else left_out)
        if not kept.any():
            return math.nan
        off = (self.time_ln - self.model_ln)[kept]
        ends = (off[0], off[-1]) if self.has_model else (math.nan, math.nan)
        return model_ln + float(np.interp(ranks_ln, self.ranks_ln[kept], off, *ends))

    def errors(self) -> Iterator[float]:
        """ln of measured over told, of each number of ranks between others."""
        for place in range(1, self.ranks_ln.size - 1):
            yield float(self.time_ln[place]) - self.at(
                float(self.ranks_ln[place]), float(self.model_ln[place]), place
            )


def between(known: pd.DataFrame, asked: pd.DataFrame, model: Model) -> Array:
    """Seconds of the asked points with the ends of their 95 % intervals, of shape (n, 3); NaN where unknown.

    Both frames have the columns of `predict.points.POINT`, `known` also `time_s`.
    """
    model_s, known_s = model(asked), model(known)
    lines: dict[tuple[str, ...], _Line] = {}
    for key, rows in _by_key(known):
        lines[key] = _line(known.iloc[rows], known_s[rows])
    times_s = np.full((len(asked), 3), np.nan)
    for key, rows in _by_key(asked):
        if (line := lines.get(key)) is None:
            continue
        # What disturbs small messages says nothing of large ones.
        half = _half([other for name, other in lines.items() if name[-1] == key[-1]])
        for row in rows:
            model_ln = math.log(model_s[row]) if line.has_model and np.isfinite(model_s[row]) else 0.0
            if line.has_model == bool(model_ln):
                time_ln = line.at(math.log(int(asked["ranks"].iloc[row])), model_ln)
                times_s[row] = np.exp([time_ln, time_ln - half, time_ln + half])
    return times_s


def _half(lines: Iterable[_Line]) -> float:
    """ln of the factor within which 95 % of what is told of one size lies."""
    errors = np.abs([error for line in lines for error in line.errors()])
    if errors.size >= ENOUGH:
        return float(np.quantile(errors, CONFIDENCE))
    return max(math.log1p(UNKNOWN), float(errors.max(initial=0.0)))


def _by_key(points: pd.DataFrame) -> Iterator[tuple[tuple[str, ...], list[int]]]:
    rows: dict[tuple[str, ...], list[int]] = {}
    for row, values in enumerate(points[list(KEY)].itertuples(index=False)):
        rows.setdefault(tuple("" if pd.isna(value) else str(value) for value in values), []).append(row)
    yield from rows.items()


def _line(points: pd.DataFrame, model_s: Array) -> _Line:
    frame = pd.DataFrame(
        {
            "ranks": points["ranks"].to_numpy(np.float64),
            "time": points["time_s"].to_numpy(np.float64),
            "model": model_s,
        }
    )
    medians = frame.groupby("ranks").median().sort_index()
    has_model = bool(np.isfinite(medians["model"]).all())
    model_ln = np.log(medians["model"].to_numpy(np.float64)) if has_model else np.zeros(len(medians))
    return _Line(
        np.log(medians.index.to_numpy(np.float64)),
        np.log(medians["time"].to_numpy(np.float64)),
        model_ln,
        has_model,
    )
