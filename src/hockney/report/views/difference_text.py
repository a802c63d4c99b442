"""The differences between two machines: the answer, and what is said of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field, computed_field

from hockney.machine.file import Machine
from hockney.report.views.judgement import LEAST_LAUNCHES, LEVEL
from hockney.report.views.quantity import QuantityComparison, Verdict
from hockney.units import first_of, format_time, percent

MOST_NAMED = 4
"""Entries of one side alone that are named."""
_VERDICTS: dict[Verdict, str] = {
    "differs": "differ (by more than chance)",
    "undecided": "undecided",
    "not judged": "not judged",
    "no interval": "not judged (no interval)",
    "equal": "are equal",
}


@dataclass(frozen=True)
class ComparedMachine:
    """One side."""

    machine: str
    system: str
    mpi: list[str]
    created: str

    @classmethod
    def of(cls, name: str, machine: Machine) -> ComparedMachine:
        """A machine and where it comes from."""
        libraries = [mpi.name or mpi.library for mpi in machine.mpi]
        return cls(name, machine.system.name, libraries, machine.created)

    def __str__(self) -> str:
        identity = ": ".join(filter(None, [self.system, ", ".join(self.mpi)]))
        return f"{self.machine} — {identity or 'unknown system'}"


@dataclass
class SideWarnings:
    """About the measurements of each side."""

    a: list[str] = field(default_factory=list)
    b: list[str] = field(default_factory=list)


@dataclass
class Difference:
    """Two machines, quantity by quantity.

    `apart`: the entries that met no level of the machine in common, with the references (s) of their levels.
    """

    a: ComparedMachine
    b: ComparedMachine
    comparisons: list[QuantityComparison] = field(default_factory=list)
    only_in_a: list[str] = field(default_factory=list)
    only_in_b: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    warnings: SideWarnings = field(default_factory=SideWarnings)
    apart: Annotated[list[tuple[str, float, float]], Field(exclude=True)] = field(default_factory=list)
    false_share_at_most: float = LEVEL
    correction: str = "Benjamini-Hochberg"

    def having(self, verdict: Verdict) -> list[QuantityComparison]:
        """The comparisons with this verdict."""
        return [comparison for comparison in self.comparisons if comparison.verdict == verdict]

    @computed_field
    @property
    def compared(self) -> int:
        """The number of comparisons."""
        return len(self.comparisons)

    @computed_field
    @property
    def judged(self) -> int:
        """The number of comparisons with intervals and launches enough on both sides."""
        return sum(comparison.judged for comparison in self.comparisons)

    @computed_field
    @property
    def not_judged(self) -> int:
        """The number of those with intervals alone."""
        return len(self.having("not judged"))

    @computed_field
    @property
    def differ(self) -> int:
        """The number of differences found."""
        return len(self.having("differs"))

    @computed_field
    @property
    def expected_by_chance_at_most(self) -> float:
        """How many of the differences found are expected to be false, at most."""
        return LEVEL * self.differ

    @computed_field
    @property
    def not_judged_because(self) -> str:
        """Why what has intervals could not be judged, and the command that helps; empty where all could."""
        return "\n".join(filter(None, [self._few_launches, self._another_level, self._imported]))

    @computed_field
    @property
    def level_warning(self) -> str:
        """What to do where A and B met no level of the machine in common; empty where they did."""
        if not self.apart:
            return ""
        where = "; ".join(
            f"{format_time(a_s)} in A and {format_time(b_s)} in B ({where})" for where, a_s, b_s in self.apart
        )
        return (
            "Measure A and B again, in turns: the machine was at different levels, and differences may be "
            f"the machine's. What is timed as a reference took {where}."
        )

    @property
    def promise(self) -> str:
        """How far the differences found can be trusted; empty where nothing was judged."""
        if not self.judged:
            return ""
        share = percent(LEVEL)
        promised = f"differences found: {self.differ}, of which at most {share} are expected to be false"
        if not self.differ:
            promised = f"if nothing differed, at most {share} of such diffs would find a difference"
        return f"{self.judged} judged, references apart from the rest (Benjamini and Hochberg): {promised}"

    @property
    def summary(self) -> str:
        """Counts, what they promise, and what only one machine has."""
        lines = [self._counts, *filter(None, [self.promise, self.not_judged_because])]
        for letter, only in (("A", self.only_in_a), ("B", self.only_in_b)):
            if only:
                lines.append(f"only in {letter}: {first_of(only, MOST_NAMED, joint='; ')}")
        return "\n".join(lines)

    @property
    def concerns(self) -> list[str]:
        """What limits the comparison: levels, remarks, and the warnings of both machines, those of both first."""
        sides = {"A": self.warnings.a, "B": self.warnings.b}
        texts = dict.fromkeys([*self.warnings.a, *self.warnings.b])
        whose = {text: " and ".join(letter for letter in sides if text in sides[letter]) for text in texts}
        common_first = sorted(texts, key=lambda text: whose[text] != "A and B")
        own = (f"{whose[text]}: {text}" for text in common_first)
        return [*filter(None, [self.level_warning]), *self.remarks, *own]

    @property
    def _counts(self) -> str:
        if not self.comparisons:
            return "nothing to compare: the machines have no entry, effect or collective in common"
        counts = Counter(comparison.verdict for comparison in self.comparisons)
        shown = [
            f"{counts[name]} {text}"
            for name, text in _VERDICTS.items()
            if counts[name] or (name == "differs" and self.judged)
        ]
        return f"{self.compared} compared: {', '.join(shown)}"

    @property
    def _another_level(self) -> str:
        counts = {
            "A": sum(comparison.elsewhere_a for comparison in self.comparisons),
            "B": sum(comparison.elsewhere_b for comparison in self.comparisons),
        }
        missed = sum(comparison.elsewhere_a or comparison.elsewhere_b for comparison in self.comparisons)
        sides = " and ".join(f"{count} of {letter}" for letter, count in counts.items() if count)
        return (
            f"{missed} not judged, because no launch met them at the level that is compared: {sides}\n"
            "  visit them again: `hockney measure -o CAMPAIGN --resume`, then `hockney fit CAMPAIGN`"
            if missed
            else ""
        )

    @property
    def _imported(self) -> str:
        """How far apart imported numbers are: files hold no launches to judge by, and none can be added."""
        unjudged = [each for each in self.comparisons if each.imported and not each.judged and each.ratio]
        if not unjudged:
            return ""
        factor, far = max(
            ((max(each.ratio or 1, 1 / (each.ratio or 1)), each) for each in unjudged), key=lambda pair: pair[0]
        )
        return f"imported, not judged: factor {factor:.3g} at most ({far.where}: {far.quantity})"

    @property
    def _few_launches(self) -> str:
        unjudged = [
            each
            for each in self.having("not judged")
            if not (each.elsewhere_a or each.elsewhere_b or each.imported)
        ]
        if not unjudged:
            return ""
        few = []
        for letter, counts in (
            ("A", {comparison.launches_a for comparison in unjudged}),
            ("B", {comparison.launches_b for comparison in unjudged}),
        ):
            known = sorted(count for count in counts if count is not None and count < LEAST_LAUNCHES)
            numbers = " or ".join(map(str, known))
            clauses = [f"{numbers} launch{'es' if known[-1] > 1 else ''}"] if known else []
            clauses += ["an unknown number of launches"] if None in counts else []
            few += [f"{letter} has {' or '.join(clauses)}"] if clauses else []
        return (
            f"{len(unjudged)} not judged, for that takes {LEAST_LAUNCHES} launches a side: {', '.join(few)}\n"
            f"  measure again: `hockney measure -o CAMPAIGN --launches {LEAST_LAUNCHES} --level all …`, then "
            "`hockney fit CAMPAIGN`"
        )
