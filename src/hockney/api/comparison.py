"""Two machines, quantity by quantity: which differences exceed chance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pandas as pd
from pydantic import TypeAdapter

from hockney.api.shown import as_html
from hockney.machine.file import Machine
from hockney.machine.levels import at_any_level
from hockney.report.views.difference import Difference, difference
from hockney.report.views.difference_text import (
    DiffAnswer,
    answer_of,
    heading,
    summary,
)


@dataclass(frozen=True, repr=False)
class Comparison:
    """What A and B have in common, and which of it differs. `names`: where A and B come from."""

    names: tuple[str, str]
    machines: tuple[Machine, Machine]
    difference: Difference

    @cached_property
    def answer(self) -> DiffAnswer:
        """What `hockney diff --json` prints."""
        return answer_of(self.names, self.machines, self.difference)

    @property
    def frame(self) -> pd.DataFrame:
        """A row for each quantity: values with intervals, the ratio B / A, and the verdict."""
        rows = TypeAdapter(DiffAnswer).dump_python(self.answer)["comparisons"]
        for row in rows:
            row["unit"] = row["a"]["unit"]
            for side in "ab":
                number = row[side]
                row |= {side: number["value"], f"{side}_low": number["low"], f"{side}_high": number["high"]}
        return pd.DataFrame(rows)

    @property
    def summary(self) -> str:
        """Counts and what they promise, and what only one machine has."""
        return summary(self.difference)

    def __repr__(self) -> str:
        return heading(self.names, self.machines)

    def _repr_html_(self) -> str:
        frame = self.frame
        columns = ["where", "quantity", "a", "b", "unit", "ratio", "ratio_low", "ratio_high", "verdict"]
        shown = frame if frame.empty else frame[columns]
        return as_html(repr(self), shown, self.summary.splitlines())


def compare(
    names: tuple[str, str], machines: tuple[Machine, Machine], *, points: bool = False, any_level: bool = False
) -> Comparison:
    """Compare entry by entry, effect by effect; with `points` every measured size, too.

    Numbers that three launches or more a side measured are judged, all together. `any_level` takes what was
    measured at all levels of the machine. RequestError where that says nothing.
    """
    if any_level:
        first, second = at_any_level(*machines)
        machines = first, second
    return Comparison(names, machines, difference(*machines, points=points))
