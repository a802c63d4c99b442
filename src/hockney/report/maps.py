"""The map of size × ranks that leads a collective: its fastest algorithms, and what the default costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.colors import to_rgb

from hockney.models.over_ranks.choice import DEFAULT
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import (
    FASTEST,
    PENALTIES,
    PENALTY,
    Axis,
    Chart,
    Explored,
    MapCell,
    Panel,
    Selection,
    Tiles,
    panel,
)
from hockney.report.explorer.explored import leading
from hockney.report.style import PENALTIES as SHADES
from hockney.report.style import Looks
from hockney.units import format_bytes

MOST_PANELS = 3
MOST_WRITTEN = 130
"""Cells of a panel whose penalty is written into them."""
_BLANK, _GREY = "#ffffff", "#b8b8b8"


def drawing(operation: str, explored: Explored, looks: Looks) -> Drawing | None:
    """Both maps of the placements with most cells, side by side; None where no algorithm can be compared."""
    first = explored.first[operation]
    every = _choices(explored, first)
    choices = every[:MOST_PANELS]
    of_choices = [panel(FASTEST, choice, explored).cells for choice in choices]
    cells = [cell for own in of_choices for cell in own]
    if not cells:
        return None
    penalties = [(cell.penalty, cell) for cell in cells if cell.penalty is not None]
    fastest = {cell.best for cell in cells}
    named = [name for name in leading(explored, operation) if name in fastest]
    # Where the default is the fastest there is nothing to do.
    colours = {name: SHADES[0] if name == DEFAULT else look.colour for name, look in looks.of(named).items()}
    left_over = len(fastest) - len(named)
    others = {f"{left_over} others": _GREY} if left_over else {}
    rows = [
        [
            Panel(
                title=_telling(choice, every),
                tiles=_tiles(own, lambda cell: colours.get(cell.best, _GREY)),
                key={} if place else colours | others,
                key_title="fastest algorithm",
                x=Axis("" if penalties else "message size", "names"),
                y=Axis("" if place else "ranks", "names"),
            )
            for place, (choice, own) in enumerate(zip(choices, of_choices, strict=True))
        ]
    ]
    if penalties:
        words = ["as fast", *(f"up to × {end:g}" for end in PENALTIES[1:]), f"over × {PENALTIES[-1]:g}"]
        rows.append(
            [
                Panel(
                    tiles=_tiles(own, _shaded, is_written=len(own) <= MOST_WRITTEN),
                    key={} if place else dict(zip(words, SHADES, strict=True)),
                    key_title="time of the default over that of the fastest",
                    x=Axis("message size", "names"),
                    y=Axis("" if place else "ranks", "names"),
                )
                for place, own in enumerate(panel(PENALTY, choice, explored).cells for choice in choices)
            ]
        )
    alt = f"{operation}: a map of size and ranks with the fastest algorithm, {', '.join(named)}"
    if penalties:
        worst, at = max(penalties, key=lambda pair: pair[0])
        alt += f"; at worst the default takes × {worst:.2f}, at {format_bytes(at.bytes)} on {at.ranks} ranks"
    left = len(every) - len(choices)
    return Drawing(
        f"{operation}-fastest",
        f"{operation}: the fastest algorithm{' and what the default costs' if penalties else ''}.",
        alt,
        "A cell for each size and number of ranks that was measured, in equal steps."
        + (f" {left} more configurations are in the tables." if left else ""),
        Chart(rows),
        choice=first,
    )


def _shaded(cell: MapCell) -> str:
    return _BLANK if cell.penalty is None else SHADES[shade(cell.penalty)]


def shade(penalty: float) -> int:
    """The class of a penalty: how many ends of `PENALTIES` lie below it."""
    return sum(penalty > end + 1e-9 for end in PENALTIES)


def _choices(explored: Explored, first: Selection) -> list[Selection]:
    """The first choice, then those of other placements, libraries and variants, the fullest before others."""
    cells = explored.cells[explored.cells["operation"] == first.operation]
    names = [name for name in first.held if name in cells.columns]
    counts = cells.groupby(names, sort=False).size().sort_values(ascending=False, kind="stable")
    held = [dict(zip(names, map(str, key), strict=True)) for key in counts.index]
    made = [replace(first, held={**first.held, **one}) for one in held]
    return [first, *(choice for choice in made if choice.held != first.held)] if made else [first]


def _telling(choice: Selection, every: Sequence[Selection]) -> str:
    """What tells a choice from the others."""
    several = [name for name in choice.held if len({other.held[name] for other in every}) > 1]
    return ", ".join(filter(None, (choice.held[name] for name in several)))


def _tiles(cells: Sequence[MapCell], colour: Callable[[MapCell], str], *, is_written: bool = False) -> Tiles:
    """A colour for each cell, white where there is none, and its penalty in numbers."""
    sizes, ranks = (sorted({getattr(cell, name) for cell in cells}) for name in ("bytes", "ranks"))
    colours = np.ones((max(len(ranks), 1), max(len(sizes), 1), 3))
    words = {}
    for cell in cells:
        at = ranks.index(cell.ranks), sizes.index(cell.bytes)
        colours[at] = to_rgb(colour(cell))
        if is_written and cell.penalty is not None:
            words[at] = f"{cell.penalty:.2g}"
    return Tiles(colours, [format_bytes(size) for size in sizes], [str(count) for count in ranks], words)
