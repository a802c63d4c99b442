"""A figure as bytes: inline SVG for the page, SVG and PNG for files; the same figure gives the same bytes."""

from __future__ import annotations

import io
import re
from html import escape

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from hockney.report.style import drawing_style

_ID = re.compile(r'\bid="([^"]+)"')
_DIGITS = re.compile(r"(\d\.\d\d)\d+")
_REFERENCE = re.compile(r'(?:xlink:)?href="#([^"]+)"|url\(#([^)]+)\)')


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
        text = svg_file(figure).decode()
        text = text[text.index("<svg") :]
        text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", "", text, flags=re.DOTALL)
        # Several figures share one document: ids that nothing refers to are dropped, the others made unique.
        used = {reference: f"{name}{i}" for i, reference in enumerate(_referred(text))}
        text = _ID.sub(lambda m: f'id="{used[m[1]]}"' if m[1] in used else "", text)
        text = _REFERENCE.sub(lambda m: f'href="#{used[m[1]]}"' if m[1] else f"url(#{used[m[2]]})", text)
        # A hundredth of a point is finer than any screen or printer.
        text = re.sub(r'(?<= )(?:d|x|y|transform)="[^"]*"', lambda m: _DIGITS.sub(r"\1", m[0]), text)
        text = re.sub(r'style="([^"]*)"', lambda m: f'class="{self._class(m[1])}"', text)
        text = re.sub(r"\s+(/?>)", r"\1", re.sub(r">\s*\n\s*<", "><", text))
        box = re.search(r'viewBox="([^"]+)"', text)
        if box is None:
            raise ValueError("matplotlib wrote an SVG without a viewBox")
        start = f'<svg viewBox="{box[1]}" role="img" aria-labelledby="{name}"><title id="{name}">'
        return start + escape(alt) + "</title>" + text[text.index(">") + 1 :].strip()

    def css(self) -> str:
        """The style sheet of the elements made so far."""
        rules = [f".{name}{{{style}}}" for style, name in self._classes.items()]
        return "\n".join(["svg *{stroke-linejoin:round;stroke-linecap:butt}", *rules])

    def _class(self, style: str) -> str:
        return self._classes.setdefault(style, f"s{len(self._classes)}")


def _referred(text: str) -> list[str]:
    return list(dict.fromkeys(a or b for a, b in _REFERENCE.findall(text)))


def html_file(figure: Figure, title: str) -> bytes:
    """The figure as a self-contained HTML page under its title."""
    inliner = Inliner()
    with drawing_style():
        svg = inliner.inline(figure, title)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>body{{font-family:sans-serif;margin:2em}}svg{{max-width:100%}}{inliner.css()}</style></head>"
        f"<body><h1>{escape(title)}</h1>{svg}</body></html>\n"
    ).encode()
