"""The three-dimensional sum: its problems, statistics and shares of its runs, predictions beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from hockney.apps.sum3d.answer import PARTS, Sum3dAnswer
from hockney.apps.sum3d.app import SIMULATED_B_PER_S, Sum3dStudy
from hockney.apps.sum3d.model import predict_sum3d
from hockney.errors import RequestError
from hockney.predict.machine_costs import MachineCosts
from hockney.records.app_record import AppRecord
from hockney.units import Extents, counted
from hockney.words import grouped

MOST_SHOWN = 65536
"""Ranks whose loads are worked out."""


@dataclass(frozen=True)
class Sum3dProblem:
    """What is summed, on which grid, and how it is split."""

    size: Extents
    grid: Grid
    split: str
    packed: bool

    @classmethod
    def checked(cls, size: Extents, ranks: int, grid: Grid | None, split: str, *, packed: bool) -> Sum3dProblem:
        """RequestError for a grid of another number of ranks, or one on which a process would get nothing."""
        if packed and split != "blocks":
            raise RequestError(f"--pack means nothing for --split {split}", "pieces are contiguous there")
        processes = grid or usual_grid(size, ranks, split)
        check_ranks(processes, [ranks])
        check(size, processes, split)
        return cls(size, processes, split, packed)

    def way(self, record: AppRecord) -> str:
        """How a run split the matrices, and what else each of its cycles did."""
        more = [name for name in ("generate", "fresh") if record.parameters.get(name)]
        return ", ".join([self.split, *(["packed"] if self.packed else []), *more])

    def parameters(self, study: Sum3dStudy) -> Parameters:
        """The keys of cpp/runner/apps/sum3d.cpp."""
        return {
            **dict(zip(("nx", "ny", "nz"), self.size, strict=True)),
            **dict(zip(("px", "py", "pz"), self.grid, strict=True)),
            "split": self.split,
            "packed": int(self.packed),
            "seed": study.seed,
            "cycles": study.cycles,
            "memory_bandwidth_B_per_s": SIMULATED_B_PER_S,
            "generate": int(study.generate),
            "fresh": int(study.fresh),
            **repetitions(study.repetitions),
        }


def problem_of(record: AppRecord) -> Sum3dProblem:
    """What a run summed. KeyError, TypeError or ValueError where its parameters do not say it."""
    parameters = record.parameters
    split = str(parameters.get("split", parameters.get("algorithm", "balanced")))
    return Sum3dProblem(cells_of(record), grid_of(record), split, bool(parameters.get("packed", 0)))


@dataclass(frozen=True)
class SumComparison:
    """Configurations of all runs, and in each group the test whether the grid matters."""

    configurations: list[Configuration]
    tests: list[GridTest]

    @property
    def groups(self) -> dict[str, list[Configuration]]:
        """By what they sum and where."""
        return grouped(self.configurations, lambda member: member.size)

    @property
    def sentences(self) -> list[str]:
        """The answer of each test."""
        return [test.words for test in self.tests]


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
        key = ", ".join(filter(None, words)), str(problem.grid), problem.way(record)
        runs.setdefault(key, []).append(record)
    sizes = list(dict.fromkeys(size for size, _, _ in runs))
    every = [
        replace(
            configuration(grid, split, alike),
            size=size,
            loads=" ".join(_loads(problem_of(alike[-1]), alike[-1])),
        )
        for (size, grid, split), alike in runs.items()
    ]

    every.sort(key=lambda each: [-int(part) for part in each.grid.split("x")])
    every.sort(key=lambda each: (sizes.index(each.size), each.split))
    tests = [grid_test(", ".join(key), list(group)) for key, group in groupby(every, attrgetter("size", "split"))]
    return SumComparison(every, judged([test for test in tests if test is not None]))


def _loads(problem: Sum3dProblem, record: AppRecord) -> list[str]:
    elements = record.answer.as_said().get("elements")
    if isinstance(elements, list) and len(elements) == record.ranks:
        return as_lines(elements)
    try:
        return as_lines(loads(problem.size, problem.grid, problem.split)) if record.ranks <= MOST_SHOWN else []
    except RequestError:
        return []


@dataclass(frozen=True)
class PartShares:
    """Each rank's time by what its parts take; `slowest` is the rank that spends the most."""

    slowest: int
    by_rank: list[dict[str, float]]


def shares(parts_s: Mapping[str, Sequence[float]]) -> PartShares:
    """`parts_s`: seconds of each part by rank."""
    seconds = [dict(zip(parts_s, of_rank, strict=True)) for of_rank in zip(*parts_s.values(), strict=True)]
    totals = [sum(of_rank.values()) for of_rank in seconds]
    by_rank = [
        {name.removesuffix("_s"): part_s / total_s if total_s else 0.0 for name, part_s in of_rank.items()}
        for of_rank, total_s in zip(seconds, totals, strict=True)
    ]
    return PartShares(max(range(len(totals)), key=totals.__getitem__), by_rank)


