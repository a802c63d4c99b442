# ruff: noqa: N999 - the file bears the verb's name
"""`hockney import`: read OSU, IMB and other results into a campaign."""

from __future__ import annotations

from contextlib import ExitStack

from hockney import api
from hockney.options.joined import Given, ImportOptions
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.signals import interruptible, undisturbed
from hockney.units import counted

MOST_ROWS = 20
"""Rows of a table that are printed."""


@verb(
    "import",
    examples="""
hockney import osu_latency.txt osu_bw.txt -o c --system mycluster --mpi "Open MPI 5.0.5"
hockney import results/ -o c --json
hockney import pingpong.out -o c --format imb --nodes 2 --ppn 1
hockney import osu_bcast.txt -o c --ranks 64 --ppn 32 --mapping core --algorithm tuned:binomial
hockney import table.csv.gz -o c && hockney fit c -o machine.json
""",
)
@interruptible()
def import_(options: ImportOptions, given: Given, json: JsonOption = False) -> None:
    """Read results of other benchmarks and tidy tables into a campaign.

    Folders are searched. Files without results are named and skipped; if none has any, nothing is written.
    """
    with ExitStack() as closing:
        _show(api.import_files(options, given, lambda: closing.enter_context(undisturbed())), as_json=json)


def _show(answer: api.ImportAnswer, *, as_json: bool) -> None:
    if as_json:
        say.json(answer)
        return
    runs = f" and {counted(answer.runs, 'run')} of applications" if answer.runs else ""
    files = f"{counted(len(answer.files), 'file')}, {len(answer.skipped)} skipped"
    say.line(f"{answer.campaign}: {counted(answer.records, 'record')}{runs} from {files}")
    said = [[row.field, str(row.value), row.words, row.where, str(row.tables)] for row in answer.said]
    _table("what the text says", ["of", "is", "words", "first at", "tables"], said, {0, 1, 2, 3})
    found = [
        [row.operation, *map(_numbers, (row.ranks, row.nodes, [row.sizes], row.repetitions)), row.subject]
        for row in answer.found
    ]
    found = [[*cells, " ".join(row.unknown)] for cells, row in zip(found, answer.found, strict=True)]
    headings = ["what", "ranks", "nodes", "sizes", "repetitions", "of", "not known; say it with"]
    _table("what was found", headings, found, {0, 5, 6})
    say.line(answer.next_step)
    skipped = [f"skipped: {skipped.file}: {skipped.reason}" for skipped in answer.skipped]
    for text in answer.notes:
        say.note(text)
    say.warnings([*skipped, *(text for file in answer.files for text in file.warnings)])


def _table(title: str, headings: list[str], rows: list[list[str]], left: set[int]) -> None:
    if rows:
        more = f" ({MOST_ROWS} of {len(rows)} rows; --json has all)" if len(rows) > MOST_ROWS else ""
        say.texts(title + more, headings, rows[:MOST_ROWS], left)


def _numbers(values: list[int]) -> str:
    """`16, 32, 64`, or of many the ends; `–` for none."""
    if len(values) > 4:
        return f"{values[0]} … {values[-1]} ({len(values)})"
    return ", ".join(map(str, values)) or "–"
