"""The three-dimensional sum: its request, statistics of its runs, shares and tables."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hockney.apps.launched import repetitions as repeated
from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.loads import as_lines, check, check_ranks, usual_grid
from hockney.apps.sum3d.answer import Sum3dAnswer
from hockney.apps.sum3d.model import predict_sum3d
from hockney.errors import RequestError
from hockney.predict.machine_costs import MachineCosts
from hockney.records.app_record import AppRecord
from hockney.statistics import NORMAL, t_reach
from hockney.units import Extents

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

    def parameters(
        self, *, seed: int, cycles: int, repetitions: int | None, bandwidth_B_per_s: float
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
            **repeated(repetitions),
        }


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
) -> dict[str, Any]:
    """What a record says: loads, statistics, shares, and with `costs` predictions beside what was measured.

    That is what rank 0 measured, but for the sum, which is the slowest rank's: rank 0 waits for it in its gather.
    """
    predicted, answer = None, record.answer.read_as(Sum3dAnswer)
    if costs is not None:
        prediction = predict_sum3d(
            problem.size,
            problem.grid,
            problem.split,
            costs.on_nodes(record.nodes),
            # Each rank measured its own while all did: rank 0 copies, and the slowest holds up the gather.
            answer.memory_bandwidth_B_per_s[0],
            sum_bandwidth_B_per_s=min(answer.sum_bandwidth_B_per_s),
            write_allocate=write_allocate,
            algorithm=algorithm,
        )
        measured_s = {name: of_ranks_s[0] for name, of_ranks_s in answer.parts_s.items()}
        sums_s = answer.compute_s
        # Rank 0 waits in its gather for the slowest sum.
        gather_s = max(measured_s["gather_s"] - (max(sums_s) - sums_s[0]), 0.0)
        measured_s |= {"compute_s": max(sums_s), "gather_s": gather_s, "time_s": record.time_s}
        parts = {name: _beside(getattr(prediction, name), value_s) for name, value_s in measured_s.items()}
        predicted = {
            "algorithm": algorithm,
            "origin": prediction.origin,
            "parts": parts,
            "warnings": list(prediction.warnings),
        }
    return {
        "grid": str(problem.grid),
        "loads": as_lines(answer.elements),
        "statistics": run_statistics(record.samples_s),
        "shares": shares(answer.parts_s),
        "predicted": predicted,
    }


def _beside(predicted_s: float, measured_s: float) -> dict[str, float | None]:
    """`error` is relative to what was measured, None where that is nothing."""
    error = predicted_s / measured_s - 1 if measured_s else None
    return {"predicted_s": predicted_s, "measured_s": measured_s, "error": error}
