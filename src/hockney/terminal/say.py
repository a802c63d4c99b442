"""All that the command line says: results on standard output, the rest on standard error.

Nothing that is said is read as markup: a campaign may be called `run[red]`. Lines end between words, and
never within a command to be copied: at the terminal's edge, in a pipe or a file after 100 columns.

One file, because a bar and a word share a stream: what waits gives way to what is said.
"""

from __future__ import annotations

import io
import json as json_
import os
import re
import shutil
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import cache
from operator import itemgetter
from pathlib import Path
from threading import Lock, Timer
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hockney.progress import Progress
from hockney.terminal.tables import parts_of
from hockney.units import counted, format_duration, percent

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn

out = Console(highlight=False, markup=False, emoji=False)
err = Console(stderr=True, highlight=False, markup=False, emoji=False)

A_PIPE = 100
"""Columns in a pipe or a file, where no terminal says how many there are."""
Part = str | tuple[str, str]
"""A text, or a text and its style."""


def room(console: Console) -> int:
    """Columns that a line may have: those of the terminal, else what COLUMNS says, else `A_PIPE`."""
    stated = os.environ.get("COLUMNS", "")
    return console.width if console.is_terminal else int(stated) if stated.isdigit() else A_PIPE


def line(*parts: Part) -> None:
    """A line, or several, of a result."""
    _said()
    _print(out, Text.assemble(*(_as_called(part) if isinstance(part, str) else part for part in parts)))


def _print(console: Console, text: Text) -> None:
    text.plain = "\n".join(_folded(line, room(console)) for line in text.plain.split("\n"))
    console.print(text, soft_wrap=True)


_BLANK = re.compile(r" (?=[^`]*(?:`[^`]*`[^`]*)*$)")
"""No blank within a command."""


def _folded(text: str, columns: int) -> str:
    """A line as several, with a break in place of the blank before each word that would not fit whole."""
    first, *words = _BLANK.split(text)
    parts, used = [first], cell_len(first)
    for word in words:
        needed = cell_len(word)
        is_begun = any(map(str.strip, parts))  # what is indented begins with blanks
        parts += ["\n" if is_begun and word and used + 1 + needed > columns else " ", word]
        used = needed if parts[-2] == "\n" else used + 1 + needed
    return "".join(parts)


def _as_called(text: str) -> str:
    """The text with commands as they can be typed here: `.venv/bin/hockney fit …` where no PATH leads there."""
    return text.replace("`hockney ", f"`{program()} ")


def program() -> str:
    """How this program is called again: `hockney` where the PATH finds it, else as it was called."""
    called = sys.argv[0]
    if Path(called).name == "__main__.py":
        return f"{sys.executable} -m hockney"
    there = shutil.which("hockney")
    if Path(called).name != "hockney" or "/" not in called or (there and Path(there).samefile(called)):
        return "hockney"
    # A shell's `exec` makes the path absolute.
    from_here = os.path.relpath(called)
    return from_here if "/" in from_here and len(from_here) < len(called) else called


class Column(NamedTuple):
    """A column of a table of answers: what stands above it, what it takes of a row, and how that is written."""

    heading: str
    value: str | Callable[[Any], object]
    """The name of an attribute, or a function of the row."""
    format: Callable[[Any], str] = str
    """Writes a value that is not None; None is written `–`."""
    is_number: bool = False
    """Numbers stand to the right."""


def rows(title: str, answers: Iterable[object], columns: Iterable[Column]) -> None:
    """A table with a row for each answer, laid out as `table` does."""
    shown_columns = tuple(columns)
    shown = Table(title=title or None, box=None)
    for column in shown_columns:
        shown.add_column(column.heading, justify="right" if column.is_number else "left")
    for answer in answers:
        shown.add_row(*(_cell(answer, column) for column in shown_columns))
    table(shown)


def texts(title: str, headings: Sequence[str], lines: Iterable[Sequence[str]], left: Container[int]) -> None:
    """A table of texts; the columns at the places `left` are set left, the others right."""
    places = enumerate(headings)
    columns = [Column(heading, itemgetter(place), is_number=place not in left) for place, heading in places]
    rows(title, lines, columns)


def _cell(answer: object, column: Column) -> str:
    value = getattr(answer, column.value) if isinstance(column.value, str) else column.value(answer)
    return "–" if value is None else column.format(value)


