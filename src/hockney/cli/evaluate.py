"""`hockney evaluate`: how well each model predicts what it has not seen, sizes or whole points."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field
from rich.table import Table

from hockney.errors import RequestError
from hockney.fields import Option, flags_written
from hockney.options.measured import MeasuredData
from hockney.records.keys import COLLECTIVES, POINT_TO_POINT
from hockney.registry import unit_files
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later

with later():
    from hockney.api.evaluation import evaluate as evaluated
    from hockney.predict.estimators.base import ANSWER
    from hockney.records import table


class EvaluateOptions(MeasuredData):
    """What is predicted from what, by which models, and where the errors go."""

    operation: Annotated[str, Option(known=lambda: (*POINT_TO_POINT, *COLLECTIVES, *applications()))] = "pingpong"
    statistic: Annotated[str, Option("[default: the first of those in the table]")] = ""
    models: Annotated[
        list[str],
        Option(
            "Only this one, or several; with the one that answers, all baselines.",
            flags=("--model",),
            read=str,
            repeat=True,
            commas=True,
        ),
    ] = Field(default_factory=list)
    train: Annotated[str, Option("Points of a collective to learn from, for example 'ranks <= 64'.")] = ""
    test: Annotated[str, Option("Points to predict; left out: all others.")] = ""
    system: Annotated[str, Option("A known one, or a JSON file that describes it.")] = ""
    seed: Annotated[int, Option("By sample() where it names none.")] = 1
    by: Annotated[
        Literal["", "algorithm", "mapping"], Option("Give the errors of each `algorithm` or each `mapping`.")
    ] = ""
    predictions: Annotated[
        Path | None, Option("Write every test point with its predictions (.csv, .csv.gz, .parquet).")
    ] = None
    figure: Annotated[Path | None, Option("Predicted against measured times.")] = None


def applications() -> list[str]:
    """Names of applications, whose runs are no rows of a table."""
    return unit_files("hockney.apps.{}.section")


OF_COLLECTIVES = ("system", "by", "predictions", "figure")
"""Options that need --train or --test."""


@verb(
    "evaluate",
    examples="""
