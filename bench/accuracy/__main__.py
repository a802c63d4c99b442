"""How far predictions of published measurements are off, beside every baseline: docs/reference/accuracy.md.

    .venv/bin/python bench/accuracy
    .venv/bin/python bench/accuracy --data FOLDER
    .venv/bin/python bench/accuracy --data FOLDER --only 'bcast 5 %' --again

Without --data it makes the page from the results at hand, docs/reference/accuracy.json. With it, it asks the
questions that have no result yet (--again: also those that have one), one after another, and keeps each result as
it comes; several may run at once. FOLDER holds the tables that `questions.py` names. A split takes about a minute
of a core, if linear algebra has one thread (OMP_NUM_THREADS=1).
"""

from __future__ import annotations

import argparse
import fcntl
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from sys import path as modules
from typing import Any, TextIO

import numpy as np
import pandas as pd

modules.insert(0, str(Path(__file__).parents[2]))

from bench.accuracy.page import EVERY_SECOND, PAGE, RESULTS, page
from bench.accuracy.questions import PAIRS, QUESTIONS, SEEDS, Question
from bench.baselines import register

from hockney.importers._collect import collect, write
from hockney.importers.base import Given
from hockney.machine.system import find_system
from hockney.models._evaluate import evaluate as evaluate_sizes
from hockney.predict import accuracy
from hockney.predict.estimators.base import ANSWER, Prediction
from hockney.predict.evaluate import EvaluatedPoints, compared, evaluate
from hockney.predict.split import Mask, select
from hockney.records import table
from hockney.records.series_of_table import default_statistic, series

PARTS = ("median", "p95")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the published tables")
    parser.add_argument("--only", action="append", metavar="QUESTION", help="this question (repeatable)")
    parser.add_argument("--again", action="store_true", help="also where there is a result")
    parser.add_argument("--splits", type=int, help="the first so many splits of each question")
    arguments = parser.parse_args()
    if arguments.data:
        register()
        for name in arguments.only or [*PAIRS, *QUESTIONS]:
            for label, ask in _splits(name, arguments.data)[: arguments.splits]:
                if label in _results().get(name, {}) and not arguments.again:
                    continue
                begin = time.monotonic()
                answer = ask()
                seconds = round(time.monotonic() - begin)
                _keep(name, label, {"date": date.today().isoformat(), "seconds": seconds, **answer})
                print(f"{name}, {label}: {seconds} s", flush=True)
    PAGE.write_text(page(_results()))


def _results() -> dict[str, Any]:
    with RESULTS.open("a+") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        return _read_from(held)


def _keep(name: str, label: str, answer: dict[str, Any]) -> None:
    """Enter the result of a split; other runs of this script may do so at the same time."""
    with RESULTS.open("a+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        results = _read_from(held)
        results.setdefault(name, {})[label] = answer
        held.truncate(0)
        held.write(json.dumps(results, indent=1, sort_keys=True) + "\n")


def _read_from(held: TextIO) -> dict[str, Any]:
    held.seek(0)
    text = held.read()
    results: dict[str, Any] = json.loads(text) if text else {}
    return results


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
    names = ("operation", "statistic", "train", "test", "n_train", "n_test", "n_common", "compared")
    return {
        **{name: getattr(result, name) for name in names},
        "models": _rows(evaluation, everything),
        "parts": {name: {"models": _rows(evaluation, mask)} for name, mask in chosen.items()},
        "lacking": _lacking(evaluation),
        "skipped": result.skipped,
    }


def _judging(evaluation: EvaluatedPoints) -> tuple[list[str], Mask]:
    """The models that are compared, and the answer in any case: where it refuses most, the page says so."""
    names, common = compared(evaluation.predictions, len(evaluation.test))
    return sorted({*names, ANSWER} & evaluation.predictions.keys()), common


def _rows(evaluation: EvaluatedPoints, part: Mask) -> dict[str, Any]:
    """Errors of each model that judges or is judged, on the points of a part that all of these predict."""
    names, common = _judging(evaluation)
    rows: dict[str, Any] = {}
    for name in names:
        prediction = evaluation.predictions[name]
        refused = {"refused": float(1 - np.isfinite(prediction.time_s[part]).mean())}
        rows[name] = _errors(evaluation, prediction, part & common) | refused
        if prediction.correction is not None:
            rows[name]["weight"] = float(prediction.correction.weight[part].max(initial=0.0))
            rows[f"{name}, not corrected"] = _errors(evaluation, _readable(prediction), part & common) | refused
    return rows


def _readable(prediction: Prediction) -> Prediction:
    """The readable model of a corrected one."""
    if prediction.correction is None:
        return prediction
    readable_s = prediction.correction.readable_s
    return replace(prediction, time_s=readable_s, low_s=readable_s * np.nan, high_s=readable_s * np.nan)


def _lacking(evaluation: EvaluatedPoints) -> dict[str, Any]:
    """Of each baseline that refuses too much to be compared, how much, and all errors where it predicts, too."""
    names, common = _judging(evaluation)
    found = {}
    for name, prediction in evaluation.predictions.items():
        if name in names:
            continue
        predicted = np.isfinite(prediction.time_s)
        here = predicted & common
        rows = {one: _errors(evaluation, evaluation.predictions[one], here) for one in (name, *names)}
        found[name] = {
            "refused": float(1 - predicted.mean()),
            "n_test": int(here.sum()),
            "models": rows if here.any() else {},
        }
    return found


def _errors(evaluation: EvaluatedPoints, prediction: Prediction, part: Mask) -> dict[str, Any]:
    measured_s = evaluation.test["time_s"].to_numpy(np.float64)
    errors = accuracy.errors(prediction.take(part), measured_s[part])
    names = [*(f"{name}_relative_error" for name in PARTS), "coverage_95", "median_half_width", "n_test"]
    return {name: getattr(errors, name) for name in names}


def _sizes(source: Path, seed: int) -> dict[str, Any]:
    """Ping-pongs; seed 0 holds out every second size, any other half of the inner ones."""
    frame = _read(source)
    curves = series(frame, "pingpong", default_statistic(frame, "pingpong"))
    random = np.random.default_rng(seed)

    def half(points: int) -> Mask:
        mask = np.zeros(points, dtype=np.bool_)
        mask[1 + random.permutation(points - 2)[: (points - 1) // 2]] = True
        return mask

    result = evaluate_sizes(curves, hold_out=half) if seed else evaluate_sizes(curves)
    rows = {name: row for name, row in result.models.items() if not row.series_failed}
    failed = {name: row.series_failed for name, row in result.models.items() if row.series_failed}
    assert result.corrected is not None, "the model that answers is among all models"
    rows |= {"interpolation": result.interpolation, "piecewise, corrected": result.corrected}
    names = [*(f"{part}_relative_error" for part in PARTS), "coverage_95"]
    return {
        **{name: getattr(result, name) for name in ("n_series", "n_train", "n_test")},
        "series_failed": failed,
        "models": {
            model: {name: getattr(row, name) for name in names} | {"refused": 0.0} for model, row in rows.items()
        },
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
