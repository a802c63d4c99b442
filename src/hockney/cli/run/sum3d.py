"""`hockney run sum3d`: matrices scattered, added and gathered, beside what the model says of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hockney.cli import JsonOption, emit_json, err, out, verb
from hockney.cli.predict.sum3d import Algorithm, CacheOf, Locality, WriteAllocate
from hockney.cli.run import (
    BindTo,
    HostFile,
    Hosts,
    Launcher,
    MapBy,
    Mpi,
    Output,
    Platform,
    Ranks,
    Repeat,
    SystemName,
    TimeLimit,
    Variants,
    run,
    run_app,
)
from hockney.errors import NegativeAnswer, RequestError

if TYPE_CHECKING:
    from hockney.apps.launched import Launched
    from hockney.apps.sum3d.study import Problem
    from hockney.campaign.loop import Asking
    from hockney.predict.machine_costs import MachineCosts
    from hockney.records.app_record import AppRecord

SIMULATED_MEMORY = "10GB/s"
FEW_RANKS = 8
"""Whose parts are all shown; of more, rank 0 and the slowest."""


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
    nx: Annotated[int, typer.Argument(help="Elements along x.")],
    ny: Annotated[int, typer.Argument(help="Along y.")],
    nz: Annotated[int, typer.Argument(help="Along z.")],
    grid: Annotated[
        str, typer.Option(help="Processes along x, y and z, such as 6x4x1. [default: as alike as possible]")
    ] = "",
    split: Annotated[
        str,
        typer.Option(
            help="balanced: all elements over all ranks; cartesian: as many as the grid says, in pieces; "
            "blocks: the blocks of the grid themselves."
        ),
    ] = "balanced",
    pack: Annotated[
        bool, typer.Option("--pack", help="Blocks: rank 0 copies them together itself, instead of by datatypes.")
    ] = False,
    ranks: Ranks = None,
    repetitions: Repeat = None,
    cycles: Annotated[int, typer.Option(help="Of a repetition, whose time is their mean.")] = 1,
    seed: Annotated[int, typer.Option(help="Of the random elements.")] = 1,
    loads_only: Annotated[
        bool, typer.Option("--loads-only", help="Only say how many elements each rank gets; nothing is launched.")
    ] = False,
    machine: Annotated[
        Path | None, typer.Option(help="Machine file: predictions beside what was measured.")
    ] = None,
    locality: Locality = "",
    cache: CacheOf = "",
    write_allocate: WriteAllocate = False,
    algorithm: Algorithm = "linear",
    memory_bandwidth: Annotated[
        str,
        typer.Option(
            help=f"Of a simulated host's memory; a real one's is measured. [default: {SIMULATED_MEMORY}]"
        ),
    ] = "",
    output: Output = None,
    mpi: Mpi = "auto",
    hosts: Hosts = "",
    hostfile: HostFile = "",
    launcher: Launcher = "",
    platform: Platform = "",
    map_by: MapBy = "core",
    bind_to: BindTo = "core",
    variants: Variants = None,
    time_limit: TimeLimit = "120s",
    system: SystemName = "",
    json: JsonOption = False,
) -> None:
    """C = A + B of random matrices that rank 0 holds: two scatters, the sum and a gather, by collectives alone.

    Says what each rank gets, mean and 95 % interval over the repetitions, and the shares of scatter, sum, gather
    and packing. Every element of the result is checked bitwise.
    """
    from hockney.apps.stencil.grids import parse_grid
    from hockney.apps.stencil.loads import Size
    from hockney.apps.sum3d.answer import Sum3dAnswer
    from hockney.apps.sum3d.study import Problem, summary
    from hockney.runner.inventory import inventory
    from hockney.units import parse_rate

    if memory_bandwidth and not platform:
        raise RequestError("--memory-bandwidth is that of a simulated host", "leave it out: it is measured")
    count = ranks or (parse_grid(grid).ranks if grid else inventory().cores)
    problem = Problem.asked(Size(nx, ny, nz), count, grid, split, packed=pack)
    if loads_only:
        _show_loads(problem, as_json=json)
        return
    costs = _costs(machine, problem, locality, cache)
    parameters = problem.parameters(
        seed=seed,
        cycles=cycles,
        repetitions=repetitions,
        bandwidth_B_per_s=parse_rate(memory_bandwidth or SIMULATED_MEMORY),
    )

    def do(launched: Launched) -> Asking[AppRecord]:
        yield launched.request("sum3d", parameters)

    records = run_app(
        do,
        output=output,
        verb="sum3d",
        mpi=mpi,
        ranks=count,
        hosts=hosts,
        hostfile=hostfile,
        launcher=launcher,
        platform=platform,
        map_by=map_by,
        bind_to=bind_to,
        variants=variants,
        time_limit=time_limit,
        system=system,
    )
    made = [
        summary(
            problem,
            record,
            costs if costs is not None and _reaches(costs, record) else None,
            write_allocate=write_allocate,
            algorithm=algorithm,
        )
        for record in records
    ]
    if json:
        emit_json({"runs": [{**record.model_dump(), **one} for record, one in zip(records, made, strict=True)]})
    else:
        _show(problem, records, made)
    if wrong := [record for record in records if not record.answer.verified]:
        if json:
            raise typer.Exit(NegativeAnswer.exit_code)
        raise NegativeAnswer(
            f"{wrong[0].answer.read_as(Sum3dAnswer).wrong_elements} elements are wrong with {wrong[0].mpi}",
            "this MPI delivers wrong data: please report it to its makers",
        )


def _costs(machine: Path | None, problem: Problem, locality: str, cache: str) -> MachineCosts | None:
    from hockney.apps.sum3d.model import costs_of
    from hockney.machine.file import load

    if machine is None:
        if locality or cache:
            raise RequestError("--locality and --cache are of predictions", "name a --machine")
        return None
    return costs_of(load(machine), str(machine), problem.size, locality, cache)


def _reaches(costs: MachineCosts, record: AppRecord) -> bool:
    """Whether the costs hold for the nodes of this run; says why not."""
    try:
        costs.on_nodes(record.nodes).check_network(None, record.ranks)
    except RequestError as error:
        from rich.text import Text

        err.print("[yellow]warning:[/yellow]", Text(f"not predicted: {error.message}"), soft_wrap=True)
        return False
    return True


def _show_loads(problem: Problem, *, as_json: bool) -> None:
    from hockney.apps.stencil.loads import as_lines, loads

    of_ranks = loads(problem.size, problem.grid, problem.split)
    if as_json:
        emit_json(
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
        out.print(line, markup=False, soft_wrap=True)


def _show(problem: Problem, records: list[AppRecord], made: list[dict[str, Any]]) -> None:
    for record, one in zip(records, made, strict=True):
        title = f"{problem.size} on {record.ranks} ranks, grid {problem.grid}, {problem.split}, {record.mpi}"
        out.print(f"{title}{f', {record.variant}' if record.variant else ''}", markup=False, soft_wrap=True)
        for line in one["loads"]:
            out.print(line, markup=False, soft_wrap=True)
        _show_statistics(record, one["statistics"])
        _show_parts(record, one)
        if one["predicted"]:
            _show_predicted(one["predicted"])


def _show_statistics(record: AppRecord, made: dict[str, Any]) -> None:
    cycles = record.parameters["cycles"]
    text = f"{made['runs']} repetitions of {cycles} cycle{'s' * (cycles > 1)}: mean {made['mean_s']:.6g} s"
    if made["standard_deviation_s"] is not None:
        text += f", S {made['standard_deviation_s']:.3g} s, 95 % interval "
        text += f"[{made['student_low_s']:.6g}, {made['student_high_s']:.6g}] s by Student's t, "
        text += f"[{made['normal_low_s']:.6g}, {made['normal_high_s']:.6g}] s with c = 1.96"
    out.print(text + f"; median {record.time_s:.6g} s", markup=False, soft_wrap=True)


def _show_parts(record: AppRecord, made: dict[str, Any]) -> None:
    from rich.table import Table

    from hockney.apps.sum3d.answer import Sum3dAnswer
    from hockney.units import format_rate, format_time

    shares, answer = made["shares"], record.answer.read_as(Sum3dAnswer)
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
    out.print(shown)
    out.print(
        "* spends the most; time and its share by part; STREAM's triad alone, and in place of the sum",
        markup=False,
    )


def _show_predicted(predicted: dict[str, Any]) -> None:
    from rich.table import Table

    from hockney.units import format_time

    shown = Table(box=None)
    for heading in ("part", "predicted", "measured", "error"):
        shown.add_column(heading, justify="left" if heading == "part" else "right")
    for name, one in predicted["parts"].items():
        error = "–" if one["error"] is None else f"{one['error']:+.1%}"
        shown.add_row(
            name.removesuffix("_s"), format_time(one["predicted_s"]), format_time(one["measured_s"]), error
        )
    out.print(f"predicted by {predicted['algorithm']}, {predicted['origin']}", markup=False, soft_wrap=True)
    out.print(shown)
    for warning in predicted["warnings"]:
        err.print(f"[yellow]warning:[/yellow] {warning}", soft_wrap=True)
