"""A figure as a page takes it: with its name, its words, and what of the explorer shows the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

WIDTH_IN = 10.6


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