hockney evaluate campaign --operation pingpong
hockney evaluate table.csv.gz --operation pingpong --model piecewise --model hockney --json
hockney evaluate table.csv.gz --operation bcast --train 'ranks <= 64' --test 'ranks > 64' --figure bcast.png
hockney evaluate table.csv.gz --operation reduce --train 'sample(0.05, seed=1)' --by mapping
hockney evaluate rings --operation ring
""",
)
def evaluate(options: EvaluateOptions, as_json: JsonOption = False) -> None:
    """Fit each model to a part of what was measured and print its errors on the rest.

    The best baseline comes first: of the models by which `hockney predict` does not answer, the one with the
    smallest median error, for a collective on the points that all predict. Errors of the model that answers
    (`piecewise`, `simulated`) never stand alone: --model
    with it adds all baselines.

    Point to point: every second size of each series is held out. A series is one source, system, MPI, mapping and
    rank pair. Its sizes are sorted; those at odd positions are held out, the first and the last never. Quantiles
    are over the held-out sizes of all series. `nonphysical` counts fits with a negative parameter. Interpolation
    between the neighbouring sizes stands beside the models. `corrected` is what `hockney predict` answers.

    A collective: --train and --test say which points the models see and which they are asked for, by columns of
    the table (`ranks <= 64 and mapping in ['core', 'node']`) or at random (`sample(0.05, seed=1)`). `failed`
    counts points that a model cannot predict, `regret` is what it costs to run the algorithm that it thinks
    fastest instead of the one that is.

    A ring: every second number of processes is held out, and foretold by the lines between breaks.

    The error of a point is |predicted − measured| / measured; `coverage` is the share of held-out points inside
    the 95 % prediction interval.
    """
    if options.operation == "ring":
        for name, called in flags_written(options).items():
            if name not in ("campaign", "operation"):
                raise RequestError(f"{called} means nothing for a ring", "leave it out")
    is_split = bool(options.train.strip() or options.test.strip())
    unfit = [called for name, called in flags_written(options).items() if name in OF_COLLECTIVES]
    if unfit and not is_split and options.operation not in applications():
        raise RequestError(f"{unfit[0]} needs --train or --test", "for example --train 'ranks <= 64'")
    with say.progress(quiet=as_json or not is_split) as progress:
        evaluation = evaluated(
            options.campaign,
            options.operation,
            train=options.train,
            test=options.test,
            models=options.models,
            statistic=options.statistic,
            system=options.system,
            seed=options.seed,
            progress=progress,
            warn=say.warn,
        )
    if options.predictions:
        table.write(evaluation.predictions, options.predictions)
    if options.figure:
        evaluation.write_figure(options.figure)
    if as_json:
        say.json(evaluation.result)
    elif options.operation == "ring":
        _show_rings(evaluation.result)
    elif is_split:
        _show_estimators(evaluation.result, options.by)
    else:
        _show_models(evaluation.result)


def _show_models(result: dict[str, Any]) -> None:
    operation, statistic = result["operation"], result["statistic"]
    shown = Table(title=f"{operation}, {statistic}: errors on {result['n_test']} held-out points", box=None)
    for heading in ("model", "median", "P90", "P95", "coverage", "nonphysical", "failed"):
        shown.add_column(heading, justify="left" if heading == "model" else "right")
    rows = {"interpolation": result["interpolation"], **result["models"]}
    if result["corrected"]:
        rows[f"{result['corrected']['model']}, corrected"] = result["corrected"]
    for name in _best_first(rows, result["best_baseline"]):
        row = rows[name]
        shown.add_row(name, *_errors(row), str(row["nonphysical"]), str(row["series_failed"]))
    _say_best_baseline(result)
    say.table(shown)
    skipped = f", {result['n_skipped']} with fewer than three sizes skipped" if result["n_skipped"] else ""
    say.line(f"{result['n_series']} series{skipped}; {result['n_train']} points to fit")
    for sentence in result["shortfalls"]:
        say.warn(sentence)


def _show_rings(result: dict[str, Any]) -> None:
    shown = Table(title=f"ring: errors on {result['n_test']} numbers of processes left out", box=None)
    for heading in ("model", "median", "P90", "P95", "failed"):
        shown.add_column(heading, justify="left" if heading == "model" else "right")
    for name in _best_first(result["models"], result["best_baseline"]):
        row = result["models"][name]
        parts = [_share(row[f"{part}_relative_error"]) for part in ("median", "p90", "p95")]
        shown.add_row(name, *parts, str(row["failed"]))
    _say_best_baseline(result)
    say.table(shown)
    skipped = f", {result['n_skipped']} too short and skipped" if result["n_skipped"] else ""
    say.line(f"{result['n_series']} curves{skipped}; {result['n_train']} points to fit")


def _best_first(names: Iterable[str], best: dict[str, Any] | None) -> list[str]:
    """Names of rows, that of the best baseline first."""
    return sorted(names, key=lambda name: best is None or name != best["name"])


def _say_best_baseline(result: dict[str, Any], where: str = "") -> None:
    if best := result["best_baseline"]:
        say.line(f"best baseline: {best['name']}, median error {_share(best['median_relative_error'])}{where}")


def _common(result: dict[str, Any]) -> str:
    count, every = result["n_common"], result["n_test"]
    return f"{count} points of {every} ({_share(count / every)})"


def _say_not_compared(name: str, row: dict[str, Any], result: dict[str, Any]) -> None:
    """How much a model refuses, or, of the one that answers, how it does on the few points that all predict."""
    predicted = f"not compared: {name}: it predicts {row['n_test'] - row['failed']} of {row['n_test']} points"
    median = row["common"]["median_relative_error"]
    if name == ANSWER and median is not None:
        predicted += f"; median on the {_common(result)} that it and all compared predict: {_share(median)}"
    say.line(predicted)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _errors(row: dict[str, Any]) -> list[str]:
    parts = [f"{part}_relative_error" for part in ("median", "p90", "p95")]
    return [_share(row[key]) for key in (*parts, "coverage_95")]


def _show_estimators(result: dict[str, Any], by: str) -> None:
    for warning in result["warnings"]:
        say.warn(warning)
    title = f"{result['operation']}, {result['statistic']}: errors on {result['n_test']} points never seen"
    shown = Table(title=title, box=None)
    for heading in ("model", "median", "P90", "P95", "coverage", "failed", "regret", "P95 regret"):
        shown.add_column(heading, justify="left" if heading == "model" else "right")
    for name in _best_first(result["models"], result["best_baseline"]):
        row = result["models"][name]
        if "skipped" in row:
            continue
        regret = [_share(row["regret"][key]) for key in ("mean", "p95")]
        shown.add_row(name, *_errors(row), str(row["failed"]), *regret)
        if row["correction"]:
            shown.add_row("  not corrected", *_errors(row["correction"]["readable"]), "", "", "")
        for part, numbers in row.get(f"by_{by}", {}).items():
            shown.add_row(f"  {part or '(unknown)'}", *_errors(numbers), str(numbers["failed"]), "", "")
    for name, words in (("default", "library's default"), ("best_in_training", "always the best in training")):
        row = result["references"][name]
        if row["instances"]:
            shown.add_row(f"({words})", *[""] * 5, *(_share(row[key]) for key in ("mean", "p95")))
    _say_best_baseline(result, f" on {_common(result)}")
    say.table(shown)
    say.line(f"{result['n_train']} points to fit; algorithms scored: {', '.join(result['algorithms']) or 'none'}")
    rows = {name: result["models"][name] for name in result["compared"]}
    if len(rows) > 1 and 0 < result["n_common"] < result["n_test"]:
        medians = (f"{name} {_share(row['common']['median_relative_error'])}" for name, row in rows.items())
        say.line(f"median on the {_common(result)} that all predict: {', '.join(medians)}")
    for name, row in result["models"].items():
        if "skipped" not in row and name not in rows:
            _say_not_compared(name, row, result)
    for name, why in result["not_scored"].items():
        say.line(f"not scored: {name}: {why}")
    for name, row in result["models"].items():
        for note in [row["skipped"]] if "skipped" in row else row["notes"]:
            say.line(f"{name}: {note}")
