"""The three-dimensional sum: its problems, statistics and shares of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Annotated

from pydantic import Field

from hockney.apps.launched import Parameters
from hockney.apps.repetitions import repetitions
from hockney.apps.stencil.grid_test import (
    Configuration,
    GridTest,
    RunStatistics,
    configuration,
    grid_test,
    judged,
    run_statistics,
)
from hockney.apps.stencil.grids import Grid, cells_of, check_ranks, grid_of
from hockney.apps.stencil.loads import as_lines, check, loads, usual_grid
from hockney.apps.sum3d.answer import Sum3dAnswer
from hockney.apps.sum3d.app import SIMULATED_B_PER_S, Sum3dStudy
from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.units import Extents, counted

MOST_SHOWN = 65536
"""Ranks whose loads are worked out."""


@dataclass(frozen=True)
class Sum3dProblem:
    """What is summed, on which grid, and how it is split."""

    size: Extents
    grid: Grid
    split: str

    @classmethod
    def checked(cls, size: Extents, ranks: int, grid: Grid | None, split: str) -> Sum3dProblem:
        """RequestError for a grid of another number of ranks, or one on which a process would get nothing."""
        processes = grid or usual_grid(size, ranks, split)
        check_ranks(processes, [ranks])
        check(size, processes, split)
        return cls(size, processes, split)

    def parameters(self, study: Sum3dStudy) -> Parameters:
        """The keys of cpp/runner/apps/sum3d.cpp."""
        return {
            **dict(zip(("nx", "ny", "nz"), self.size, strict=True)),
            **dict(zip(("px", "py", "pz"), self.grid, strict=True)),
            "split": self.split,
            "seed": study.seed,
            "cycles": study.cycles,
            "memory_bandwidth_B_per_s": SIMULATED_B_PER_S,
            **repetitions(study.repetitions),
        }


def problem_of(record: AppRecord) -> Sum3dProblem:
    """What a run summed. KeyError, TypeError or ValueError where its parameters do not say it."""
    parameters = record.parameters
    split = str(parameters.get("split", parameters.get("algorithm", "balanced")))
    return Sum3dProblem(cells_of(record), grid_of(record), split)


@dataclass(frozen=True)
class SumComparison:
    """Configurations of all runs, and in each group the test whether the grid matters."""

    configurations: list[Configuration]
    tests: list[GridTest]


def comparison(records: Sequence[AppRecord]) -> SumComparison:
    """Every configuration of all runs; grids are compared where size, ranks, split and launch options agree."""
    fields = ("system", "mpi", "mapping", "variant")
    telling = [name for name in fields if len({getattr(record, name) for record in records}) > 1]
    ranks = {record.ranks for record in records}
    runs: dict[tuple[str, str, str], list[AppRecord]] = {}
    for record in records:
        problem = problem_of(record)
        words = [str(problem.size), *(getattr(record, name) for name in telling)]
        words += [counted(record.ranks, "rank")] if len(ranks) > 1 else []
        key = ", ".join(filter(None, words)), str(problem.grid), problem.split
        runs.setdefault(key, []).append(record)
    sizes = list(dict.fromkeys(size for size, _, _ in runs))
    every = [
        replace(
            configuration(grid, split, alike),
            size=size,
            loads=" ".join(_loads(problem_of(alike[-1]))),
        )
        for (size, grid, split), alike in runs.items()
    ]

    every.sort(key=lambda each: [-int(part) for part in each.grid.split("x")])
    every.sort(key=lambda each: (sizes.index(each.size), each.split))
    tests = [grid_test(", ".join(key), list(group)) for key, group in groupby(every, attrgetter("size", "split"))]
    return SumComparison(every, judged([test for test in tests if test is not None]))


def _loads(problem: Sum3dProblem) -> list[str]:
    """None where the problem cannot be split, or has more ranks than are shown."""
    try:
        elements = loads(problem.size, problem.grid, problem.split) if problem.grid.ranks <= MOST_SHOWN else []
    except RequestError:
        elements = []
    return as_lines(elements) if elements else []


class Sum3dRun(AppRecord):
    """A run, its loads and statistics; `shares` of its parts in the time of all ranks."""

    grid: str
    loads: list[str]
    statistics: RunStatistics
    shares: dict[str, float]
    said: Annotated[Sum3dAnswer, Field(exclude=True)]


def summary(record: AppRecord) -> Sum3dRun:
    """What a record says."""
    answer = record.answer.read_as(Sum3dAnswer)
    total_s = sum(answer.parts_s.values())
    return Sum3dRun(
        **dict(record),
        grid=str(problem_of(record).grid),
        loads=as_lines(answer.elements),
        statistics=run_statistics(record.samples_s),
        shares={name: part_s / total_s if total_s else 0.0 for name, part_s in answer.parts_s.items()},
        said=answer,
    )
