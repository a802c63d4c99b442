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
from hockney.report.views.difference import LEVEL, Difference, QuantityComparison


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
            verdict = Text(comparison.verdict, style="bold" if comparison.verdict == "differs" else "")
            table.add_row(
                *map(Text, (comparison.name, _value(comparison.a), _value(comparison.b), ratio(comparison))),
                verdict,
            )
        yield table


def summary(diff: Difference) -> str:
    """Counts of differences, found and expected by chance, then what only one machine has, and remarks."""
    lines = [_counts(diff)]
    if diff.judged:
        lines.append(
            f"{diff.judged} judged comparisons: if nothing differed, at most {diff.by_chance:.2g} would be "
            f"expected to exceed their intervals by chance ({100 * LEVEL:.0f} % each)"
        )
    for letter, only in (("A", diff.only_in_a), ("B", diff.only_in_b)):
        if only:
            lines += [f"only in {letter}:", *(f"  {name}" for name in only)]
    return "\n".join([*lines, *diff.remarks])


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
    counts = [
        f"{len(diff.of('differs'))} differ (their 95 % intervals are apart)",
        f"{len(diff.of('cannot be told'))} cannot be told apart (they overlap)",
        f"{len(diff.of('no interval'))} cannot be judged (no interval)",
    ]
    if equal := diff.of("equal"):
        counts.append(f"{len(equal)} are equal")
    return f"{len(diff.comparisons)} compared: {', '.join(counts)}"


def _identity(machine: Machine) -> str:
    libraries = ", ".join(library.name or library.library for library in machine.mpi)
    return ": ".join(filter(None, [machine.system.name, libraries])) or "unknown system"


def _value(parameter: Parameter) -> str:
    bounds = "" if parameter.low is None or parameter.high is None else f" ({interval(parameter)})"
    return f"{stated(parameter)}{bounds}"
