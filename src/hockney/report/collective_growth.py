"""Models over all allocations, steps and crossover sizes of collectives: figure, tables, findings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hockney.models.over_ranks.crossovers import Crossover, winners
from hockney.models.over_ranks.growth import CONVINCING, SIMULATED, Coefficient, Model, ModelChoice
from hockney.predict.reproduced import PARTS
from hockney.report.collective_analysis import ALL, AlgorithmGrowth, Analysis, ExplainedStep
from hockney.report.collective_figures import between, ranks_axis
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import Axis, Chart, Line, Mark, Panel
from hockney.report.findings import Finding
from hockney.report.marks import percent
from hockney.report.style import Style
from hockney.report.tables import NONE, Cells, Table, held, table_of
from hockney.units import format_bytes

FORM_WORDS = {
    "linear": "linear",
    "quadratic": "quadratic, scaled",
    "logarithmic": "logarithmic",
    "log_quadratic": "exponential of a parabola",
    "schedule": "rounds of the schedule",
    "simulated": "simulation of the procedure",
}
BINARY = ("B", "KiB", "MiB", "GiB")
MOST_CHANGES = 4
"""Most changes of the fastest algorithm that one sentence names; more are in the table."""
COLUMNS = 3
"""Panels beside each other in the figure of the algorithms."""
MOST_ALGORITHMS = 9
MOST_MARKED = 24
"""Points of a curve that are told apart by markers."""
# Allocations are no algorithms: their colours, dark to light, are none of the algorithms'.
ALLOCATIONS = (
    Style("#3b0f70", (), "o"),
    Style("#b5367a", (4, 1.5), "s"),
    Style("#f1a340", (1.2, 1.2), "^"),
    Style("#5a8f29", (5, 1.5, 1.2, 1.5), "D"),
    Style("#8a8a8a", (2, 1), "v"),
    Style("#1b7f79", (8, 1.4, 2.5, 1.4), "P"),
    Style("#d95f02", (3, 1.2), "X"),
)
POOLING = (
    "One model for all allocations of an algorithm assumes that an allocation multiplies the time by a constant "
    "at most, and that the relative error is the same everywhere; the column of the allocations says where AICc "
    "contradicts. A cause is what the simulation of the benchmark's procedure needs to have the step, too."
)
"""What the tables of models and steps rest on."""


def by_algorithm(operation: str, growths: Sequence[AlgorithmGrowth], names: Sequence[str]) -> list[Drawing]:
    """A figure for each size and configuration: a panel for each algorithm, a line for each allocation.

    Wide pale lines are the preferred model, dotted vertical lines the steps. `names` are the columns that name
    the configuration.
    """
    together: dict[tuple[int, str], list[AlgorithmGrowth]] = {}
    for growth in growths:
        words = growth.algorithm.held.words([name for name in names if name not in ("mapping", "nodes", "ppn")])
        together.setdefault((growth.algorithm.size_B, words), []).append(growth)
    return [
        _figure(operation, size_B, words, own, number)
        for number, ((size_B, words), own) in enumerate(together.items())
    ]


def _figure(operation: str, size_B: int, words: str, growths: Sequence[AlgorithmGrowth], number: int) -> Drawing:
    shown = growths[:MOST_ALGORITHMS]
    allocations = list(dict.fromkeys(name for growth in shown for name in growth.algorithm.points))
    look = {name: ALLOCATIONS[i % len(ALLOCATIONS)] for i, name in enumerate(allocations)}
    x = ranks_axis([growth.algorithm.ranks(name) for growth in shown for name in growth.algorithm.points])
    panels = [_panel(growth, look, x) for growth in shown]
    columns = min(COLUMNS, len(shown))
    rows = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    left = len(growths) - len(shown)
    return Drawing(
        f"{operation}-by-algorithm-{size_B}" + (f"-{number + 1}" if words else ""),
        f"{operation} of {format_bytes(size_B)}: each algorithm, a line for each allocation.",
        f"{operation} of {format_bytes(size_B)}{f', {words}' if words else ''}: time against ranks, a panel for "
        f"each of {', '.join(growth.algorithm.label for growth in shown)}, a line for each of "
        f"{', '.join(allocations)}",
        "Wide and pale: the model of all allocations, each at its own level where they differ. Dotted: a step, "
        "with what reproduces it." + (f" {left} more algorithms are in the tables." if left else ""),
        Chart(rows, 0.8 + 2.9 * len(rows), shared="all"),
    )


def _panel(growth: AlgorithmGrowth, look: Mapping[str, Style], x: Axis) -> Panel:
    algorithm = growth.algorithm
    lines = []
    for name in algorithm.points:
        ranks = algorithm.ranks(name)
        dots = 3.0 if ranks.size <= MOST_MARKED else 0.0
        lines.append(Line(name, ranks, algorithm.time_s(name), style=look[name], width=1.0, dots=dots))
        if growth.choice is not None:
            time_s = growth.choice.preferred.at_s(growth.curves[name])
            pale = Style(look[name].colour, (), "")
            lines.append(Line("", ranks, time_s, style=pale, width=4.0, opacity=0.25, order=1.5))
    marked: dict[int, list[ExplainedStep]] = {}
    for step in growth.steps:
        marked.setdefault(step.candidate.after, []).append(step)
    marks = [
        Mark(
            between(x, steps[0].candidate.before, after),
            f"{steps[0].candidate.before}: {', '.join(dict.fromkeys(map(cause_word, steps)))}",
            width=0.9,
            place="foot",
        )
        for after, steps in marked.items()
    ]
    title = algorithm.label
    if growth.choice is not None:
        best = growth.choice.preferred
        title += f": {FORM_WORDS[best.form]}, off by {percent(best.deviation)}"
    return Panel(
        lines,
        x,
        Axis("time in µs", "log", 1e-6, values=np.concatenate([algorithm.time_s(n) for n in algorithm.points])),
        title,
        marks,
    )


PART_WORDS = {
    "barrier": "the benchmark's barrier",
    "level": "the level of the machine that begins",
    "protocol": "the library's protocol",
    "schedule": "the algorithm's own messages",
}
WHY_WORDS = {
    "power_of_two": "power of two",
    "cache": "a cache is full",
    "numa": "a NUMA domain is full",
    "package": "another package begins",
    "node": "another node begins",
    "protocol": "a rank's block falls below a limit of the library's protocols",
    "segments": "a rank's block has fewer segments",
}
NOT_EXPLAINED = "not explained"


def cause_word(one: ExplainedStep) -> str:
    """The cause of a step in a word or two."""
    causes = one.explanation.causes
    return " + ".join("own messages" if cause == "schedule" else cause for cause in causes) or NOT_EXPLAINED


def cause(one: ExplainedStep) -> str:
    """The cause of a step in words, with the ratios that tell it."""
    made, without = one.explanation.simulated, one.explanation.without
    if made is None:
        return f"{NOT_EXPLAINED}: nothing simulates it"
    ratios = f"simulated × {made:.2f}"
    if not one.explanation.causes:
        return f"{NOT_EXPLAINED} ({ratios})"
    told = [
        f"× {without[part]:.2f} without {'it' if len(one.explanation.causes) == 1 else PART_WORDS[part]}"
        for part in PARTS
        if part in one.explanation.causes and part in without
    ]
    words = " and ".join(PART_WORDS[name] for name in one.explanation.causes)
    return f"{words} ({', '.join([ratios, *told])})"


def _allocated(names: Sequence[str]) -> list[str]:
    """Columns that name a configuration, without what makes an allocation."""
    return [name for name in names if name not in ("mapping", "nodes", "ppn")]


def step_table(operation: str, analysis: Analysis, names: Sequence[str]) -> Table:
    """Each step with its cause."""
    columns: list[Cells[ExplainedStep]] = [
        Cells("algorithm", lambda one: one.algorithm.label, is_text=True),
        *held(_allocated(names), lambda one: one.algorithm.held),
        Cells("size", lambda one: format_bytes(one.algorithm.size_B)),
        Cells("allocation", lambda one: one.allocation, is_text=True),
        Cells("between ranks", lambda one: f"{one.candidate.before} → {one.candidate.after}"),
        Cells(
            "step (95 % interval)",
            lambda one: f"× {one.step.ratio:.2f} ({one.step.low:.2f} … {one.step.high:.2f})",
        ),
        Cells(
            "what is there", lambda one: "; ".join(WHY_WORDS[word] for word in one.candidate.why), is_text=True
        ),
        Cells("cause", cause, is_text=True),
    ]
    steps = [one for growth in analysis.growths for one in growth.steps]
    return table_of(f"Steps of {operation} against ranks, and their causes", steps, columns, f"{operation}-steps")


Chosen = tuple[AlgorithmGrowth, ModelChoice]


def _chosen(analysis: Analysis) -> list[Chosen]:
    return [(growth, growth.choice) for growth in analysis.growths if growth.choice is not None]


def model_table(operation: str, analysis: Analysis, names: Sequence[str]) -> Table:
    """The preferred model of each algorithm."""
    columns: list[Cells[Chosen]] = [
        Cells("algorithm", lambda row: row[0].algorithm.label, is_text=True),
        *held(_allocated(names), lambda row: row[0].algorithm.held),
        Cells("size", lambda row: format_bytes(row[0].algorithm.size_B)),
        Cells("model", lambda row: FORM_WORDS[row[1].preferred.form], is_text=True),
        Cells("T in µs, P = ranks", lambda row: row[1].preferred.formula, is_text=True),
        Cells("adjusted R²", lambda row: f"{row[1].preferred.adjusted_r2:.4f}"),
        Cells("typical error", lambda row: percent(row[1].preferred.deviation)),
        Cells("P (points)", lambda row: _range(row[1].preferred)),
        Cells("allocations", lambda row: allocations_told(row[1]), is_text=True),
        Cells("next best (AICc)", lambda row: _second(row[1]), is_text=True),
    ]
    title = f"One model for each algorithm of {operation} over all allocations"
    return table_of(title, _chosen(analysis), columns, f"{operation}-models")


def _range(model: Model) -> str:
    return f"{model.first} … {model.last} ({model.points})"


def _second(choice: ModelChoice) -> str:
    """The best of the other forms, and by how much it is worse."""
    best = choice.preferred
    second = next((model for model in choice.models if model.form != best.form), None)
    return NONE if second is None else f"{FORM_WORDS[second.form]} (+{second.aicc - best.aicc:.1f})"


def allocations_told(choice: ModelChoice) -> str:
    """Whether the allocations differ, in words."""
    if len(choice.allocations) < 2:
        return f"{choice.allocations[0]} only"
    factors = choice.preferred.factors
    if not factors:
        words = "one curve for all"
    else:
        words = f"beside {choice.allocations[0]}: " + ", ".join(map(_factor, factors.values()))
    if choice.shape_gain is not None and choice.shape_gain > CONVINCING:
        words += "; they differ in shape, too"
    return words


def _factor(one: Coefficient) -> str:
    return f"{one.term} × {one.value:.2f} ({one.low:.2f} … {one.high:.2f})"


def every_model_table(operation: str, analysis: Analysis) -> Table:
    """All forms of all algorithms, for the folded part."""
    columns: list[Cells[tuple[AlgorithmGrowth, Model, float]]] = [
        Cells("algorithm", lambda row: row[0].algorithm.label, is_text=True),
        Cells("size", lambda row: format_bytes(row[0].algorithm.size_B)),
        Cells("form", lambda row: FORM_WORDS[row[1].form], is_text=True),
        Cells(
            "allocations",
            lambda row: ", ".join(map(_factor, row[1].factors.values())) or "one curve",
            is_text=True,
        ),
        Cells("T in µs", lambda row: row[1].formula, is_text=True),
        Cells("adjusted R²", lambda row: f"{row[1].adjusted_r2:.4f}"),
        Cells("adjusted R² of ln T", lambda row: f"{row[1].adjusted_r2_ln:.4f}"),
        Cells("typical error", lambda row: percent(row[1].deviation)),
        Cells("AICc above the best", lambda row: f"{row[1].aicc - row[2]:.1f}"),
    ]
    rows = [
        (growth, model, choice.preferred.aicc) for growth, choice in _chosen(analysis) for model in choice.models
    ]
    return table_of(f"All models of {operation}", rows, columns)


def crossover_table(operation: str, analysis: Analysis, names: Sequence[str]) -> Table:
    """From which size on an algorithm is faster than another, of every two."""
    columns: list[Cells[Crossover]] = [
        *held(names, lambda one: one.configuration),
        Cells("ranks", lambda one: str(one.ranks)),
        Cells("this", lambda one: one.larger, is_text=True),
        Cells("is faster than", lambda one: one.smaller, is_text=True),
        Cells("from", lambda one: _about(one.at_B)),
        Cells("between", lambda one: f"{format_bytes(one.low_B)} … {format_bytes(one.high_B)}"),
        Cells("up to", lambda one: format_bytes(one.last_B)),
    ]
    title = f"Crossover sizes of {operation} on the most ranks measured"
    return table_of(title, analysis.crossovers, columns, f"{operation}-crossovers")


def from_size(one: Crossover) -> str:
    """`from about 5 KiB on (between 4 KiB and 8 KiB)`."""
    between = f"between {format_bytes(one.low_B)} and {format_bytes(one.high_B)}"
    return f"from about {_about(one.at_B)} on ({between})"


def _about(size_B: float) -> str:
    """Two digits, as sizes between those measured are known."""
    power = min(int(math.log(max(size_B, 1.0), 1024)), 3)
    number = size_B / 1024.0**power
    return f"{number:.0f} {BINARY[power]}" if number >= 10 else f"{number:.1f} {BINARY[power]}"


def findings(analysis: Analysis, measured: Any, names: Sequence[str]) -> list[Finding]:
    """Who wins from which size, which model is preferred, what steps and why, and what could not be told."""
    found: list[Finding] = []
    for (configuration, ranks), changes in winners(measured, analysis.crossovers).items():
        first = changes[0]
        parts = [f"{one.larger} outperforms {one.smaller} {from_size(one)}" for one in changes[:MOST_CHANGES]]
        if len(changes) > MOST_CHANGES:
            parts.append(f"{len(changes) - MOST_CHANGES} more changes are in the table")
        where = f"{ranks} ranks{f', {words}' if (words := configuration.words(names)) else ''}"
        text = f"{analysis.operation} on {where}: {first.smaller} is fastest at small sizes; {'; '.join(parts)}."
        found.append(Finding(text, f"{analysis.operation}-crossovers", 0.7, "crossovers"))
    for growth in analysis.growths:
        if growth.choice is None:
            continue
        found.append(Finding(_model_sentence(growth, growth.choice), f"{analysis.operation}-models", 0.5))
    for growth in analysis.growths:
        for one in growth.steps:
            if one.allocation != ALL and any(
                other.allocation == ALL and other.candidate == one.candidate for other in growth.steps
            ):
                continue
            weight = 0.7 if one.explanation.causes else 0.6
            found.append(Finding(_step_sentence(one), f"{analysis.operation}-steps", weight))
    untold = sorted({one.before for growth in analysis.growths for one in growth.searched.untested})
    if untold:
        text = f"{analysis.operation}: whether there is a step at {_listed(untold)} ranks could not be told, "
        found.append(Finding(text + "for want of points beside it.", analysis.operation, 0.2))
    return found


def _model_sentence(growth: AlgorithmGrowth, choice: ModelChoice) -> str:
    best, algorithm = choice.preferred, growth.algorithm
    model: Model = best if best.form != SIMULATED else choice.without_one_by_hand()
    simulated = (
        f" (the simulation of the procedure is nearer still: {percent(best.deviation)})"
        if model is not best
        else ""
    )
    return (
        f"{algorithm.operation} {algorithm.label}, {format_bytes(algorithm.size_B)}: {FORM_WORDS[model.form]}, "
        f"T = {model.formula} µs, is off by {percent(model.deviation)} (adjusted R² {model.adjusted_r2:.3f})"
        f"{simulated}; allocations: {allocations_told(choice)}."
    )


def _step_sentence(one: ExplainedStep) -> str:
    algorithm = one.algorithm
    where = "all allocations" if one.allocation == ALL else f"allocation {one.allocation}"
    return (
        f"{algorithm.operation} {algorithm.label}, {format_bytes(algorithm.size_B)}, {where}: from "
        f"{one.candidate.before} to {one.candidate.after} ranks the time steps by × {one.step.ratio:.2f} "
        f"({one.step.low:.2f} … {one.step.high:.2f}): {cause(one)}."
    )


def _listed(numbers: Sequence[int]) -> str:
    words = [str(number) for number in numbers]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