def table(shown: Table) -> None:
    """A table of a result, its title a line above it: nothing in it is cut, and no word is broken.

    Long texts fold between words; columns that find no room go to further tables below, each of which begins with
    the columns that name a row.
    """
    if shown.title:
        line((str(shown.title), "bold"))
    _said()
    for part in parts_of(shown, out, room(out)):
        out.print(part, crop=False)


def json(answer: object) -> None:
    """One JSON object as the result, a mapping, a dataclass or a model. NaN and infinity are refused."""
    _said()
    if not isinstance(answer, Mapping):
        kind: Any = type(answer)
        answer = _adapter(kind).dump_python(answer, mode="json", by_alias=True)
    # Escaped where the output could not hold it: a name stays the same name.
    is_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    sys.stdout.write(json_.dumps(answer, indent=2, allow_nan=False, ensure_ascii=not is_unicode) + "\n")


@cache
def _adapter(kind: Any) -> Any:
    # It is slow to import, and only answers need it.
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def warn(text: str) -> None:
    """Something that the reader should know before the result is trusted."""
    _aside("warning:", "yellow", text)


MOST_WARNINGS = 4
"""Warnings in full where no file keeps them."""


def warnings(texts: Iterable[str], shown: str = "", run: str = "", *, most: int = MOST_WARNINGS) -> None:
    """The end of a verb, after its answer: its warnings, or their number alone where a file keeps several.

    `shown`: where they stand, as "`hockney show machine.json --warnings`"; empty: nowhere, so up to `most` here.
    `run`: quiet, disturbed or unusable, as `machine.marks.noise` says.
    """
    unlike = list(dict.fromkeys(filter(None, texts)))
    if shown and len(unlike) > 1:
        kind = f" ({run} run)" if run else ""
        _aside(counted(len(unlike), "warning"), "yellow", f"{kind}: {shown}", between="")
        return
    for text in unlike[:most]:
        warn(text)
    if further := unlike[most:]:
        note(f"and {counted(len(further), 'further warning')}: `--json` has all")


@contextmanager
def at_end(as_json: bool) -> Iterator[Callable[[str], None]]:
    """Takes warnings meanwhile, and says them when the block ends, however it ends: beside JSON each in full."""
    texts: list[str] = []
    try:
        yield texts.append
    finally:
        warnings(texts, most=len(texts) if as_json else MOST_WARNINGS)


def wrong(what: str, text: str) -> None:
    """`what: text`: a result that is not as it must be."""
    _aside(f"{what}:", "red", text)


def error(message: str, hint: str) -> None:
    """Why nothing came of it, and what to do."""
    _aside("error:", "red", message)
    if hint:
        _aside("hint:", "dim", hint)


def note(text: str) -> None:
    """A remark beside the result."""
    _said()
    _print(err, Text(_as_called(text)))


def _aside(word: str, style: str, text: str, between: str = " ") -> None:
    _said()
    _print(err, Text.assemble((word, style), between, _as_called(text)))


def text(lines: str) -> None:
    """What is to be read by a program, as it stands: LaTeX, a file's text."""
    _said()
    sys.stdout.write(lines)


@contextmanager
def silent() -> Iterator[None]:
    """Keep results of the block, which a verb would print, from standard output."""
    with redirect_stdout(io.StringIO()):
        yield


def _bar(*further: ProgressColumn, quiet: bool = False) -> Bar:
    """The line that tells how far the work is; nothing where standard error is no terminal, or with `quiet`.

    `further`: what stands behind the bar, in place of the time that has passed and the time that is left.
    """
    # A help page draws no bar, and does without what does.
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    begin = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=20))
    behind = further or (TimeElapsedColumn(), TimeRemainingColumn())
    hidden = quiet or not err.is_terminal
    return Bar(*begin, *behind, console=err, transient=True, disable=hidden)


_OF_ALL = re.compile(r"([0-9,]+) of ([0-9,]+)")
"""How a text says which part of the work it is: `fitting 3 of 1,200: …`."""


