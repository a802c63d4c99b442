"""A figure as a page takes it: with its name, its words, and what of the explorer shows the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from matplotlib.figure import Figure

from hockney.report.explorer.chart import WIDTH_IN as WIDTH_IN
from hockney.report.explorer.chart import Chart, Selection, Shown
from hockney.report.explorer.drawn import draw


@dataclass(frozen=True)
class Drawing:
    """A figure with its file name, title, description (alternative text) and caption.

    `chart` is what it shows, drawn when it is first looked at; a figure where no chart describes it. `choice`:
    what of the page's explorer shows the same numbers; None where nothing does.
    """

    name: str
    title: str
    alt: str
    caption: str
    chart: Chart | Figure
    choice: Selection | Shown | None = None

    @cached_property
    def figure(self) -> Figure:
        """The figure as matplotlib has it."""
        return draw(self.chart) if isinstance(self.chart, Chart) else self.chart
