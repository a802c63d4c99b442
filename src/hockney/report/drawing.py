"""A figure as a page takes it: with its name, its words, and what of the explorer shows the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

WIDTH_IN = 10.6
LEFT_IN, RIGHT_IN, BOTTOM_IN = 0.85, 0.1, 0.5
"""Room for numbers up to `100 000` and a title left of the axes, and for numbers and a title below them."""
LEGEND_ROW_IN = 0.19


@dataclass(frozen=True)
class Drawing:
    """A figure with its file name, title, description (alternative text) and caption.

    `choice`: what of the page's explorer shows the same numbers, the operation and those fields of
    `explorer.chart.Choice` that may differ from the operation's first choice; None where nothing does.
    """

    name: str
    title: str
    alt: str
    caption: str
    figure: Figure
    choice: Mapping[str, Any] | None = None


def legend_below(
    figure: Figure,
    handles: Sequence[Any],
    labels: Sequence[str],
    ncols: int,
    *,
    top_in: float,
    gaps_in: tuple[float, float],
) -> None:
    """A grid of axes with fixed margins, inches, and their legend below.

    `top_in`: for titles; `gaps_in`: between neighbours, and between rows. Matplotlib's own layout measures every
    number at every tick twice, which takes as long as drawing the figure.
    """
    legend = figure.legend(handles, labels, loc="lower center", ncols=ncols, borderaxespad=0.3)
    below_in = BOTTOM_IN + LEGEND_ROW_IN * -(-len(legend.legend_handles) // ncols) + 0.1
    width_in, height_in = figure.get_size_inches()
    grid = figure.axes[0].get_gridspec()
    assert grid is not None  # they were made by `subplots`
    axes_in = (
        (width_in - LEFT_IN - RIGHT_IN - (grid.ncols - 1) * gaps_in[0]) / grid.ncols,
        (height_in - top_in - below_in - (grid.nrows - 1) * gaps_in[1]) / grid.nrows,
    )
    figure.subplots_adjust(
        left=LEFT_IN / width_in,
        right=1 - RIGHT_IN / width_in,
        bottom=below_in / height_in,
        top=1 - top_in / height_in,
        wspace=gaps_in[0] / axes_in[0],
        hspace=gaps_in[1] / axes_in[1],
    )
