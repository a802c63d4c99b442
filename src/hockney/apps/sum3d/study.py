"""The three-dimensional sum: its request, statistics of its runs, shares and tables."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hockney.apps.launched import Launched
from hockney.apps.launched import repetitions as repeated
from hockney.apps.stencil.fitting import proposing
from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.loads import as_lines, check, check_ranks, loads, usual_grid
from hockney.apps.sum3d.answer import Sum3dAnswer
from hockney.apps.sum3d.collectives import MeasuredCollectives
from hockney.apps.sum3d.compare import (
    Configuration,
    GridTest,
    configuration,
    grid_test,
    significant,
    table_rows,
)
from hockney.apps.sum3d.model import ELEMENT_B, PARTS, predict_sum3d
from hockney.campaign.loop import Asking
from hockney.errors import RequestError
from hockney.predict.machine_costs import MachineCosts
from hockney.records.app_record import AppRecord
from hockney.runner.session import Refused
from hockney.statistics import NORMAL, t_reach
from hockney.units import Extents

CACHES = ("warm", "off")
MOST_SHOWN = 65536
"""Ranks whose loads are worked out."""
MOST_CYCLES = 10**6
LARGEST_SEED = 2**62


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
        check_ranks(processes, ranks)
        check(size, processes, split)
        return cls(size, processes, split, packed)

    def way(self, record: AppRecord) -> str:
        """How a run split the matrices, and what else each of its cycles did."""
        more = [name for name in ("generate", "fresh") if record.parameters.get(name)]
        return ", ".join([self.split, *(["packed"] if self.packed else []), *more])

    def parameters(
        self,
        *,
        seed: int,
        cycles: int,
        repetitions: int | None,
        bandwidth_B_per_s: float,
        generate: bool = False,
        fresh: bool = False,
    ) -> dict[str, Any]:
        """The keys of cpp/runner/apps/sum3d.cpp. RequestError for a number that it does not take."""
        if not 1 <= cycles <= MOST_CYCLES:
            raise RequestError(
                f"a run has from 1 to {MOST_CYCLES} cycles, not {cycles}", "for example --cycles 50"
            )
        if not 0 <= seed <= LARGEST_SEED:
            raise RequestError(f"a seed is from 0 to 2^62, not {seed}", "for example --seed 1")
        if not bandwidth_B_per_s > 0:
            raise RequestError("a memory without bandwidth holds nothing", "for example 10GB/s")
        return {
            **{f"n{name}": count for name, count in zip("xyz", self.size, strict=True)},
            **{f"p{name}": count for name, count in zip("xyz", self.grid, strict=True)},
            "split": self.split,
            "packed": int(self.packed),
            "seed": seed,
            "cycles": cycles,
            "memory_bandwidth_B_per_s": bandwidth_B_per_s,
            "generate": int(generate),
            "fresh": int(fresh),
            **repeated(repetitions),
        }


class Sum3dSweep:
    """Several problems on one launch: in each round every one of them once, in a new random order.

    What drifts during a round then hits all grids alike, and rounds can be told from grids.
    """

    def __init__(
        self, problems: Sequence[Sum3dProblem], asked: Mapping[str, Any], *, rounds: int, seed: int
    ) -> None:
        """`asked`: the words of `Sum3dProblem.parameters`; RequestError for what they refuse."""
        self._asked = [problem.parameters(**asked) for problem in problems]
        self._sizes = [problem.size for problem in problems]
        self._rounds = rounds
        self._seed = seed

    def asking(self, launched: Launched) -> Asking[AppRecord]:
        """Every run, each with the number of its round where there are several."""
        order = np.random.default_rng(self._seed)
        for number in range(self._rounds):
            of_round = {"round": number} if self._rounds > 1 else {}
            for index in order.permutation(len(self._asked)).tolist() if len(self._asked) > 1 else [0]:
                try:
                    yield launched.request("sum3d", {**self._asked[index], **of_round})
                except Refused as error:
                    raise proposing(error, self._sizes[index], "--size {}".format) from error


def expect_measured(problem: Sum3dProblem, collectives: MeasuredCollectives) -> None:
    """RequestError where a table does not say, in any cache mode, what scatters and gathers of a problem take."""
    for cache in CACHES:
        try:
            predict_sum3d(problem.size, problem.grid, problem.split, None, 1.0, measured=collectives, cache=cache)
        except RequestError:
            if cache == CACHES[-1]:
                raise
        else:
            return


def problem_of(record: AppRecord) -> Sum3dProblem:
    """What a run summed. KeyError, TypeError or ValueError where its parameters do not say it."""
    parameters = record.parameters
    size, grid = ([int(parameters[f"{letter}{axis}"]) for axis in "xyz"] for letter in "np")
    split = str(parameters.get("split", parameters.get("algorithm", "balanced")))
    return Sum3dProblem(Extents(*size), Grid(*grid), split, bool(parameters.get("packed", 0)))


@dataclass(frozen=True)
class Comparison:
    """Configurations by what they sum and where (in words), and the test whether the grid matters in each."""

    groups: dict[str, list[Configuration]]
    loads: dict[tuple[str, str, str], str]
    tests: list[GridTest]

    def rows(self) -> list[dict[str, str]]:
        """The table: size, topology, a, loads, mean, interval."""
        return table_rows(self.groups, self.loads)

    @property
    def sentences(self) -> list[str]:
        """The answer of each test."""
        return [test.words(significant=is_so) for test, is_so in self._judged()]

    def as_data(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "configurations": [
                {"size": size, **vars(one)} for size, group in self.groups.items() for one in group
            ],
            "tests": [test.as_data(significant=is_so) for test, is_so in self._judged()],
        }

    def _judged(self) -> list[tuple[GridTest, bool]]:
        return list(zip(self.tests, significant(self.tests), strict=True))


def comparison(records: Sequence[AppRecord]) -> Comparison:
    """Every configuration of all runs; grids are compared where size, ranks, split and launch options agree."""
    fields = ("system", "mpi", "mapping", "variant")
    told = [name for name in fields if len({getattr(record, name) for record in records}) > 1]
    ranks = {record.ranks for record in records}
    grouped: dict[tuple[str, ...], dict[tuple[str, str], list[AppRecord]]] = {}
    shares_of: dict[tuple[str, str, str], str] = {}
    for record in records:
        problem = problem_of(record)
        split = problem.way(record)
        words = [str(problem.size), *(getattr(record, name) for name in told)]
        words += [f"{record.ranks} ranks"] if len(ranks) > 1 else []
        key = tuple(word for word in words if word)
        grouped.setdefault(key, {}).setdefault((str(problem.grid), split), []).append(record)
        shares_of[", ".join(key), str(problem.grid), split] = " ".join(_loads(problem, record))
    groups = {
        ", ".join(key): [configuration(grid, split, runs) for (grid, split), runs in of_key.items()]
        for key, of_key in grouped.items()
    }
    for of_group in groups.values():
        of_group.sort(key=lambda one: (one.split, [-int(part) for part in one.grid.split("x")]))
    tests = []
    for what, of_group in groups.items():
        splits = list(dict.fromkeys(one.split for one in of_group))
        for split in splits:
            alike = [one for one in of_group if one.split == split]
            tests.append(grid_test(f"{what}, {split}", alike))
    return Comparison(groups, shares_of, [test for test in tests if test is not None])


def _loads(problem: Sum3dProblem, record: AppRecord) -> list[str]:
    elements = record.answer.as_said().get("elements")
    if isinstance(elements, list) and len(elements) == record.ranks:
        return as_lines(elements)
    try:
        return as_lines(loads(problem.size, problem.grid, problem.split)) if record.ranks <= MOST_SHOWN else []
    except RequestError:
        return []


def run_statistics(samples_s: Sequence[float]) -> dict[str, float | int | None]:
    """Mean of the runs and its 95 % interval, mean ± c·S/√runs, in seconds, with S the standard deviation.

    `normal`: c = 1.96, which promises too much with few runs. `student`: c of Student's t with runs − 1 degrees
    of freedom, right for few runs too. None with a single run.
    """
    runs, mean_s = len(samples_s), statistics.fmean(samples_s)
    known: dict[str, float | int | None] = {"runs": runs, "mean_s": mean_s}
    names = [f"{kind}_{end}_s" for kind in ("normal", "student") for end in ("low", "high")]
    if runs < 2:
        return {**known, "standard_deviation_s": None, **dict.fromkeys(names)}
    deviation_s = statistics.stdev(samples_s, mean_s)
    each_s = deviation_s / math.sqrt(runs)
    reaches_s = (NORMAL * each_s, t_reach(each_s, runs - 1))
    bounds = [mean_s + sign * reach_s for reach_s in reaches_s for sign in (-1, 1)]
    return {**known, "standard_deviation_s": deviation_s, **dict(zip(names, bounds, strict=True))}


def shares(parts_s: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Each rank's time by what scattering, computing, gathering and packing take; the shares add up to 1.

    `parts_s`: seconds of each part by rank. `slowest` is the rank that spends the most.
    """
    seconds = [dict(zip(parts_s, of_rank, strict=True)) for of_rank in zip(*parts_s.values(), strict=True)]
    totals = [sum(of_rank.values()) for of_rank in seconds]
    by_rank = [
        {name.removesuffix("_s"): part_s / total_s if total_s else 0.0 for name, part_s in of_rank.items()}
        for of_rank, total_s in zip(seconds, totals, strict=True)
    ]
    return {"slowest": max(range(len(totals)), key=totals.__getitem__), "by_rank": by_rank}


