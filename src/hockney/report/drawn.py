"""A figure in a file of its own, in the format that its name ends in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hockney.errors import RequestError
from hockney.report.figures import Drawing
from hockney.report.style import drawing_style
from hockney.report.svg import html_file, png_file, svg_file

ENDINGS = (".svg", ".png", ".html")


def checked_ending(path: Path) -> None:
    """RequestError for a name that ends in no format; to be called before anything is measured."""
    if path.suffix not in ENDINGS:
        raise RequestError(f"cannot draw a figure as {path.name!r}", f"end the name in {', '.join(ENDINGS)}")


def write_drawing(path: Path, draw: Callable[[], Drawing]) -> None:
    """Draw into `.svg`, `.png` or `.html`; RequestError for another ending or a place that cannot be written."""
    checked_ending(path)
    with drawing_style():
        drawing = draw()
        if path.suffix == ".html":
            content = html_file(drawing.figure, drawing.alt)
        else:
            content = svg_file(drawing.figure) if path.suffix == ".svg" else png_file(drawing.figure)
    write_file(path, content)


def write_file(path: Path, content: bytes, *, with_folder: bool = False) -> None:
    """Write a file, `with_folder` its folder too; RequestError where that fails."""
    try:
        if with_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise RequestError(f"cannot write {path}: {error.strerror or error}", "choose another place") from error
