"""docs/reference/exercises.md: the tables of `sections.py` in the words of the template beside this file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "exercises.md"
INPUTS = Path(__file__).with_name("inputs.toml")
NOT_COMPARED = "–"
FORMULA, RECOVERY, PREDICTION = "formula", "recovery", "prediction"
"""Kinds of rows, as the head of the page explains them."""
MISSED = 0.2
"""A prediction that is off by more is named at the top."""
_WIDTH = 120

Inputs = Mapping[str, Any]


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
        return f"{percent:+.2g} %".replace("-", "−") if abs(percent) < 100 else f"{percent:+.0f} %"

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


def page() -> str:
    """The whole page in Markdown."""
    # The sections import this file.
    from bench.exercises.sections import SECTIONS

    inputs = tomllib.loads(INPUTS.read_text(encoding="utf-8"))
    made = {name: make(inputs) for name, make in SECTIONS.items()}
    folder = FileSystemLoader(Path(__file__).parent)
    surroundings = Environment(loader=folder, undefined=StrictUndefined, keep_trailing_newline=True)
    return surroundings.get_template("page.md.j2").render(
        summary=_summary([row for section in made.values() for row in section.rows]),
        **{name: {"table": section.table, **section.words} for name, section in made.items()},
    )


def _summary(rows: Sequence[Row]) -> str:
    formulas = [row for row in rows if row.kind == FORMULA]
    agree = sum(row.difference == "none" for row in formulas)
    missed = [
        f"{row.what} ({row.difference})" for row in rows if row.kind == PREDICTION and abs(row.off) > MISSED
    ]
    text = (
        f"Of {len(formulas)} rows of formulas {agree} agree to the digits shown; the others differ by slips, "
        "which stand below their tables, or by rounding in print. Predictions that miss by more than "
        f"{100 * MISSED:.0f} %: {'; '.join(missed) or 'none'}."
    )
    return fill(text, _WIDTH, break_on_hyphens=False)
