"""`hockney run sum3d`: matrices scattered, added and gathered, beside what the model says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from rich.table import Table

from hockney.apps.launched import Repetitions
from hockney.apps.run import run, run_app
from hockney.apps.stencil.grids import Grid, parse_grid
from hockney.apps.sum3d.options import Size, Sum3dCosts
from hockney.campaign.plan import AppLaunching
from hockney.errors import RequestError
from hockney.options import Option
from hockney.runner.inventory import inventory
from hockney.terminal import JsonOption, answer_no, say, verb
from hockney.terminal.loading import later
from hockney.terminal.options import Without
from hockney.units import format_rate, format_time, parse_rate

with later():
    from hockney.apps.launched import Launched
    from hockney.apps.stencil.loads import as_lines, loads
    from hockney.apps.sum3d.answer import Sum3dAnswer
    from hockney.apps.sum3d.model import costs_of
    from hockney.apps.sum3d.study import Sum3dProblem, summary
    from hockney.campaign.loop import Asking
    from hockney.machine.file import load
    from hockney.predict.machine_costs import MachineCosts
    from hockney.records.app_record import AppRecord


SIMULATED_MEMORY = "10GB/s"
FEW_RANKS = 8
"""Whose parts are all shown; of more, rank 0 and the slowest."""


class Sum3dStudy(Size):
    """What is summed, on which grid, how it is split and how often."""

    grid: Annotated[
        Grid | None,
        Option("Processes along x, y and z, such as 6x4x1. [default: as alike as possible]", read=parse_grid),
    ] = None
    split: Annotated[
        str,
        Option(
            "balanced: all elements over all ranks; cartesian: as many as the grid says, in pieces; "
            "blocks: the blocks of the grid themselves."
        ),
    ] = "balanced"
    pack: Annotated[
        bool,
        Option("Blocks: rank 0 copies them together itself, instead of by datatypes.", flags=("--pack",)),
    ] = False
    ranks: Annotated[int | None, Option("Ranks to launch. [default: the cores of this host]"), Field(ge=1)] = None
    repetitions: Repetitions = None
    cycles: Annotated[int, Option("Cycles of a repetition, whose time is their mean.")] = 1
    seed: Annotated[int, Option("Seed of the random elements.")] = 1
    loads_only: Annotated[
        bool,
        Option("Only say how many elements each rank gets; nothing is launched.", flags=("--loads-only",)),
    ] = False
    memory_bandwidth_B_per_s: Annotated[
        float | None,
        Option(
            f"Bandwidth of a simulated host's memory; a real host's is measured. [default: {SIMULATED_MEMORY}]",
            flags=("--memory-bandwidth",),
            read=parse_rate,
        ),
    ] = None


class Predicting(Sum3dCosts):
    """The machine that predictions beside the measured times are from."""

    machine: Annotated[Path | None, Option("Machine file: predictions beside what was measured.")] = None


@verb(
    "sum3d",
    examples="""
