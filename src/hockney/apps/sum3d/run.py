"""`hockney run sum3d`: matrices scattered, added and gathered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Annotated

import numpy as np
from pydantic import Field

from hockney.apps.launched import Launched, Told, records
from hockney.apps.stencil.grid_test import COLUMNS, Configuration, GridTest
from hockney.apps.stencil.grids import Grid, parse_grids
from hockney.apps.stencil.loads import as_lines, loads
from hockney.apps.sum3d.app import Sum3dStudy
from hockney.apps.sum3d.sums import Sum3dProblem, Sum3dRun, comparison, problem_of, summary
from hockney.campaign.loop import Asking
from hockney.campaign.plan import AppLaunching
from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.report.application import AppAnswer
from hockney.report.run_tables import table
from hockney.report.tables import Table
from hockney.runner.inventory import inventory
from hockney.units import Extents, counted, format_rate, percent

ROUNDS = 5
"""Of several configurations: drift then hits all of them alike."""


@dataclass(frozen=True)
class Sum3dLoads(AppAnswer):
    """Elements of each rank; nothing was run."""

    operation: str
    size: list[int]
    grid: str
    split: str
    elements: list[int]
    loads: list[str]

    def text(self) -> list[str]:
        """A line for each load."""
        return self.loads


@dataclass(frozen=True)
class Sum3dSeveralLoads(AppAnswer):
    """The same of several problems."""

    operation: str
    loads: list[Sum3dLoads]

    def text(self) -> Iterator[str]:
        """Each problem with its loads."""
        for problem in self.loads:
            yield f"{'x'.join(map(str, problem.size))}, grid {problem.grid}, {problem.split}"
            yield from problem.loads


@dataclass(frozen=True)
class Sum3dRuns(AppAnswer):
    """Runs of the sum, and how grids compare; `is_one` problem was asked for."""

    runs: list[Sum3dRun]
    configurations: list[Configuration]
    tests: list[GridTest]
    is_one: Annotated[bool, Field(exclude=True)]

    def text(self) -> Iterator[str | Table]:
        """A single run in full; of several a table of the configurations, and whether the grid matters."""
        if self.is_one and len(self.runs) == 1:
            yield from _in_full(self.runs[0])
            return
        yield table("", self.configurations, COLUMNS)
        yield from (test.words for test in self.tests)

    def wrong(self) -> list[tuple[str, str]]:
        """Elements that are not the sum."""
        return [
            (
                "wrong",
                f"{run.said.wrong_elements} elements are wrong with {run.mpi}: this MPI delivers wrong data, "
                "please report it to its makers",
            )
            for run in self.runs
            if not run.answer.verified
        ][:1]


def asking(problems: Sequence[Sum3dProblem], study: Sum3dStudy, launched: Launched) -> Asking[AppRecord]:
    """Several problems on one launch: in each round every one of them once, in a new random order.

    What drifts during a round then hits all grids alike, and rounds can be told from grids.
    """
    order = np.random.default_rng(study.seed)
    rounds = ROUNDS if len(problems) > 1 else 1
    for number in range(rounds):
        of_round = {"round": number} if rounds > 1 else {}
        for problem in [problems[index] for index in order.permutation(len(problems))]:
            yield launched.request("sum3d", {**problem.parameters(study), **of_round})


def run(told: Told, study: Sum3dStudy, launching: AppLaunching) -> Sum3dRuns | Sum3dLoads | Sum3dSeveralLoads:
    """Each size on each grid by each split."""
    problems = _problems(study)
    if study.loads_only:
        shown = [_loads(problem) for problem in problems]
        return shown[0] if len(shown) == 1 else Sum3dSeveralLoads("sum3d", shown)
    placed = launching.model_copy(update={"ranks": problems[0].grid.ranks})
    ran = records(told, partial(asking, problems, study), placed)
    compared = comparison(ran)
    return Sum3dRuns([*map(summary, ran)], compared.configurations, compared.tests, len(problems) == 1)


def _problems(study: Sum3dStudy) -> list[Sum3dProblem]:
    """Each size on each grid by each split. RequestError for what does not fit together."""
    along = (study.nx, study.ny, study.nz)
    if study.sizes and any(number is not None for number in along):
        raise RequestError("nx ny nz and --size say the same", "leave one out")
    if not study.sizes and None in along:
        raise RequestError("sum3d needs nx ny nz, or --size", "for example 240 100 100, or --size 240x100x100")
    sizes = list(dict.fromkeys(study.sizes)) or [Extents(*(number or 0 for number in along))]
    several = not study.grid or {"all", "shapes"} & set(study.grid)
    ranks = study.ranks or (inventory().cores if several else None)
    grids: list[Grid | None] = [None]
    if study.grid:
        grids = [*parse_grids(["all"] if "shapes" in study.grid else study.grid, [ranks] if ranks else [])]
    if "shapes" in study.grid:
        if len(study.grid) > 1:
            raise RequestError("--grid shapes holds one grid of each shape", "leave the others out")
        grids = [grid for grid in grids if grid is not None and list(grid) == sorted(grid, reverse=True)]
    named = not study.grid or not several
    problems = []
    for size, split, grid in product(sizes, dict.fromkeys(study.split), grids):
        try:
            of_ranks = ranks if grid is None else grid.ranks
            problems.append(Sum3dProblem.checked(size, of_ranks or 1, grid, split))
        except RequestError:
            # Of all grids, those that fit are meant.
            if named:
                raise
    if not problems:
        raise RequestError(f"no grid of {ranks} processes fits a matrix of {sizes[0]}", "ask for fewer ranks")
    counts = sorted({problem.grid.ranks for problem in problems})
    if len(counts) > 1 and not study.loads_only:
        raise RequestError(
            f"grids of {' and '.join(map(str, counts))} processes do not fit one launch",
            "name grids of as many processes, and launch once for each number",
        )
    return problems


def _loads(problem: Sum3dProblem) -> Sum3dLoads:
    elements = loads(problem.size, problem.grid, problem.split)
    return Sum3dLoads("sum3d", list(problem.size), str(problem.grid), problem.split, elements, as_lines(elements))


def _in_full(run: Sum3dRun) -> Iterator[str]:
    problem = problem_of(run)
    title = f"{problem.size} on {counted(run.ranks, 'rank')}, grid {problem.grid}, {problem.split}, {run.mpi}"
    yield f"{title}{f', {run.variant}' if run.variant else ''}"
    yield from run.loads
    cycles, known = run.parameters["cycles"], run.statistics
    text = f"{counted(known.runs, 'repetition')} of {counted(cycles, 'cycle')}: mean {known.mean_s:.6g} s"
    if known.standard_deviation_s is not None:
        text += f", S {known.standard_deviation_s:.3g} s, 95 % interval "
        text += f"[{known.student_low_s:.6g}, {known.student_high_s:.6g}] s by Student's t, "
        text += f"[{known.normal_low_s:.6g}, {known.normal_high_s:.6g}] s with c = 1.96"
    yield f"{text}; median {run.time_s:.6g} s"
    shares = ", ".join(f"{name} {percent(share)}" for name, share in run.shares.items())
    yield f"of the time of all ranks: {shares}"
    memory, in_place = min(run.said.memory_bandwidth_B_per_s), min(run.said.sum_bandwidth_B_per_s)
    yield f"STREAM's triad of a rank: {format_rate(memory)}, {format_rate(in_place)} in place of the sum"
