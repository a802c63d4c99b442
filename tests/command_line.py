"""`hockney …` as a user types it, in this process: an interpreter of its own costs a second a call.

Tests of what happens at the very start (the environment, what is imported) begin one instead.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import typer.main
from tests.schemas import expect_as_in_schema

from hockney.cli import main
from hockney.errors import RequestError
from hockney.terminal import say, tables

_command = cache(typer.main.get_command_from_info)
"""A verb's command as it was built for an earlier call: to build all of them takes longer than most calls."""
AWAY = "points were not met at the level asked for"


def run_hockney(
    *words: str, cwd: Path | None = None, columns: int = tables.ANY_WIDTH
) -> subprocess.CompletedProcess[str]:
    """Its exit code and what it printed; with --json that is as the verb's schema says.

    A user's pipe has `say.A_PIPE` columns: where lines end concerns the tests in tests/terminal alone.
    """
    out, err = io.StringIO(), io.StringIO()
    with (
        chdir(cwd or Path.cwd()),
        redirect_stdout(out),
        redirect_stderr(err),
        patch.object(say, "A_PIPE", columns),
    ):
        code = called(*words)
    expect_as_in_schema(words, out.getvalue())
    return subprocess.CompletedProcess(["hockney", *words], code, out.getvalue(), err.getvalue())


def called(*words: str) -> int:
    """Its exit code; what it prints goes where this process writes."""
    code: object = None
    with (
        patch.object(sys, "argv", ["hockney", *words]),
        patch.object(typer.main, "get_command_from_info", _command),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int)
    return code


def outcome(*words: str | Path) -> tuple[int, str, str]:
    """The same for tests that take it apart: exit code, standard output, standard error."""
    done = run_hockney(*map(str, words))
    return done.returncode, done.stdout, done.stderr


def answered(*words: str | Path) -> tuple[int, Any]:
    """Its exit code and its JSON."""
    code, out, _ = outcome(*words, "--json")
    return code, json.loads(out)


def answer(*words: str | Path) -> Any:
    """The JSON of a call that succeeds."""
    code, out, err = outcome(*words, "--json")
    assert code == 0, out + err
    return json.loads(out)


def refusal(*words: str | Path) -> str:
    """The message and the hint of a wrong request."""
    code, out, err = outcome(*words, "--json")
    assert code == 2, out + err
    error = json.loads(out)["error"]
    assert error["hint"]
    return f"{error['message']}\n{error['hint']}"


def campaign_answer(done: subprocess.CompletedProcess[str]) -> Any:
    """What a `hockney measure … --json` that succeeded says, wherever the machine was meanwhile.

    Where it leaves its common level for longer than the verb waits, the verb says so and exits with 4: no failure
    of what tests on a real machine are about.
    """
    answer: Any = json.loads(done.stdout)
    assert "failures" in answer, done.stdout + done.stderr
    answer["failures"] = [text for text in answer["failures"] if AWAY not in text]
    assert done.returncode == 0 or (done.returncode == 4 and not answer["failures"]), done.stdout + done.stderr
    return answer


def succeeded(*words: str | Path) -> str:
    """What a verb prints that ends with 0."""
    code, out, err = outcome(*words)
    assert code == 0, out + err
    return out


def refused(*words: str | Path, code: int = RequestError.exit_code) -> str:
    """What a verb says on standard error that ends with this code."""
    ended, out, err = outcome(*words)
    assert ended == code, out + err
    return err


class Run:
    """A verb, or the first words of one, to be run with further words: exit code, standard output and error."""

    def __init__(self, *words: str | Path) -> None:
        self._words = words

    def __call__(self, *further: str | Path) -> tuple[int, str, str]:
        return outcome(*self._words, *further)

    def prints(self, *further: str | Path) -> str:
        """As `succeeded`."""
        return succeeded(*self._words, *further)

    def answers(self, *further: str | Path) -> Any:
        """As `answer`."""
        return answer(*self._words, *further)

    def explains(self, *further: str | Path) -> str:
        """As `refusal`."""
        return refusal(*self._words, *further)

    def refuses(self, *further: str | Path) -> str:
        """As `refused`."""
        return refused(*self._words, *further)
