"""Lines of the rings of a campaign or table, and how well they foretell numbers of processes left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hockney.apps.ring.app import OURS
from hockney.apps.ring.lines import RingComparison, compared, predicted_s
from hockney.apps.ring.rings import of_records
from hockney.errors import RequestError
from hockney.machine.locality import read
from hockney.models._evaluate import BETWEEN, BestBaseline, RelativeErrors, best_baseline, held_out, quantiles
from hockney.models.over_ranks.segments import segments
from hockney.records.contents import Contents
from hockney.report.places import Places
from hockney.statistics import Array, least_squares

LEAST_COUNTS = 5
"""Numbers of processes of a curve of which some can be held out."""
LINES, ONE_LINE = "segments", "one_line"


def fitted_rings(contents: Contents) -> list[RingComparison]:
    """Each curve of the campaign or table with its lines; none without runs of a ring."""
    runs = [run for run in contents.apps if run.operation == "ring"]
    places = Places(contents.frame, (), contents.launches, contents.apps)
    return compared(of_records(runs, places.of_run), None, OURS, [])


@dataclass(frozen=True)
class RingErrors(RelativeErrors):
    """Errors of one model of rings; `failed` counts points that it cannot predict."""

    failed: int


@dataclass(frozen=True)
class RingsEvaluation:
    """Errors at every second number of processes, which was held out."""

    operation: str
    best_baseline: BestBaseline | None
    n_series: int
    n_skipped: int
    n_train: int
    n_test: int
    models: Mapping[str, RingErrors]


def evaluate_rings(path: Path) -> RingsEvaluation:
    """Errors of lines between breaks, of one line and of interpolation, at every second number of processes.

    As `hockney.models._evaluate` does with sizes: the first and the last stay. RequestError without a curve of
    `LEAST_COUNTS`.
    """
    curves = [comparison.curve for comparison in fitted_rings(read(path))]
    pooled: dict[str, list[Array]] = {LINES: [], ONE_LINE: [], BETWEEN: []}
    trained = tested = used = 0
    for curve in curves:
        runs = {run.record.ranks: run.record.time_s for run in curve.runs if run.record.ranks > 1}
        if len(runs) < LEAST_COUNTS:
            continue
        used += 1
        ranks, time_s = (np.array(values, dtype=np.float64) for values in (list(runs), list(runs.values())))
        mask = held_out(ranks.size)
        at, known = ranks[~mask], time_s[~mask]
        lines = predicted_s(segments(at, known, curve.boundaries), ranks[mask])
        between = np.interp(ranks[mask], at, known)
        line = least_squares(np.column_stack([np.ones_like(at), at]), known, 1 / known).value
        answers = {LINES: lines, ONE_LINE: line[0] + line[1] * ranks[mask], BETWEEN: between}
        for name, answer in answers.items():
            pooled[name].append(np.abs(answer - time_s[mask]) / time_s[mask])
        trained += at.size
        tested += int(mask.sum())
    if not used:
        raise RequestError(
            f"no ring of {path} has {LEAST_COUNTS} numbers of processes, so none can be held out",
            "measure more: `hockney run ring --ranks 2-24`",
        )
    rows = {name: _row(errors) for name, errors in pooled.items()}
    return RingsEvaluation(
        "ring",
        best_baseline({name: row for name, row in rows.items() if name != LINES}),
        n_series=used,
        n_skipped=len(curves) - used,
        n_train=trained,
        n_test=tested,
        models=rows,
    )


def _row(errors: Sequence[Array]) -> RingErrors:
    every = np.concatenate(list(errors))
    known = every[np.isfinite(every)]
    return RingErrors(**vars(quantiles(known)), failed=int(every.size - known.size))
