"""Looks of all figures: colours and dashes of what is drawn, axes of size and rank, their ticks and labels."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

from hockney.models.base import preferred_model
from hockney.models.over_ranks.choice import DEFAULT
from hockney.units import format_bytes

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


_LEAST_RATIO = 1.25
"""The smallest ratio of neighbouring counts that are ticks, each of them."""
LETTER_IN, LINE_IN = 0.068, 0.15
"""The width of a letter at a tick, at most, and the height of a row of them."""
OVERHANG_IN = 0.1
"""By how much a label may reach beyond its axes."""
ZERO = "0 B"
"""At the left of the break."""
_LEAST, _MOST = 1e-200, 1e200
"""Ends of a logarithmic axis: what a damaged file holds may lie beyond, where matplotlib cannot draw."""


@dataclass(frozen=True)
class SizeAxis:
    """Message sizes on a binary logarithm from `smallest_B` to `largest_B`, with 0 B broken off at the left."""

    smallest_B: float
    largest_B: float
    zero: bool

    @classmethod
    def of(cls, sizes_B: Sequence[NDArray[np.float64]]) -> SizeAxis:
        """The axis that spans all these sizes."""
        everything = np.concatenate(list(sizes_B))
        positive = everything[everything > 0]
        if positive.size == 0:
            return cls(1.0, 1.0, True)
        return cls(float(positive.min()), float(positive.max()), bool(np.any(everything == 0)))

    @property
    def span(self) -> float:
        """Length of the logarithmic part, in doublings."""
        return math.log2(self.largest_B / self.smallest_B)

    @property
    def zero_at(self) -> float:
        """Abscissa of 0 B."""
        return math.log2(self.smallest_B) - max(1.0, 0.08 * self.span)

    def position(self, size_B: NDArray[np.float64] | Sequence[float]) -> NDArray[np.float64]:
        """Abscissa of each size; 0 B at `zero_at`."""
        size = np.asarray(size_B, dtype=np.float64)
        return np.where(size > 0, np.log2(np.where(size > 0, size, 1.0)), self.zero_at)

    @property
    def limits(self) -> tuple[float, float]:
        """Abscissas of both ends of the axis."""
        low, high = self.zero_at if self.zero else math.log2(self.smallest_B), math.log2(self.largest_B)
        margin = 0.03 * max(high - low, 1.0)
        return low - margin, high + margin

    def apply(self, axes: Axes, title: str = "message size") -> None:
        """Set limits, ticks at all powers of two and the break mark of the x axis; `thin_labels` thins them."""
        low, high = math.log2(self.smallest_B), math.log2(self.largest_B)
        ticks = [float(e) for e in range(max(0, math.ceil(low)), math.floor(high) + 1)]
        zero = [self.zero_at] if self.zero else []
        axes.xaxis.set_major_locator(FixedLocator([*zero, *ticks]))
        axes.xaxis.set_major_formatter(
            FuncFormatter(lambda at, _: ZERO if at in zero else format_bytes(round(2.0**at)))
        )
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlim(self.limits)
        axes.set_xlabel(title)
        if self.zero:
            axes.text(
                (self.zero_at + low) / 2,
                0.0,
                "//",
                transform=axes.get_xaxis_transform(),
                ha="center",
                va="center",
                fontsize=7,
                color=QUIET,
                clip_on=False,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
            )


def log_axis(axes: Axes, low: float, high: float) -> None:
    """A logarithmic y axis from `low` to `high` (same unit as the data) with plain numbers at its ticks."""
    low = min(max(low / 1.35, _LEAST), _MOST)
    high = min(max(high * 1.35, 1.5 * low), 1.5 * _MOST)
    # In this order: matplotlib would fit the scale to the data first, which may overflow.
    axes.set_ylim(low, high)
    axes.set_yscale("log")
    decades = math.log10(high / low)
    subs = (
        (1.0,) if decades > 2.5 else (1.0, 2.0, 5.0) if decades > 0.9 else tuple(float(i) for i in range(1, 10))
    )
    axes.yaxis.set_major_locator(LogLocator(subs=subs, numticks=12))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_minor_locator(NullLocator())


def plain(value: float) -> str:
    """A number at a tick: 0.01, 250, 10 000; never a power of ten in exponents."""
    if value >= 10_000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.10g}"


def count_axis(axes: Axes, counts: Sequence[float] | NDArray[np.float64], title: str) -> None:
    """A binary logarithmic x axis with ticks at the counts, or at powers of two if those would touch."""
    ticks = np.unique(np.asarray(counts, dtype=np.float64))
    axes.set_xscale("log", base=2)
    axes.set_xlim(ticks[0] / 1.15, ticks[-1] * 1.15)
    if np.any(ticks[1:] < _LEAST_RATIO * ticks[:-1]):
        ticks = 2.0 ** np.arange(np.ceil(np.log2(ticks[0])), np.floor(np.log2(ticks[-1])) + 1)
    axes.xaxis.set_major_locator(FixedLocator([float(tick) for tick in ticks]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(title)


def thin_labels(axes: Axes, place: int = 0) -> None:
    """Leave out ticks until no label touches another; labels of x (`place` 0) do not overhang much either.

    To be called when limits and margins are settled. What stays is every second, third, … of even steps from 0.
    """
    axis, dpi = (axes.xaxis, axes.yaxis)[place], axes.figure.dpi
    low, high = sorted(axis.get_view_interval())
    ticks = np.array([at for at in axis.get_majorticklocs() if low <= at <= high])
    if len(ticks) < 2:
        return
    texts = axis.get_major_formatter().format_ticks(ticks.tolist())
    points = np.ones((len(ticks), 2))
    points[:, place] = ticks
    at_in = (axes.transData.transform(points)[:, place] - axes.bbox.min[place]) / dpi
    wide_in = np.array([LINE_IN if place else LETTER_IN * (len(text) + 1.5) for text in texts])
    begins = at_in - wide_in / 2
    is_late = begins + wide_in > axes.bbox.size[place] / dpi + OVERHANG_IN
    is_early = begins < -OVERHANG_IN
    if not place:
        begins = np.where(is_late, at_in - wide_in, np.where(is_early, at_in, begins))
    gaps = np.diff(ticks)
    counts = np.round(ticks / gaps[-1]) if np.allclose(gaps[1:], gaps[-1]) else np.arange(len(ticks))
    kept = np.arange(0)
    for step in range(1, len(ticks) + 1):
        chosen = counts % step == 0
        if texts[0] == ZERO:
            chosen = (begins >= begins[0] + wide_in[0]) & chosen
            chosen[0] = True
        kept = np.flatnonzero(chosen)
        if np.all(np.diff(begins[kept]) >= wide_in[kept][:-1]):
            break
    axis.set_major_locator(FixedLocator(ticks[kept].tolist()))
    axis.set_major_formatter(FixedFormatter([texts[i] for i in kept]))
    for label, i in zip(axes.get_xticklabels() if not place else (), kept, strict=False):
        label.set_horizontalalignment("right" if is_late[i] else "left" if is_early[i] else "center")


def time_unit(largest_s: float) -> tuple[float, str]:
    """The unit in which times up to this one read well: (seconds of one unit, its name)."""
    return next((unit for unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")) if largest_s >= unit[0]), (1e-9, "ns"))


def rate_unit(largest_B_per_s: float) -> tuple[float, str]:
    """The unit in which rates up to this one read well: (bytes per second of one unit, its name)."""
    for scale, name in ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")):
        if largest_B_per_s >= 0.5 * scale:
            return scale, name
    return 1.0, "B/s"


def spread_labels(positions: Sequence[float], widths: Sequence[float]) -> list[int]:
    """The row (0, 1, …) of each label, centred at its position, so that neighbours in one row do not touch."""
    ends: list[float] = []
    rows = [0] * len(positions)
    for index in sorted(range(len(positions)), key=lambda i: positions[i]):
        left, right = positions[index] - widths[index] / 2, positions[index] + widths[index] / 2
        row = next((r for r, end in enumerate(ends) if left >= end), len(ends))
        ends[row:] = [right] if row == len(ends) else [right, *ends[row + 1 :]]
        rows[index] = row
    return rows
