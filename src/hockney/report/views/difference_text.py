"""The differences between two machines: the answer, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass

from hockney.machine.file import Machine
from hockney.report.views.difference import Difference
from hockney.report.views.judgement import LEAST_LAUNCHES, LEVEL
from hockney.report.views.quantity import QuantityComparison, Verdict
from hockney.units import format_time


@dataclass(frozen=True)
class ComparedMachine:
    """One side."""

    machine: str
    system: str
    mpi: list[str]
    created: str


@dataclass(frozen=True)
class SideWarnings:
    """About the measurements of each side."""

    a: list[str]
    b: list[str]


@dataclass(frozen=True)
class DiffAnswer:
    """Two machines, quantity by quantity."""

    a: ComparedMachine
    b: ComparedMachine
    comparisons: list[QuantityComparison]
    compared: int
    judged: int
    differ: int
    expected_by_chance_at_most: float
    only_in_a: list[str]
    only_in_b: list[str]
    remarks: list[str]
    not_judged: int
    not_judged_because: str
    false_share_at_most: float
    correction: str
    warnings: SideWarnings
    level_warning: str


def heading(names: tuple[str, str], machines: tuple[Machine, Machine]) -> str:
    """A line for each machine: its letter, file, system and libraries."""
    return "\n".join(
        f"{letter}: {name} — {_identity(machine)}"
        for letter, name, machine in zip("AB", names, machines, strict=True)
    )


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
    missed = [comparison for comparison in diff.comparisons if comparison.elsewhere_a or comparison.elsewhere_b]
    if not missed:
        return ""
    counts = {"A": sum(one.elsewhere_a for one in missed), "B": sum(one.elsewhere_b for one in missed)}
    sides = " and ".join(f"{count} of {letter}" for letter, count in counts.items() if count)
    return (
        f"{len(missed)} not judged, because no launch met them at the level that is compared: {sides}\n"
        "  visit them again: `hockney measure -o CAMPAIGN --resume`, then `hockney fit CAMPAIGN`"
    )


def _few_launches(diff: Difference) -> str:
    unjudged = [one for one in diff.of("not judged") if not (one.elsewhere_a or one.elsewhere_b)]
    if not unjudged:
        return ""
    few = []
    for letter, attribute in (("A", "launches_a"), ("B", "launches_b")):
        counts = {getattr(comparison, attribute) for comparison in unjudged}
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


def answer_of(names: tuple[str, str], machines: tuple[Machine, Machine], diff: Difference) -> DiffAnswer:
    """The answer of `hockney diff` on two machines, by the names of their files."""
    a, b = (
        ComparedMachine(
            name, machine.system.name, [mpi.name or mpi.library for mpi in machine.mpi], machine.created
        )
        for name, machine in zip(names, machines, strict=True)
    )
    return DiffAnswer(
        a=a,
        b=b,
        comparisons=diff.comparisons,
        compared=len(diff.comparisons),
        judged=diff.judged,
        differ=len(diff.of("differs")),
        expected_by_chance_at_most=diff.by_chance,
        only_in_a=diff.only_in_a,
        only_in_b=diff.only_in_b,
        remarks=diff.remarks,
        not_judged=len(diff.of("not judged")),
        not_judged_because=why_not_judged(diff),
        false_share_at_most=LEVEL,
        correction="Benjamini-Hochberg",
        warnings=SideWarnings(diff.warnings_of_a, diff.warnings_of_b),
        level_warning=level_warning(diff),
    )


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


def _identity(machine: Machine) -> str:
    libraries = ", ".join(library.name or library.library for library in machine.mpi)
    return ": ".join(filter(None, [machine.system.name, libraries])) or "unknown system"
