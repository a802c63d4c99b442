"""The differences between two machines as text and tables, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from hockney.machine.file import Machine
from hockney.machine.formula import interval, stated
from hockney.models.base import Parameter
from hockney.report.views.difference import Difference
from hockney.report.views.judgement import LEAST_LAUNCHES, LEVEL
from hockney.report.views.quantity import QuantityComparison, Verdict
from hockney.units import format_time


def heading(names: tuple[str, str], machines: tuple[Machine, Machine]) -> str:
    """A line for each machine: its letter, file, system and libraries."""
    return "\n".join(
        f"{letter}: {name} — {_identity(machine)}"
        for letter, name, machine in zip("AB", names, machines, strict=True)
    )


def as_tables(diff: Difference) -> Iterator[Table]:
    """One table for each entry, effect or collective that both have."""
    for where, comparisons in groupby(diff.comparisons, key=lambda comparison: comparison.where):
        table = Table(title=Text(where), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for column in ("", "A", "B", "B / A", ""):
            table.add_column(column, justify="right" if column else "left", overflow="fold")
        for comparison in comparisons:
            verdict = Text(_verdict(comparison), style="bold" if comparison.verdict == "differs" else "")
            table.add_row(
                *map(Text, (comparison.name, _value(comparison.a), _value(comparison.b), ratio(comparison))),
                verdict,
            )
        yield table


def summary(diff: Difference) -> str:
    """Counts and what they promise, what only one machine has, remarks, and the warnings of both machines."""
    lines = [_counts(diff)]
    if diff.judged:
        lines.append(promise(diff))
    if reason := why_not_judged(diff):
        lines.append(reason)
    for letter, only in (("A", diff.only_in_a), ("B", diff.only_in_b)):
        if only:
            lines += [f"only in {letter}:", *(f"  {name}" for name in only)]
    lines += diff.remarks
    if diff.warnings_of_a or diff.warnings_of_b:
        lines += ["warnings about these measurements:", *_warnings(diff)]
    return "\n".join(lines)


def promise(diff: Difference) -> str:
    """How far the differences found can be trusted."""
    share, count = f"{100 * LEVEL:.0f} %", len(diff.of("differs"))
    promised = f"differences found: {count}, of which at most {share} are expected to be false"
    if not count:
        promised = f"if nothing differed, at most {share} of such diffs would find a difference"
    return f"{diff.judged} judged, references apart from the rest (Benjamini and Hochberg): {promised}"


def why_not_judged(diff: Difference) -> str:
    """Why what has intervals could not be judged, and the command that helps; empty where all could."""
    return "\n".join(filter(None, [_few_launches(diff), _another_level(diff)]))


def level_warning(diff: Difference) -> str:
    """What to do where A and B met no level of the machine in common; empty where they did."""
    if not diff.apart:
        return ""
    where = "; ".join(
        f"{format_time(a_s)} in A and {format_time(b_s)} in B ({where})" for where, a_s, b_s in diff.apart
    )
    return (
        "Measure A and B again, in turns: the machine was at different levels, so that differences may be the "
        f"machine's. What is timed as a reference took {where}."
    )


def _another_level(diff: Difference) -> str:
    missed = [comparison for comparison in diff.comparisons if any(comparison.elsewhere)]
    if not missed:
        return ""
    sides = " and ".join(
        f"{count} of {letter}"
        for side, letter in enumerate("AB")
        if (count := sum(comparison.elsewhere[side] for comparison in missed))
    )
    return (
        f"{len(missed)} not judged, because no launch met them at the level that is compared: {sides}\n"
        "  visit them again: `hockney measure -o CAMPAIGN --resume`, then `hockney fit CAMPAIGN`"
    )


def _few_launches(diff: Difference) -> str:
    unjudged = [comparison for comparison in diff.of("not judged") if not any(comparison.elsewhere)]
    if not unjudged:
        return ""
    few = []
    for side, letter in enumerate("AB"):
        counts = {comparison.launches[side] for comparison in unjudged}
        known = sorted(count for count in counts if count is not None and count < LEAST_LAUNCHES)
        several = " or ".join(map(str, known))
        words = [f"{several} launch{'es' if known[-1] > 1 else ''}"] if known else []
        words += ["an unknown number of launches"] if None in counts else []
        few += [f"{letter} has {' or '.join(words)}"] if words else []
    return (
        f"{len(unjudged)} not judged, for that takes {LEAST_LAUNCHES} launches a side: {', '.join(few)}\n"
        f"  measure again: `hockney measure -o CAMPAIGN --launches {LEAST_LAUNCHES} --level all …`, then "
        "`hockney fit CAMPAIGN`"
    )


def _warnings(diff: Difference) -> list[str]:
    """A line for each warning, with the machine or machines that it is about."""
    both = [text for text in diff.warnings_of_a if text in diff.warnings_of_b]
    alone = [
        (side, text)
        for side, texts in (("A", diff.warnings_of_a), ("B", diff.warnings_of_b))
        for text in texts
        if text not in both
    ]
    return [f"  {side}: {text}" for side, text in [*(("A and B", text) for text in both), *alone]]


def as_data(names: tuple[str, str], machines: tuple[Machine, Machine], diff: Difference) -> dict[str, Any]:
    """The data that `diff --json` prints."""
    sides = {
        letter: {
            "machine": name,
            "system": machine.system.name,
            "mpi": [library.name or library.library for library in machine.mpi],
            "created": machine.created,
        }
        for letter, name, machine in zip("ab", names, machines, strict=True)
    }
    return {
        **sides,
        "comparisons": [comparison.as_json() for comparison in diff.comparisons],
        "compared": len(diff.comparisons),
        "judged": diff.judged,
        "differ": len(diff.of("differs")),
        "expected_by_chance_at_most": diff.by_chance,
        "only_in_a": diff.only_in_a,
        "only_in_b": diff.only_in_b,
        "remarks": diff.remarks,
        "not_judged": len(diff.of("not judged")),
        "not_judged_because": why_not_judged(diff),
        "false_share_at_most": LEVEL,
        "correction": "Benjamini-Hochberg",
        "warnings": {"a": diff.warnings_of_a, "b": diff.warnings_of_b},
        "level_warning": level_warning(diff),
    }


def ratio(comparison: QuantityComparison) -> str:
    """`1.5 (1.2 to 1.8)`, or `—` where it is not defined."""
    if comparison.ratio is None:
        return "—"
    if comparison.low is None or comparison.high is None:
        return f"{comparison.ratio:.3g}"
    return f"{comparison.ratio:.3g} ({comparison.low:.3g} to {comparison.high:.3g})"


def _counts(diff: Difference) -> str:
    if not diff.comparisons:
        return "nothing to compare: the machines have no entry, effect or collective in common"
    named: dict[Verdict, str] = {
        "differs": "differ (by more than chance)",
        "cannot be told": "cannot be told apart",
        "not judged": "not judged",
        "no interval": "cannot be judged (no interval)",
        "equal": "are equal",
    }
    counts = [
        f"{len(diff.of(verdict))} {words}"
        for verdict, words in named.items()
        if verdict == "differs" or diff.of(verdict)
    ]
    return f"{len(diff.comparisons)} compared: {', '.join(counts)}"


def _verdict(comparison: QuantityComparison) -> str:
    """The verdict, with the sides that stand at another level than the one compared."""
    sides = " and ".join(
        letter for letter, is_elsewhere in zip("AB", comparison.elsewhere, strict=True) if is_elsewhere
    )
    return f"{comparison.verdict} ({sides} at another level)" if sides else comparison.verdict


def _identity(machine: Machine) -> str:
    libraries = ", ".join(library.name or library.library for library in machine.mpi)
    return ": ".join(filter(None, [machine.system.name, libraries])) or "unknown system"


def _value(parameter: Parameter) -> str:
    bounds = "" if parameter.low is None or parameter.high is None else f" ({interval(parameter)})"
    return f"{stated(parameter)}{bounds}"