hockney run sum3d 240 100 100 --ranks 2 --machine machine.json
hockney run sum3d 2400 100 100 --grid 8x3x1 --split cartesian --repetitions 10 --cycles 50
hockney run sum3d 800 300 100 --grid 6x4x1 --split cartesian --loads-only
hockney run sum3d 64 64 64 --ranks 8 --split blocks --pack --mpi smpi --platform cluster.xml
""",
    of=run,
)
def sum3d(
    study: Sum3dStudy,
    predicting: Predicting,
    launching: Annotated[AppLaunching, Without("ranks")],
    json: JsonOption = False,
) -> None:
    """C = A + B of random matrices that rank 0 holds: two scatters, the sum and a gather, by collectives alone.

    Says what each rank gets, mean and 95 % interval over the repetitions, and the shares of scatter, sum, gather
    and packing. Every element of the result is checked bitwise.
    """
    if study.memory_bandwidth_B_per_s is not None and not launching.platform:
        raise RequestError("--memory-bandwidth is that of a simulated host", "leave it out: it is measured")
    ranks = study.ranks or (study.grid.ranks if study.grid else inventory().cores)
    problem = Sum3dProblem.checked(study.size, ranks, study.grid, study.split, packed=study.pack)
    if study.loads_only:
        _show_loads(problem, as_json=json)
        return
    costs = _costs(problem, predicting)
    bandwidth_B_per_s = study.memory_bandwidth_B_per_s
    parameters = problem.parameters(
        seed=study.seed,
        cycles=study.cycles,
        repetitions=study.repetitions,
        bandwidth_B_per_s=parse_rate(SIMULATED_MEMORY) if bandwidth_B_per_s is None else bandwidth_B_per_s,
    )

    def do(launched: Launched) -> Asking[AppRecord]:
        yield launched.request("sum3d", parameters)

    records = run_app(do, launching.model_copy(update={"ranks": ranks}))
    allocates, algorithm = predicting.write_allocate, predicting.algorithm
    summaries = [
        summary(
            problem,
            record,
            costs if costs is not None and _reaches(costs, record) else None,
            write_allocate=allocates,
            algorithm=algorithm,
        )
        for record in records
    ]
    if json:
        say.json(
            {
                "runs": [
                    {**record.model_dump(), **of_run} for record, of_run in zip(records, summaries, strict=True)
                ]
            }
        )
    else:
        _show(problem, records, summaries)
    if wrong := [record for record in records if not record.answer.verified]:
        answer_no(
            f"{wrong[0].answer.read_as(Sum3dAnswer).wrong_elements} elements are wrong with {wrong[0].mpi}",
            "this MPI delivers wrong data: please report it to its makers",
            as_json=json,
        )


def _reaches(costs: MachineCosts, record: AppRecord) -> bool:
    """Whether the costs hold for the nodes of this run; says why not."""
    try:
        costs.on_nodes(record.nodes).check_network(None, record.ranks)
    except RequestError as error:
        say.warn(f"not predicted: {error.message}")
        return False
    return True


def _costs(problem: Sum3dProblem, predicting: Predicting) -> MachineCosts | None:
    if predicting.machine is None:
        if predicting.locality or predicting.cache:
            raise RequestError("--locality and --cache are of predictions", "name a --machine")
        return None
    return costs_of(
        load(predicting.machine), str(predicting.machine), problem.size, predicting.locality, predicting.cache
    )


def _show_loads(problem: Sum3dProblem, *, as_json: bool) -> None:
    of_ranks = loads(problem.size, problem.grid, problem.split)
    if as_json:
        say.json(
            {
                "operation": "sum3d",
                "size": list(problem.size),
                "grid": str(problem.grid),
                "split": problem.split,
                "elements": of_ranks,
                "loads": as_lines(of_ranks),
            }
        )
        return
    for line in as_lines(of_ranks):
        say.line(line)


def _show(problem: Sum3dProblem, records: list[AppRecord], summaries: list[dict[str, Any]]) -> None:
    for record, of_run in zip(records, summaries, strict=True):
        title = f"{problem.size} on {record.ranks} ranks, grid {problem.grid}, {problem.split}, {record.mpi}"
        say.line(f"{title}{f', {record.variant}' if record.variant else ''}")
        for line in of_run["loads"]:
            say.line(line)
        _show_statistics(record, of_run["statistics"])
        _show_parts(record, of_run)
        if of_run["predicted"]:
            _show_predicted(of_run["predicted"])


def _show_statistics(record: AppRecord, statistics: dict[str, Any]) -> None:
    cycles = record.parameters["cycles"]
    text = f"{statistics['runs']} repetitions of {cycles} cycle{'s' * (cycles > 1)}: "
    text += f"mean {statistics['mean_s']:.6g} s"
    if statistics["standard_deviation_s"] is not None:
        text += f", S {statistics['standard_deviation_s']:.3g} s, 95 % interval "
        text += f"[{statistics['student_low_s']:.6g}, {statistics['student_high_s']:.6g}] s by Student's t, "
        text += f"[{statistics['normal_low_s']:.6g}, {statistics['normal_high_s']:.6g}] s with c = 1.96"
    say.line(text + f"; median {record.time_s:.6g} s")


def _show_parts(record: AppRecord, of_run: dict[str, Any]) -> None:
    shares, answer = of_run["shares"], record.answer.read_as(Sum3dAnswer)
    slowest = shares["slowest"]
    names = list(shares["by_rank"][0])
    shown = Table(box=None)
    for heading in ("rank", *names, "memory", "in place"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for rank in range(record.ranks) if record.ranks <= FEW_RANKS else dict.fromkeys((0, slowest)):
        cells = [f"{format_time(answer.parts_s[f'{n}_s'][rank])} {shares['by_rank'][rank][n]:.1%}" for n in names]
        rates = [
            format_rate(of_ranks[rank])
            for of_ranks in (answer.memory_bandwidth_B_per_s, answer.sum_bandwidth_B_per_s)
        ]
        mark = "*" if rank == slowest else ""
        shown.add_row(f"{rank}{mark}", *cells, *rates)
    say.table(shown)
    say.line("* spends the most; time and its share by part; STREAM's triad alone, and in place of the sum")


def _show_predicted(predicted: dict[str, Any]) -> None:
    shown = Table(box=None)
    for heading in ("part", "predicted", "measured", "error"):
        shown.add_column(heading, justify="left" if heading == "part" else "right")
    for name, part in predicted["parts"].items():
        error = "–" if part["error"] is None else f"{part['error']:+.1%}"
        shown.add_row(
            name.removesuffix("_s"), format_time(part["predicted_s"]), format_time(part["measured_s"]), error
        )
    say.line(f"predicted by {predicted['algorithm']}, {predicted['origin']}")
    say.table(shown)
    for warning in predicted["warnings"]:
        say.warn(warning)
