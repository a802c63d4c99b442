"""Breaks of the curves against ranks, as tables of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hockney.models.over_ranks.jumps import SIGNIFICANCE, Examined, Jump, at_boundaries, jumps
from hockney.models.over_ranks.points import Configuration
from hockney.report.places import Places
from hockney.report.tables import NONE, Cells, Table, headings, held, table_of
from hockney.units import format_bytes

MOST_JUMPS = 3
"""Most jumps of each curve that the table lists, the clearest, besides those at a boundary."""
LEVEL_WORDS = {
    "cache": "a cache is full",
    "numa": "a NUMA domain is full",
    "package": "another package begins",
    "node": "another node begins",
}

Key = tuple[Configuration, str]


@dataclass(frozen=True)
class Breaks:
    """The jumps of one curve, and the boundaries that were tested."""

    jumps: list[Jump]
    tested: list[Examined]

    @property
    def notable(self) -> list[Jump]:
        """All jumps at boundaries and the clearest others; the clearest first."""
        ordered = sorted(self.jumps, key=lambda jump: jump.p_value)
        others = [jump for jump in ordered if jump.boundary is None][:MOST_JUMPS]
        return [jump for jump in ordered if jump.boundary is not None or jump in others]


def breaks(lines: Mapping[Key, pd.DataFrame], places: Places) -> dict[Key, Breaks]:
    """The breaks of every curve (`over_ranks.points.curves`) at one size."""
    by_curve = {}
    for (configuration, label), curve in lines.items():
        ranks, time_s = curve["ranks"].to_numpy(np.float64), curve["time_s"].to_numpy(np.float64)
        tested = at_boundaries(ranks, time_s, places.boundaries(configuration, curve))
        by_curve[configuration, label] = Breaks(jumps(ranks, time_s, tested), tested)
    return by_curve


def jump_table(names: Sequence[str], broken: Mapping[int, Mapping[Key, Breaks]]) -> Table:
    """The jumps of every curve; `names` are the columns of the configuration that the table shows."""
    columns: list[Cells[tuple[int, Key, Jump]]] = [
        Cells("algorithm", lambda row: row[1][1], is_text=True),
        *held(names, lambda row: row[1][0]),
        Cells("size", lambda row: format_bytes(row[0])),
        Cells("between ranks", lambda row: f"{row[2].before} → {row[2].after}"),
        Cells("level", lambda row: f"× {row[2].level_ratio:.2f}"),
        Cells(
            "cost of a further rank",
            lambda row: f"× {row[2].slope_ratio:.2g}" if row[2].slope_ratio is not None else NONE,
        ),
        Cells(
            "boundary",
            lambda row: NONE if row[2].boundary is None else LEVEL_WORDS[row[2].boundary],
            is_text=True,
        ),
    ]
    rows = [
        (size, key, jump)
        for size, by_curve in broken.items()
        for key, curve_breaks in by_curve.items()
        for jump in curve_breaks.notable
    ]
    return table_of(f"Jumps against ranks (F-test, p < {SIGNIFICANCE})", rows, columns)


def boundary_table(names: Sequence[str], broken: Mapping[int, Mapping[Key, Breaks]]) -> Table:
    """Each boundary of each placement, with the number of curves that have a break there."""
    counted: dict[tuple[str, ...], list[int]] = {}
    for by_curve in broken.values():
        for (configuration, _), curve_breaks in by_curve.items():
            for examined in curve_breaks.tested:
                place = f"{examined.boundary.before} → {examined.boundary.after}"
                key = (
                    *(configuration[name] or NONE for name in names),
                    place,
                    LEVEL_WORDS[examined.boundary.level],
                )
                count = counted.setdefault(key, [0, 0, 0])
                count[0] += 1
                count[2] += not examined.possible
                count[1] += any(
                    jump.boundary is not None and jump.after == examined.boundary.after
                    for jump in curve_breaks.jumps
                )
    rows = [[*key, *map(str, count)] for key, count in counted.items()]
    columns = ["between ranks", "boundary", "curves", "break there", "too few points to test"]
    title = "Boundaries of the placement"
    text = frozenset({*range(len(names)), len(names) + 1})
    return Table(title, [*headings(names), *columns], rows, text)
