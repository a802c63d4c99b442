"""A figure as a page takes it, with its name and words; as bytes, the same for the same figure; and as a file."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from xml.etree import ElementTree

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from hockney import writing
from hockney.errors import RequestError
from hockney.report.explorer.chart import WIDTH_IN as WIDTH_IN
from hockney.report.explorer.chart import Chart, Selection, Shown
from hockney.report.explorer.drawn import draw
from hockney.report.style import drawing_style

ENDINGS = (".svg", ".png", ".html")
_SHORTENED = ("d", "x", "y", "transform")
_DIGITS = re.compile(r"(\d\.\d\d)\d+")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that no XML may hold; a label may have any."""


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


def policy(css: str, script: str = "") -> str:
    """What a browser lets a page with exactly this style sheet and this script do (empty: none): nothing else."""
    scripts = f"script-src {_trusted(script)}; " if script else ""
    styles = f"style-src {_trusted(css)}; "
    return f"default-src 'none'; {scripts}{styles}img-src data:; base-uri 'none'; form-action 'none'"


def _trusted(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def svg_file(figure: Figure) -> bytes:
    """The figure as an SVG file."""
    buffer = io.BytesIO()
    canvas = FigureCanvasSVG(figure)
    canvas.print_svg(buffer, metadata={"Date": None, "Creator": "hockney"})  # type: ignore[no-untyped-call]
    return buffer.getvalue()


def png_file(figure: Figure) -> bytes:
    """The figure as a PNG file, 150 dots per inch."""
    buffer = io.BytesIO()
    FigureCanvasAgg(figure)
    figure.set_dpi(150)
    figure.canvas.print_png(buffer, metadata={"Software": "hockney"})  # type: ignore[attr-defined]
    return buffer.getvalue()


class Inliner:
    """Figures as `<svg>` elements of one HTML document: ids are made unique, repeated styles become classes."""

    def __init__(self) -> None:
        self._figures = 0
        self._classes: dict[str, str] = {}

    def inline(self, figure: Figure, alt: str) -> str:
        """A figure as an element; `alt` is its title, which a screen reader speaks in place of the figure."""
        self._figures += 1
        name = f"f{self._figures}"
        # Only attributes are touched: a label may look like one.
        root = ElementTree.fromstring(_NO_XML.sub("\ufffd", svg_file(figure).decode()))
        for parent in [*root.iter()]:
            for child in [*parent]:
                # Without its paper, so that the page's shows: its first patch.
                if _local(child.tag) in ("metadata", "style") or child.get("id") == "patch_1":
                    parent.remove(child)
        # Several figures share one document: ids that nothing refers to are dropped, the others made unique.
        used = {reference: f"{name}i{i}" for i, reference in enumerate(_referred(root))}
        for element in root.iter():
            element.tag = _local(element.tag)
            element.attrib = dict(self._attributes(element.attrib, used))
            element.text, element.tail = _without_indent(element.text), _without_indent(element.tail)
        root.attrib = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-labelledby": name}
        title = ElementTree.Element("title", {"id": name})
        title.text = _NO_XML.sub("\ufffd", alt)
        root.insert(0, title)
        return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")

    def _attributes(self, attributes: dict[str, str], used: dict[str, str]) -> Iterator[tuple[str, str]]:
        for full_name, value in attributes.items():
            name = _local(full_name)
            if name == "style":
                yield "class", self._class(_REFERENCE.sub(lambda m: f"url(#{used[m[1]]})", value))
            elif name in _SHORTENED:
                # A hundredth of a point is finer than any screen or printer.
                yield name, _DIGITS.sub(r"\1", value)
            elif name == "href":
                # Dots that are an image have it as data.
                yield name, f"#{used[value[1:]]}" if value.startswith("#") else value
            elif name != "id":
                yield name, _REFERENCE.sub(lambda m: f"url(#{used[m[1]]})", value)
            elif value in used:
                yield name, used[value]

    def css(self) -> str:
        """The style sheet of the elements made so far."""
        rules = [f".{name}{{{style}}}" for style, name in self._classes.items()]
        return "\n".join(["svg *{stroke-linejoin:round;stroke-linecap:butt}", *rules])

    def _class(self, style: str) -> str:
        return self._classes.setdefault(style, f"s{len(self._classes)}")


def _local(name: str) -> str:
    """The name without its namespace."""
    return name.rpartition("}")[2]


def _without_indent(text: str | None) -> str | None:
    return None if text is not None and text.isspace() and "\n" in text else text


def _referred(root: ElementTree.Element) -> list[str]:
    """Ids that attributes refer to, once each, in their order."""
    ids: dict[str, None] = {}
    for element in root.iter():
        for name, value in element.attrib.items():
            if _local(name) != "href":
                ids |= dict.fromkeys(_REFERENCE.findall(value))
            elif value.startswith("#"):
                ids[value[1:]] = None
    return list(ids)


def html_file(figure: Figure, title: str) -> bytes:
    """The figure as a self-contained HTML page under its title."""
    inliner = Inliner()
    with drawing_style():
        svg = inliner.inline(figure, title)
    css = f"body{{font-family:sans-serif;margin:2em}}svg{{max-width:100%}}{inliner.css()}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(css)}"><title>{escape(title)}</title>'
        f"<style>{css}</style></head>"
        f"<body><h1>{escape(title)}</h1>{svg}</body></html>\n"
    ).encode()
