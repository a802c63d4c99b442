"""`hockney evaluate`: measure how well each model predicts points it has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hockney import api
from hockney.options.evaluate import EvaluateOptions
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.units import counted, percent


@verb(
    "evaluate",
    examples="""
hockney evaluate campaign --operation pingpong
hockney evaluate table.csv.gz --operation pingpong --model piecewise --model hockney --json
hockney evaluate table.csv.gz --operation bcast --train 'ranks <= 64' --test 'ranks > 64' --figure bcast.png
hockney evaluate table.csv.gz --operation reduce --train 'sample(0.05, seed=1)' --by mapping
""",
)
def evaluate(options: EvaluateOptions, as_json: JsonOption = False) -> None:
    """Fit each model to a part of what was measured and print its errors on the rest.

    The best baseline comes first: the most accurate of the simple methods that `hockney predict` does not use.
    Selecting a model that it does use (`piecewise`, `simulated`, `combination`) prints all baselines, too.

    Point to point: every second size of each series is held out, the first and the last never. A series is one
    source, system, MPI, mapping and rank pair. Quantiles are over the held-out sizes of all series. `nonphysical`
    counts fits with a negative parameter. `corrected` is what `hockney predict` answers.

    A collective: --train and --test select points by columns of the table, or at random:
    `ranks <= 64 and mapping in ['core', 'node']`, or `sample(0.05, seed=1)`. `failed` counts points that a model
    cannot predict. `regret` is the extra time of the algorithm that it thinks fastest, over that of the fastest.

    The error of a point is |predicted − measured| / measured. `coverage` is the share of held-out points inside
    the 95 % prediction interval.
    """
    with say.progress(quiet=as_json or not (options.train or options.test)) as progress:
        evaluation = api.evaluate_options(options, progress)
    if as_json:
        say.json(evaluation.result)
    elif evaluation.points is not None:
        _show_estimators(evaluation.points.result, options.by)
    elif evaluation.messages is not None:
        _show_messages(evaluation.messages, evaluation.rows)
    judged = evaluation.result
    concerns = getattr(judged, "shortfalls", ()), getattr(judged, "warnings", ()), evaluation.warnings
    say.warnings(text for texts in concerns for text in texts)


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)


class _ErrorLine(NamedTuple):
    """A model, or a part of what it was judged on."""

    name: str
    errors: api.RelativeErrors | None = None
    regret: api.Regret | None = None


def _count(name: str) -> Column:
    """A whole number of a line's errors; nothing where it has none of that name."""
    heading = name.removeprefix("series_")
    return Column(heading, lambda line: getattr(line.errors, name, ""), is_number=True)


def _error(heading: str, name: str) -> Column:
    return Column(heading, lambda line: _share(getattr(line.errors, name)) if line.errors else "", is_number=True)


def _regret(heading: str, name: str) -> Column:
    return Column(heading, lambda line: _share(getattr(line.regret, name)) if line.regret else "", is_number=True)


QUANTILES = (
    Column("model", "name"),
    _error("median", "median_relative_error"),
    _error("P90", "p90_relative_error"),
    _error("P95", "p95_relative_error"),
)
COVERAGE = _error("coverage", "coverage_95")


def _show_messages(result: api.MessagesEvaluation, rows: Mapping[str, api.RelativeErrors]) -> None:
    title = f"{result.operation}, {result.statistic}: errors on {result.n_test} held-out points"
    columns = (*QUANTILES, COVERAGE, _count("nonphysical"), _count("series_failed"))
    _say_first(next((name for name in ANSWERS if name in rows), ""), rows, result.best_baseline)
    say.rows(title, [_ErrorLine(*row) for row in rows.items()], columns)
    skipped = f", {result.n_skipped} with fewer than three sizes skipped" if result.n_skipped else ""
    say.line(f"{result.n_series} series{skipped}; {counted(result.n_train, 'point')} to fit")
    for name, row in rows.items():
        if why := getattr(row, "why", ""):
            say.line(f"{name} failed: {why}")


