"""Answers about a collective: who is fastest where, what the library's own choice costs, what steps and why."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hockney.models.over_ranks.choice import DEFAULT, AlgorithmChoice, by_size
from hockney.models.over_ranks.crossovers import Crossover
from hockney.models.over_ranks.points import CONFIGURATION
from hockney.models.over_ranks.steps import StepPlace
from hockney.predict.reproduced import PARTS
from hockney.report.collective_analysis import ALL, ALLOCATION, AlgorithmCurves, Analysis, ExplainedStep
from hockney.report.findings import Finding, Verdict, gain_in_words
from hockney.report.tables import Column, Table, held, table
from hockney.units import counted, format_bytes, format_size

MOST_NAMED = 3
"""Ranges of sizes that one sentence names."""
BAD = 2.0
"""How many times as long as need be the default takes where that is bad."""


def of_choices(
    operation: str, all_choices: Sequence[AlgorithmChoice], names: Sequence[str] = (), anchor: str = ""
) -> list[Finding]:
    """The default against the fastest where it loses most, and the fastest by size on the most ranks.

    `names`: columns that tell configurations apart. `anchor`: what of the page shows it, else the section.
    """
    if not all_choices:
        return []
    found, judged = [], [choice for choice in all_choices if choice.penalty is not None]
    if judged:
        worst = max(judged, key=lambda choice: choice.penalty or 0.0)
        ratio, points = worst.penalty or 1.0, counted(len(judged), "point")
        verdict: Verdict = "good"
        text = f"{operation}: no algorithm is faster than the default ({points})."
        if noisy := sum(choice.is_noisy for choice in judged):
            verdict = "look"
            text = f"{operation}: too noisy to tell whether an algorithm is faster than the default"
            text += (
                f" ({points})." if noisy == len(judged) else f" at {noisy} of {points}; at the others none is."
            )
        if worst.is_default_slower:
            verdict = "bad" if ratio >= BAD else "look"
            slower = sum(choice.is_default_slower for choice in judged)
            ends = f"{worst.reach[0]:.2f} to {worst.reach[1]:.2f} ×" if worst.reach else ""
            is_sure = worst.reach is None or worst.reach[0] > 1
            said = gain_in_words(worst.best, "the default", ratio, ends, is_sure=is_sure)
            text = f"{operation}: {said} {_place(worst, names)}"
            text += f"; the default is slower at {slower} of {points}." if len(judged) > 1 else "."
        weight = min(0.98, 0.85 + 0.05 * (ratio - 1))
        found.append(Finding(text, anchor or operation, weight, "default", verdict))
    most = max(choice.ranks for choice in all_choices)
    first = next(choice for choice in all_choices if choice.ranks == most)
    same = [
        choice
        for choice in all_choices
        if choice.ranks == most
        and all(choice.configuration[name] == first.configuration[name] for name in CONFIGURATION)
    ]
    where = first.configuration.words(names)
    on = f"{operation} on {most or 'an unknown number of'} ranks{f' ({where})' if where else ''}"
    # Where the default is fastest throughout, the first answer has said so.
    if not judged or any(choice.best != choice.default for choice in same):
        found.append(Finding(f"{on}: {fastest_by_size(same)}.", anchor or operation, 0.7, "fastest"))
    return found


def fastest_by_size(of_sizes: Sequence[AlgorithmChoice]) -> str:
    """Ranges of sizes, and what is fastest in each."""
    said = []
    for members in by_size(of_sizes)[:MOST_NAMED]:
        first, last = format_bytes(members[0].bytes), format_bytes(members[-1].bytes)
        where = f"at {first}" if first == last else f"from {first} to {last}"
        said.append(f"{members[0].best} is fastest {where}")
    if (left := len(by_size(of_sizes)) - MOST_NAMED) > 0:
        said.append(f"and {counted(left, 'change')} more")
    return ", ".join(said)


def _place(choice: AlgorithmChoice, names: Sequence[str]) -> str:
    ranks = f" on {counted(choice.ranks, 'rank')}" if choice.ranks else ""
    where = choice.configuration.words(names)
    return f"at {format_bytes(choice.bytes)}{ranks}{f' ({where})' if where else ''}"


PART_WORDS = {
    "barrier": "the benchmark's barrier",
    "level": "the level of the machine that begins",
    "protocol": "the library's protocol",
    "schedule": "the algorithm's own messages",
}
WHY_WORDS = {
    "power_of_two": "power of two",
    "decision": "the library decides otherwise",
    "core": "cores begin to be shared",
    "cache": "a cache is full",
    "numa": "a NUMA domain is full",
    "package": "another package begins",
    "node": "another node begins",
    "protocol": "a rank's block falls below a limit of the library's protocols",
    "segments": "a rank's block has fewer segments",
}
NOT_EXPLAINED = "not explained"
CAUSES = "A cause is what the simulation of the benchmark's procedure needs to have the step, too."
"""What the table of steps rests on."""


def cause(one: ExplainedStep) -> str:
    """The cause of a step in words, with the ratios that tell it."""
    ratio, without, causes = one.explanation.simulated, one.explanation.without, one.explanation.causes
    if ratio is None:
        return f"{NOT_EXPLAINED}: nothing simulates it"
    ratios = [f"simulated × {ratio:.2f}"]
    if not causes:
        return f"{NOT_EXPLAINED} ({ratios[0]})"
    ratios += [
        f"× {without[part]:.2f} without {'it' if len(causes) == 1 else PART_WORDS[part]}"
        for part in PARTS
        if part in causes and part in without
    ]
    return f"{' and '.join(PART_WORDS[name] for name in causes)} ({', '.join(ratios)})"


def _height(one: ExplainedStep) -> str:
    step = one.step
    return "" if math.isnan(step.ratio) else f"× {step.ratio:.2f} ({step.low:.2f} … {step.high:.2f})"


def step_table(operation: str, analysis: Analysis, names: Sequence[str]) -> Table:
    """Each step with its cause; `names` are the columns that tell configurations apart."""
    columns: list[Column[tuple[AlgorithmCurves, ExplainedStep]]] = [
        Column("algorithm", lambda row: row[0].label, is_text=True),
        *held([name for name in names if name not in ALLOCATION], lambda row: row[0].held),
        Column("size", lambda row: format_bytes(row[0].size_B)),
        Column("allocation", lambda row: row[1].allocation, is_text=True),
        Column("between ranks", lambda row: _between(row[1].place)),
        Column("step (95 % interval)", lambda row: _height(row[1])),
        Column("cost of a further rank", lambda row: _slope(row[1].step.slope_ratio)),
        Column(
            "what is there",
            lambda row: "; ".join(WHY_WORDS[word] for word in row[1].place.why),
            is_text=True,
        ),
        Column("cause", lambda row: cause(row[1]), is_text=True),
    ]
    steps = [(algorithm, step) for algorithm in analysis.algorithms for step in algorithm.steps]
    return table(f"Steps of {operation} against ranks, and their causes", steps, columns, f"{operation}-steps")


def _between(place: StepPlace) -> str:
    return f"{place.before} {'→' if place.is_exact else '…'} {place.after}"


def _slope(ratio: float | None) -> str:
    return "" if ratio is None else f"× {ratio:.2g}"


def crossover_table(operation: str, analysis: Analysis, names: Sequence[str]) -> Table:
    """From which size on an algorithm is faster than another, of every two."""
    columns: list[Column[Crossover]] = [
        *held(names, lambda one: one.configuration),
        Column("ranks", lambda one: str(one.ranks)),
        Column("this", lambda one: one.larger, is_text=True),
        Column("is faster than", lambda one: one.smaller, is_text=True),
        Column("from", lambda one: format_size(one.at_B)),
        Column("between", lambda one: f"{format_bytes(one.low_B)} … {format_bytes(one.high_B)}"),
        Column("up to", lambda one: format_bytes(one.last_B)),
    ]
    title = f"Crossover sizes of {operation} on the most ranks measured"
    return table(title, analysis.crossovers, columns, f"{operation}-crossovers")


def of_steps(operation: str, analysis: Analysis) -> list[Finding]:
    """What steps, where and why, the highest first; bends only where the machine or the library has a reason."""
    found: list[Finding] = []
    for algorithm in analysis.algorithms:
        common = [step.place.before for step in algorithm.steps if step.allocation == ALL]
        for step in algorithm.steps:
            is_bend = math.isnan(step.step.ratio)
            if (step.allocation != ALL and step.place.before in common) or (is_bend and not step.place.why):
                continue
            where = "" if step.allocation == ALL else f", allocation {step.allocation}"
            reasons = " and ".join(WHY_WORDS[word] for word in step.place.why)
            because = " and ".join(PART_WORDS[name] for name in step.explanation.causes)
            what = (
                f"a further rank costs {_slope(step.step.slope_ratio)}"
                if is_bend
                else f"time steps {_height(step)}"
            )
            text = (
                f"{operation} {algorithm.label}, {format_bytes(algorithm.size_B)}{where}: {what} {step.place}: "
                f"{reasons or because or NOT_EXPLAINED}."
            )
            weight = 0.75 if algorithm.label == DEFAULT and not is_bend else 0.6
            found.append(Finding(text, f"{operation}-steps", weight, "steps"))
    return found
