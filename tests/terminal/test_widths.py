"""At 80 columns and in a pipe nothing that a verb prints is cut, and no word of it is broken."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text
from tests.command_line import outcome, succeeded

from hockney.schedule.catalogue import algorithm_names
from hockney.terminal import say

MACHINES = Path(__file__).parents[2] / "machines"
VERBS = [
    "schedule list",
    "schedule count allreduce --algorithm all --ranks 48 --bytes 1MiB",
    "predict bcast --ranks 64 --bytes 64KiB --machine {bluegene_p}",
    "predict pingpong --machine {ci_2core} --bytes 8B,64KiB",
    "predict fft --machine {bluegene_p} --size 512 --ranks 64,512",
    "predict jacobi --size 96 --ranks 12 --grid all --cell-time 1ns --machine {bluegene_p}",
    "show {ci_2core} --format table",
    "diff {ci_2core} {bluegene_p}",
    "network traffic --topology torus:4x4x4 --pattern tornado",
    "network map --pattern jacobi:4x4 --topology torus:4x4",
    "scaling usl 0.02 0.0001 --ranks 16,64,256",
    "study list",
]
"""Verbs that print tables and need no MPI."""


def on_terminal(words: list[str], columns: int, monkeypatch: pytest.MonkeyPatch) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=columns, no_color=True, markup=False, emoji=False)
    monkeypatch.setattr(say, "out", console)
    outcome(*words)
    monkeypatch.undo()
    return stream.getvalue()


def words_of(text: str) -> set[str]:
    """What stands between blanks, without lines that are drawn."""
    plain = Text.from_ansi(text).plain
    return {word for word in plain.split() if any(sign.isalnum() for sign in word)}


@pytest.mark.parametrize("written", VERBS)
def test_every_word_that_a_pipe_has_is_whole_on_a_terminal(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    named = {path.stem: str(path) for path in MACHINES.glob("*.json")}
    words = written.format(**named).split()
    piped = succeeded(*words)
    shown = on_terminal(words, 80, monkeypatch)
    assert words_of(piped) - words_of(shown) == set()


def wide_table() -> Table:
    names = [f"scatter_allgather_{word}" for word in ("recursive_doubling", "ring")]
    table = Table(
        "algorithm", *(f"time at {2**power} KiB" for power in range(9)), "why", box=None, title="of bcast"
    )
    for name in names:
        table.add_row(
            name, *(f"{power}.25 µs" for power in range(9)), "a text with many words that may fold " * 3
        )
    return table


def drawn(monkeypatch: pytest.MonkeyPatch, columns: int) -> list[str]:
    stream = io.StringIO()
    monkeypatch.setattr(say, "out", Console(file=stream, force_terminal=True, width=columns, no_color=True))
    say.table(wide_table())
    return Text.from_ansi(stream.getvalue()).plain.splitlines()


def test_a_wide_table_becomes_several_each_with_the_names(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = drawn(monkeypatch, 80)
    assert max(map(len, lines)) <= 80
    tables = sum("algorithm" in line for line in lines)
    assert tables > 1
    assert sum("scatter_allgather_recursive_doubling" in line for line in lines) == tables
    assert words_of("\n".join(lines)) >= {f"{power}.25" for power in range(9)} | {"256", "fold", "bcast"}


def test_a_name_wider_than_the_terminal_is_not_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert any("scatter_allgather_recursive_doubling" in line for line in drawn(monkeypatch, 20))


def test_a_pipe_has_100_columns(capsys: pytest.CaptureFixture[str]) -> None:
    say.table(wide_table())
    say.warn("a text with many words " * 9)
    shown = capsys.readouterr()
    assert 80 < max(map(len, (shown.out + shown.err).splitlines())) <= 100
    assert words_of(shown.out) >= {"256", "8.25", "fold", "bcast", "scatter_allgather_recursive_doubling"}


def test_rows_that_share_a_first_cell_stay_apart_in_further_tables(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("ranks", "grid", *(f"a rather long heading {place}" for place in range(6)), box=None)
    for grid in ("12x1x1", "3x2x2"):
        table.add_row("12", grid, *"123456")
    say.table(table)
    out = capsys.readouterr().out
    assert [out.count(word) for word in ("heading", "12x1x1", "3x2x2")] == [6, 2, 2]


def test_every_algorithm_can_be_found_in_a_pipe_and_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["schedule", "list"]
    _, piped, _ = outcome(*words)
    for text in (piped, on_terminal(words, 60, monkeypatch)):
        assert set(algorithm_names()) <= words_of(text)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("one two three", ["one two", "three"]),
        # A path can be copied: it is never broken.
        ("wrote /a/longer/path there", ["wrote", "/a/longer/path", "there"]),
        ("  of an indent", ["  of an", "indent"]),
        ("    alongword", ["    alongword"]),
        # Just as wide, one column more, and what follows a break.
        ("one two t", ["one two t"]),
        ("one two th", ["one two", "th"]),
        ("one two three fo six", ["one two", "three fo", "six"]),
        # Each of these signs takes two columns.
        ("日本 日本 x", ["日本 日本", "x"]),
        # Blanks between two words are no words, and lines stay lines.
        ("one two    x", ["one two   ", "x"]),
        ("one two\nthree", ["one two", "three"]),
        # So can a command, with its blanks.
        ("run `hockney fit one two`", ["run", "`hockney fit one two`"]),
    ],
)
def test_lines_of_a_terminal_end_between_words(
    said: str, shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(say, "program", lambda: "hockney")
    for terminal in (True, False):
        stream = io.StringIO()
        monkeypatch.setattr(say, "out", Console(file=stream, force_terminal=terminal, width=9, no_color=True))
        say.line(said)
        assert stream.getvalue().splitlines() == (shown if terminal else said.splitlines())


@pytest.mark.parametrize(
    ("saying", "shown"),
    [
        (lambda: say.note("one two three"), ["one two", "three"]),
        (lambda: say.warn("two"), ["warning:", "two"]),
        (lambda: say.error("one two", "six"), ["error:", "one two", "hint: six"]),
    ],
)
def test_so_do_remarks(saying: Callable[[], None], shown: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(say, "err", Console(file=stream, force_terminal=True, width=9, no_color=True))
    saying()
    assert Text.from_ansi(stream.getvalue()).plain.splitlines() == shown
