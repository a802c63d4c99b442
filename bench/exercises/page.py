"""docs/reference/exercises.md: the tables of the exercises in the words of the template beside this file."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

from bench.exercises.networks import NETWORKS
from bench.exercises.programs import PROGRAMS
from bench.exercises.rows import FORMULA, PREDICTION, Row
from jinja2 import Environment, FileSystemLoader, StrictUndefined

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "exercises.md"
INPUTS = Path(__file__).with_name("inputs.toml")
MISSED = 0.2
"""A prediction that is off by more is named at the top."""
_WIDTH = 120


def page() -> str:
    """The whole page in Markdown."""
    inputs = tomllib.loads(INPUTS.read_text(encoding="utf-8"))
    made = {name: make(inputs) for name, make in {**PROGRAMS, **NETWORKS}.items()}
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
    # No line begins with the unit of the one before.
    return fill(text.replace(" %", "~%"), _WIDTH, break_on_hyphens=False).replace("~%", " %")
