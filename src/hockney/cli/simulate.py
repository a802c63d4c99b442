"""`hockney simulate`: a collective under LogGOPS parameters, without measuring anything."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from rich.table import Table

from hockney import writing
from hockney.cli.schedule import ScheduleOptions
from hockney.errors import RequestError
from hockney.fields import Argument, Option, flags_written
from hockney.predict.options import NetworkOptions
from hockney.predict.simulation_options import LoggopsOptions, SharingOptions, SimulationOptions
from hockney.records.keys import COLLECTIVES
from hockney.schedule.catalogue import algorithm_names
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, format_time, parse_time

with later():
    from hockney.predict.costs import CostSource
    from hockney.predict.network_figures import figures_of
    from hockney.predict.place import NETWORK
    from hockney.predict.simulation import SimulationResult, simulate_graph
    from hockney.predict.simulation import simulate as run
    from hockney.predict.simulation import trace as steps
    from hockney.predict.simulation_costs import shared_by, source
    from hockney.report.drawn import ENDINGS
    from hockney.report.schedules import draw, write
    from hockney.schedule.catalogue import ScheduleRequest
    from hockney.schedule.goal import Graph, read_goal


class SimulatedProblem(ScheduleOptions):
    """What is simulated: a collective's algorithm on so many ranks, or a graph of one's own."""

    collective: Annotated[
        str, Argument("bcast, allreduce, …; none with --goal.", metavar="COLLECTIVE", known=lambda: COLLECTIVES)
    ] = ""
    algorithm: Annotated[str, Option("See `hockney schedule list`.", known=algorithm_names)] = ""
    ranks: Annotated[int, Option(show=None)] = 0
    goal: Annotated[
        Path | None, Option("File of GOAL text: a graph of messages and computations, instead of a collective.")
    ] = None
    tick_s: Annotated[
        float,
        Option("With --goal: a tick of its computations.", flags=("--tick",), read=parse_time, show=format_time),
    ] = 1e-9

    def checked(self) -> ScheduleRequest | Graph:
        """What is simulated. RequestError where neither or both are said."""
        given = flags_written(self)
        if self.goal is None:
            if "tick_s" in given:
                raise RequestError("--tick needs --goal", "a collective's reductions take --reduction a byte")
            if missing := [flag for name, flag in _NEEDED.items() if name not in given]:
                raise RequestError(
                    f"a simulation needs {', '.join(missing)}, or --goal FILE",
                    "for example hockney simulate bcast --algorithm binomial --ranks 64 --latency 2us",
                )
            return self.request()
        if others := [flag for name, flag in given.items() if name not in ("goal", "tick_s")]:
            raise RequestError(f"{others[0]} means nothing with --goal", "the file says what is done")
        if not self.tick_s >= 0:
            raise RequestError(f"--tick {self.tick_s} s is no time", "for example 1ns")
        return read_goal(self.goal)


_NEEDED = {"collective": "COLLECTIVE", "algorithm": "--algorithm", "ranks": "--ranks"}


@verb(
    "simulate",
    examples="hockney simulate bcast --algorithm binomial --ranks 1048576 --bytes 1024 --latency 2.5us "
    "--overhead 1.5us --gap 1us --bandwidth 6ns\n"
    "hockney simulate allreduce --algorithm ring --ranks 4096 --bytes 64MiB --latency 1us --overhead 0.3us "
    "--bandwidth 12.5GB/s --reduction 20GB/s --critical-path --json\n"
    "hockney simulate alltoall --algorithm pairwise --ranks 512 --bytes 64KiB --latency 2us --overhead 0.5us "
    "--bandwidth 10GB/s --ppn 8 --node-bandwidth 12.5GB/s --torus 4x4x4 --link 10GB/s\n"
    "hockney simulate bcast --algorithm binomial --ranks 64 --bytes 1KiB --machine machine.json --json\n"
    "hockney simulate --goal application.goal --machine machine.json --critical-path",
)
def simulate(
    problem: SimulatedProblem,
    loggops: LoggopsOptions,
    between: NetworkOptions,
    sharing: SharingOptions,
    options: SimulationOptions,
    json: JsonOption = False,
) -> None:
    """When each rank is done with a collective, or with a graph of your own, under LogGOPS parameters.

    The parameters are given here, or come from a machine file (or, roughly, from a system's description), by
    locality where --system says where ranks are. A parameter that is given here replaces theirs everywhere.
    """
    asked, noise_s = problem.checked(), options.noise_s
    shared = shared_by(sharing)
    if isinstance(asked, Graph):
        ranks, size_B = len(asked.ranks), asked.largest_B
    else:
        ranks, size_B = asked.problem.ranks, asked.problem.bytes
    costs, place, parameters, warnings = source(
        loggops.given, options, figures_of(between), ranks, size_B, shared
    )
    if options.trace and (shared or noise_s or place or isinstance(asked, Graph)):
        raise RequestError(
            "--trace shows neither shared links nor places, noise or graphs", "leave one of them out"
        )
    around: dict[str, Any] = {"place": place, "shared": shared, "noise_s": noise_s, "seed": options.seed}
    if isinstance(asked, Graph):
        outcome = simulate_graph(asked, costs, problem.tick_s, **around, critical_path=options.critical_path)
    else:
        # A row for each rank needs each rank.
        by_class = options.by_class and options.per_rank is None
        outcome = run(asked, costs, **around, by_class=by_class, critical_path=options.critical_path)
    written = _write_files(asked, costs, outcome, options.per_rank, options.trace)
    if json:
        say.json(
            {
                **_asked_data(problem, asked),
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
    _print(problem, asked, outcome, written)


def _asked_data(options: SimulatedProblem, asked: ScheduleRequest | Graph) -> dict[str, Any]:
    if isinstance(asked, Graph):
        return {"goal": str(options.goal), "ranks": len(asked.ranks), "tick_s": options.tick_s}
    return {
        "collective": options.collective,
        "algorithm": options.algorithm,
        "ranks": options.ranks,
        "bytes": asked.problem.bytes,
        "root": options.root,
        "segment_bytes": asked.problem.segment_B or None,
        "radix": options.radix or None,
    }


def _write_files(
    asked: ScheduleRequest | Graph,
    costs: CostSource,
    outcome: SimulationResult,
    per_rank: Path | None,
    trace: Path | None,
) -> dict[str, str]:
    """{option: file} of what was written."""
    if per_rank is not None:
        _write_table(per_rank, ({"rank": r, "finish_s": s} for r, s in enumerate(outcome.finish_s.tolist())))
    if trace is not None and trace.suffix in ENDINGS and isinstance(asked, ScheduleRequest):
        write(trace, draw(asked, "space-time", costs.at([NETWORK])), asked)
    elif trace is not None and trace.suffix == ".csv" and isinstance(asked, ScheduleRequest):
        _write_table(trace, steps(asked, costs))
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


def _print(
    options: SimulatedProblem, asked: ScheduleRequest | Graph, outcome: SimulationResult, written: dict[str, str]
) -> None:
    if isinstance(asked, Graph):
        say.line(f"{options.goal}, {len(asked.ranks):,} ranks, a tick of {format_time(options.tick_s)}")
    else:
        name = f"{asked.algorithm.collective} {asked.algorithm.name}, {asked.problem.ranks:,} ranks"
        say.line(f"{name}, {format_bytes(asked.problem.bytes)} ({outcome.method})")
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
