"""Requests in a file, a JSON object a line, each answered as a call of the program with --json would."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hockney import reading
from hockney.errors import Incomplete, RequestError
from hockney.terminal.main import call, report

FORM = 'write {"operation": "bcast", "machine": "orfeo_thin", "ranks": 48, "bytes": "64KiB"}'


def answered(file: Path, group: str) -> Iterator[tuple[str, int]]:
    """The answer of each request, on a line, and its exit code. RequestError where the file cannot be read."""
    # A script that writes to standard input may wait for each answer.
    piped = enumerate(iter(sys.stdin.buffer.readline, b""), 1)
    for number, line in piped if str(file) == "-" else reading.lines(file, FORM):
        # What an answer warns of is part of it.
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
            try:
                request = reading.parsed(line.removeprefix(BOM_UTF8), reading.printable(file), FORM, line=number)
                code = call([group, *_words(request, f"{reading.printable(file)}:{number}"), "--json"])
            except RequestError as error:
                code = report(error, as_json=True)
        if code == Incomplete.exit_code:
            raise KeyboardInterrupt  # Of one request: those behind it are not begun.
        yield json.dumps(reading.parsed(out.getvalue(), "the answer", ""), allow_nan=False), code


def _words(request: Any, where: str) -> list[str]:
    """A request as it is written on the command line; RequestError for what is none."""
    operation = request.get("operation") if isinstance(request, dict) else None
    if not isinstance(operation, str) or operation in ("", "each") or operation.startswith("-"):
        raise RequestError(f"{where}: this is no request", FORM)
    words = [operation]
    for name, value in request.items():
        if name in ("help", "help-all", "help_all"):
            raise RequestError(f"{where}: {name} is no answer", FORM)
        if name != "operation" and value is not False and value is not None:
            text = ",".join(map(str, value)) if isinstance(value, list) else value
            words.append(f"--{name.replace('_', '-')}" + ("" if value is True else f"={text}"))
    return words
