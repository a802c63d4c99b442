"""The card as one HTML document of two printed pages that refers to nothing outside itself."""

from __future__ import annotations

from pathlib import Path

from hockney import __version__, writing
from hockney.machine.file import Machine
from hockney.report.card.content import Card, content, principal
from hockney.report.card.figures import collectives, known, messages
from hockney.report.card.layout import COLUMN_FIGURE_MM, COLUMN_MM, VIEW_WORDS, lay_out
from hockney.report.page import template
from hockney.report.style import drawing_style
from hockney.report.svg import Inliner, policy

_MM_PER_IN = 25.4


def render(machine: Machine, card: Card | None = None) -> str:
    """The whole document; `card` is its content if the caller has it already."""
    card = content(machine) if card is None else card
    entries = principal(machine.point_to_point)
    size_in = COLUMN_FIGURE_MM / _MM_PER_IN, COLUMN_MM / _MM_PER_IN
    in_columns = [
        (figure, title)
        for figure, title in (
            (collectives(machine.collectives, *size_in), "Collectives over ranks"),
            (known(machine, *size_in), "Intervals of the parameters"),
        )
        if figure is not None
    ]
    heights = [float(figure.get_figheight()) / size_in[0] for figure, _ in in_columns]
    pages = lay_out(card, column_figures=sum(heights), figure=bool(entries))
    drawn = messages(entries, pages.figure_mm / _MM_PER_IN) if entries else None
    inliner = Inliner()
    with drawing_style():
        first = (
            "" if drawn is None else inliner.inline(drawn, "Time and throughput of a message against its size")
        )
        pictures = [(inliner.inline(figure, title), title) for figure, title in in_columns]
    page, css = template("hockney.report.card", "card")
    css += inliner.css()
    return page.render(
        version=__version__,
        policy=policy(css),
        css=css,
        card=card,
        pages=pages,
        figure=first,
        pictures=pictures,
        view_words=VIEW_WORDS,
        loggp_names=[cell.name for cell in pages.loggp[0].cells] if pages.loggp else [],
    )


def write(text: str, path: Path) -> None:
    """RequestError where the file cannot be written."""
    writing.replace(path, text)