@dataclass(frozen=True)
class PredictedPart:
    """`error` is relative to what was measured, None where that is nothing."""

    predicted_s: float
    measured_s: float
    error: float | None


@dataclass(frozen=True)
class PredictedCycle:
    """A run beside its prediction, by part. `inside`: whether that lies in the run's 95 % interval."""

    algorithm: str
    origin: str
    parts: dict[str, PredictedPart]
    inside: bool | None
    warnings: list[str]


@dataclass(frozen=True)
class Apart:
    """The cycle as the sum of parts that were timed apart, beside the cycle itself.

    `inside`: whether that sum lies in the run's 95 % interval. `agree`: whether the intervals of both meet.
    """

    generate_s: float | None
    scatter_s: float | None
    compute_s: float | None
    gather_s: float | None
    pack_s: float | None
    time_s: float
    low_s: float | None
    high_s: float | None
    error: float | None
    inside: bool | None
    agree: bool | None


class Sum3dRun(AppRecord):
    """A run, its loads, statistics and shares, and what is predicted of it, where something is."""

    grid: str
    loads: list[str]
    statistics: RunStatistics
    shares: PartShares
    predicted: PredictedCycle | None
    apart: Apart | None
    said: Annotated[Sum3dAnswer, Field(exclude=True)]


def summary(record: AppRecord, predicted: PredictedCycle | None = None) -> Sum3dRun:
    """What a record says."""
    answer = record.answer.read_as(Sum3dAnswer)
    return Sum3dRun(
        **dict(record),
        grid=str(problem_of(record).grid),
        loads=as_lines(answer.elements),
        statistics=run_statistics(record.samples_s),
        shares=shares(answer.parts_s),
        predicted=predicted,
        apart=apart(record),
        said=answer,
    )


def predicted_cycle(record: AppRecord, costs: MachineCosts) -> PredictedCycle:
    """What rank 0 measured, but for the sum, which is the slowest rank's: rank 0 waits for it in its gather.

    RequestError where the costs do not hold for the nodes of the run.
    """
    costs = costs.on_nodes(record.nodes)
    costs.check_network(None, record.ranks)
    problem, answer = problem_of(record), record.answer.read_as(Sum3dAnswer)
    prediction = predict_sum3d(
        problem.size,
        problem.grid,
        problem.split,
        costs,
        # Each rank measured its own while all did: rank 0 copies, and the slowest holds up the gather.
        answer.memory_bandwidth_B_per_s[0],
        sum_bandwidth_B_per_s=min(answer.sum_bandwidth_B_per_s),
        generation_s=max(answer.generation_s, default=0.0) if record.parameters.get("generate") else 0.0,
        fresh_s=max(answer.fresh_s, default=0.0) if record.parameters.get("fresh") else 0.0,
    )
    measured_s = {name: of_ranks_s[0] for name, of_ranks_s in answer.parts_s.items()}
    sums_s = answer.compute_s
    # Rank 0 waits in its gather for the slowest sum.
    gather_s = max(measured_s["gather_s"] - (max(sums_s) - sums_s[0]), 0.0)
    measured_s |= {"compute_s": max(sums_s), "gather_s": gather_s, "time_s": record.time_s}
    parts = {
        name: PredictedPart(
            part_s := getattr(prediction, name), value_s, part_s / value_s - 1 if value_s else None
        )
        for name, value_s in measured_s.items()
    }
    return PredictedCycle(
        prediction.algorithm,
        prediction.origin,
        parts,
        _inside(prediction.time_s, record),
        list(prediction.warnings),
    )


def apart(record: AppRecord) -> Apart | None:
    """The cycle as its parts say it; None where they were not timed apart."""
    answer = record.answer.read_as(Sum3dAnswer)
    time_s, low_s, high_s = answer.apart_time_s, answer.apart_low_s, answer.apart_high_s
    if time_s is None:
        return None
    is_known = None not in (low_s, high_s, record.low_s, record.high_s)
    meet = (low_s or 0.0) <= (record.high_s or 0.0) and (record.low_s or 0.0) <= (high_s or 0.0)
    return Apart(
        **{name: getattr(answer, f"apart_{name}") for name in PARTS},
        time_s=time_s,
        low_s=low_s,
        high_s=high_s,
        error=time_s / record.time_s - 1 if record.time_s else None,
        inside=_inside(time_s, record),
        agree=meet if is_known else None,
    )


def _inside(time_s: float, record: AppRecord) -> bool | None:
    """Whether a time lies in the interval of a run; None where it has none."""
    if record.low_s is None or record.high_s is None:
        return None
    return record.low_s <= time_s <= record.high_s
