"""The layout of a card on two pages, never more: heights are estimated, and the card counts what it leaves out.

Lengths are millimetres on paper; the page box fits A4 and letter with margins of 12 mm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hockney.models.views import VIEWS, View
from hockney.report.card.content import Card, CardFormula, CardModel, Number

PAGE_MM = (186.0, 254.0)
COLUMN_MM = 90.0
COLUMN_HEIGHT_MM = 244.0
_LINE_MM = 3.9
_CHARACTER_MM = 1.52
"""Mean width of a character of the body text, 8 pt, in the widest font that a reader may have."""
_SMALL = 0.92
_ROW_MM = 4.6
_VALUE_MM, _INTERVAL_MM = 3.5, 3.0
_HEADING_MM = 8.5
_TITLE_MM = 5.2
_FIGURE_MM = (58.0, 125.0)
COLUMN_FIGURE_MM = 54.0
_FORMULAS_MM = 78.0
_SCALES = (0.86, 1.35)
"""Least and largest scale of the second page's text: 6.9 pt can be read, 10.8 pt is large."""
_FILL = 0.93
"""Share of a column that estimates may fill, since blocks do not break at its end."""
_Detail = tuple[int, frozenset[View], int]
_DETAILS: tuple[_Detail, ...] = (
    (9, frozenset(VIEWS), 99),
    (2, frozenset(VIEWS), 99),
    (1, frozenset(VIEWS), 20),
    (1, frozenset(VIEWS[2:]), 12),
    (1, frozenset(VIEWS[3:]), 12),
    (0, frozenset(), 12),
    (0, frozenset(), 6),
)
"""Levels of detail, the fullest first: statements of each view, the views, and numbers of each model."""
_LEAST_MM = {"Collectives": 50.0, "Limits": 62.0, "Provenance": 30.0}
"""Height of the second page that is reserved for these blocks."""
_ENOUGH_MM = {"Limits": 95.0, "Provenance": 45.0}
"""Height above which these blocks do not displace formulas."""
_LONGEST = 230
"""Most characters of a limit or a line of provenance; the file has the rest."""

VIEW_WORDS: dict[View, str] = {"asymptotic": "Θ", "dominant": "leading", "bounded": "bounds", "exact": "exact"}


@dataclass
class MessageRow:
    """One row of the table of messages: title and cells."""

    title: str
    cells: list[Number]


@dataclass
class Block:
    """A heading with models or with a list; `more` says how much did not fit."""

    heading: str
    models: list[CardModel] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    more: str = ""


@dataclass
class Pages:
    """Both pages: the content that fits, and the sizes that make it fit."""

    rows: list[MessageRow]
    more_rows: str
    loggp: list[MessageRow]
    formulas: list[CardModel]
    figure_mm: float
    first_blocks: list[Block]
    first_scale: float
    blocks: list[Block]
    scale: float


def lay_out(card: Card, *, column_figures: float, figure: bool) -> Pages:
    """Both pages of a card.

    Figures as high as `column_figures` usual ones stand on the second page; `figure` says whether one stands on
    the first. If there are no messages, the effects and collectives stand on the first page.
    """
    models = [Block("Effects", models=card.effects), Block("Collectives", models=card.collectives)]
    words = [
        Block("Limits", lines=[_short(line) for line in card.limits]),
        Block("Provenance", lines=[_short(line) for line in card.provenance]),
    ]
    top_mm = 13.0 + _LINE_MM * len(card.lead) + (17.0 if card.key else 0.0)
    if not card.messages:
        first, first_scale = _filled(models, [], 0, COLUMN_HEIGHT_MM - top_mm)
        blocks, scale = _filled(words, [], column_figures, COLUMN_HEIGHT_MM)
        return Pages([], "", [], [], 0.0, first, first_scale, blocks, scale)
    rows = [MessageRow(message.title, message.numbers[:4]) for message in card.messages]
    loggp = [
        MessageRow(message.title, message.numbers[4:]) for message in card.messages if len(message.numbers) > 4
    ]
    formulas, used_mm = _first_formulas(card.messages)
    used_mm += top_mm
    room_mm = PAGE_MM[1] - used_mm - (_FIGURE_MM[0] if figure else 0.0)
    kept, kept_mm = _kept_rows(rows, room_mm)
    kept_loggp, loggp_mm = _kept_rows(loggp, min(45.0, room_mm - kept_mm))
    figure_mm = min(_FIGURE_MM[1], PAGE_MM[1] - used_mm - kept_mm - loggp_mm - 6.0) if figure else 0.0
    on_first_page = {model.title for model in formulas}
    further = [
        CardModel(message.title, [], message.formulas)
        for message in card.messages
        if message.title not in on_first_page and message.formulas
    ]
    optional = [
        Block("Collectives by closed forms", models=card.closed_forms),
        Block("Further messages", models=further),
    ]
    blocks, scale = _filled([*models, *words], optional, column_figures, COLUMN_HEIGHT_MM)
    more = _more(len(rows) - len(kept), "configuration")
    return Pages(kept, more, kept_loggp, formulas, figure_mm, [], 1.0, blocks, scale)


def lines(text: str, width_mm: float, character_mm: float = _CHARACTER_MM) -> int:
    """The number of lines that a text takes in a column of that width, at least one."""
    return max(1, math.ceil(len(text) * character_mm / width_mm))


