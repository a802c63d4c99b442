"""Two machines, quantity by quantity: which differences exceed chance."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
from pydantic import TypeAdapter

from hockney.api.shown import as_html
from hockney.machine.file import Machine
from hockney.report.views.difference import difference
from hockney.report.views.difference_text import Difference
from hockney.report.views.quantity import QuantityComparison


@dataclass(frozen=True, repr=False)
class Comparison:
    """What A and B have in common, and which of it differs; `difference` is what `hockney diff --json` prints."""

    difference: Difference

    @property
    def frame(self) -> pd.DataFrame:
        """A row for each quantity: values with intervals, the ratio B / A, and the verdict."""
        rows = TypeAdapter(list[QuantityComparison]).dump_python(self.difference.comparisons)
        for row in rows:
            row["unit"] = row["a"]["unit"]
            for side in "ab":
                number = row[side]
                row |= {side: number["value"], f"{side}_low": number["low"], f"{side}_high": number["high"]}
        return pd.DataFrame(rows)

    @property
    def summary(self) -> str:
        """Counts and what they promise, and what only one machine has."""
        return self.difference.summary

    def __repr__(self) -> str:
        return f"A: {self.difference.a}\nB: {self.difference.b}"

    def _repr_html_(self) -> str:
        columns = ["where", "quantity", "a", "b", "unit", "ratio", "ratio_low", "ratio_high", "verdict"]
        return as_html(
            repr(self),
            self.frame.reindex(columns=columns),
            [*self.summary.splitlines(), *self.difference.concerns],
        )


def compare(names: tuple[str, str], machines: tuple[Machine, Machine], *, points: bool = False) -> Comparison:
    """Compare entry by entry, effect by effect; with `points` every measured size, too.

    Numbers that three launches or more a side measured are judged, all together.
    """
    return Comparison(difference(*machines, names=names, points=points))
