"""A card fills two pages and never more: what does not fit is named, limits and provenance always have room."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hockney.machine.file import load
from hockney.models.views import VIEWS
from hockney.report.card.content import Card, CardFormula, CardModel, Number, content
from hockney.report.card.layout import Block, lay_out, lines

TWIN = content(load(Path(__file__).parents[2] / "machine" / "data" / "version1.json"))


def model(title: str, numbers: int, statements: int) -> CardModel:
    return CardModel(
        title,
        [Number(f"parameter {index}", "1.23 µs", "1.1 to 1.3 µs") for index in range(numbers)],
        [
            CardFormula(view, "T(n) = 1 µs + n / 1 GB/s", "", "n > 4 KiB")
            for view in VIEWS
            for _ in range(statements)
        ],
    )


def full(effects: int, collectives: int = 0) -> Card:
    return replace(
        TWIN,
        messages=TWIN.messages * 8,
        effects=[model(f"effect {index}", 6, 3) for index in range(effects)],
        collectives=[model(f"collective {index}", 4, 2) for index in range(collectives)],
        limits=[f"limit {index}: " + "word " * 12 for index in range(40)],
    )


def headings(blocks: list[Block]) -> list[str]:
    return [block.heading for block in blocks]


def test_lines_of_a_text() -> None:
    assert lines("", 90) == lines("x" * 10, 90) == 1
    assert lines("x" * 1000, 90, 1.0) == 12


def test_rows_that_do_not_fit_are_counted() -> None:
    pages = lay_out(full(0), column_figures=0, figure=True)
    left = 8 * len(TWIN.messages) - len(pages.rows)
    assert left > 0
    assert pages.more_rows == f"{left} more configurations in the machine file"
    assert lay_out(TWIN, column_figures=0, figure=True).more_rows == ""


@pytest.mark.parametrize(("effects", "collectives"), [(0, 0), (3, 0), (12, 0), (12, 12), (60, 60)])
def test_limits_and_provenance_always_have_room(effects: int, collectives: int) -> None:
    pages = lay_out(full(effects, collectives), column_figures=2, figure=True)
    assert headings(pages.blocks)[-2:] == ["Limits", "Provenance"]
    limits = pages.blocks[-2]
    assert limits.lines
    if collectives:
        assert "Collectives" in headings(pages.blocks)


def test_what_is_left_out_is_said_for_each_block() -> None:
    pages = lay_out(full(60, 60), column_figures=2, figure=True)
    for block in pages.blocks[:2]:
        assert block.more == f"{60 - len(block.models)} more models in the machine file"
    limits = next(block for block in pages.blocks if block.heading == "Limits")
    assert limits.more == f"{40 - len(limits.lines)} more lines in the machine file"


def test_formulas_are_left_out_before_numbers() -> None:
    few = lay_out(full(2), column_figures=0, figure=True).blocks[0].models
    many = lay_out(full(9), column_figures=0, figure=True).blocks[0].models
    assert [len(one.formulas) for one in few] == [12, 12]
    assert len(many) == 9
    assert all(len(one.formulas) < 12 and len(one.numbers) == 6 for one in many)


def test_letters_are_larger_where_there_is_less_to_say() -> None:
    thin = replace(TWIN, messages=TWIN.messages[:1], effects=[], closed_forms=[], limits=["one"])
    scales = [lay_out(card, column_figures=1, figure=True).scale for card in (thin, TWIN, full(12, 12))]
    assert scales == sorted(scales, reverse=True)
    assert scales[0] == pytest.approx(1.35)
    assert scales[-1] >= 0.86, "below 6.9 pt nobody reads"


def test_without_messages_the_first_page_has_the_effects() -> None:
    card = replace(full(3), messages=[], key=[])
    pages = lay_out(card, column_figures=0, figure=False)
    assert headings(pages.first_blocks) == ["Effects"]
    assert headings(pages.blocks) == ["Limits", "Provenance"]


def test_one_effect_of_many_numbers_leaves_room_for_the_others() -> None:
    card = replace(full(6), effects=[model("datatypes", 80, 1), *full(6).effects])
    effects = lay_out(card, column_figures=2, figure=True).blocks[0]
    assert (effects.heading, len(effects.models), effects.more) == ("Effects", 7, "")
    first = effects.models[0].numbers
    assert first[-1] == Number(f"{80 - len(first) + 1} more", "in the file")
