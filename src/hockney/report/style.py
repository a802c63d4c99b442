"""Style of the figures: colours for colour-blind readers and grey print, with a line style and marker each."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import matplotlib as mpl

from hockney.models.base import preferred_model
from hockney.models.over_ranks.choice import DEFAULT

# Okabe and Ito's palette (jfly.uni-koeln.de/color), without its yellow, which is too light on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#444444")
ON_DARK = ("#4FA3DB", "#F0803C", "#2CC295", "#E3A0C6", "#8CCBF0", "#F2B83D", "#B0B0B0")
"""The same colours on dark paper."""
PENALTIES = ("#E4EBF0", "#FDE3BC", "#FDB96B", "#EE8433", "#C24C0B", "#7A2704")
PENALTIES_ON_DARK = ("#2C3439", "#5A3A12", "#8F5413", "#C9741B", "#F0A04B", "#FFD9A0")
"""Classes of a penalty, the first for none; how light they are tells their order without colours."""
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
    # No axis has numbers above it, so that a title needs no look for room: that measures all of an axis' numbers.
    "axes.titley": 1.0,
    "axes.labelsize": 8.5,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#444444",
    "axes.linewidth": 0.8,
    "axes.facecolor": "none",
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


DEFAULT_STYLE = Style("#000000", (4, 1.5), "x")
"""What the library chose by itself, in every figure."""
_ALL = [
    Style(COLOURS[i % len(COLOURS)], _DASHES[i % len(_DASHES)], _MARKERS[i % len(_MARKERS)])
    for i in range(math.lcm(len(COLOURS), len(_DASHES), len(_MARKERS)))
]
"""All styles: colours, dashes and markers repeat with different periods."""


def styles(names: Sequence[str]) -> dict[str, Style]:
    """One style for each name, in order; of a figure that stands alone. Figures of one page share `Looks`."""
    return dict(zip(names, cycle(_ALL), strict=False))


class Looks:
    """The styles of one page: a name keeps the one it was first drawn with, and no two names have the same.

    Segments and radices of an algorithm share its colour. Other names that are drawn together have different
    colours as far as there are enough; beyond, and on a page with more names than colours, dashes and markers
    tell them apart.
    """

    def __init__(self) -> None:
        self._of = {DEFAULT: DEFAULT_STYLE}

    def of(self, names: Sequence[str]) -> dict[str, Style]:
        """The style of each name in one figure, the most important name first."""
        together = {self._of[name].colour for name in names if name in self._of}
        for name in dict.fromkeys(names):
            if name not in self._of:
                taken = set(self._of.values())
                free = [look_ for look_ in _ALL if look_ not in taken] or _ALL
                kin = {look.colour for other, look in self._of.items() if _algorithm(other) == _algorithm(name)}
                fitting = (
                    look_ for look_ in free if (look_.colour in kin if kin else look_.colour not in together)
                )
                self._of[name] = next(fitting, free[0])
                together.add(self._of[name].colour)
        return {name: self._of[name] for name in names}


def _algorithm(name: str) -> str:
    """The name without segment and radix."""
    return re.split(", (?:segment|radix) ", name, maxsplit=1)[0]


def model_styles(names: Sequence[str]) -> dict[str, Style]:
    """A style for each model; the preferred model gets the solid line."""
    first = preferred_model(names)
    others = [name for name in reversed(names) if name != first]
    return styles(others if first is None else [first, *others])


def css() -> str:
    """The colours as variables of a style sheet, for light and dark paper."""
    light = _classes(COLOURS, PENALTIES)
    return (
        f"{light}\n@media screen and (prefers-color-scheme: dark) {{ {_classes(ON_DARK, PENALTIES_ON_DARK)} }}\n"
    )


def _classes(colours: Sequence[str], penalties: Sequence[str]) -> str:
    named = [
        *((f"c-{i}", one) for i, one in enumerate(colours)),
        *((f"p-{i}", one) for i, one in enumerate(penalties)),
    ]
    rules = [f".{name} {{ --c: {colour}; }}" for name, colour in named]
    return " ".join([f":root {{ --nothing: {penalties[0]}; }}", *rules])


@contextmanager
def drawing_style() -> Iterator[None]:
    """A context in which matplotlib draws in the report's style; it restores the global settings."""
    with mpl.rc_context(_RC):
        yield
