"""How a table finds room: nothing in it is cut, and no word is broken."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace

from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table

ANY_WIDTH = 10**9
"""Columns without a limit."""


def parts_of(shown: Table, console: Console, columns: int) -> Iterator[Table]:
    """The tables that a table is shown as, each as wide as it needs; those that name a row stand in each.

    `columns`: of letters, that a line may have.
    """
    keys = _keys(shown)
    whole = [_widths(column, console) for column in shown.columns]
    for number, chosen in enumerate(
        _columns_of_parts(shown, [least for least, _ in whole], keys, columns, console)
    ):
        part = _part(shown, chosen)
        frame = _frame(part, console)
        widths = _shared(columns - frame, [whole[index] for index in chosen])
        for column, width in zip(part.columns, widths, strict=True):
            column.width, column.overflow = width, "fold"
        part.width = frame + sum(widths)
        if number:
            console.print()
        yield part


def _keys(shown: Table) -> int:
    """How many first columns name a row; one where even all of them do not."""
    cells = [[str(cell) for cell in column.cells] for column in shown.columns]
    several = range(1, len(cells))
    return next((keys for keys in several if len({*zip(*cells[:keys], strict=True)}) == shown.row_count), 1)


COMFORTABLE = 20
"""Columns that a text may fold into, where it needs more."""


def _widths(column: Column, console: Console) -> tuple[int, int]:
    """The least width of a column in which no word is broken and a text can be read, and that of its longest."""
    wide = console.options.update(width=ANY_WIDTH)
    widths = [Measurement.get(console, wide, cell) for cell in (column.header, *column.cells)]
    word, text = max(width.minimum for width in widths), max(width.maximum for width in widths)
    return (text if column.no_wrap else max(word, min(text, COMFORTABLE))), text


def _columns_of_parts(
    shown: Table, least: list[int], keys: int, room: int, console: Console
) -> Iterator[list[int]]:
    """The columns of each table: as many as fit beside the first ones, and one at least."""
    first = list(range(min(keys, len(least))))
    chosen = [*first]
    for index in range(len(first), len(least)):
        beside = [*chosen, index]
        if (
            len(chosen) > len(first)
            and _frame(_part(shown, beside), console) + sum(least[i] for i in beside) > room
        ):
            yield chosen
            beside = [*first, index]
        chosen = beside
    yield chosen


def _part(shown: Table, chosen: list[int]) -> Table:
    """The table of these columns alone."""
    part = copy(shown)
    part.title = None
    part.columns = [replace(shown.columns[index], _index=number) for number, index in enumerate(chosen)]
    return part


def _frame(part: Table, console: Console) -> int:
    """What a table is wider than its columns together."""
    bare = _part(part, list(range(len(part.columns))))
    for column in bare.columns:
        column.width = 1
    return Measurement.get(console, console.options.update(width=ANY_WIDTH), bare).maximum - len(bare.columns)


def _shared(room: int, widths: list[tuple[int, int]]) -> list[int]:
    """The least widths, and what is left of the room for those that need more, the least needy first."""
    given = [least for least, _ in widths]
    left = max(0, room - sum(given))
    needs = sorted(range(len(widths)), key=lambda index: widths[index][1] - given[index])
    for number, index in enumerate(needs):
        more = min(widths[index][1] - given[index], left // (len(needs) - number))
        given[index] += more
        left -= more
    return given
