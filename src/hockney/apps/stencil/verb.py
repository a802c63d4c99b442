"""What `hockney predict jacobi` and `cg` share: their options, and how grids are printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from rich.table import Table

from hockney.apps.stencil.options import parse_ranks
from hockney.apps.stencil.ways import EXCHANGES
from hockney.errors import RequestError
from hockney.fields import Option
from hockney.predict.options import MessageCosts
from hockney.terminal import say
from hockney.terminal.loading import later
from hockney.terminal.say import Progress
from hockney.units import Extents, format_time, parse_time
from hockney.words import listed

with later():
    from hockney.apps.stencil.choice import GridPrediction
    from hockney.apps.stencil.grids import parse_grids
    from hockney.apps.stencil.measured import MeasuredRuns, measured_runs
    from hockney.apps.stencil.prediction import RankedGrids, StencilPrediction, StencilProgram, predict_grids
    from hockney.apps.stencil.solution import Solution
    from hockney.apps.stencil.surroundings import Surroundings, Tuned
    from hockney.machine.placement import placement
    from hockney.predict.network_figures import costs_of
    from hockney.predict.on_topology import on_topology
    from hockney.predict.place import Place, place_of

MOST_REFUSED = 3
"""Refused grids that are named on the terminal; --json has all."""
SHOWN = 12
"""Grids that a table on the terminal has; --json has all."""
MOST_OF_SEVERAL = 3
"""The same for each of several numbers of ranks."""


class StencilCase(MessageCosts):
    """The options of both verbs; `cells` and `formulation` become options where each verb says how."""

    operation: str = ""
    cells: Extents | None = None
    formulation: str = ""
    subdomain: Annotated[int | None, Option("Along each side of a cube.")] = None
    grids: Annotated[
        list[str],
        Option(
            "Repeat for several, also of several numbers of ranks; or all, with --ranks.",
            flags=("--grid",),
        ),
    ] = Field(default_factory=list)
    ranks: Annotated[list[int], Option("Or several: 1,2,4.", read=parse_ranks)] = Field(default_factory=list)
    halo: Annotated[str, Option(f"{listed(EXCHANGES)}.")] = "nonblocking"
    iterations: Annotated[int, Option("Their mean is given."), Field(ge=1)] = 10
    cell_s: Annotated[
        float | None,
        Option(
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


SolutionOfRuns = Callable[["MeasuredRuns"], "Solution | None"]
"""Says of runs how many iterations a whole solution takes."""


def predicted_grids(
    case: StencilCase, progress: Progress, solution: SolutionOfRuns | None = None
) -> tuple[StencilProgram, StencilPrediction, Solution | None]:
    """Every grid asked for, the fastest of each number of ranks first; RequestError where there is no answer."""
    if case.cells is not None and case.subdomain is not None:
        raise RequestError(
            "--size and --subdomain both say how many cells there are",
            "give one of them",
        )
    if case.cell_s is not None and not case.cell_s > 0:
        raise RequestError("--cell-time must be positive", "for example 0.9ns")
    grids = parse_grids(case.grids, case.ranks)
    program = StencilProgram.checked(case.operation, case.cells, case.subdomain, case.halo, case.formulation)
    runs = None if case.runs is None else measured_runs(case.runs)
    solved = None if solution is None or runs is None else solution(runs)
    iterations = case.iterations
    if solved is not None and "iterations" not in case.model_fields_set:
        iterations = max(1, round(solved.iterations.value))
    surroundings = case.surroundings(grids[0].ranks)
    predicted = predict_grids(program, grids, surroundings, iterations, case.cell_s, runs, progress)
    return program, predicted, solved


def predict_stencil(case: StencilCase, *, as_json: bool, solution: SolutionOfRuns | None = None) -> None:
    """Print every grid asked for, the fastest of each number of ranks first, and where communication matters."""
    with say.progress(quiet=as_json or case.runs is None) as progress:
        program, predicted, solved = predicted_grids(case, progress, solution)
    if as_json:
        say.json(_data(program, predicted, solved))
        return
    _show(program, predicted, solved)
    how = (
        f"calibrated on {predicted.calibrated_on} runs"
        if predicted.calibrated_on
        else "no run of the program was used for them"
    )
    say.line(f"communication: simulated with {predicted.origin}; {how}")
    for name, why in islice(predicted.refused.items(), MOST_REFUSED):
        say.line(f"{name}: {why}")
    if len(predicted.refused) > MOST_REFUSED:
        say.line(f"{len(predicted.refused) - MOST_REFUSED} more grids do not fit either")
    for text in [*predicted.warnings, *(solved.warnings if solved else [])]:
        say.warn(text)


def _data(program: StencilProgram, predicted: StencilPrediction, solved: Solution | None) -> dict[str, Any]:
    of_ranks = [_ranked_data(ranked, predicted, solved) for ranked in predicted.ranked]
    return {
        "operation": program.operation,
        "model": "simulated",
        "scaling": "strong" if program.subdomain is None else "weak",
        "halo": program.halo,
        **(of_ranks[0] if len(of_ranks) == 1 else {"predictions": of_ranks}),
        "solution": None if solved is None else solved.as_data(),
        "refused": predicted.refused,
        "growth": [{**vars(growth), "grid": str(growth.grid)} for growth in predicted.growth],
        "communication_exceeds": [
            {"share": share, "ranks": growth and growth.ranks, "grid": str(growth.grid) if growth else None}
            for share, growth in predicted.exceeds.items()
        ],
        "origin": predicted.origin,
        "calibrated_on": predicted.calibrated_on,
        "tuned": vars(predicted.tuned),
        "warnings": [*predicted.warnings, *(solved.warnings if solved else [])],
    }


def _ranked_data(ranked: RankedGrids, predicted: StencilPrediction, solved: Solution | None) -> dict[str, Any]:
    return {
        "ranks": ranked.fastest.grid.ranks,
        "cells": list(ranked.cells),
        **_grid_data(ranked.fastest, predicted, solved),
        "told_apart": not ranked.rivals,
        "not_told_apart_from": [str(rival.grid) for rival in ranked.rivals],
        "grids": [_grid_data(prediction, predicted, solved) for prediction in ranked.ordered],
    }


def grid_rows(predicted: StencilPrediction) -> list[dict[str, Any]]:
    """A row for each grid, as a table has it: times in seconds."""
    return [
        {"ranks": ranked.fastest.grid.ranks, "cells": "x".join(map(str, ranked.cells))}
        | {name: value for name, value in _grid_data(prediction, predicted, None).items() if value is not None}
        | {
            "is_fastest": prediction is ranked.fastest,
            "may_be_fastest": prediction in [ranked.fastest, *ranked.rivals],
        }
        for ranked in predicted.ranked
        for prediction in ranked.ordered
    ]


def _grid_data(
    prediction: GridPrediction, predicted: StencilPrediction, solved: Solution | None
) -> dict[str, Any]:
    speedup = predicted.speedup(prediction)
    return {
        **vars(prediction),
        "grid": str(prediction.grid),
        "communication_s": prediction.communication_s,
        "communication_share": prediction.communication_share,
        "mlups": prediction.updates_per_s / 1e6,
        "speedup": speedup,
        "efficiency": None if speedup is None else speedup / prediction.grid.ranks,
        **({} if solved is None else {"solution_s": solved.time_s(prediction).model_dump()}),
    }


def _show(program: StencilProgram, predicted: StencilPrediction, solved: Solution | None) -> None:
    several = len(predicted.ranked) > 1
    shown = [
        (place, prediction)
        for ranked in predicted.ranked
        for place, prediction in enumerate(ranked.ordered)
        if place < (MOST_OF_SEVERAL if several else SHOWN)
    ]
    on = "" if several else f" on {predicted.ranked[0].fastest.grid.ranks} ranks"
    table = Table(title=f"{program.operation}{on}, an iteration", box=None)
    headings = ["ranks"] if several else []
    headings += ["grid", "time", "95 % interval", "MLUP/s", "communication", "speed-up", "efficiency"]
    headings += ["solution", "95 % interval"] if solved else []
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "grid" else "right", no_wrap=True)
    for place, prediction in shown:
        speedup = predicted.speedup(prediction)
        cells = [str(prediction.grid.ranks) if place == 0 else ""] if several else []
        cells += [
            str(prediction.grid),
            format_time(prediction.time_s),
            _interval(prediction.low_s, prediction.high_s),
            f"{prediction.updates_per_s / 1e6:.4g}",
            f"{prediction.communication_share:.1%}",
            "–" if speedup is None else f"{speedup:.4g}",
            "–" if speedup is None else f"{speedup / prediction.grid.ranks:.1%}",
        ]
        if solved:
            whole = solved.time_s(prediction)
            cells += [format_time(whole.value), _interval(whole.low, whole.high)]
        table.add_row(*cells)
    say.table(table)
    if (left := sum(len(ranked.ordered) for ranked in predicted.ranked) - len(shown)) > 0:
        say.line(f"and {left} slower grids (--json has all)")
    for ranked in predicted.ranked:
        _show_choice(ranked)
    if solved:
        say.line(solved.in_words())
    scanned = predicted.growth[-1].ranks if predicted.growth else 0
    for share, growth in predicted.exceeds.items():
        where = f"from {growth.ranks} ranks on ({growth.grid})" if growth else f"on none of up to {scanned} ranks"
        say.line(f"communication exceeds {share:.0%} of the time {where}")


def _show_choice(ranked: RankedGrids) -> None:
    fastest, *slower = ranked.ordered
    if ranked.rivals:
        names = ", ".join(str(rival.grid) for rival in ranked.rivals[:SHOWN])
        others = " and others" if len(ranked.rivals) > SHOWN else ""
        say.line(f"{fastest.grid} is predicted fastest, but cannot be told from {names}{others}")
    elif slower:
        margin = slower[0].time_s / fastest.time_s - 1
        say.line(f"{fastest.grid} is fastest, by {margin:.1%} over {slower[0].grid}")


def _interval(low_s: float | None, high_s: float | None) -> str:
    return "–" if low_s is None or high_s is None else f"{format_time(low_s)} to {format_time(high_s)}"