def _first_formulas(messages: Sequence[CardModel]) -> tuple[list[CardModel], float]:
    """The four views of the nearest and the farthest ranks' ping-pong, as far as they fit."""
    chosen: list[CardModel] = []
    used_mm = _HEADING_MM
    for model in [message for message in messages if message.formulas][:3]:
        height_mm = _model_mm(CardModel(model.title, [], model.formulas), PAGE_MM[0])
        if used_mm + height_mm <= _FORMULAS_MM or not chosen:
            chosen.append(CardModel(model.title, [], model.formulas))
            used_mm += height_mm
    return chosen, used_mm if chosen else 0.0


def _kept_rows(rows: Sequence[MessageRow], room_mm: float) -> tuple[list[MessageRow], float]:
    used_mm = _HEADING_MM + _ROW_MM + 2.0
    kept: list[MessageRow] = []
    for row in rows:
        of_title = lines(row.title, 0.43 * PAGE_MM[0]) * _LINE_MM
        of_cells = _VALUE_MM + (_INTERVAL_MM if any(cell.interval for cell in row.cells) else 0.0)
        height_mm = max(of_title, of_cells) + 0.8
        if used_mm + height_mm > room_mm:
            break
        kept.append(row)
        used_mm += height_mm
    return (kept, used_mm) if kept else ([], 0.0)


def _filled(
    required: Sequence[Block], optional: Sequence[Block], figures: float, height_mm: float
) -> tuple[list[Block], float]:
    """The blocks that fit in two columns of that height, and the size of their text over 8 pt.

    Formulas are left out before numbers are; `optional` blocks come only if there is room at 8 pt.
    """
    full_mm = 2 * _FILL * height_mm - figures * (COLUMN_FIGURE_MM + _HEADING_MM)
    needed_mm = 0.0
    for detail in _DETAILS:
        chosen = [
            replace(block, models=[_reduced(model, detail) for model in block.models]) for block in required
        ]
        needed_mm = sum(
            min(_block_mm(block), _ENOUGH_MM.get(block.heading, math.inf))
            for block in chosen
            if block.models or block.lines
        )
        if needed_mm * _SCALES[0] ** 2 <= full_mm:
            break
    # Larger letters need more room along both directions.
    room_mm = full_mm / min(1.0, max(_SCALES[0], math.sqrt(full_mm / max(needed_mm, 1.0)))) ** 2
    kept: list[Block] = []
    for index, block in enumerate([*chosen, *optional]):
        reserved_mm = sum(
            min(_LEAST_MM.get(later.heading, 0.0), _block_mm(later)) for later in chosen[index + 1 :]
        )
        part = _cut(block, room_mm - reserved_mm)
        if part is not None:
            kept.append(part)
            room_mm -= _block_mm(part)
    # Limits and provenance stand last.
    kept.sort(key=lambda block: bool(block.lines))
    used_mm = sum(map(_block_mm, kept))
    return kept, min(_SCALES[1], max(_SCALES[0], math.sqrt(full_mm / max(used_mm, 1.0))))


def _reduced(model: CardModel, detail: _Detail) -> CardModel:
    """The model at a level of detail: at most so many statements of each view, and so many numbers."""
    most, views, most_numbers = detail
    formulas: list[CardFormula] = []
    for formula in model.formulas:
        if formula.view in views and sum(kept.view == formula.view for kept in formulas) < most:
            formulas.append(formula)
    numbers = model.numbers
    if (left := len(numbers) - most_numbers) > 0:
        numbers = [*numbers[:most_numbers], Number(f"{left} more", "in the file")]
    return replace(model, numbers=numbers, formulas=formulas)


def _cut(block: Block, room_mm: float) -> Block | None:
    """As much of a block as fits, and how much does not; None if nothing fits or the block is empty."""
    models: list[CardModel] = []
    kept: list[str] = []
    used_mm = _HEADING_MM + _LINE_MM
    for model in block.models:
        height_mm = _model_mm(model, COLUMN_MM)
        if used_mm + height_mm > room_mm:
            break
        models.append(model)
        used_mm += height_mm
    for line in block.lines:
        height_mm = _list_mm(line)
        if used_mm + height_mm > room_mm:
            break
        kept.append(line)
        used_mm += height_mm
    if not models and not kept:
        return None
    left = len(block.models) - len(models) + len(block.lines) - len(kept)
    return Block(block.heading, models, kept, _more(left, "line" if block.lines else "model"))


def _more(count: int, word: str) -> str:
    return f"{count} more {word}{'' if count == 1 else 's'} in the machine file" if count else ""


def _block_mm(block: Block) -> float:
    return (
        _HEADING_MM
        + sum(_model_mm(model, COLUMN_MM) for model in block.models)
        + sum(_list_mm(line) for line in block.lines)
        + (_LINE_MM if block.more else 0.0)
    )


def _list_mm(line: str) -> float:
    return _LINE_MM * lines(line, COLUMN_MM - 4.0, _SMALL * _CHARACTER_MM) * _SMALL + 0.8


def _model_mm(model: CardModel, width_mm: float) -> float:
    height_mm = _TITLE_MM + 1.0
    if model.has_intervals:
        height_mm += _LINE_MM * sum(
            lines(f"{number.name} {number.value} {number.interval}", 0.92 * width_mm) for number in model.numbers
        )
    elif model.numbers:
        text = " · ".join(f"{number.name} {number.value}" for number in model.numbers)
        height_mm += _LINE_MM * lines(text, 0.92 * width_mm)
    for formula in model.formulas:
        height_mm += _LINE_MM * lines(_text(formula), width_mm - 15.0)
    for text in model.as_printed:
        height_mm += _LINE_MM * lines(text, width_mm - 15.0)
    return height_mm


def _text(formula: CardFormula) -> str:
    return f"{formula.text}  ({formula.where})" if formula.where else formula.text


def _short(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 2].rstrip()} …"
