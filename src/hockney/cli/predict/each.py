"""`hockney predict each`: answer all requests of a file, a JSON object a line, with one start."""

from __future__ import annotations

import contextlib
import io
import json as json_
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from hockney import reading
from hockney.cli.predict import predict
from hockney.errors import RequestError
from hockney.terminal import verb
from hockney.terminal.main import call, report

FORM = 'write {"operation": "bcast", "machine": "orfeo_thin", "ranks": 48, "bytes": "64KiB"}'
SHOWN = 60
"""Characters of a line in a message."""


@verb(
    "each",
    examples="hockney predict --each requests.jsonl > answers.jsonl",
    of=predict,
)
def each(
    file: Annotated[Path, typer.Argument(help="Requests, a JSON object a line, or - for standard input.")],
) -> None:
    """Answer all requests of a file, a JSON object a line, with one start.

    A request has the operation and the options of `hockney predict` by their names. Its answer is what --json
    prints, on one line. A request that fails is answered by its error; the exit code is the highest of all.
    """
    worst = 0
    for number, line in enumerate(_lines(file), 1):
        # What an answer warns of is part of it.
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
            try:
                code = call(["predict", *_words(line, f"{reading.printable(file)}, line {number}"), "--json"])
            except RequestError as error:
                code = report(error, as_json=True)
        worst = max(worst, code)
        print(json_.dumps(json_.loads(out.getvalue()), allow_nan=False), flush=True)
    raise typer.Exit(worst)


def _lines(file: Path) -> Iterator[str]:
    """Those that are not empty."""
    with contextlib.nullcontext(sys.stdin) if str(file) == "-" else file.open(encoding="utf-8") as text:
        yield from filter(str.strip, text)


def _words(line: str, where: str) -> list[str]:
    """A request as it is written on the command line; RequestError for what is none."""
    try:
        request: dict[str, bool | float | str | list[str]] = json_.loads(line)
        operation = str(request.pop("operation"))
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise RequestError(f"{where}: {line.strip()[:SHOWN]!r} is no request", FORM) from error
    words = [operation]
    for name, value in request.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words += [flag] if value else []
        elif isinstance(value, list):
            words.append(f"{flag}={','.join(map(str, value))}")
        else:
            words.append(f"{flag}={value}")
    return words
