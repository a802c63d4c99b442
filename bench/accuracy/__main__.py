"""How far predictions of published measurements are off, beside every baseline: docs/reference/accuracy.md.

    .venv/bin/python bench/accuracy
    .venv/bin/python bench/accuracy --data FOLDER
    .venv/bin/python bench/accuracy --data FOLDER --only 'bcast 5 %' --again

Without --data it makes the page from the results at hand, docs/reference/accuracy.json. With it, it asks the
questions that have no result yet (--again: also those that have one), one after another, and keeps each result as
it comes. FOLDER holds the tables that `questions.py` names. A split takes two to ten minutes, all of them hours.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from sys import path as modules
from typing import Any

import numpy as np
import pandas as pd

modules.insert(0, str(Path(__file__).parents[2]))

from bench.accuracy.page import EVERY_SECOND, PAGE, RESULTS, page
from bench.accuracy.questions import PAIRS, QUESTIONS, SEEDS, Question

from hockney.importers._collect import collect, write
from hockney.importers.base import Given
from hockney.machine.system import find_system
from hockney.models._evaluate import evaluate as evaluate_sizes
from hockney.predict import accuracy
from hockney.predict.estimators.base import Prediction
from hockney.predict.evaluate import Evaluation, evaluate
from hockney.predict.split import select
from hockney.records import table
from hockney.records.series import default_statistic, series

PARTS = ("median", "p95")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the published tables")
    parser.add_argument("--only", action="append", metavar="QUESTION", help="this question (repeatable)")
    parser.add_argument("--again", action="store_true", help="also where there is a result")
    parser.add_argument("--splits", type=int, help="the first so many splits of each question")
    arguments = parser.parse_args()
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if arguments.data:
        for name in arguments.only or [*PAIRS, *QUESTIONS]:
            splits = results.setdefault(name, {})
            for label, ask in _splits(name, arguments.data)[: arguments.splits]:
                if label in splits and not arguments.again:
                    continue
                begin = time.monotonic()
                splits[label] = {"date": date.today().isoformat(), **ask()}
                RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
                print(f"{name}, {label}: {time.monotonic() - begin:.0f} s", flush=True)
    PAGE.write_text(page(results))


def _splits(name: str, data: Path) -> list[tuple[str, Callable[[], dict[str, Any]]]]:
    """Each split's label, and what answers it."""
    if name in PAIRS:
        of_pairs = [(str(seed), partial(_sizes, data / PAIRS[name], seed)) for seed in SEEDS]
        return [(EVERY_SECOND, partial(_sizes, data / PAIRS[name], 0)), *of_pairs]
    question = QUESTIONS[name]
    return [(str(seed), partial(_points, data, question, seed)) for seed in question.seeds]


def _points(data: Path, question: Question, seed: int) -> dict[str, Any]:
    frame = table.load(data / question.table)
    evaluation = evaluate(
        frame,
        question.operation,
        question.train.format(seed=seed),
        question.test.format(seed=seed),
        statistic=question.statistic,
        system=find_system(question.system),
    )
    result = evaluation.result
    everything = np.ones(len(evaluation.test), dtype=np.bool_)
    chosen = {name: select(evaluation.test, words) for name, words in question.parts.items()}
    return {
        **{name: result[name] for name in ("train", "test", "n_train", "n_test", "n_common", "best_baseline")},
        "models": _rows(evaluation, everything),
        "parts": {name: _rows(evaluation, mask) for name, mask in chosen.items()},
        "skipped": {name: row["skipped"] for name, row in result["models"].items() if "skipped" in row},
    }


def _rows(evaluation: Evaluation, mask: np.ndarray[Any, np.dtype[np.bool_]]) -> dict[str, Any]:
    """Errors of each model on a part of the test points, the readable part of a corrected one beside it."""
    measured_s = evaluation.test["time_s"].to_numpy(np.float64)[mask]
    rows = {}
    for name, prediction in evaluation.predictions.items():
        part = prediction.take(mask)
        rows[name] = _errors(part, measured_s)
        if part.correction is not None:
            readable_s = part.correction.readable_s
            alone = replace(part, time_s=readable_s, low_s=readable_s * np.nan, high_s=readable_s * np.nan)
            rows[f"{name}, not corrected"] = _errors(alone, measured_s)
            rows[name]["weight"] = float(part.correction.weight.max(initial=0.0))
    return rows


def _errors(prediction: Prediction, measured_s: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, Any]:
    errors = accuracy.errors(prediction, measured_s)
    names = [*(f"{part}_relative_error" for part in PARTS), "coverage_95", "failed", "n_test"]
    return {name: errors[name] for name in names}


def _sizes(source: Path, seed: int) -> dict[str, Any]:
    """Ping-pongs; seed 0 holds out every second size, any other half of the inner ones."""
    frame = _read(source)
    curves = series(frame, "pingpong", default_statistic(frame, "pingpong"))
    random = np.random.default_rng(seed)

    def half(points: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
        mask = np.zeros(points, dtype=np.bool_)
        mask[1 + random.permutation(points - 2)[: (points - 1) // 2]] = True
        return mask

    result = evaluate_sizes(curves, hold_out=half) if seed else evaluate_sizes(curves)
    rows = {name: row for name, row in result["models"].items() if row["median_relative_error"] is not None}
    rows |= {"interpolation": result["interpolation"], "piecewise, corrected": result["corrected"]}
    names = [*(f"{part}_relative_error" for part in PARTS), "coverage_95"]
    return {
        **{name: result[name] for name in ("n_series", "n_train", "n_test", "best_baseline")},
        "models": {model: {name: row[name] for name in names} for model, row in rows.items()},
    }


def _read(source: Path) -> pd.DataFrame:
    """A tidy table, or a folder of other benchmarks' results."""
    if source.is_file():
        return table.load(source)
    with tempfile.TemporaryDirectory() as folder:
        campaign = write(collect([source], Given()), Path(folder) / "campaign", Given())
        return table.load(campaign.path)


if __name__ == "__main__":
    main()
