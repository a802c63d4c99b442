"""What `hockney predict jacobi` and `cg` share: their options, and how grids are printed."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from rich.table import Table

from hockney.apps.stencil.ways import EXCHANGES
from hockney.errors import RequestError
from hockney.options import Option
from hockney.predict.verb import MessageCosts
from hockney.terminal import say
from hockney.terminal.loading import later
from hockney.units import Extents, format_time, parse_time
from hockney.words import listed

with later():
    from hockney.apps.stencil.choice import GridPrediction
    from hockney.apps.stencil.grids import parse_grids
    from hockney.apps.stencil.measured import measured_runs
    from hockney.apps.stencil.prediction import RankedGrids, StencilProgram, predict_grids
    from hockney.apps.stencil.surroundings import Surroundings, Tuned
    from hockney.machine.placement import placement
    from hockney.predict.network_figures import costs_of
    from hockney.predict.on_topology import on_topology
    from hockney.predict.scenario import Place, place_of

MOST_REFUSED = 3
"""Refused grids that are named on the terminal; --json has all."""
SHOWN = 12
"""Grids that a table on the terminal has; --json has all."""


class StencilCase(MessageCosts):
    """The options of both verbs; `cells` and `formulation` become options where each verb says how."""

    operation: str = ""
    cells: Extents | None = None
    formulation: str = ""
    subdomain: Annotated[int | None, Option("Cells along each side of the cube that each rank has.")] = None
    grids: Annotated[
        list[str],
        Option(
            "Processes along x, y and z, such as 4x3x2; repeat for several; `all` with --ranks.",
            flags=("--grid",),
        ),
    ] = Field(default_factory=list)
    ranks: Annotated[int | None, Option("Number of ranks.")] = None
    halo: Annotated[str, Option(f"{listed(EXCHANGES)}.")] = "nonblocking"
    iterations: Annotated[int, Option("Consecutive iterations, whose mean is given."), Field(ge=1)] = 10
    cell_s: Annotated[
        float | None,
        Option(
            "What a rank takes for a cell in an iteration, such as 0.9ns.",
            flags=("--cell-time",),
            read=parse_time,
        ),
    ] = None
    runs: Annotated[
        Path | None,
        Option("Folder of `hockney run`: what a cell takes, and what communication is calibrated on."),
    ] = None

    def surroundings(self, ranks: int) -> Surroundings:
        """Costs of messages, and where the system's mapping, or the topology, puts ranks.

        `ranks` fill the topology where nothing says how many a node has.
        """
        costs, system = costs_of(self, both_ways=True)
        if (linked := on_topology(self, ranks)) is not None:
            if not linked.is_torus:
                raise RequestError(
                    f"applications share the links of a torus, and {self.topology} is none",
                    "describe the network in a system file: --system",
                )
            costs = replace(costs, warnings=[*costs.warnings, linked.words])
            return Surroundings(costs, linked.place, Tuned(network_s_per_B=linked.costs_per_link))

        def place(ranks: int) -> Place | None:
            if system is None:
                return None
            return place_of(placement(system, self.mapping, ranks, self.nodes, self.ppn), system)

        return Surroundings(costs, place)


def predict_stencil(case: StencilCase, *, as_json: bool) -> None:
    """Print every grid asked for, the fastest first, and where communication matters."""
    if case.cells is not None and case.subdomain is not None:
        raise RequestError(
            f"{'--size' if case.formulation else '--cells'} and --subdomain both say how many cells there are",
            "give one of them",
        )
    if case.cell_s is not None and not case.cell_s > 0:
        raise RequestError("--cell-time must be positive", "for example 0.9ns")
    grids = parse_grids(case.grids, case.ranks)
    program = StencilProgram.checked(case.operation, case.cells, case.subdomain, case.halo, case.formulation)
    runs = None if case.runs is None else measured_runs(case.runs)
    with say.progress(quiet=as_json or runs is None) as progress:
        ranked = predict_grids(
            program, grids, case.surroundings(grids[0].ranks), case.iterations, case.cell_s, runs, progress
        )
    if as_json:
        say.json(_data(program, ranked))
        return
    _show(program, ranked)
    how = (
        f"calibrated on {ranked.calibrated_on} runs"
        if ranked.calibrated_on
        else "no run of the program was used for them"
    )
    say.line(f"communication: simulated with {ranked.origin}; {how}")
    for name, why in islice(ranked.refused.items(), MOST_REFUSED):
        say.line(f"{name}: {why}")
    if len(ranked.refused) > MOST_REFUSED:
        say.line(f"{len(ranked.refused) - MOST_REFUSED} more grids do not fit either")
    for text in ranked.warnings:
        say.warn(text)


def _data(program: StencilProgram, ranked: RankedGrids) -> dict[str, Any]:
    fastest = ranked.ordered[0]
    return {
        "operation": program.operation,
        "model": "simulated",
        "ranks": fastest.grid.ranks,
        "cells": list(ranked.cells),
        "halo": program.halo,
        **_grid_data(fastest),
        "told_apart": not ranked.rivals,
        "not_told_apart_from": [str(rival.grid) for rival in ranked.rivals],
        "grids": [_grid_data(prediction) for prediction in ranked.ordered],
        "refused": ranked.refused,
        "growth": [{**vars(growth), "grid": str(growth.grid)} for growth in ranked.growth],
        "communication_exceeds": [
            {"share": share, "ranks": growth and growth.ranks, "grid": str(growth.grid) if growth else None}
            for share, growth in ranked.exceeds.items()
        ],
        "origin": ranked.origin,
        "calibrated_on": ranked.calibrated_on,
        "tuned": vars(ranked.tuned),
        "warnings": ranked.warnings,
    }


def _grid_data(prediction: GridPrediction) -> dict[str, Any]:
    return {
        **vars(prediction),
        "grid": str(prediction.grid),
        "communication_s": prediction.communication_s,
        "communication_share": prediction.communication_share,
        "mlups": prediction.updates_per_s / 1e6,
    }


def _show(program: StencilProgram, ranked: RankedGrids) -> None:
    fastest, *slower = ranked.ordered
    table = Table(title=f"{program.operation} on {fastest.grid.ranks} ranks, an iteration", box=None)
    for heading in ("grid", "time", "95 % interval", "MLUP/s", "communication"):
        table.add_column(heading, justify="left" if heading == "grid" else "right", no_wrap=True)
    for prediction in ranked.ordered[:SHOWN]:
        bounds = prediction.interval
        table.add_row(
            str(prediction.grid),
            format_time(prediction.time_s),
            "–" if bounds is None else f"{format_time(bounds[0])} to {format_time(bounds[1])}",
            f"{prediction.updates_per_s / 1e6:.4g}",
            f"{prediction.communication_share:.1%}",
        )
    say.table(table)
    if len(ranked.ordered) > SHOWN:
        say.line(f"and {len(ranked.ordered) - SHOWN} slower grids (--json has all)")
    if ranked.rivals:
        names = ", ".join(str(rival.grid) for rival in ranked.rivals[:SHOWN])
        others = " and others" if len(ranked.rivals) > SHOWN else ""
        say.line(f"{fastest.grid} is predicted fastest, but cannot be told from {names}{others}")
    elif slower:
        margin = slower[0].time_s / fastest.time_s - 1
        say.line(f"{fastest.grid} is fastest, by {margin:.1%} over {slower[0].grid}")
    scanned = ranked.growth[-1].ranks if ranked.growth else 0
    for share, growth in ranked.exceeds.items():
        where = f"from {growth.ranks} ranks on ({growth.grid})" if growth else f"on none of up to {scanned} ranks"
        say.line(f"communication exceeds {share:.0%} of the time {where}")
