"""How far a long calculation is: a bar on a terminal, nothing anywhere else."""

from __future__ import annotations

import io

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
