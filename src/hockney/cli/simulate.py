"""`hockney simulate`: a collective under LogGOPS parameters, without measuring anything."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.table import Table

from hockney import writing
from hockney.cli.schedule import ScheduleOptions
from hockney.errors import RequestError
from hockney.predict.simulation_options import LoggopsOptions, SharingOptions, SimulationOptions
from hockney.predict.verb import NetworkOptions
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, format_time

with later():
    from hockney.predict.costs import CostSource
    from hockney.predict.network_figures import figures_of
    from hockney.predict.scenario import NETWORK
    from hockney.predict.simulation import SimulationResult
    from hockney.predict.simulation import simulate as run
    from hockney.predict.simulation import trace as steps
    from hockney.predict.simulation_costs import shared_by, source
    from hockney.report.drawn import ENDINGS
    from hockney.report.schedules import draw, write
    from hockney.schedule.catalogue import ScheduleRequest


@verb(
    "simulate",
    examples="hockney simulate bcast --algorithm binomial --ranks 1048576 --bytes 1024 --latency 2.5us "
    "--overhead 1.5us --gap 1us --gap-per-byte 6ns\n"
    "hockney simulate allreduce --algorithm ring --ranks 4096 --bytes 64MiB --latency 1us --overhead 0.3us "
    "--gap-per-byte 12.5GB/s --reduction 20GB/s --critical-path --json\n"
    "hockney simulate alltoall --algorithm pairwise --ranks 512 --bytes 64KiB --latency 2us --overhead 0.5us "
    "--gap-per-byte 10GB/s --ppn 8 --node-bandwidth 12.5GB/s --torus 4x4x4 --link-bandwidth 10GB/s\n"
    "hockney simulate bcast --algorithm binomial --ranks 64 --bytes 1KiB --machine machine.json --json",
)
def simulate(
    problem: ScheduleOptions,
    loggops: LoggopsOptions,
    between: NetworkOptions,
    sharing: SharingOptions,
    options: SimulationOptions,
    json: JsonOption = False,
) -> None:
    """When each rank is done with a collective, under LogGOPS parameters.

    The parameters are given here, or come from a machine file (or, roughly, from a system's description), by
    locality where --system says where ranks are. A parameter that is given here replaces theirs everywhere.
    """
    request, noise_s = problem.request(), options.noise_s
    shared = shared_by(sharing)
    costs, place, parameters, warnings = source(loggops.given, options, figures_of(between), request, shared)
    if options.trace and (shared or noise_s or place):
        raise RequestError("--trace shows neither shared links nor places nor noise", "leave one of them out")
    outcome = run(
        request,
        costs,
        place=place,
        shared=shared,
        noise_s=noise_s,
        seed=options.seed,
        # A row for each rank needs each rank.
        by_class=options.by_class and options.per_rank is None,
        critical_path=options.critical_path,
    )
    written = _write_files(request, costs, outcome, options.per_rank, options.trace)
    if json:
        say.json(
            {
                "collective": problem.collective,
                "algorithm": problem.algorithm,
                "ranks": problem.ranks,
                "bytes": request.problem.bytes,
                "root": problem.root,
                "segment_bytes": request.problem.segment_B or None,
                "radix": problem.radix or None,
                "parameters": parameters,
                "warnings": warnings,
                "noise_s": noise_s,
                "seed": options.seed if noise_s else None,
                **outcome.summary(),
                **written,
            }
        )
        return
    for warning in warnings:
        say.warn(warning)
    _print(request, outcome, written)


def _write_files(
    request: ScheduleRequest,
    costs: CostSource,
    outcome: SimulationResult,
    per_rank: Path | None,
    trace: Path | None,
) -> dict[str, str]:
    """{option: file} of what was written."""
    if per_rank is not None:
        _write_table(per_rank, ({"rank": r, "finish_s": s} for r, s in enumerate(outcome.finish_s.tolist())))
    if trace is not None and trace.suffix in ENDINGS:
        write(trace, draw(request, "space-time", costs.at([NETWORK])), request)
    elif trace is not None and trace.suffix == ".csv":
        _write_table(trace, steps(request, costs))
    elif trace is not None:
        raise RequestError(f"cannot write a trace as {trace.name}", "end the name in .csv, .svg, .png or .html")
    return {name: str(path) for name, path in (("per_rank", per_rank), ("trace", trace)) if path is not None}


def _write_table(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with writing.replacing_text(path) as file:
        writer = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(file, row.keys(), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)


def _print(request: ScheduleRequest, outcome: SimulationResult, written: dict[str, str]) -> None:
    problem = request.problem
    name = f"{request.algorithm.collective} {request.algorithm.name}, {problem.ranks:,} ranks"
    say.line(f"{name}, {format_bytes(problem.bytes)} ({outcome.method})")
    table = Table(show_header=False, box=None)
    table.add_column()
    table.add_column(justify="right")
    summary = outcome.summary()
    table.add_row("last rank done", format_time(summary["makespan_s"]))
    table.add_row("mean over ranks", format_time(summary["mean_over_ranks_s"]))
    table.add_row("first rank done", format_time(summary["min_over_ranks_s"]))
    table.add_row("messages", f"{outcome.messages:,}")
    table.add_row("simulated in", format_time(outcome.engine_s))
    say.table(table)
    if outcome.critical_path is not None:
        path = Table("critical path", "time", "share", box=None)
        for term, seconds in outcome.critical_path["terms_s"].items():
            if seconds:
                share = f"{seconds / summary['makespan_s']:.1%}"
                path.add_row(term.replace("_", " "), format_time(seconds), share)
        say.table(path)
    for file in written.values():
        say.line(f"wrote {file}")
