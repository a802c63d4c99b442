"""The pages that a person looks at: the report of a campaign, and the card of a machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from hockney.api.shown import as_html
from hockney.errors import RequestError
from hockney.machine.file import Machine
from hockney.machine.levels import at_any_level
from hockney.machine.system import find_system
from hockney.report.card.content import CardAnswer, content
from hockney.report.card.page import render
from hockney.report.card.page import write as write_card
from hockney.report.compare import compare
from hockney.report.make import Report, make, write_html
from hockney.report.marks import Peak
from hockney.words import several


@dataclass(frozen=True, repr=False)
class Page:
    """The report of a campaign: `made` has its sections, figures and tables (docs/reference/report.md)."""

    made: Report

    def write(self, path: str | Path) -> Path:
        """Write the whole page or nothing, and return its path; NotWritten where that fails."""
        write_html(self.made, Path(path))
        return Path(path)

    @property
    def figures(self) -> dict[str, Figure]:
        """Every figure of the page, by the name that its file would have."""
        return {drawing.name: drawing.figure for section in self.made.sections for drawing in section.drawings}

    @property
    def headlines(self) -> list[str]:
        """A line for each kind of pair: latency, bandwidth, n½, and the share of the links that was reached."""
        return [head.text for head in self.made.headlines]

    @property
    def findings(self) -> list[str]:
        """What the page begins with, a sentence each."""
        return [finding.text for finding in self.made.findings]

    @property
    def warnings(self) -> list[str]:
        """What should be known before the numbers are trusted."""
        return self.made.warnings

    def __repr__(self) -> str:
        return f"report with {len(self.figures)} figures"

    def _repr_html_(self) -> str:
        return as_html(repr(self), None, [*self.headlines, self.made.omitted, self.made.verdict, *self.warnings])


@dataclass(frozen=True, repr=False)
class Card:
    """A machine on a few printed pages."""

    machine: Machine
    content: CardAnswer

    def write(self, path: str | Path) -> Path:
        """Write the page and return its path; NotWritten where that fails."""
        write_card(render(self.machine, self.content), Path(path))
        return Path(path)

    @property
    def key(self) -> pd.DataFrame:
        """The key figures: name, value and 95 % interval, as text."""
        return pd.DataFrame([vars(figure) for figure in self.content.key])

    def __repr__(self) -> str:
        return f"card of {self.content.title}"

    def _repr_html_(self) -> str:
        return as_html(repr(self), self.key)


def report(
    path: Path,
    *,
    machine: Machine | None = None,
    peaks: Sequence[str] = (),
    systems: Sequence[str] = (),
    statistic: str = "",
    sizes_B: Sequence[int] = (),
    any_level: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> Page:
    """The report of a campaign folder or a tidy table.

    The fits are those of `machine`, or made here. `peaks` are lines to draw, NAME=RATE or NAME@LOCALITY=RATE;
    `systems` are descriptions that say where ranks are, by name or file. `statistic` is that of collectives,
    `sizes_B` those at which they are drawn against ranks. RequestError as `report.make.make`.
    """
    parsed = [Peak.parse(text) for text in several(peaks)]
    described = [find_system(name) for name in dict.fromkeys(several(systems))]
    made = make(
        path,
        parsed,
        machine,
        progress=progress,
        systems=described,
        any_level=any_level,
        statistic=statistic,
        sizes_B=sizes_B,
    )
    return Page(made)


def compared(
    paths: Sequence[Path],
    *,
    statistic: str = "",
    progress: Callable[[str], None] = lambda _: None,
    **others: object,
) -> Page:
    """The page of several campaign folders or tidy tables, each set against the first.

    `statistic` is that of collectives. RequestError for any of `others`, which are options of the report of one
    campaign, and as `report.compare.compare`.
    """
    if others:
        raise RequestError(
            f"a comparison does not take {', '.join(others)}", "leave them out, or name one campaign"
        )
    return Page(compare(paths, statistic, progress))


def card(machine: Machine, *, any_level: bool = False) -> Card:
    """The machine's numbers with intervals, formulas, limits and provenance; `any_level` as of `at_any_level`."""
    if any_level:
        (machine,) = at_any_level(machine)
    return Card(machine, content(machine))