def summary(
    problem: Sum3dProblem,
    record: AppRecord,
    costs: MachineCosts | None,
    *,
    write_allocate: bool = False,
    algorithm: str = "linear",
    collectives: MeasuredCollectives | None = None,
) -> dict[str, Any]:
    """What a record says: loads, statistics, shares, and with `costs` predictions beside what was measured.

    That is what rank 0 measured, but for the sum, which is the slowest rank's: rank 0 waits for it in its gather.
    With `collectives` scatter and gather are what was measured of them.
    """
    predicted, answer = None, record.answer.read_as(Sum3dAnswer)
    if costs is not None or collectives is not None:
        last_cache_B = float(record.answer.as_said().get("last_level_cache_B") or math.inf)
        prediction = predict_sum3d(
            problem.size,
            problem.grid,
            problem.split,
            None if costs is None else costs.on_nodes(record.nodes),
            # Each rank measured its own while all did: rank 0 copies, and the slowest holds up the gather.
            answer.memory_bandwidth_B_per_s[0],
            sum_bandwidth_B_per_s=min(answer.sum_bandwidth_B_per_s),
            write_allocate=write_allocate,
            algorithm=algorithm,
            measured=collectives,
            cache="off" if 3 * ELEMENT_B * problem.size.product > last_cache_B else "warm",
            generation_s=max(answer.generation_s, default=0.0) if record.parameters.get("generate") else 0.0,
            fresh_s=max(answer.fresh_s, default=0.0) if record.parameters.get("fresh") else 0.0,
        )
        measured_s = {name: of_ranks_s[0] for name, of_ranks_s in answer.parts_s.items()}
        sums_s = answer.compute_s
        # Rank 0 waits in its gather for the slowest sum.
        gather_s = max(measured_s["gather_s"] - (max(sums_s) - sums_s[0]), 0.0)
        measured_s |= {"compute_s": max(sums_s), "gather_s": gather_s, "time_s": record.time_s}
        parts = {name: _beside(getattr(prediction, name), value_s) for name, value_s in measured_s.items()}
        predicted = {
            "algorithm": prediction.algorithm,
            "origin": prediction.origin,
            "parts": parts,
            "low_s": prediction.low_s,
            "high_s": prediction.high_s,
            "inside": _inside(prediction.time_s, record),
            "warnings": list(prediction.warnings),
        }
    return {
        "grid": str(problem.grid),
        "loads": as_lines(answer.elements),
        "statistics": run_statistics(record.samples_s),
        "shares": shares(answer.parts_s),
        "predicted": predicted,
        "apart": apart(record),
    }


