"""`hockney run ring`: messages once around, in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field
from rich.table import Table

from hockney import writing
from hockney.apps.launched import Repetitions
from hockney.apps.ring.ways import EXCHANGES, MODEL_NAMES, OURS, TOPOLOGIES
from hockney.apps.run import run, run_app
from hockney.campaign.plan import AppLaunching
from hockney.fields import Option
from hockney.runner.inventory import inventory
from hockney.runner.launchers.base import MapBy
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.terminal.options import Without
from hockney.units import format_time
from hockney.words import LARGEST, listed, names, wholes

with later():
    from hockney.apps.ring.lines import pingpong_of
    from hockney.apps.ring.model import MachineLinks, model_of
    from hockney.apps.ring.picture import write
    from hockney.apps.ring.predicted import RingComparison, compared, in_words
    from hockney.apps.ring.study import (
        FORMATS,
        RingSeries,
        Sweep,
        chosen,
        process_lines,
        statistics_csv,
        write_processes,
    )
    from hockney.machine.file import load
    from hockney.report.drawn import checked_ending


class RingStudy(BaseModel):
    """Rings of several numbers of processes, and what is made of their times."""

    ranks: Annotated[
        list[int],
        Option(
            "8, 8,16 or 1-24, in one launch. [default: the cores of this host]",
            read=partial(wholes, allowed=range(1, LARGEST + 1)),
        ),
    ] = Field(default_factory=lambda: [inventory().cores])
    exchange: Annotated[
        list[str],
        Option(f"{', '.join(EXCHANGES)}, or several.", read=names, show=",".join),
    ] = ["sendrecv"]
    topology: Annotated[
        list[str],
        Option(f"{', '.join(TOPOLOGIES)}, or several.", flags=("--communicator",), read=names, show=",".join),
    ] = ["world"]
    iterations: Annotated[
        int | None,
        Option("Cycles of a repetition; given, there is one repetition unless --repetitions says more."),
    ] = None
    repetitions: Repetitions = None
    form: Annotated[str, Option("table; lines of a process: messages, hops.", flags=("--format",))] = "table"
    csv: Annotated[Path | None, Option("The statistics of every process, in µs.")] = None
    out: Annotated[
        Path | None,
        Option(
            "Folder for a file of each ring: npP.txt with its processes' lines, npP.csv with statistics.",
            flags=("--files",),
        ),
    ] = None
    machine: Annotated[Path | None, Option("To predict from.")] = None
    model: Annotated[str, Option(f"{listed(MODEL_NAMES)}.")] = OURS
    figure: Annotated[Path | None, Option("Time against processes.")] = None
    map_by: Annotated[
        list[MapBy], Option("core, socket, node, hwthread, or several.", read=names, show=",".join)
    ] = ["core"]


@verb(
    "ring",
    examples="hockney run ring --ranks 4 --format messages\n"
    "hockney run ring --ranks 1-24 --map-by core,node -o FOLDER --csv ring.csv\n"
    "hockney run ring --ranks 1-24 --exchange sendrecv,nonblocking --machine machine.json --figure ring.png",
    of=run,
)
def ring(
    study: RingStudy, launching: Annotated[AppLaunching, Without("ranks", "map_by")], json: JsonOption = False
) -> None:
    """Messages that travel once around a ring of processes, in both directions at once.

    Each cycle ends when every process has its own two messages back; values and tags are checked in all of them.
    Over several numbers of processes, lines are fitted between the places where the placement fills a cache, a
    package or a node; half the slope is the latency of a message.
    """
    form, model = study.form, study.model
    chosen([form], FORMATS, "--format")
    model_of(model)
    sweep = Sweep(study.ranks, study.exchange, study.topology, study.iterations, study.repetitions)
    machine = load(study.machine) if study.machine else None
    links = MachineLinks(machine) if machine else None
    _check_files(study.csv, study.figure)
    if study.out is not None:
        writing.make_folder(study.out, "choose another folder")
    for mapping in study.map_by:
        run_app(sweep.asking, launching.model_copy(update={"ranks": max(study.ranks), "map_by": mapping}))
    notes: list[str] = []
    comparisons = compared(sweep.curves, links, model, notes, pingpong_of(machine))
    notes += links.notes if links else []
    if study.csv is not None:
        _write_csv(study.csv, sweep.curves)
    if study.out is not None:
        write_processes(study.out, sweep.curves, "messages" if form == "table" else form)
    if study.figure is not None:
        write(study.figure, {comparison.curve.title: comparison.drawn() for comparison in comparisons}, model)
    if json:
        say.json(
            {
                "runs": [run.record.model_dump() for curve in sweep.curves for run in curve.runs],
                "model": model if links else None,
                "curves": [comparison.as_data() for comparison in comparisons],
                "notes": notes,
                "csv": str(study.csv) if study.csv else None,
                "figure": str(study.figure) if study.figure else None,
                "out": str(study.out) if study.out else None,
            }
        )
        return
    _show(comparisons, form, model if links else "")
    for note in notes:
        say.line(note)
    for path in filter(None, (study.csv, study.figure, study.out)):
        say.line(f"wrote {path}")


def _check_files(csv: Path | None, figure: Path | None) -> None:
    """RequestError before anything is measured where the results could not be written."""
    if figure is not None:
        checked_ending(figure)
    for path in filter(None, (csv, figure)):
        writing.expect_writable(path, "choose another place")


def _write_csv(path: Path, curves: Sequence[RingSeries]) -> None:
    writing.replace(path, statistics_csv(curves))


def _show(comparisons: Sequence[RingComparison], form: str, model: str) -> None:
    for comparison in comparisons:
        if form != "table":
            for run in comparison.curve.runs:
                for line in process_lines(run, form):
                    say.line(line)
            continue
        say.line(comparison.curve.title)
        say.table(_table(comparison, model))
        for line in in_words(comparison):
            say.line(line)


def _table(comparison: RingComparison, model: str) -> Table:
    headings = ("processes", "cycle", "95 % interval", "cycles", "a hop")
    shown = Table(*headings, *([model, "predicted / measured"] if model else []), box=None)
    for ran, predicted in zip(comparison.curve.runs, comparison.predicted, strict=True):
        record = ran.record
        known = record.low_s is not None and record.high_s is not None
        row = [
            str(record.ranks),
            format_time(record.time_s),
            f"{format_time(record.low_s or 0)} to {format_time(record.high_s or 0)}" if known else "–",
            str(ran.answer.cycles or "–"),
            format_time(record.time_s / record.ranks),
        ]
        if model:
            ratio = "–" if predicted is None else f"{predicted.time_s / record.time_s:.3g}"
            row += ["–" if predicted is None else format_time(predicted.time_s), ratio]
        shown.add_row(*row)
    return shown
