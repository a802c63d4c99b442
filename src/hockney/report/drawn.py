"""Files of a report; a figure in a file of its own has the format that its name ends in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from hockney import writing
from hockney.errors import RequestError
from hockney.report.drawing import Drawing
from hockney.report.style import drawing_style
from hockney.report.svg import html_file, png_file, svg_file

ENDINGS = (".svg", ".png", ".html")


def checked_ending(path: Path) -> None:
    """Check the ending before anything is measured; RequestError for one that is no format."""
    if path.suffix not in ENDINGS:
        raise RequestError(f"cannot draw a figure as {path.name!r}", f"end the name in {', '.join(ENDINGS)}")


def write_drawing(path: Path, draw: Callable[[], Drawing]) -> None:
    """Draw into `.svg`, `.png` or `.html`; RequestError for another ending or a place that cannot be written."""
    checked_ending(path)
    with drawing_style():
        drawing = draw()
        write_figure(path, drawing.figure, drawing.alt)


def write_figure(path: Path, figure: Figure, title: str) -> None:
    """The same for a figure that is drawn already; a page `.html` bears the title."""
    checked_ending(path)
    if path.suffix == ".html":
        content = html_file(figure, title)
    else:
        content = svg_file(figure) if path.suffix == ".svg" else png_file(figure)
    writing.replace(path, content)
