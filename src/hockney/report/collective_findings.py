"""Answers about a collective: who is fastest from which size, and what the library's own choice costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hockney.models.over_ranks.choice import AlgorithmChoice, penalty
from hockney.models.over_ranks.points import CONFIGURATION
from hockney.report.findings import Finding
from hockney.units import counted, format_bytes

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
