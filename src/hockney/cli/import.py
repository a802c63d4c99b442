# ruff: noqa: N999 - the file bears the verb's name
"""`hockney import`: results of other benchmarks and tidy tables into a campaign folder."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel

from hockney.cli._next import next_step
from hockney.fields import Argument, Option
from hockney.importers.base import Given
from hockney.registry import unit_files
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.terminal.signals import interruptible, undisturbed
from hockney.units import counted

with later():
    from hockney.importers import _collect


class ImportOptions(BaseModel):
    """What is read, as what, and where it goes."""

    files: Annotated[
        list[Path],
        Argument("Results of other benchmarks, tidy tables, or folders with them.", metavar="FILE…"),
    ]
    output: Annotated[
        Path, Option("Folder to make; never overwritten.", flags=("--output", "-o"), metavar="CAMPAIGN")
    ]
    format_name: Annotated[
        str | None,
        Option(
            f"Of the files: {', '.join(unit_files('hockney.importers'))}. [default: what a file looks like]",
            flags=("--format",),
            metavar="NAME",
        ),
    ] = None


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

    Folders are walked. What is no benchmark result is named and skipped; if nothing could be read, nothing
    is written.
    """
    collection = _collect.collect(options.files, given, options.format_name)
    with ExitStack() as closing:
        _collect.write(collection, options.output, given, lambda: closing.enter_context(undisturbed()))
        _say(_collect.summary(collection, options.output, given), options.output, json)


def _say(summary: dict[str, Any], output: Path, as_json: bool) -> None:
    if as_json:
        say.json(summary)
        return
    for file in summary["files"]:
        for warning in file["warnings"]:
            say.warn(warning)
    for skipped in summary["skipped"]:
        say.note(f"skipped: {skipped['file']}: {skipped['reason']}")
    for text in summary["notes"]:
        say.note(text)
    runs = f" and {counted(summary['runs'], 'run')} of applications" if summary["runs"] else ""
    files = f"{counted(len(summary['files']), 'file')}, {len(summary['skipped'])} skipped"
    say.line(f"{output}: {counted(summary['records'], 'record')}{runs} from {files}")
    say.line(next_step(output, (name for file in summary["files"] for name in file["operations"])))
