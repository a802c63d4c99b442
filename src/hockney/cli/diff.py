"""`hockney diff`: two machines, or two versions of a library, and which differences exceed their intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hockney.terminal import JsonOption, answer_no, say, verb
from hockney.terminal.loading import later

with later():
    from hockney.machine.file import load
    from hockney.report.views.difference import difference
    from hockney.report.views.difference_text import as_data, as_tables, heading, summary


@verb(
    "diff",
    examples="""
hockney diff before.json after.json
hockney diff openmpi-4.json openmpi-5.json --points --check
hockney diff bluegene_p orfeo_thin --json
""",
)
def diff(
    a: Annotated[
        Path, typer.Argument(help="Machine file, or the name of a published machine.", metavar="A.json")
    ],
    b: Annotated[Path, typer.Argument(help="What it is compared with.", metavar="B.json")],
    points: Annotated[bool, typer.Option("--points", help="Compare every measured size too.")] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Exit with 1 where a difference exceeds its intervals, or B lacks what A has."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare two machines entry by entry, effect by effect: which differences exceed their intervals."""
    machines = load(a), load(b)
    found = difference(*machines, points=points)
    if as_json:
        say.json(as_data((str(a), str(b)), machines, found))
    else:
        say.line(heading((str(a), str(b)), machines))
        for table in as_tables(found):
            say.table(table)
        say.line(summary(found))
    # What B lacks cannot be compared: a check that passed for that would hide a loss.
    if check and (found.of("differs") or found.only_in_a):
        answer_no()
