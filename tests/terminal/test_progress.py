"""How far a long calculation is: a bar on a terminal, nothing anywhere else."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable

import pytest
from rich.console import Console

from hockney.terminal import say


def drawn(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, quiet: bool) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=100)
    monkeypatch.setattr(say, "err", console)
    with say.progress(quiet=quiet) as tell:
        tell(0.0, "first")
        tell(0.5, "first: half of it")
        tell(0.25, "second")
    return stream.getvalue()


def test_a_terminal_sees_what_is_done_and_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "second" in drawn(monkeypatch, terminal=True, quiet=False)


@pytest.mark.parametrize(("terminal", "quiet"), [(False, False), (True, True)])
def test_nothing_is_drawn_elsewhere(monkeypatch: pytest.MonkeyPatch, terminal: bool, quiet: bool) -> None:
    assert drawn(monkeypatch, terminal=terminal, quiet=quiet) == ""


def waiting(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> io.StringIO:
    stream = io.StringIO()
    monkeypatch.setattr(say, "err", Console(file=stream, force_terminal=terminal, width=100))
    monkeypatch.setattr(say, "PATIENCE_S", 0.0)
    return stream


def comes(is_so: Callable[[], bool]) -> bool:
    """Whether what another thread does is done within ten seconds."""
    for _ in range(1000):
        if is_so():
            return True
        time.sleep(0.01)
    return False


def test_a_verb_that_says_nothing_is_seen_to_work_until_it_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, before = waiting(monkeypatch, terminal=True), set(threading.enumerate())
    with say.patience("hockney think"):
        assert comes(lambda: "hockney think …" in stream.getvalue())
        say.note("a thought")
        shown = stream.getvalue()
        assert "a thought" in shown
        # The thread that draws ends: what follows is not drawn over.
        assert comes(lambda: before.issuperset(threading.enumerate()))
    assert stream.getvalue() == shown


def test_nobody_waits_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, before = waiting(monkeypatch, terminal=False), threading.active_count()
    with say.patience("hockney think"):
        assert threading.active_count() == before
    assert stream.getvalue() == ""


def test_a_text_that_counts_says_how_far_the_work_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(say, "err", Console(file=stream, force_terminal=True, width=100))
    bar = say._bar()
    monkeypatch.setattr(say, "_bar", lambda: bar)
    with say.status("fitting …") as tell:
        (task,) = bar.tasks
        assert task.total is None, "nobody knows"
        tell("fitting 1,201 of 2,400: pingpong")
        (known,) = bar.tasks
        assert (known.completed, known.total) == (1200, 2400)
        tell("writing machine.json")
        assert task.description == "writing machine.json"
