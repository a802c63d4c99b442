"""`hockney run ring`: messages once around, in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from hockney.cli import JsonOption, emit_json, out, verb
from hockney.cli._words import LARGEST, current, names, wholes
from hockney.cli.run import (
    BindTo,
    HostFile,
    Hosts,
    Launcher,
    Mpi,
    Output,
    Platform,
    Repeat,
    SystemName,
    TimeLimit,
    Variants,
    run,
    run_app,
)
from hockney.errors import RequestError

if TYPE_CHECKING:
    from hockney.apps.ring.predicted import Comparison
    from hockney.apps.ring.study import Curve
    from hockney.models.over_ranks.boundaries import Boundary
    from hockney.models.over_ranks.segments import Segment


@verb(
    "ring",
    examples="hockney run ring --ranks 4 --format messages\n"
    "hockney run ring --ranks 1-24 --map-by core,node -o FOLDER --csv ring.csv\n"
    "hockney run ring --ranks 1-24 --exchange sendrecv,nonblocking --machine machine.json --figure ring.png",
    of=run,
)
def ring(
    ranks: Annotated[
        str,
        typer.Option(help="Processes: 8, 8,16 or 1-24, in one launch. [default: the cores of this host]"),
    ] = "",
    exchange: Annotated[str, typer.Option(help="sendrecv, nonblocking, persistent, or several.")] = "sendrecv",
    topology: Annotated[str, typer.Option(help="world, cartesian, cartesian-reorder, or several.")] = "world",
    iterations: Annotated[
        int | None,
        typer.Option(
            help="Cycles of a repetition; given, there is one repetition unless --repetitions says more."
        ),
    ] = None,
    repetitions: Repeat = None,
    form: Annotated[str, typer.Option("--format", help="table; lines of a process: messages, hops.")] = "table",
    csv: Annotated[Path | None, typer.Option(help="Write the statistics of every process, in µs.")] = None,
    machine: Annotated[Path | None, typer.Option(help="Machine file to predict from.")] = None,
    model: Annotated[
        str, typer.Option(help="Model to predict with: slowest-link or two-links.")
    ] = "slowest-link",
    figure: Annotated[Path | None, typer.Option(help="Draw time against processes (.svg, .png, .html).")] = None,
    output: Output = None,
    mpi: Mpi = "auto",
    hosts: Hosts = "",
    hostfile: HostFile = "",
    launcher: Launcher = "",
    platform: Platform = "",
    map_by: Annotated[str, typer.Option(help="core, socket, node, hwthread, or several.")] = "core",
    bind_to: BindTo = "core",
    variants: Variants = None,
    time_limit: TimeLimit = "120s",
    system: SystemName = "",
    json: JsonOption = False,
) -> None:
    """Messages that travel once around a ring of processes, in both directions at once.

    Each cycle ends when every process has its own two messages back; values and tags are checked in all of them.
    Over several numbers of processes, lines are fitted between the places where the placement fills a cache, a
    package or a node; half the slope is the latency of a message.
    """
    from hockney.apps.ring.model import RENAMED, MachineLinks, model_of
    from hockney.apps.ring.predicted import compared
    from hockney.apps.ring.study import FORMATS, RENAMED_FORMATS, Sweep, chosen
    from hockney.runner.inventory import inventory

    counts = wholes(ranks, "--ranks", range(1, LARGEST + 1)) if ranks else [inventory().cores]
    form = current(form, "--format", RENAMED_FORMATS)
    chosen([form], FORMATS, "--format")
    model = current(model, "--model", RENAMED)
    model_of(model)
    sweep = Sweep(
        counts,
        names(exchange, "--exchange", ["sendrecv"]),
        names(topology, "--topology", ["world"]),
        iterations,
        repetitions,
    )
    links = None
    if machine is not None:
        from hockney.machine.file import load

        links = MachineLinks(load(machine))
    _check_files(csv, figure)
    for mapping in names(map_by, "--map-by", ["core"]):
        run_app(
            sweep.asking,
            output=output,
            verb="ring",
            mpi=mpi,
            ranks=max(counts),
            hosts=hosts,
            hostfile=hostfile,
            launcher=launcher,
            platform=platform,
            map_by=mapping,
            bind_to=bind_to,
            variants=variants,
            time_limit=time_limit,
            system=system,
        )
    notes: list[str] = []
    made = compared(sweep.curves, links, model, notes)
    notes += links.notes if links else []
    if csv is not None:
        _write_csv(csv, sweep.curves)
    if figure is not None:
        from hockney.apps.ring.picture import write

        write(figure, {one.curve.title: one.drawn() for one in made}, model)
    if json:
        emit_json(
            {
                "runs": [run.record.model_dump() for curve in sweep.curves for run in curve.runs],
                "model": model if links else None,
                "curves": [one.as_data() for one in made],
                "notes": notes,
                "csv": str(csv) if csv else None,
                "figure": str(figure) if figure else None,
            }
        )
        return
    _show(made, form, model if links else "")
    for note in notes:
        out.print(note, markup=False, soft_wrap=True)
    for path in filter(None, (csv, figure)):
        out.print(f"wrote {path}", markup=False, soft_wrap=True)


def _check_files(csv: Path | None, figure: Path | None) -> None:
    """RequestError before anything is measured where the results could not be written."""
    import tempfile

    if figure is not None:
        from hockney.report.drawn import checked_ending

        checked_ending(figure)
    for path in filter(None, (csv, figure)):
        try:
            if path.is_dir():
                raise IsADirectoryError(21, "Is a directory")
            with tempfile.TemporaryFile(dir=path.parent):
                pass
        except OSError as error:
            raise RequestError(
                f"cannot write {path}: {error.strerror or error}", "choose another place"
            ) from error


def _write_csv(path: Path, curves: Sequence[Curve]) -> None:
    from hockney.apps.ring.study import statistics_csv
    from hockney.records.folder import write_atomically

    try:
        write_atomically(path, statistics_csv(curves))
    except OSError as error:
        raise RequestError(f"cannot write {path}: {error.strerror or error}", "choose another place") from error


def _show(made: Sequence[Comparison], form: str, model: str) -> None:
    from hockney.apps.ring.study import process_lines

    for one in made:
        if form != "table":
            for run in one.curve.runs:
                for line in process_lines(run, form):
                    out.print(line, markup=False, highlight=False, soft_wrap=True)
            continue
        out.print(one.curve.title, markup=False, soft_wrap=True)
        out.print(_table(one, model))
        for line in _fit_lines(one):
            out.print(line, markup=False, soft_wrap=True)


def _table(one: Comparison, model: str) -> Table:
    from hockney.units import format_time

    headings = ("processes", "cycle", "95 % interval", "cycles", "a hop")
    shown = Table(*headings, *([model, "predicted / measured"] if model else []), box=None)
    for ran, predicted in zip(one.curve.runs, one.predicted, strict=True):
        record = ran.record
        known = record.low_s is not None and record.high_s is not None
        row = [
            str(record.ranks),
            format_time(record.time_s),
            f"{format_time(record.low_s or 0)} to {format_time(record.high_s or 0)}" if known else "–",
            str(ran.answer.cycles),
            format_time(record.time_s / record.ranks),
        ]
        if model:
            ratio = "–" if predicted is None else f"{predicted.time_s / record.time_s:.3g}"
            row += ["–" if predicted is None else format_time(predicted.time_s), ratio]
        shown.add_row(*row)
    return shown


def _fit_lines(one: Comparison) -> list[str]:
    if one.fitted is None or len(one.curve.runs) < 2:
        return []
    lines = [_segment(segment) for segment in one.fitted.segments]
    untold = [tested for tested in one.fitted.examined if not tested.possible]
    for tested in one.fitted.examined:
        if tested.possible and tested.jump is None:
            lines.append(f"{_begins(tested.boundary)}: no break")
    if len(untold) == 1:
        lines.append(f"{_begins(untold[0].boundary)}: too few numbers of processes to tell")
    elif untold:
        # Of ranks that have a node each, every one is a boundary.
        lines.append(f"  at {len(untold)} places where something begins: too few numbers of processes to tell")
    return lines


def _begins(boundary: Boundary) -> str:
    return f"  {boundary.before} to {boundary.after}, another {boundary.level} begins"


def _segment(segment: Segment) -> str:
    from hockney.apps.ring.predicted import latency_s

    begins = f" (another {segment.begins} begins)" if segment.begins else ""
    where = f"  {segment.first} to {segment.last} processes{begins}: "
    found = latency_s(segment)
    if found is None:
        return f"{where}{segment.points} numbers of processes: too few for a line"
    value_s, low_s, high_s = found
    interval = f"95 %: {_signed(low_s)} to {_signed(high_s)}"
    return f"{where}latency of a message = slope/2 = {_signed(value_s)} ({interval})"


def _signed(time_s: float) -> str:
    from hockney.units import format_time

    return f"−{format_time(-time_s)}" if time_s < 0 else format_time(time_s)
