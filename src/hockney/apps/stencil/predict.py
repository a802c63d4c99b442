"""Process grids ranked by predicted time: from a program's cells, costs of messages and measured runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated

from pydantic import Field, TypeAdapter

from hockney.apps.stencil.calibrate import calibrate
from hockney.apps.stencil.choice import (
    USUAL_CELL_S,
    GridPrediction,
    not_told_apart,
    predict_step,
    rank_grids,
)
from hockney.apps.stencil.grids import Grid, parse_grids
from hockney.apps.stencil.measured import (
    Computation,
    MeasuredRuns,
    computation,
    largest_box_B,
    measured_runs,
    runs_of,
)
from hockney.apps.stencil.options import MOST_CELLS, StencilCase
from hockney.apps.stencil.solution import Solution
from hockney.apps.stencil.stencil import Stencil
from hockney.apps.stencil.steps import StencilStep
from hockney.apps.stencil.surroundings import Surroundings, Tuned, ranks_on_core, shared_cores
from hockney.errors import RequestError
from hockney.machine.placement import placement
from hockney.predict.network_figures import costs_of
from hockney.predict.on_topology import on_topology
from hockney.predict.place import Place, place_of
from hockney.progress import Progress
from hockney.records.app_record import AppRecord
from hockney.report.application import AppAnswer, Row
from hockney.report.run_tables import Column, interval, table
from hockney.report.tables import Table
from hockney.units import Extents, counted, first_of, format_number, format_time, grouped, percent

USUAL_CELLS = Extents(480, 480, 480)
"""Of the whole where no size is given."""
MOST_SIMULATED = 200_000
"""Ranks of all grids together: a minute, and some gigabytes where one grid has them all."""
MOST_REFUSED = 3
"""Refused grids that are named on the terminal; --json has all."""
SHOWN = 12
"""Grids that a table on the terminal has; --json has all."""
MOST_RIVALS = 4
"""Grids that are named as perhaps as fast."""
MOST_OF_SEVERAL = 3
"""The same for each of several numbers of ranks."""


@dataclass(frozen=True, kw_only=True)
class RankedGrids(GridPrediction):
    """The fastest of the grids of one number of ranks, and all, the fastest first. `cells`: of the whole."""

    ranks: int
    cells: tuple[int, int, int]
    told_apart: bool
    not_told_apart_from: list[str]
    grids: list[GridPrediction]


@dataclass(frozen=True, kw_only=True)
class GridsOfSeveralNumbers(AppAnswer):
    """Grids of several numbers of ranks, the fewest first.

    `refused`: why other grids are left out.

    `calibrated_on`: runs whose communication was used, which gave `tuned`.
    """

    operation: str
    model: str
    scaling: str
    halo: str
    solution: Solution | None
    refused: dict[str, str]
    origin: str
    calibrated_on: int
    tuned: Tuned
    warnings: list[str]
    predictions: list[RankedGrids]

    def rows(self) -> list[Row]:
        """A row for each grid, as a table has it: times in seconds."""
        as_data = TypeAdapter(GridPrediction).dump_python
        return [
            {
                "operation": self.operation,
                "ranks": ranked.ranks,
                "cells": "x".join(map(str, ranked.cells)),
                **{name: value for name, value in as_data(grid).items() if value is not None},
                "is_fastest": grid is ranked.grids[0],
                "may_be_fastest": grid is ranked.grids[0] or str(grid.grid) in ranked.not_told_apart_from,
            }
            for ranked in self.predictions
            for grid in ranked.grids
        ]

    def text(self) -> Iterator[str | Table]:
        """The fastest grids, and which of them cannot be told apart."""
        several = len(self.predictions) > 1
        most = MOST_OF_SEVERAL if several else SHOWN
        shown = [grid for ranked in self.predictions for grid in ranked.grids[:most]]
        on = "" if several else f" on {self.predictions[0].ranks} ranks"
        columns: list[Column[GridPrediction]] = [
            Column("ranks", lambda grid: str(grid.grid.ranks) if several else ""),
            Column("grid", lambda grid: str(grid.grid), is_text=True),
            Column("time", lambda grid: format_time(grid.time_s)),
            Column("95 % interval", lambda grid: interval(grid.low_s, grid.high_s)),
            Column("MLUP/s", lambda grid: format_number(grid.mlups)),
            Column("communication", lambda grid: percent(grid.communication_share)),
            Column("speed-up", lambda grid: "" if grid.speedup is None else format_number(grid.speedup)),
            Column("efficiency", lambda grid: "" if grid.efficiency is None else percent(grid.efficiency)),
            Column("solution", lambda grid: format_time(grid.solution_s.value) if grid.solution_s else ""),
            Column(
                "its interval",
                lambda grid: interval(grid.solution_s.low, grid.solution_s.high) if grid.solution_s else "",
            ),
        ]
        for ranked in self.predictions:
            yield from _choice(ranked)
        yield table(f"{self.operation}{on}, an iteration", shown, columns)
        if (left := sum(len(ranked.grids) for ranked in self.predictions) - len(shown)) > 0:
            yield f"and {left} slower grids (--json has all)"
        if self.solution:
            yield self.solution.in_words()
        how = "no run of the program was used for them"
        how = f"calibrated on {counted(self.calibrated_on, 'run')}" if self.calibrated_on else how
        yield f"communication: simulated with {self.origin}; {how}"
        for name, why in islice(self.refused.items(), MOST_REFUSED):
            yield f"{name}: {why}"
        if len(self.refused) > MOST_REFUSED:
            yield f"{len(self.refused) - MOST_REFUSED} more grids do not fit either"


@dataclass(frozen=True, kw_only=True)
class GridsOfOneNumber(GridsOfSeveralNumbers, RankedGrids):
    """Grids of one number of ranks."""

    predictions: Annotated[list[RankedGrids], Field(exclude=True)]


def _choice(ranked: RankedGrids) -> Iterator[str]:
    if others := ranked.not_told_apart_from:
        rivals = first_of(others, MOST_RIVALS, "others")
        yield f"{ranked.grid} is predicted fastest, {format_time(ranked.time_s)}; as fast may be {rivals}"
    elif len(ranked.grids) > 1:
        second = ranked.grids[1]
        yield f"{ranked.grid} is fastest, by {percent(second.time_s / ranked.time_s - 1)} over {second.grid}"


SolutionOfRuns = Callable[[MeasuredRuns], Solution]
"""Says of runs how many iterations a whole solution takes; RequestError where they do not tell."""


def predict_grids(
    progress: Progress, case: StencilCase, solution: SolutionOfRuns | None = None
) -> GridsOfOneNumber | GridsOfSeveralNumbers:
    """The mean of the iterations on every grid asked for, the fastest of each number of ranks first.

    A cell takes what is given, else what it took in the runs, else `USUAL_CELL_S`; communication is calibrated on
    the runs where there are enough. RequestError for more ranks than are simulated at once, for runs of which
    none is of the program, and for a number of ranks of which no grid is possible.
    """
    if case.cells is not None and case.subdomain is not None:
        raise RequestError("--size and --subdomain both say how many cells there are", "give one of them")
    grids = parse_grids(case.grids, case.ranks)
    runs = None if case.runs is None else measured_runs(case.runs)
    solved, unsolved = None, []
    if runs is not None and solution is not None:
        try:
            solved = solution(runs)
        except RequestError as error:
            unsolved.append(f"no time of a solution: {error.message}; {error.hint}")
    iterations = case.iterations
    if solved is not None and "iterations" not in case.model_fields_set:
        iterations = max(1, round(solved.iterations.value))
    surroundings = _surroundings(case, grids[0].ranks)
    if (together := sum(grid.ranks for grid in grids)) > MOST_SIMULATED:
        raise RequestError(
            f"{len(grids)} grids of {together} ranks together are more than the {MOST_SIMULATED} ranks that are "
            "simulated at once",
            "name fewer grids",
        )
    costs = surroundings.costs
    # Of each number of ranks, the fewest first.
    grids_of = dict(sorted(grouped(grids, lambda grid: grid.ranks).items()))
    assumed = [costs.assumptions(surroundings.place(ranks), ranks) for ranks in grids_of]
    warnings = [*costs.warnings, *dict.fromkeys(word for words in assumed for word in words)]
    if case.cells is None and case.subdomain is None:
        warnings.append(f"no size is given: {USUAL_CELLS} cells are taken")
    if case.cell_s is None and runs is None:
        warnings.append(
            "what a cell takes is not known: 1 ns is taken; --cell-time or --table say what it is on this machine"
        )
    computed = None
    if runs is not None:
        warnings += runs.warnings
        alike = _alike(case, runs)
        computed = computation(alike) if case.cell_s is None else None
    if computed is not None and computed.packing_s_per_B is not None:
        surroundings = replace(surroundings, costs=replace(costs, copy_s_per_B=computed.packing_s_per_B))

    if computed is None:
        warnings += [
            shared_cores(ranks, most, "a cell takes so many times as long, at most")
            for ranks in grids_of
            if (most := ranks_on_core(case, ranks)) > 1
        ]

    def step_on(grid: Grid) -> StencilStep:
        stencil = _stencil(case, grid)
        cell_s = (USUAL_CELL_S if case.cell_s is None else case.cell_s) * ranks_on_core(case, grid.ranks)
        if computed is not None:
            cell_s = computed.at(_busy(computed, grid, surroundings)[0], largest_box_B(stencil))
        return StencilStep(stencil, cell_s, case.formulation)

    if runs is not None:
        try:
            surroundings = calibrate(runs_of(runs.records), surroundings.by_runs(), progress)
        except RequestError as error:
            warnings.append(f"communication is not calibrated: {error.message}")
    alone = _alone(step_on, surroundings, iterations)

    def completed(grid: GridPrediction) -> GridPrediction:
        if computed is not None:
            grid = _with_open_cells(grid, _stencil(case, grid.grid), computed, surroundings)
        elif grid.low_s is not None:
            # Hardware threads gain at most that each rank is as fast as alone.
            most = ranks_on_core(case, grid.grid.ranks)
            grid = replace(grid, low_s=grid.low_s - grid.compute_s * (1 - 1 / most))
        grid = replace(grid, alone_per_s=alone)
        return grid if solved is None else replace(grid, solution_s=solved.time_s(grid))

    ranked: list[RankedGrids] = []
    refused: dict[str, str] = {}
    for ranks, group in grids_of.items():
        simulated, refused_of_group = rank_grids(step_on, group, surroundings, iterations)
        refused |= refused_of_group
        whole = _stencil(case, simulated[0].grid)
        if computed is not None:
            warnings += filter(None, [computed.doubt(whole)])
        rivals = [str(rival.grid) for rival in not_told_apart(simulated, surroundings)]
        ordered = [completed(grid) for grid in simulated]
        ranked.append(
            RankedGrids(
                **vars(ordered[0]),
                ranks=ranks,
                cells=whole.cells,
                told_apart=not rivals,
                not_told_apart_from=rivals,
                grids=ordered,
            )
        )
    several = GridsOfSeveralNumbers(
        operation=case.operation,
        model="simulated",
        scaling="strong" if case.subdomain is None else "weak",
        halo=case.halo,
        solution=solved,
        refused=refused,
        origin=costs.origin,
        calibrated_on=surroundings.runs,
        tuned=surroundings.tuned,
        warnings=[*dict.fromkeys(warnings), *(solved.warnings if solved else unsolved)],
        predictions=ranked,
    )
    return several if len(ranked) > 1 else GridsOfOneNumber(**vars(several), **vars(ranked[0]))


def _surroundings(case: StencilCase, ranks: int) -> Surroundings:
    """Costs of messages, and where the system's mapping, or the topology, puts ranks.

    `ranks` fill the topology where nothing says how many a node has.
    """
    costs, system = costs_of(case, both_ways=True)
    if (linked := on_topology(case, ranks)) is not None:
        if not linked.is_torus:
            raise RequestError(
                f"applications share the links of a torus, and {case.topology} is none",
                "describe the network in a system file: --system",
            )
        costs = replace(linked.with_links(costs), warnings=[*costs.warnings, linked.words])
        return Surroundings(costs, linked.place)

    def place(ranks: int) -> Place | None:
        if system is None:
            return None
        return place_of(placement(system, case.mapping, ranks, None, case.ppn), system)

    return Surroundings(costs, place)


def _stencil(case: StencilCase, grid: Grid) -> Stencil:
    """The program's cells on a grid. RequestError where they do not fit."""
    cells = grid.times(case.subdomain) if case.subdomain else case.cells or USUAL_CELLS
    if max(cells) > MOST_CELLS:
        raise RequestError(
            f"--subdomain {case.subdomain} on {grid}: a direction has 1 to {MOST_CELLS} cells",
            "give a smaller cube",
        )
    return Stencil(cells, grid, case.halo)


