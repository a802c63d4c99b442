"""`hockney predict each`: answer all requests of a file, a JSON object a line, with one start."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from hockney import reading
from hockney.cli.predict import predict
from hockney.errors import Incomplete, RequestError
from hockney.terminal import verb
from hockney.terminal.main import call, report

FORM = 'write {"operation": "bcast", "machine": "orfeo_thin", "ranks": 48, "bytes": "64KiB"}'


@verb(
    "each",
    examples="hockney predict --each requests.jsonl > answers.jsonl",
    of=predict,
)
def each(
    file: Annotated[Path, typer.Argument(help="Requests, a JSON object a line.")],
) -> None:
    """Answer all requests of a file, a JSON object a line, with one start.

    A request has the operation and the options of `hockney predict` by their names. Its answer is what --json
    prints, on one line. A request that fails is answered by its error; the exit code is the highest of all.
    """
    worst = 0
    for number, line in reading.lines(file, FORM):
        # What an answer warns of is part of it.
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
            try:
                request = reading.parsed(line, reading.printable(file), FORM, line=number)
                code = call(["predict", *_words(request, f"{reading.printable(file)}:{number}"), "--json"])
            except RequestError as error:
                code = report(error, as_json=True)
        if code == Incomplete.exit_code:
            raise KeyboardInterrupt  # Of one request: those behind it are not begun.
        worst = max(worst, code)
        answer = reading.parsed(out.getvalue(), "the answer", "")
        sys.stdout.write(json.dumps(answer, allow_nan=False) + "\n")
        sys.stdout.flush()
    raise typer.Exit(worst)


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
