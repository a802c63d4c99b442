# ruff: noqa: N999 - the file bears the verb's name
"""`hockney import`: results of other benchmarks and tidy tables into a campaign folder."""

from __future__ import annotations

from contextlib import ExitStack

from hockney import api
from hockney.options.joined import Given, ImportOptions
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.signals import interruptible, undisturbed
from hockney.units import counted


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
    with ExitStack() as closing:
        _show(api.import_files(options, given, lambda: closing.enter_context(undisturbed())), as_json=json)


def _show(answer: api.ImportAnswer, *, as_json: bool) -> None:
    if as_json:
        say.json(answer)
        return
    for file in answer.files:
        for warning in file.warnings:
            say.warn(warning)
    for skipped in answer.skipped:
        say.note(f"skipped: {skipped.file}: {skipped.reason}")
    for text in answer.notes:
        say.note(text)
    runs = f" and {counted(answer.runs, 'run')} of applications" if answer.runs else ""
    files = f"{counted(len(answer.files), 'file')}, {len(answer.skipped)} skipped"
    say.line(f"{answer.campaign}: {counted(answer.records, 'record')}{runs} from {files}")
    say.line(answer.next_step)
