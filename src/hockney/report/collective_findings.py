"""Answers about a collective: who is fastest where, what the library's own choice costs, what steps and why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from hockney.models.over_ranks.choice import AlgorithmChoice, penalty
from hockney.models.over_ranks.crossovers import Crossover
from hockney.models.over_ranks.points import CONFIGURATION
from hockney.predict.reproduced import PARTS
from hockney.report.collective_analysis import ALL, ALLOCATION, AlgorithmCurves, Analysis, ExplainedStep
from hockney.report.findings import Finding
from hockney.report.tables import Column, Table, held, table
from hockney.units import counted, format_bytes, format_size

MOST_NAMED = 4
"""Ranges of sizes that one sentence names."""


def of_choices(
    operation: str, all_choices: Sequence[AlgorithmChoice], names: Sequence[str] = (), anchor: str = ""
) -> list[Finding]:
    """The default against the fastest over all points, the fastest by size on most ranks, what is not told.

    `names`: columns that tell configurations apart. `anchor`: what of the page shows it, else the section.
    """
    if not all_choices:
        return []
    found = []
    if (total := penalty(list(all_choices))) is not None:
        told = [choice for choice in all_choices if choice.penalty is not None]
        worst = max(told, key=lambda choice: choice.penalty or 0.0)
        cost = (
            f"at worst × {total.worst:.2f}, {_place(worst, names)}, where {worst.best} is fastest"
            if total.worst > 1
            else "at no point can it be told from the fastest"
        )
        found.append(
            Finding(
                f"{operation}: the library's own choice takes × {total.median:.2f} of the fastest algorithm's "
                f"time in the median of {counted(total.points, 'point')} (P90 × {total.p90:.2f}), {cost}."
                f"{to_set(told)}",
                anchor or operation,
                min(0.9, 0.6 + 0.1 * total.p90) if total.worst > 1 else 0.5,
                "default",
            )
        )
    most = max(choice.ranks for choice in all_choices)
    first = next(choice for choice in all_choices if choice.ranks == most)
    same = [
        choice
        for choice in all_choices
        if choice.ranks == most
        and all(choice.configuration[name] == first.configuration[name] for name in CONFIGURATION)
    ]
    if said := fastest_by_size(same):
        where = first.configuration.words(names)
        on = f"{operation} on {most or 'an unknown number of'} ranks{f' ({where})' if where else ''}"
        found.append(Finding(f"{on}: {said}.", anchor or operation, 0.7, "fastest"))
    if open_ := sum(1 for choice in all_choices if choice.ties):
        found.append(
            Finding(
                f"{operation}: at {open_} of {counted(len(all_choices), 'point')} the fastest cannot be told "
                "from others.",
                anchor or operation,
                0.3,
                "ties",
            )
        )
    return found


def to_set(told: Sequence[AlgorithmChoice]) -> str:
    """What to set where the default is slower, and how rules are written; empty where it is slower nowhere."""
    slower = [choice for choice in told if choice.is_default_slower]
    if not slower:
        return ""
    counts = Counter(choice.best for choice in slower)
    best = [f"{name} at {count}" for name, count in counts.most_common(MOST_NAMED)]
    rest = f" and others at {len(slower) - sum(counts[name] for name, _ in counts.most_common(MOST_NAMED))}"
    return (
        f" It can be told to be slower at {counted(len(slower), 'point')}: faster there is {', '.join(best)}"
        f"{rest if len(counts) > MOST_NAMED else ''}; `hockney tune` writes the rules that set it."
    )


def fastest_by_size(of_sizes: Sequence[AlgorithmChoice]) -> str:
    """Ranges of sizes, and what is fastest in each: an algorithm that at each of its sizes cannot be beaten.

    A range goes on as long as there is such an algorithm; of several, the one most often the fastest.
    """
    ordered = sorted(of_sizes, key=lambda choice: choice.bytes)
    ranges: list[tuple[list[AlgorithmChoice], set[str]]] = []
    for choice in ordered:
        fast = {choice.best, *choice.ties}
        if ranges and (both := ranges[-1][1] & fast):
            ranges[-1] = ([*ranges[-1][0], choice], both)
        else:
            ranges.append(([choice], fast))
    said = []
    for members, fast in ranges[:MOST_NAMED]:
        name = max(sorted(fast), key=lambda one: sum(choice.best == one for choice in members))
        sizes = [choice.bytes for choice in members]
        where = f"at {format_bytes(sizes[0])}"
        if sizes[-1] > sizes[0]:
            where = f"from {format_bytes(sizes[0])} to {format_bytes(sizes[-1])}"
        others = (
            f" (and cannot be told from {', '.join(sorted(fast - {name})[:MOST_NAMED])})" if len(fast) > 1 else ""
        )
        is_fastest = not any(choice.ties for choice in members)
        said.append(f"{name} is {'fastest' if is_fastest else 'not beaten'} {where}{others}")
    if len(ranges) > MOST_NAMED:
        said.append(f"and {len(ranges) - MOST_NAMED} more changes")
    return ", ".join(said)


def _place(choice: AlgorithmChoice, names: Sequence[str]) -> str:
    ranks = f" on {choice.ranks} ranks" if choice.ranks else ""
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
    return f"× {step.ratio:.2f}" + ("" if math.isnan(step.low) else f" ({step.low:.2f} … {step.high:.2f})")


def step_table(operation: str, analysis: Analysis, names: Sequence[str]) -> Table:
    """Each step with its cause; `names` are the columns that tell configurations apart."""
    columns: list[Column[tuple[AlgorithmCurves, ExplainedStep]]] = [
        Column("algorithm", lambda row: row[0].label, is_text=True),
        *held([name for name in names if name not in ALLOCATION], lambda row: row[0].held),
        Column("size", lambda row: format_bytes(row[0].size_B)),
        Column("allocation", lambda row: row[1].allocation, is_text=True),
        Column("between ranks", lambda row: f"{row[1].candidate.before} → {row[1].candidate.after}"),
        Column("step (95 % interval)", lambda row: _height(row[1])),
        Column("cost of a further rank", lambda row: _slope(row[1].step.slope_ratio)),
        Column(
            "what is there",
            lambda row: "; ".join(WHY_WORDS[word] for word in row[1].candidate.why),
            is_text=True,
        ),
        Column("cause", lambda row: cause(row[1]), is_text=True),
    ]
    steps = [(algorithm, step) for algorithm in analysis.algorithms for step in algorithm.steps]
    return table(f"Steps of {operation} against ranks, and their causes", steps, columns, f"{operation}-steps")


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
    """What steps and why, and where that could not be told."""
    found: list[Finding] = []
    for algorithm in analysis.algorithms:
        common = [one.candidate for one in algorithm.steps if one.allocation == ALL]
        for one in algorithm.steps:
            if one.allocation != ALL and (one.candidate in common or not one.candidate.why):
                continue
            where = "all allocations" if one.allocation == ALL else f"allocation {one.allocation}"
            slope = one.step.slope_ratio
            text = (
                f"{operation} {algorithm.label}, {format_bytes(algorithm.size_B)}, {where}: from "
                f"{one.candidate.before} to {one.candidate.after} ranks the time steps by {_height(one)}"
                f"{f', a further rank costs {_slope(slope)}' if slope else ''}: {cause(one)}."
            )
            found.append(Finding(text, f"{operation}-steps", 0.7 if one.explanation.causes else 0.6))
    if untold := sorted({ranks for algorithm in analysis.algorithms for ranks in algorithm.untested}):
        text = f"{operation}: whether there is a step at {', '.join(map(str, untold))} ranks could not be told, "
        found.append(Finding(text + "for want of points beside it.", operation, 0.2))
    return found
