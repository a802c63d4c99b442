"""The card of a machine: its numbers on a few printed pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from hockney import writing
from hockney.api.alone import runs_alone
from hockney.api.shown import as_html
from hockney.machine.build import fitted
from hockney.machine.file import Machine, load
from hockney.machine.locality import read
from hockney.report.card.content import CardAnswer as CardAnswer
from hockney.report.card.content import content
from hockney.report.card.page import render
from hockney.report.reading import Progress


@dataclass(frozen=True, repr=False)
class Card:
    """A machine on a few printed pages."""

    machine: Machine
    content: CardAnswer

    def write(self, path: str | Path) -> Path:
        """Write the page and return its path; NotWritten where that fails."""
        writing.replace(Path(path), render(self.machine, self.content))
        return Path(path)

    @property
    def key(self) -> pd.DataFrame:
        """The key figures: name, value and 95 % interval, as text."""
        return pd.DataFrame([vars(figure) for figure in self.content.key])

    def __repr__(self) -> str:
        return f"card of {self.content.title}"

    def _repr_html_(self) -> str:
        return as_html(repr(self), self.key)


def card(machine: Machine) -> Card:
    """The machine's numbers with intervals, formulas, limits and provenance."""
    return Card(machine, content(machine))


def write_card(path: Path, output: Path, in_place: str, progress: Progress) -> CardAnswer:
    """The card of a machine file, or of the machine fitted to a campaign or table, written."""
    is_measured = path.is_dir() or path.name.endswith((".csv", ".csv.gz", ".parquet"))
    made = card(_fitted(path, progress) if is_measured else load(path))
    made.write(output)
    return replace(made.content, card=str(output), in_place=in_place)


def _fitted(path: Path, progress: Progress) -> Machine:
    contents = read(path)
    if contents.apps and contents.frame.empty and not contents.effects:
        raise runs_alone(path, contents.apps)
    return fitted(contents, lambda name: progress(f"fitting {name}"))
