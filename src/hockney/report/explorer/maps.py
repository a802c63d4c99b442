"""The map of size × ranks that leads a collective: its fastest algorithms, and what the default costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from hockney.models.over_ranks.choice import DEFAULT
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.explorer.chart import FASTEST, PENALTIES, PENALTY, Cell, Chart, Choice, Explored, chart
from hockney.report.style import PENALTIES as SHADES
from hockney.report.style import Looks
from hockney.units import format_bytes

MOST_PANELS = 3
MOST_NAMED = 7
"""Algorithms with a colour of their own, as many as there are colours."""
MOST_WRITTEN = 130
"""Cells of a panel whose penalty is written into them."""
_Colour = tuple[float, float, float]
_BLANK: _Colour = (1.0, 1.0, 1.0)
_GREY: _Colour = (0.72, 0.72, 0.72)


def drawing(operation: str, explored: Explored, looks: Looks) -> Drawing | None:
    """Both maps of the placements with most cells, side by side; None where no algorithm can be compared."""
    first = explored.first[operation]
    every = _choices(explored, first)
    choices = every[:MOST_PANELS]
    fastest, costs = ([chart(view, choice, explored) for choice in choices] for view in (FASTEST, PENALTY))
    cells = [cell for one in fastest for cell in one.cells]
    if not cells:
        return None
    penalties = [(cell.penalty, cell) for cell in cells if cell.penalty is not None]
    named = _named(cells)
    # Where the default is the fastest there is nothing to do.
    colours = {
        name: to_rgb(SHADES[0] if name == DEFAULT else look.colour) for name, look in looks.of(named).items()
    }
    figure = Figure(figsize=(WIDTH_IN, 3.35 if not penalties else 6.1), layout="constrained")
    panels = figure.subplots(2 if penalties else 1, len(choices), squeeze=False)
    for axes, choice, one in zip(panels[0], choices, fastest, strict=True):
        _map(axes, one, [colours.get(cell.best, _GREY) for cell in one.cells])
        axes.set_title(_telling(choice, every))
    is_more = any(cell.best not in colours for cell in cells)
    _key(panels[0][-1], "fastest", colours | ({"others": _GREY} if is_more else {}))
    if penalties:
        for axes, one in zip(panels[1], costs, strict=True):
            _map(
                axes, one, [_BLANK if c.penalty is None else to_rgb(SHADES[shade(c.penalty)]) for c in one.cells]
            )
            _write(axes, one)
        words = ["not told apart", *(f"to × {end:g}" for end in PENALTIES[1:]), f"over × {PENALTIES[-1]:g}"]
        _key(panels[1][-1], "default / fastest", dict(zip(words, map(to_rgb, SHADES), strict=True)))
    for axes in panels[-1]:
        axes.set_xlabel("message size")
    for row in panels:
        row[0].set_ylabel("ranks")
    alt = f"{operation}: a map of size and ranks with the fastest algorithm, {', '.join(named)}"
    if penalties:
        worst, at = max(penalties, key=lambda one: one[0])
        alt += f"; at worst the default takes × {worst:.2f}, at {format_bytes(at.bytes)} on {at.ranks} ranks"
    left = len(every) - len(choices)
    return Drawing(
        f"{operation}-fastest",
        f"{operation}: the fastest algorithm{' and what the default costs' if penalties else ''}.",
        alt,
        "A cell for each size and number of ranks that was measured, in equal steps."
        + (f" {left} more configurations are in the tables." if left else ""),
        figure,
        choice=first.as_json(),
    )


def shade(penalty: float) -> int:
    """The class of a penalty: how many ends of `PENALTIES` lie below it."""
    return sum(penalty > end + 1e-9 for end in PENALTIES)


def _choices(explored: Explored, first: Choice) -> list[Choice]:
    """The first choice, then those of other placements, libraries and variants, the fullest before others."""
    cells = explored.cells[explored.cells["operation"] == first.operation]
    names = [name for name in first.held if name in cells.columns]
    counts = cells.groupby(names, sort=False).size().sort_values(ascending=False, kind="stable")
    held = [dict(zip(names, map(str, key), strict=True)) for key in counts.index]
    made = [replace(first, held={**first.held, **one}) for one in held]
    return [first, *(choice for choice in made if choice.held != first.held)] if made else [first]


def _telling(choice: Choice, every: Sequence[Choice]) -> str:
    """What tells a choice from the others."""
    several = [name for name in choice.held if len({other.held[name] for other in every}) > 1]
    return ", ".join(filter(None, (choice.held[name] for name in several)))


def _key(axes: Axes, title: str, colours: Mapping[str, _Colour]) -> None:
    patches = [Patch(facecolor=colour, edgecolor=_GREY, label=name) for name, colour in colours.items()]
    axes.legend(handles=patches, loc="upper left", bbox_to_anchor=(1.0, 1.0), title=title)


def _named(cells: Sequence[Cell]) -> list[str]:
    counts: dict[str, int] = {}
    for cell in cells:
        counts[cell.best] = counts.get(cell.best, 0) + 1
    order = sorted(counts, key=lambda name: (-counts[name], name))
    chosen = order[:MOST_NAMED]
    return [*chosen, *([DEFAULT] if DEFAULT in order[MOST_NAMED:] else [])]


def _map(axes: Axes, of: Chart, colours: Sequence[_Colour]) -> None:
    """One pixel for each cell, in equal steps."""
    sizes, ranks = _steps(of, "bytes"), _steps(of, "ranks")
    pixels = np.ones((max(len(ranks), 1), max(len(sizes), 1), 3))
    for cell, colour in zip(of.cells, colours, strict=True):
        pixels[ranks[cell.ranks], sizes[cell.bytes]] = colour
    axes.imshow(pixels, origin="lower", aspect="auto", interpolation="nearest")
    axes.grid(visible=False)
    every = max(1, -(-len(sizes) // 6))
    axes.set_xticks([*range(0, len(sizes), every)], [format_bytes(size) for size in [*sizes][::every]])
    every = max(1, -(-len(ranks) // 9))
    axes.set_yticks([*range(0, len(ranks), every)], [str(count) for count in [*ranks][::every]])


def _write(axes: Axes, of: Chart) -> None:
    """The penalties in numbers, where they have room."""
    sizes, ranks = _steps(of, "bytes"), _steps(of, "ranks")
    for cell in of.cells if len(of.cells) <= MOST_WRITTEN else ():
        if cell.penalty is not None:
            colour = "white" if shade(cell.penalty) >= len(PENALTIES) - 1 else "black"
            at = sizes[cell.bytes], ranks[cell.ranks]
            axes.text(*at, f"{cell.penalty:.2g}", ha="center", va="center", fontsize=6.5, color=colour)


def _steps(of: Chart, name: str) -> dict[int, int]:
    return {value: i for i, value in enumerate(sorted({getattr(cell, name) for cell in of.cells}))}