@contextmanager
def status(text: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being done, and for how long; the function that it gives replaces the text.

    A text with `3 of 120` in it says how far the work is: the line tells then how long the rest will take.
    """
    _said()
    with _bar() as bar:
        task = bar.add_task(text, total=None)

        def tell(now: str) -> None:
            if found := _OF_ALL.search(now):
                place, every = (int(number.replace(",", "")) for number in found.groups())
                bar.update(task, completed=place - 1, total=every, description=now)
            else:
                bar.update(task, description=now)

        yield tell


@contextmanager
def progress(*, quiet: bool) -> Iterator[Progress]:
    """Draw on a terminal how far a calculation is, with the time that is left at that pace.

    Where standard error is no terminal, a line says it every `A_LINE_S`; with `quiet` nothing does.
    """
    _said()
    began_s = told_s = line_s = monotonic()
    told = 0.0, "starting"
    with _bar(quiet=quiet) as bar:
        task = bar.add_task(told[1], total=1.0)

        def tell(share: float, what: str) -> None:
            nonlocal told, told_s, line_s
            now_s = monotonic()
            if now_s - told_s < A_GLANCE_S and share >= told[0] and what == told[1]:
                return
            told_s = now_s
            if not quiet and bar.disable and now_s - line_s > A_LINE_S:
                line_s = now_s
                far = f"{percent(share)} of this part; {format_duration(now_s - began_s)} so far"
                _aside("working:", "dim", f"{what}, {far}")
            # The pace of one piece of work says nothing about the next.
            if share < told[0]:
                bar.reset(task)
            told = share, what
            bar.update(task, completed=share, description=what)

        yield tell


A_LINE_S = 30.0
"""Between two lines of a log."""
A_GLANCE_S = 0.1
"""Between two changes of a bar."""
PATIENCE_S = 2.0
"""What a person waits without a word."""


class _Silence:
    """A verb that has said nothing yet: a terminal shows after `PATIENCE_S` that it works, until it does."""

    def __init__(self, verb: str) -> None:
        self._bar: Bar | None = None
        self._is_over = False
        self._lock = Lock()
        self._timer = Timer(PATIENCE_S, self._show, [verb])
        self._timer.daemon = True
        self._timer.start()

    def _show(self, verb: str) -> None:
        with self._lock:
            if not self._is_over:
                self._bar = _bar()
                self._bar.add_task(f"{verb} …", total=None)
                self._bar.start()

    def end(self) -> None:
        """Show nothing from now on."""
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._bar is not None:
                self._bar.stop()
                self._bar = None


_silences: list[_Silence] = []


def _said() -> None:
    """Something will be said, or drawn: nobody waits without a word any more."""
    while _silences:
        _silences.pop().end()


@contextmanager
def patience(verb: str) -> Iterator[None]:
    """Show on a terminal that a verb works and for how long, where it takes over two seconds without a word."""
    if err.is_terminal:
        _silences.append(_Silence(verb))
    try:
        yield
    finally:
        _said()


class CampaignProgress(Protocol):
    """What a campaign says of itself before each point; the rest takes about `remaining_s` seconds."""

    @property
    def done(self) -> int: ...
    @property
    def expected(self) -> int: ...
    @property
    def remaining_s(self) -> float: ...
    @property
    def doing(self) -> str: ...


class PointsBar:
    """Watches a campaign within its block: the bar says what is measured and how long the rest takes.

    Warnings go above the bar and are never erased, unless the verb `ends_with` them; `quiet` draws no bar.
    """

    def __init__(self, *, quiet: bool, ends_with: bool = False) -> None:
        from rich.progress import MofNCompleteColumn, TextColumn

        _said()
        self._ends_with = ends_with
        self._bar = _bar(MofNCompleteColumn(), TextColumn("about {task.fields[left]} left"), quiet=quiet)
        self._task = self._bar.add_task("starting", total=None, left="?")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def progress(self, progress: CampaignProgress) -> None:
        """Move the bar."""
        minutes, seconds = divmod(round(progress.remaining_s), 60)
        self._bar.update(
            self._task,
            description=progress.doing,
            completed=progress.done,
            total=progress.expected,
            left=f"{minutes}:{seconds:02d}",
        )

    def measured(self, record: object) -> None:
        """Nothing to say for each point: the bar moves."""

    def warning(self, text: str) -> None:
        """Print it above the bar."""
        if not self._ends_with:
            warn(text)