def apart(record: AppRecord) -> dict[str, Any] | None:
    """The cycle as the sum of parts that were timed apart, beside the cycle itself; None where they were not.

    `inside`: whether that sum lies in the run's 95 % interval. `agree`: whether the intervals of both meet.
    """
    answer = record.answer.read_as(Sum3dAnswer)
    low_s, time_s, high_s = answer.apart_low_s, answer.apart_time_s, answer.apart_high_s
    if time_s is None:
        return None
    known = None not in (low_s, high_s, record.low_s, record.high_s)
    return {
        **{name: getattr(answer, f"apart_{name}") for name in PARTS},
        "time_s": time_s,
        "low_s": low_s,
        "high_s": high_s,
        "error": time_s / record.time_s - 1 if record.time_s else None,
        "inside": _inside(time_s, record),
        "agree": (low_s or 0.0) <= (record.high_s or 0.0) and (record.low_s or 0.0) <= (high_s or 0.0)
        if known
        else None,
    }


def _inside(time_s: float, record: AppRecord) -> bool | None:
    """Whether a time lies in the interval of a run; None where it has none."""
    if record.low_s is None or record.high_s is None:
        return None
    return record.low_s <= time_s <= record.high_s


def _beside(predicted_s: float, measured_s: float) -> dict[str, float | None]:
    """`error` is relative to what was measured, None where that is nothing."""
    error = predicted_s / measured_s - 1 if measured_s else None
    return {"predicted_s": predicted_s, "measured_s": measured_s, "error": error}
