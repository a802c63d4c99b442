"""What two machines differ in, as a person reads it, and the same as plain data."""

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
from hockney.report.views.difference import LEVEL, Comparison, Difference


def heading(names: tuple[str, str], machines: tuple[Machine, Machine]) -> str:
    """A line for each machine: its letter, file, system and libraries."""
    return "\n".join(
        f"{letter}: {name} — {_identity(machine)}"
        for letter, name, machine in zip("AB", names, machines, strict=True)
    )


def as_tables(found: Difference) -> Iterator[Table]:
    """One table for each entry, effect or collective that both have."""
    for where, comparisons in groupby(found.comparisons, key=lambda one: one.where):
        table = Table(title=Text(where), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for column in ("", "A", "B", "B / A", ""):
            table.add_column(column, justify="right" if column else "left", overflow="fold")
        for one in comparisons:
            verdict = Text(one.verdict, style="bold" if one.verdict == "differs" else "")
            table.add_row(*map(Text, (one.name, _value(one.a), _value(one.b), ratio(one))), verdict)
        yield table


def summary(found: Difference) -> str:
    """How many differ, how many would by chance, what only one of them has, and what cannot be compared."""
    lines = [_counts(found)]
    if found.judged:
        lines.append(
            f"{found.judged} judged comparisons: if nothing differed, at most {found.by_chance:.2g} would be "
            f"expected to exceed their intervals by chance ({100 * LEVEL:.0f} % each)"
        )
    for letter, only in (("A", found.only_in_a), ("B", found.only_in_b)):
        if only:
            lines += [f"only in {letter}:", *(f"  {one}" for one in only)]
    return "\n".join([*lines, *found.remarks])


def as_data(names: tuple[str, str], machines: tuple[Machine, Machine], found: Difference) -> dict[str, Any]:
    """What `diff --json` prints."""
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
        "comparisons": [one.as_json() for one in found.comparisons],
        "compared": len(found.comparisons),
        "judged": found.judged,
        "differ": len(found.of("differs")),
        "expected_by_chance_at_most": found.by_chance,
        "only_in_a": found.only_in_a,
        "only_in_b": found.only_in_b,
        "remarks": found.remarks,
    }


def ratio(one: Comparison) -> str:
    """`1.5 (1.2 to 1.8)`, or `—` where it is not defined."""
    if one.ratio is None:
        return "—"
    if one.low is None or one.high is None:
        return f"{one.ratio:.3g}"
    return f"{one.ratio:.3g} ({one.low:.3g} to {one.high:.3g})"


def _counts(found: Difference) -> str:
    if not found.comparisons:
        return "nothing to compare: no entry, effect or collective is in both"
    counts = [
        f"{len(found.of('differs'))} differ (their 95 % intervals are apart)",
        f"{len(found.of('cannot be told'))} cannot be told apart (they overlap)",
        f"{len(found.of('no interval'))} cannot be judged (no interval)",
    ]
    if equal := found.of("equal"):
        counts.append(f"{len(equal)} are equal")
    return f"{len(found.comparisons)} compared: {', '.join(counts)}"


def _identity(machine: Machine) -> str:
    libraries = ", ".join(library.name or library.library for library in machine.mpi)
    return ": ".join(filter(None, [machine.system.name, libraries])) or "nothing is known of it"


def _value(parameter: Parameter) -> str:
    bounds = "" if parameter.low is None or parameter.high is None else f" ({interval(parameter)})"
    return f"{stated(parameter)}{bounds}"
