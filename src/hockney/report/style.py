"""Style of the figures: colours for colour-blind readers and grey print, with a line style and marker each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl

from hockney.models.base import preferred_model

# Okabe and Ito's palette (jfly.uni-koeln.de/color), without its yellow, which is too light on white.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#444444")
_DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (5, 1.6),
    (1.2, 1.4),
    (6, 1.5, 1.2, 1.5),
    (3, 1.2),
    (8, 1.4, 2.5, 1.4),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h")

MEASURED = "#000000"
QUIET = "#6b6b6b"

_RC: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": 8.5,
    "axes.titlesize": 9.0,
    "axes.labelsize": 8.5,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#444444",
    "axes.linewidth": 0.8,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.0,
    # Text stays text: it is smaller, can be searched, and a screen reader can speak it.
    "svg.fonttype": "none",
    # Identifiers in the SVG follow from this and the content, so that the same campaign gives the same bytes.
    "svg.hashsalt": "hockney",
    "path.simplify": True,
    # Labels are names that users choose: a dollar sign in one begins no formula.
    "text.parse_math": False,
}


@dataclass(frozen=True)
class Style:
    """One curve's colour, dash pattern (empty: solid) and marker."""

    colour: str
    dashes: tuple[float, ...]
    marker: str

    @property
    def line(self) -> dict[str, Any]:
        """Keywords of `Axes.plot` for a line without markers."""
        return {"color": self.colour, "linestyle": (0, self.dashes) if self.dashes else "-"}


def styles(names: Sequence[str]) -> dict[str, Style]:
    """One style for each name, in order; colours, dashes and markers repeat with different periods."""
    return {
        name: Style(_COLOURS[i % len(_COLOURS)], _DASHES[i % len(_DASHES)], _MARKERS[i % len(_MARKERS)])
        for i, name in enumerate(names)
    }


def model_styles(names: Sequence[str]) -> dict[str, Style]:
    """A style for each model; the preferred model gets the solid line."""
    first = preferred_model(names)
    others = [name for name in reversed(names) if name != first]
    return styles(others if first is None else [first, *others])


@contextmanager
def drawing_style() -> Iterator[None]:
    """A context in which matplotlib draws in the report's style; it restores the global settings."""
    with mpl.rc_context(_RC):
        yield
