"""A row and a section of the page of exercises, and what those on networks and on programs share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hockney.machine.file import Machine, load
from hockney.records.record import Locality

NOT_COMPARED = "–"
FORMULA, RECOVERY, PREDICTION, OTHER = "formula", "recovery", "prediction", "another algorithm"
"""Kinds of rows, as the head of the page explains them."""
Inputs = Mapping[str, Any]

DRAWS, NOISE = 20, 0.01
"""Of a row that recovers what was planted: so many, with this relative noise."""
PLACES: dict[str, Locality] = {"core": "cache", "socket": "node", "node": "network"}
"""The exercises' words for where two ranks are, on a node of two packages with one cache each."""


def thin() -> Machine:
    """The machine file of the exercises' nodes."""
    return load(Path("orfeo_thin"))


def noisy(time_s: NDArray[np.float64], *row: int) -> NDArray[np.float64]:
    """Draws with noise, (`DRAWS`, n), of times (n,); the numbers `row` are the seed, of this row alone."""
    noise = np.random.default_rng(row).normal(1, NOISE, (DRAWS, time_s.size))
    return np.asarray(time_s * noise)


@dataclass(frozen=True)
class Row:
    """`printed` and `ours` in one unit; a text where it is no number."""

    what: str
    printed: float | str
    ours: float | str
    kind: str
    unit: str = ""
    note: str = ""

    @property
    def off(self) -> float:
        """(Hockney − printed) / printed; 0 where there is nothing to compare."""
        if isinstance(self.printed, str) or isinstance(self.ours, str) or self.printed == 0:
            return 0.0
        return (self.ours - self.printed) / self.printed

    @property
    def difference(self) -> str:
        """In per cent of what was printed; for texts whether they agree."""
        texts = [isinstance(value, str) for value in (self.printed, self.ours)]
        if all(texts):
            return "none" if self.printed == self.ours else "differs"
        if any(texts):
            return NOT_COMPARED
        if self._text(self.printed) == self._text(self.ours):
            return "none"
        percent = 100 * self.off
        return (f"{percent:+.2g} %" if abs(percent) < 100 else f"{percent:+.0f} %").replace("-", "−")

    @property
    def cells(self) -> list[str]:
        """The row of the table."""
        return [self.what, self.kind, self._text(self.printed), self._text(self.ours), self.difference, self.note]

    def _text(self, value: float | str) -> str:
        return value if isinstance(value, str) else f"{value:.6g} {self.unit}".strip()


@dataclass(frozen=True)
class Section:
    """`words` are further numbers that the template's text states."""

    rows: Sequence[Row]
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def table(self) -> str:
        """The rows in Markdown."""
        head = ["what", "kind", "printed", "Hockney", "difference", "note"]
        lines = [head, ["---"] * len(head), *(row.cells for row in self.rows)]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
