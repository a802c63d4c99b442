"""What `hockney predict jacobi` and `cg` share: options, where costs come from, what is printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from rich.table import Table

from hockney.errors import RequestError
from hockney.options import Option
from hockney.predict.verb import MachineFile, NetworkOptions, Placing
from hockney.terminal import say
from hockney.terminal.loading import later
from hockney.units import format_time, parse_time

with later():
    from hockney.apps.stencil.calibrate import calibrate
    from hockney.apps.stencil.choice import (
        SHARES,
        USUAL_CELL_S,
        Growth,
        Predicted,
        Source,
        exceeds,
        growth,
        not_told_apart,
        rank_grids,
    )
    from hockney.apps.stencil.grids import Grid, factorisations, parse_grid
    from hockney.apps.stencil.measured import PROGRAMS, Computation, computation, runs_of, unusable
    from hockney.apps.stencil.options import MOST_CELLS, parse_cells, parse_unknowns
    from hockney.apps.stencil.stencil import CELL_B, EXCHANGES, Stencil
    from hockney.apps.stencil.steps import SUMS, VARIANTS, Step
    from hockney.apps.stencil.surroundings import Surroundings
    from hockney.machine.file import load
    from hockney.machine.placement import placement
    from hockney.machine.system import find_system
    from hockney.predict.machine_costs import MachineCosts, of_machine, of_system, usual
    from hockney.predict.network_figures import with_network
    from hockney.predict.scenario import Place, place_of
    from hockney.records.app_record import AppRecord
    from hockney.records.folder import Campaign


USUAL_CELLS, USUAL_SIZE = "480", "480x480x480"
MOST_SIMULATED = 200_000
"""Ranks of all grids together: a minute, and some gigabytes where one grid has them all."""
SHOWN = 12
"""Grids that a table on the terminal has; --json has all."""


class Asked(NetworkOptions, Placing, MachineFile):
    """The options of both verbs; `cells` and `formulation` become options where each verb says how."""

    operation: str = ""
    cells: str = ""
    formulation: str = ""
    subdomain: Annotated[int | None, Option("Cells along each side of the cube that each rank has.")] = None
    grids: Annotated[
        list[str],
        Option(
            "Processes along x, y and z, such as 4x3x2; repeat for several; `all` with --ranks.",
            flags=("--grid",),
        ),
    ] = Field(default_factory=list)
    ranks: Annotated[int | None, Option("How many ranks.")] = None
    halo: Annotated[str, Option("sendrecv, nonblocking, overlap, persistent or neighborhood.")] = "nonblocking"
    iterations: Annotated[int, Option("In a row, of which the mean is given."), Field(ge=1)] = 10
    cell_time: Annotated[str, Option("What a rank takes for a cell in an iteration, such as 0.9ns.")] = ""
    runs: Annotated[
        Path | None,
        Option("Folder of `hockney run`: what a cell takes, and what communication is calibrated on."),
    ] = None


def predict_stencil(asked: Asked, *, as_json: bool) -> None:
    """Print every grid asked for, the fastest first, and where communication matters."""
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
        say.json(
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
    say.line(f"communication: simulated with {costs.origin}; {how}")
    for name, why in refused.items():
        say.line(f"{name}: {why}")
    for text in warnings:
        say.warn(text)


def grids_of(texts: Sequence[str], ranks: int | None) -> list[Grid]:
    """The grids asked for, each once; `all` are those of `ranks`."""
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
    return computation([one for one in records if _is_same(asked, one)])


def _step(
    asked: Asked, grid: Grid, place: Callable[[int], Place | None], computation: Computation | None
) -> Step:
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
    system = find_system(asked.system) if asked.system else None
    if asked.is_there:
        costs = of_machine(load(asked.machine), str(asked.machine), both_ways=True)
    else:
        costs = of_system(system) if system else usual()
    costs = with_network(costs, asked.network, system)
    if system is None:
        if asked.needs_system:
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
    surroundings = Surroundings(costs, place)
    if records:
        try:
            runs = runs_of(records)
            with say.progress(quiet=as_json) as progress:
                made = calibrate(runs, surroundings, progress)
            return Source.of(made), made.runs
        except RequestError as error:
            warnings.append(f"communication is not calibrated: {error.message}")
    return Source(surroundings), 0


def _other_side(step: Step, computation: Computation) -> list[str]:
    """What a rank works on beside what the runs worked on: caches may hold one and not the other."""
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
    say.table(shown)
    if len(ordered) > SHOWN:
        say.line(f"and {len(ordered) - SHOWN} slower grids (--json has all)")
    best = ordered[0]
    if len(ordered) > 1 and not rivals:
        say.line(f"{best.grid} is fastest, by {ordered[1].time_s / best.time_s - 1:.1%} over {ordered[1].grid}")
    elif rivals:
        names = ", ".join(str(one.grid) for one in rivals[:SHOWN]) + (
            " and others" if len(rivals) > SHOWN else ""
        )
        say.line(f"{best.grid} is predicted fastest, but cannot be told from {names}")
    for share, step in matters.items():
        found = f"from {step.ranks} ranks on ({step.grid})" if step else f"on none of up to {scanned} ranks"
        say.line(f"communication exceeds {share:.0%} of the time {found}")
