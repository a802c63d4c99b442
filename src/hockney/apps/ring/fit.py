"""Lines of the rings of a campaign or table, and how well they foretell numbers of processes left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hockney.apps.ring.app import OURS
from hockney.apps.ring.lines import RingComparison, compared, predicted_s
from hockney.apps.ring.rings import of_records
from hockney.errors import RequestError
from hockney.models._evaluate import BETWEEN, best_baseline, held_out
from hockney.models.over_ranks.segments import segments
from hockney.records.contents import Contents, read
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


def evaluate_rings(path: Path) -> dict[str, Any]:
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
    return {
        "best_baseline": best_baseline({name: row for name, row in rows.items() if name != LINES}),
        "n_series": used,
        "n_skipped": len(curves) - used,
        "n_train": trained,
        "n_test": tested,
        "models": rows,
    }


def _row(errors: Sequence[Array]) -> dict[str, float | None]:
    every = np.concatenate(list(errors))
    finite = every[np.isfinite(every)]
    shares = {"median": 50, "p90": 90, "p95": 95}
    known = {
        f"{name}_relative_error": float(np.percentile(finite, share)) if finite.size else None
        for name, share in shares.items()
    }
    return {**known, "failed": int(every.size - finite.size)}
