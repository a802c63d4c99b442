"""`hockney diff`: compare two machine files and say which differences exceed chance."""

from __future__ import annotations

from itertools import groupby

from hockney import api
from hockney.options.diff import DiffOptions
from hockney.terminal import JsonOption, answer_no, say, verb
from hockney.terminal.say import Column


@verb(
    "diff",
    examples="""
hockney diff before.json after.json
hockney diff openmpi-4.json openmpi-5.json --points --check
hockney diff bluegene_p orfeo_thin --json
""",
)
def diff(options: DiffOptions, as_json: JsonOption = False) -> None:
    """Compare two machines entry by entry, effect by effect: which differences exceed chance.

    Numbers with three launches or more on each side are judged together: at most 5 % of the differences reported
    are expected to be false. Entries are compared at a speed level that both machines had.
    """
    comparison = api.compare(options.a, options.b, points=options.points)
    difference = comparison.difference
    if as_json:
        say.json(difference)
    else:
        verdict, *further = difference.summary.splitlines()
        say.line((verdict, "bold"))
        say.line(repr(comparison))
        columns = (
            Column("", "quantity"),
            Column("A", "stated_a", is_number=True),
            Column("B", "stated_b", is_number=True),
            Column("B / A", "stated_ratio", is_number=True),
            Column("", "stated_verdict"),
        )
        for where, rows in groupby(difference.comparisons, key=lambda row: row.where):
            say.rows(f"\n{where}", rows, columns)
        for line in further:
            say.line(line)
        say.warnings(difference.concerns)
    # What B lacks cannot be compared: a check that passed for that would hide a loss.
    if options.check and (difference.differ or difference.only_in_a):
        answer_no()