def _alone(step_on: Callable[[Grid], StencilStep], surroundings: Surroundings, iterations: int) -> float | None:
    """Updates per second of one rank; None where it cannot be predicted."""
    try:
        return predict_step(step_on(Grid(1, 1, 1)), surroundings, iterations).updates_per_s
    except RequestError:
        return None


def _alike(case: StencilCase, runs: MeasuredRuns) -> list[AppRecord]:
    """Runs of the program itself, whose cells take what this one's do. RequestError without."""
    asked = case.operation, case.formulation
    alike = [run for run in runs.records if (run.operation, run.parameters.get("variant")) == asked]
    if not alike:
        raise RequestError(
            f"{runs.folder} has no run of {' '.join(filter(None, asked))}",
            f"make some: `hockney run {case.operation} … -o {runs.folder}`",
        )
    return alike


def _busy(computed: Computation, grid: Grid, surroundings: Surroundings) -> tuple[int, int]:
    """The ranks on a node, and the most that there may be where no place says it."""
    place = surroundings.place(grid.ranks)
    if place is not None:
        return place.ppn, place.ppn
    usual = min(grid.ranks, max(computed.cell_s))
    return usual, usual if surroundings.costs.crosses_network(None, grid.ranks) else grid.ranks


def _with_open_cells(
    prediction: GridPrediction, stencil: Stencil, computed: Computation, surroundings: Surroundings
) -> GridPrediction:
    """The prediction with an interval that allows for what cells may take beyond the runs.

    None where boxes are of another size than theirs.
    """
    low_s, high_s = prediction.low_s, prediction.high_s
    if low_s is None or high_s is None or computed.doubt(stencil):
        return replace(prediction, low_s=None, high_s=None)
    fewest, most = _busy(computed, prediction.grid, surroundings)
    rank_B = largest_box_B(stencil)
    taken_s, (least_s, longest_s) = computed.at(fewest, rank_B), computed.open_at(fewest, most, rank_B)
    factor = prediction.compute_s / taken_s
    return replace(
        prediction,
        # A share of the time: what cells save cannot exceed what they take.
        low_s=low_s * (1 - factor * (taken_s - least_s) / prediction.time_s),
        high_s=high_s + factor * (longest_s - taken_s),
    )
