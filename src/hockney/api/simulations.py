"""What `hockney simulate` answers: a collective, or a graph of one's own, under LogGOPS parameters."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import Field

from hockney import writing
from hockney._core import Graph
from hockney.errors import RequestError
from hockney.fields import flags_written, refuse_written
from hockney.options.simulate import SimulatedProblem
from hockney.predict.costs import CostSource
from hockney.predict.network_figures import figures_of
from hockney.predict.options import NetworkOptions
from hockney.predict.place import NETWORK
from hockney.predict.simulation import CriticalPath, SimulationResult, read_goal, simulate_graph, trace
from hockney.predict.simulation import simulate as simulate_collective
from hockney.predict.simulation_costs import Parameters, source
from hockney.predict.simulation_options import LoggopsOptions, SharingOptions, SimulationOptions
from hockney.records.keys import COLLECTIVES
from hockney.schedule.catalogue import ScheduleRequest
from hockney.schedule.proof import FEW, mistake
from hockney.schedule.written import ENDING
from hockney.units import counted, format_bytes, format_time


@dataclass(frozen=True)
class SimulationAnswer:
    """Times of all ranks; files are named that were written, `seed` where there is noise."""

    title: Annotated[str, Field(exclude=True)]
    """What was simulated, in words."""
    ranks: int
    parameters: Parameters
    warnings: Sequence[str]
    noise_s: float
    seed: int | None
    method: str
    makespan_s: float
    mean_over_ranks_s: float
    min_over_ranks_s: float
    messages: int
    engine_s: float
    critical_path: CriticalPath | None
    per_rank: str | None
    trace: str | None
    assumed: Annotated[str, Field(exclude=True)]
    """What nobody gave, in words."""


@dataclass(frozen=True)
class SimulatedCollective(SimulationAnswer):
    """Times of a collective; None: no segments, no radix that was asked for."""

    collective: str
    algorithm: str
    bytes: int
    segment_bytes: int | None
    radix: int | None


@dataclass(frozen=True)
class SimulatedGoal(SimulationAnswer):
    """Times of the graph of a GOAL file."""

    goal: str
    tick_s: float


TICK_S = 1e-9
"""A tick of the computations of a GOAL file."""
NEEDED = {"collective": "COLLECTIVE", "algorithm": "--algorithm", "ranks": "--ranks"}


def simulate(
    problem: SimulatedProblem,
    loggops: LoggopsOptions,
    between: NetworkOptions,
    sharing: SharingOptions,
    options: SimulationOptions,
) -> SimulatedCollective | SimulatedGoal:
    """Simulate, and write the files that are asked for.

    RequestError for options that mean nothing together. EnvironmentLack where the memory would not do.
    """
    asked, noise_s = _problem(problem), options.noise_s
    is_graph = isinstance(asked, Graph)
    ranks, size_B = (
        (asked.ranks, asked.largest_B) if isinstance(asked, Graph) else (asked.problem.ranks, asked.problem.bytes)
    )
    costs, place, parameters, warnings = source(
        loggops.given, options, figures_of(between), ranks, size_B, sharing
    )
    if options.trace and (place or noise_s or is_graph):
        raise RequestError(
            "--trace shows neither shared links nor places, noise or graphs", "leave one of them out"
        )
    if isinstance(asked, Graph):
        run = partial(simulate_graph, asked, costs, TICK_S)
    else:
        # A row for each rank needs each rank.
        run = partial(simulate_collective, asked, costs, by_class=options.per_rank is None)
        if wrong := asked.algorithm.name.endswith(ENDING) and mistake(asked.algorithm, FEW):
            warnings = [*warnings, f"these are times of what is wrong: {wrong}"]
    outcome = run(place=place, noise_s=noise_s, seed=options.seed, critical_path=options.critical_path)
    _write_files(asked, costs, outcome, options)
    answer = SimulationAnswer(
        title=_title(problem, asked, outcome.method),
        ranks=ranks,
        parameters=parameters,
        warnings=warnings,
        noise_s=noise_s,
        seed=options.seed if noise_s else None,
        method=outcome.method,
        makespan_s=float(outcome.finish_s.max()),
        mean_over_ranks_s=outcome.mean_s,
        min_over_ranks_s=float(outcome.finish_s.min()),
        messages=outcome.messages,
        engine_s=outcome.engine_s,
        critical_path=outcome.critical_path,
        per_rank=None if options.per_rank is None else str(options.per_rank),
        trace=None if options.trace is None else str(options.trace),
        assumed=_assumed(problem, loggops, options),
    )
    if isinstance(asked, Graph):
        return SimulatedGoal(**vars(answer), goal=str(problem.goal), tick_s=TICK_S)
    return SimulatedCollective(
        **vars(answer),
        collective=problem.collective,
        algorithm=problem.algorithm,
        bytes=asked.problem.bytes,
        segment_bytes=asked.problem.segment_B or None,
        radix=asked.problem.radix or None,
    )


def _assumed(problem: SimulatedProblem, loggops: LoggopsOptions, options: SimulationOptions) -> str:
    """`o = 0, G = 0, 1 KiB`: what was taken where nothing says it; empty where all is said."""
    taken = []
    if options.machine is None and not options.system:
        names = {"overhead_s": "o", "gap_s": "g", "gap_s_per_B": "G"}
        taken += [f"{letter} = 0" for name, letter in names.items() if name not in loggops.given]
    has_size = problem.goal is None and COLLECTIVES[problem.collective].has_size
    if has_size and "size_B" not in problem.model_fields_set:
        taken.append(format_bytes(problem.size_B))
    return ", ".join(taken)


def _problem(options: SimulatedProblem) -> ScheduleRequest | Graph:
    """What is simulated. RequestError where neither or both are said."""
    flags = flags_written(options)
    if options.goal is None:
        if missing := [flag for name, flag in NEEDED.items() if name not in flags]:
            raise RequestError(
                f"a simulation needs {', '.join(missing)}, or --goal FILE",
                "for example hockney simulate bcast --algorithm binomial --ranks 64 --loggops L=2us",
            )
        return options.request()
    refuse_written(options, "with --goal", hint="the file says what is done", but=("goal",))
    return read_goal(options.goal)


def _title(options: SimulatedProblem, asked: ScheduleRequest | Graph, method: str) -> str:
    if isinstance(asked, Graph):
        return f"{options.goal}, {counted(asked.ranks, 'rank', ',')}, a tick of {format_time(TICK_S)}"
    algorithm, p = asked.algorithm, asked.problem
    return f"{algorithm.collective} {algorithm.name}, {p.ranks:,} ranks, {format_bytes(p.bytes)} ({method})"


def _write_files(
    asked: ScheduleRequest | Graph, costs: CostSource, outcome: SimulationResult, options: SimulationOptions
) -> None:
    if options.per_rank is not None:
        finished = enumerate(outcome.finish_s.tolist())
        _write_table(options.per_rank, ({"rank": rank, "finish_s": time_s} for rank, time_s in finished))
    file = options.trace
    if file is None:
        return
    # What draws loads matplotlib.
    from hockney.report.drawing import ENDINGS
    from hockney.report.schedules import draw, write

    if file.suffix in ENDINGS and isinstance(asked, ScheduleRequest):
        write(file, draw(asked, "space-time", costs.at([NETWORK])), asked)
    elif file.suffix == ".csv" and isinstance(asked, ScheduleRequest):
        _write_table(file, trace(asked, costs))
    else:
        raise RequestError(f"cannot write a trace as {file.name}", "end the name in .csv, .svg, .png or .html")


def _write_table(path: Path, rows: Iterable[dict[str, float | str]]) -> None:
    # Row by row: a trace may hold more messages than memory.
    with writing.replacing_text(path) as file:
        writer = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(file, row.keys(), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
