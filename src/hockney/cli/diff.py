"""`hockney diff`: two machines, or two versions of a library, and which differences exceed chance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel

from hockney.fields import Argument, Option
from hockney.machine.level_option import AnyLevel
from hockney.terminal import JsonOption, answer_no, say, verb
from hockney.terminal.loading import later

with later():
    from hockney.api.machine import Machine
    from hockney.report.views.difference_text import as_data, as_tables, heading, level_warning, summary


class DiffOptions(BaseModel):
    """Which machines are compared, and how closely."""

    a: Annotated[Path, Argument("Machine file, or the name of a published machine.", metavar="A.json")]
    b: Annotated[Path, Argument("Machine that A is compared with.", metavar="B.json")]
    points: Annotated[bool, Option("Compare every measured size too.", flags=("--points",))] = False
    check: Annotated[
        bool,
        Option(
            "Exit with 1 where a judged difference exceeds chance, or B lacks what A has; what could not be "
            "judged does not count.",
            flags=("--check",),
        ),
    ] = False
    any_level: AnyLevel = False


@verb(
    "diff",
    examples="""
hockney diff before.json after.json
hockney diff openmpi-4.json openmpi-5.json --points --check
hockney diff monday.json tuesday.json --any-level
hockney diff bluegene_p orfeo_thin --json
""",
)
def diff(options: DiffOptions, as_json: JsonOption = False) -> None:
    """Compare two machines entry by entry, effect by effect: which differences exceed chance.

    Numbers that three launches or more a side measured are judged, all together: at most 5 % of the differences
    found are expected to be false. Entries are compared at a level of the machine that both met.
    """
    first, second = Machine.open(options.a), Machine.open(options.b)
    comparison = first.compare(second, points=options.points, any_level=options.any_level)
    names, machines, compared = comparison.names, comparison.machines, comparison.difference
    if as_json:
        say.json(as_data(names, machines, compared))
    else:
        say.line(heading(names, machines))
        for table in as_tables(compared):
            say.table(table)
        say.line(summary(compared))
        if warning := level_warning(compared):
            say.warn(warning)
    # What B lacks cannot be compared: a check that passed for that would hide a loss.
    if options.check and (compared.of("differs") or compared.only_in_a):
        answer_no()
