"""`hockney predict each`: answer all requests of a file, a JSON object a line, with one start."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from hockney.cli.predict import predict
from hockney.terminal import verb
from hockney.terminal.requests import answered


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
    for answer, code in answered(file, "predict"):
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()
        worst = max(worst, code)
    raise typer.Exit(worst)