ANSWERS = ("piecewise, corrected", "piecewise", "simulated")
"""The models by which `hockney predict` answers, the one that counts first."""


def _say_first(
    name: str,
    rows: Mapping[str, api.RelativeErrors | None],
    best: api.BestBaseline | api.BestEstimator | None,
    where: str = "",
) -> None:
    """The error of the model that answers beside that of the strongest baseline."""
    own = rows.get(name)
    parts = []
    if own is not None and own.median_relative_error is not None:
        within = _share(own.p95_relative_error)
        parts.append(f"{name}: off by {_share(own.median_relative_error)} in the median (P95 {within})")
    if best is not None:
        parts.append(f"The strongest baseline, {best.name}: {_share(best.median_relative_error)}")
    if parts:
        say.line((". ".join(parts) + where + ".", "bold"))


def _common(result: api.CollectiveEvaluation) -> str:
    return f"{counted(result.n_common, 'point')} of {result.n_test} ({_share(result.n_common / result.n_test)})"


def _lines(result: api.CollectiveEvaluation, by: str) -> list[_ErrorLine]:
    """Each model, what it is where it is not corrected, and the parts that were asked for."""
    lines = []
    best = result.best_baseline and result.best_baseline.name
    for name, row in sorted(result.judged.items(), key=lambda item: item[0] != best):
        lines.append(_ErrorLine(name, row, row.regret))
        if row.correction is not None:
            lines.append(_ErrorLine("  not corrected", row.correction.readable))
        parts = getattr(row, f"by_{by}") if by else {}
        lines += [_ErrorLine(f"  {part or '(unknown)'}", errors) for part, errors in parts.items()]
    return lines


def _show_estimators(result: api.CollectiveEvaluation, by: str) -> None:
    name = "simulated" if "simulated" in {*result.compared} - result.skipped.keys() else "combination"
    own = result.judged.get(name)
    _say_first(name, {name: own and own.common}, result.best_baseline, f", on {_common(result)}")
    default, always = result.references.default, result.references.best_in_training
    choices = [
        _ErrorLine("(library's default)", None, default),
        _ErrorLine("(always the best in training)", None, always),
    ]
    lines = [*_lines(result, by), *(line for line in choices if line.regret and line.regret.instances)]
    title = f"{result.operation}, {result.statistic}: errors on {counted(result.n_test, 'point')} never seen"
    columns = (*QUANTILES, COVERAGE, _count("failed"), _regret("regret", "mean"), _regret("P95 regret", "p95"))
    say.rows(title, lines, columns)
    say.line(f"{result.n_train} points to fit; algorithms scored: {', '.join(result.algorithms) or 'none'}")
    compared = {name: result.judged[name].common for name in result.compared}
    if len(compared) > 1 and 0 < result.n_common < result.n_test:
        medians = (f"{name} {_share(common.median_relative_error)}" for name, common in compared.items())
        say.line(f"median on the {_common(result)} that all predict: {', '.join(medians)}")
    for name, row in result.judged.items():
        if name not in compared:
            _say_not_compared(name, row, result)
    for name, why in result.not_scored.items():
        say.line(f"not scored: {name}: {why}")
    notes = {name: row.notes for name, row in result.judged.items()}
    notes |= {name: [why] for name, why in result.skipped.items()}
    for name in result.models:
        for note in notes[name]:
            say.line(f"{name}: {note}")


def _say_not_compared(name: str, row: api.JudgedEstimator, result: api.CollectiveEvaluation) -> None:
    """How much a model refuses, or, of the one that answers, how it does on the few points that all predict."""
    predicted = f"not compared: {name}: it predicts {row.n_test - row.failed} of {counted(row.n_test, 'point')}"
    median = row.common.median_relative_error
    if name == "simulated" and median is not None:
        predicted += f"; median on the {_common(result)} that it and all compared predict: {_share(median)}"
    say.line(predicted)
