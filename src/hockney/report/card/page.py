"""The card as one HTML document: the sections of a machine as the report has them, closer together in print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from hockney import reading
from hockney.machine.file import Machine
from hockney.report.card.content import CardAnswer, CardModel, Number, content, principal
from hockney.report.card.figures import collectives, messages
from hockney.report.drawing import Drawing
from hockney.report.page import Contribution, Report, Section
from hockney.report.style import Looks
from hockney.report.tables import NONE, Table

ORIGIN = "All numbers are of the machine file. An interval holds 95 %."
_MESSAGES = 5
"""Numbers of a message that are not of LogGP: latency, two throughputs, n½ and the error left out."""


def render(machine: Machine, card: CardAnswer | None = None) -> str:
    """The whole document; `card` is its content if the caller has it already."""
    card = content(machine) if card is None else card
    formulas = _formulas(
        [
            replace(message, formulas=[formula for formula in message.formulas if formula.view == "exact"])
            for message in card.messages
        ]
        + [*card.effects, *card.collectives, *card.closed_forms]
    )
    sections = [
        _section("key", "Key numbers", _numbers("", [CardModel("", card.key)])),
        _section(
            "messages",
            "Messages",
            _rows(card.messages, slice(_MESSAGES)),
            messages(principal(machine.point_to_point)),
        ),
        _section("loggp", "LogGP", _rows(card.messages, slice(_MESSAGES, None))),
        _section("effects", "Effects", _numbers("effect", card.effects)),
        _section(
            "collectives",
            "Collectives",
            _numbers("collective", card.collectives),
            collectives(machine.collectives),
        ),
        _section("formulas", "Formulas: messages of n bytes, collectives on P ranks", formulas),
        _section("limits", "Limits", _lines("what must not be concluded from these numbers", card.limits)),
    ]
    return Report(
        title=f"MPI on {card.title}",
        lead=card.lead,
        content=Contribution([section for section in sections if section.tables or section.figures]),
        findings=[],
        warnings=[],
        provenance=[_lines("what the numbers come from", card.provenance)],
        origin=ORIGIN,
        explored=None,
        looks=Looks(),
        css=reading.text(Path(str(files("hockney.report.card"))) / "card.css"),
        calm="",
    ).html


def _section(name: str, title: str, table: Table, figure: Drawing | None = None) -> Section:
    return Section(name, title, "", [figure] if figure else [], [table] if table.rows else [])


def _lines(heading: str, lines: Sequence[str]) -> Table:
    return Table("", [heading], [[line] for line in lines])


def _numbers(what: str, models: Iterable[CardModel]) -> Table:
    """A row for each number."""
    rows = [
        [*([model.title if not place else ""] if what else []), number.name, number.value, number.interval]
        for model in models
        for place, number in enumerate(model.numbers)
    ]
    columns = [*([what] if what else []), "quantity", "value", "95 % interval"]
    return Table("", columns, rows, frozenset(range(len(columns) - 2)))


def _rows(models: Sequence[CardModel], chosen: slice) -> Table:
    """A row for each model, a column for each of the chosen numbers."""
    names = list(dict.fromkeys(number.name for model in models for number in model.numbers[chosen]))
    rows = []
    for model in models:
        numbers = {number.name: number for number in model.numbers[chosen]}
        if numbers:
            rows.append([model.title, *(_cell(numbers.get(name)) for name in names)])
    return Table("", ["between", *names], rows)


def _cell(number: Number | None) -> str:
    if number is None:
        return NONE
    return f"{number.value} ({number.interval})" if number.interval else number.value


def _formulas(models: Sequence[CardModel]) -> Table:
    """A row for each statement, and for each that was printed."""
    rows = []
    for model in models:
        stated = [
            f"{formula.text} ({formula.where})" if formula.where else formula.text for formula in model.formulas
        ]
        stated += [f"printed: {text}" for text in model.as_printed]
        rows += [[model.title if not place else "", text] for place, text in enumerate(stated)]
    return Table("Formulas" if rows else "", ["of", "formula"], rows, frozenset(range(2)))
