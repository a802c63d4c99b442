"""What `hockney predict jacobi` and `cg` share: options, where costs come from, what is printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hockney.cli import emit_json, err, out
from hockney.cli.predict import MACHINE
from hockney.errors import RequestError
from hockney.units import format_time, parse_time

if TYPE_CHECKING:
    from hockney.apps.stencil.choice import Growth, Predicted, Source
    from hockney.apps.stencil.grids import Grid
    from hockney.apps.stencil.measured import Computation
    from hockney.apps.stencil.steps import Step
    from hockney.predict.machine_costs import MachineCosts
    from hockney.predict.network_figures import NetworkFigures
    from hockney.predict.scenario import Place
    from hockney.records.app_record import AppRecord

Cells = Annotated[
    str, typer.Option(help="Of the whole box: 400 for a cube, 2000x2000x64. The same on any number of ranks.")
]
Subdomain = Annotated[
    int | None, typer.Option(help="Cells along each side of the cube that each rank has.", show_default=False)
]
Grids = Annotated[
    list[str] | None,
    typer.Option(
        "--grid", help="Processes along x, y and z, such as 4x3x2; repeat for several; `all` with --ranks."
    ),
]
RankCount = Annotated[int | None, typer.Option("--ranks", help="How many ranks.")]
Halo = Annotated[str, typer.Option(help="sendrecv, nonblocking, overlap, persistent or neighborhood.")]
Iterations = Annotated[int, typer.Option(min=1, help="In a row, of which the mean is given.")]
CellTime = Annotated[str, typer.Option(help="What a rank takes for a cell in an iteration, such as 0.9ns.")]
Runs = Annotated[
    Path | None,
    typer.Option(help="Folder of `hockney run`: what a cell takes, and what communication is calibrated on."),
]
Systems = Annotated[str, typer.Option("--system", help="Description of the system, a known name or a JSON file.")]
Mapping = Annotated[str, typer.Option(help="Where the system's mapping puts ranks.")]
Nodes = Annotated[int | None, typer.Option(help="Nodes that are used.")]
Ppn = Annotated[int | None, typer.Option(help="The most ranks on a node.")]

USUAL_CELLS, USUAL_SIZE = "480", "480x480x480"
MOST_SIMULATED = 200_000
"""Ranks of all grids together: a minute, and some gigabytes where one grid has them all."""
SHOWN = 12
"""Grids that a table on the terminal has; --json has all."""


@dataclass(frozen=True)
class Asked:
    """The options, as they were given."""

    operation: str
    cells: str
    subdomain: int | None
    grids: Sequence[str]
    ranks: int | None
    halo: str
    iterations: int
    cell_time: str
    runs: Path | None
    machine: Path
    system: str
    mapping: str
    nodes: int | None
    ppn: int | None
    network: NetworkFigures
    formulation: str = ""


def predict_stencil(asked: Asked, *, as_json: bool) -> None:
    """Print every grid asked for, the fastest first, and where communication matters."""
    from hockney.apps.stencil.choice import SHARES, exceeds, growth, not_told_apart, rank_grids

    grids = grids_of(asked.grids, asked.ranks)
    if sum(grid.ranks for grid in grids) > MOST_SIMULATED:
        raise RequestError(
            f"{len(grids)} grids of {grids[0].ranks} ranks are more than the {MOST_SIMULATED} ranks that are "
            "simulated at once",
            "name fewer grids",
        )
    costs, place, warnings = _where(asked)
    warnings += costs.assumptions(place(grids[0].ranks), grids[0].ranks)
    if not asked.cells and asked.subdomain is None:
        warnings.append(f"no size is given: {USUAL_SIZE} cells are taken")
    if not asked.cell_time and asked.runs is None:
        warnings.append(
            "what a cell takes is not known: 1 ns is taken; --cell-time or --runs say what it is on this machine"
        )
    records = _records(asked, warnings)
    computation = _computation(asked, records)
    if computation is not None and computation.packing_s_per_B is not None:
        costs = replace(costs, copy_s_per_B=computation.packing_s_per_B)

    def step_on(grid: Grid) -> Step:
        return _step(asked, grid, place, computation)

    source, calibrated_on = _source(records, costs, place, warnings, as_json=as_json)
    ordered, refused = rank_grids(step_on, grids, source, asked.iterations)
    if computation is not None:
        warnings += _other_side(step_on(ordered[0].grid), computation)
    rivals = not_told_apart(ordered, source)
    steps = growth(step_on, source, asked.iterations)
    matters = {share: exceeds(steps, share) for share in SHARES}
    if as_json:
        emit_json(
            {
                "operation": asked.operation,
                "model": "simulated",
                "ranks": ordered[0].grid.ranks,
                "cells": list(step_on(ordered[0].grid).stencil.cells),
                "halo": asked.halo,
                **_data(ordered[0]),
                "told_apart": not rivals,
                "not_told_apart_from": [str(one.grid) for one in rivals],
                "grids": [_data(one) for one in ordered],
                "refused": refused,
                "growth": [{**vars(one), "grid": str(one.grid)} for one in steps],
                "communication_exceeds": [
                    {"share": share, "ranks": step and step.ranks, "grid": str(step.grid) if step else None}
                    for share, step in matters.items()
                ],
                "origin": costs.origin,
                "calibrated_on": calibrated_on,
                "tuned": vars(source.surroundings.tuned),
                "warnings": warnings,
            }
        )
        return
    _show(asked, ordered, rivals, matters, steps[-1].ranks if steps else 0)
    how = f"calibrated on {calibrated_on} runs" if calibrated_on else "no run of the program was used for them"
    out.print(f"communication: simulated with {costs.origin}; {how}", markup=False, soft_wrap=True)
    for name, why in refused.items():
        out.print(f"{name}: {why}", markup=False, soft_wrap=True)
    for text in warnings:
        err.print(f"[yellow]warning:[/yellow] {text}", soft_wrap=True)


def grids_of(texts: Sequence[str], ranks: int | None) -> list[Grid]:
    """The grids asked for, each once; `all` are those of `ranks`."""
    from hockney.apps.stencil.grids import factorisations, parse_grid

    if ranks is not None and ranks < 1:
        raise RequestError(f"the number of ranks must be at least 1, not {ranks}", "for example --ranks 48")
    if not texts and ranks is None:
        raise RequestError("no grid is given", "give --grid 4x3x2, or --ranks 24 --grid all")
    if "all" in texts or not texts:
        if len(texts) > 1:
            raise RequestError("--grid all holds every other grid", "leave the others out")
        if ranks is None:
            raise RequestError("--grid all needs --ranks", "for example --ranks 48")
        return factorisations(ranks)
    grids = list(dict.fromkeys(parse_grid(text) for text in texts))
    for grid in grids:
        if ranks is not None and grid.ranks != ranks:
            raise RequestError(
                f"grid {grid} has {grid.ranks} processes, not {ranks}",
                "leave out --ranks, or --grid all for every grid that fits",
            )
    if len(numbers := sorted({grid.ranks for grid in grids})) > 1:
        raise RequestError(
            f"grids of {numbers[0]} and {numbers[1]} ranks are not ranked together",
            "ask for each number of ranks alone",
        )
    return grids


def _records(asked: Asked, warnings: list[str]) -> list[AppRecord]:
    if asked.runs is None:
        return []
    from hockney.apps.stencil.measured import PROGRAMS, unusable
    from hockney.records.folder import Campaign

    campaign = Campaign.open(asked.runs)
    found = []
    for number, one in enumerate(campaign.apps(), 1):
        if one.operation not in PROGRAMS:
            continue
        if why := unusable(one):
            warnings.append(f"run {number} of {asked.runs} is left out: {why}")
        else:
            found.append(one)
    warnings += campaign.warnings
    if not any(_is_same(asked, one) for one in found):
        raise RequestError(
            f"{asked.runs} has no run of {asked.operation}{' ' * bool(asked.formulation)}{asked.formulation}",
            f"make some: `hockney run {asked.operation} … -o {asked.runs}`",
        )
    return found


def _is_same(asked: Asked, record: AppRecord) -> bool:
    """Whether its cells take what those asked for take."""
    return record.operation == asked.operation and record.parameters.get("variant", "") == asked.formulation


def _computation(asked: Asked, records: Sequence[AppRecord]) -> Computation | None:
    if asked.cell_time or not records:
        return None
    from hockney.apps.stencil.measured import computation

    return computation([one for one in records if _is_same(asked, one)])


def _step(
    asked: Asked, grid: Grid, place: Callable[[int], Place | None], computation: Computation | None
) -> Step:
    from hockney.apps.cg.study import parse_unknowns
    from hockney.apps.jacobi.study import MOST_CELLS, USUAL_CELL_S, parse_cells
    from hockney.apps.stencil.stencil import EXCHANGES, Stencil
    from hockney.apps.stencil.steps import SUMS, VARIANTS, Step

    is_cg = asked.operation == "cg"
    if asked.cells and asked.subdomain is not None:
        raise RequestError(
            f"{'--size' if is_cg else '--cells'} and --subdomain both say how many cells there are",
            "give one of them",
        )
    if asked.halo not in EXCHANGES:
        raise RequestError(f"unknown exchange {asked.halo!r}", f"known: {', '.join(EXCHANGES)}")
    if asked.formulation and asked.formulation not in VARIANTS:
        raise RequestError(f"unknown formulation {asked.formulation!r}", f"known: {', '.join(VARIANTS)}")
    side = asked.subdomain
    if side is not None:
        cells = (side * grid.x, side * grid.y, side * grid.z)
        if not side >= 1 or max(cells) > MOST_CELLS:
            raise RequestError(
                f"--subdomain {side} on {grid}: a direction has 1 to {MOST_CELLS} cells", "give a smaller cube"
            )
    else:
        cells = parse_unknowns(asked.cells or USUAL_SIZE)[1] if is_cg else parse_cells(asked.cells or USUAL_CELLS)
    if asked.cell_time:
        cell_s = parse_time(asked.cell_time)
        if not cell_s > 0:
            raise RequestError("--cell-time must be positive", "for example 0.9ns")
    elif computation is None:
        cell_s = USUAL_CELL_S
    else:
        where = place(grid.ranks)
        cell_s = computation.at(where.ppn if where else min(grid.ranks, max(computation.cell_s)))
    return Step(
        Stencil(cells, grid, asked.halo),
        cell_s,
        sums=SUMS if is_cg else None,
        variant=asked.formulation or "single_sweep",
    )


def _where(asked: Asked) -> tuple[MachineCosts, Callable[[int], Place | None], list[str]]:
    """Costs of messages, where so many ranks are, and what is assumed."""
    from hockney.machine.file import load
    from hockney.machine.placement import placement
    from hockney.machine.system import find_system
    from hockney.predict.machine_costs import of_machine, of_system, usual
    from hockney.predict.network_figures import with_network
    from hockney.predict.scenario import place_of

    system = find_system(asked.system) if asked.system else None
    if asked.machine.exists() or asked.machine != MACHINE:
        costs = of_machine(load(asked.machine), str(asked.machine), both_ways=True)
    else:
        costs = of_system(system) if system else usual()
    costs = with_network(costs, asked.network, system)
    if system is None:
        if asked.mapping or asked.nodes is not None or asked.ppn is not None:
            raise RequestError("--mapping, --nodes and --ppn need --system", "say which system the ranks are on")
        return costs, lambda _: None, list(costs.warnings)
    known = asked.network.of(system)

    def place(ranks: int) -> Place:
        return place_of(placement(known, asked.mapping, ranks, asked.nodes, asked.ppn), known)

    return costs, place, list(costs.warnings)


def _source(
    records: Sequence[AppRecord],
    costs: MachineCosts,
    place: Callable[[int], Place | None],
    warnings: list[str],
    *,
    as_json: bool,
) -> tuple[Source, int]:
    """Calibrated where enough runs communicate; how many were used."""
    from hockney.apps.stencil.calibrate import calibrate
    from hockney.apps.stencil.choice import Source
    from hockney.apps.stencil.measured import runs_of
    from hockney.apps.stencil.surroundings import Surroundings
    from hockney.cli._progress import shown

    surroundings = Surroundings(costs, place)
    if records:
        try:
            runs = runs_of(records)
            with shown(quiet=as_json) as progress:
                made = calibrate(runs, surroundings, progress)
            return Source.of(made), made.runs
        except RequestError as error:
            warnings.append(f"communication is not calibrated: {error.message}")
    return Source(surroundings), 0


def _other_side(step: Step, computation: Computation) -> list[str]:
    """What a rank works on beside what the runs worked on: caches may hold one and not the other."""
    from hockney.apps.stencil.stencil import CELL_B

    rank_B = CELL_B * float(step.stencil.boxes().prod(axis=1).max())
    if computation.smallest_rank_B / 2 <= rank_B <= computation.largest_rank_B * 2:
        return []
    least, most = (one / 2**20 for one in (computation.smallest_rank_B, computation.largest_rank_B))
    return [
        f"a rank's box has {rank_B / 2**20:.3g} MiB, those of the runs {least:.3g} to {most:.3g} MiB: "
        "what a cell takes may differ, as caches hold one or not"
    ]


def _data(one: Predicted) -> dict[str, Any]:
    return {
        **vars(one),
        "grid": str(one.grid),
        "communication_s": one.communication_s,
        "communication_share": one.communication_share,
        "mlups": one.updates_per_s / 1e6,
    }


def _show(
    asked: Asked,
    ordered: Sequence[Predicted],
    rivals: Sequence[Predicted],
    matters: dict[float, Growth | None],
    scanned: int,
) -> None:
    from rich.table import Table

    shown = Table(title=f"{asked.operation} on {ordered[0].grid.ranks} ranks, an iteration", box=None)
    for heading in ("grid", "time", "95 % interval", "MLUP/s", "communication"):
        shown.add_column(heading, justify="left" if heading == "grid" else "right", no_wrap=True)
    for one in ordered[:SHOWN]:
        shown.add_row(
            str(one.grid),
            format_time(one.time_s),
            "–" if one.interval is None else f"{format_time(one.interval[0])} to {format_time(one.interval[1])}",
            f"{one.updates_per_s / 1e6:.4g}",
            f"{one.communication_share:.1%}",
        )
    out.print(shown)
    if len(ordered) > SHOWN:
        out.print(f"and {len(ordered) - SHOWN} slower grids (--json has all)")
    best = ordered[0]
    if len(ordered) > 1 and not rivals:
        out.print(f"{best.grid} is fastest, by {ordered[1].time_s / best.time_s - 1:.1%} over {ordered[1].grid}")
    elif rivals:
        names = ", ".join(str(one.grid) for one in rivals[:SHOWN]) + (
            " and others" if len(rivals) > SHOWN else ""
        )
        out.print(f"{best.grid} is predicted fastest, but cannot be told from {names}", soft_wrap=True)
    for share, step in matters.items():
        found = f"from {step.ranks} ranks on ({step.grid})" if step else f"on none of up to {scanned} ranks"
        out.print(f"communication exceeds {share:.0%} of the time {found}", soft_wrap=True)
