"""Runs of conjugate gradients: what they solved, their speed-up, and the columns of their tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from hockney.apps.cg.answer import CgAnswer
from hockney.apps.stencil.grids import Grid
from hockney.records.app_record import AppRecord
from hockney.report.run_tables import Column
from hockney.units import Extents, format_bytes_rounded, format_rate, format_time

VECTORS = {"reference": 4, "fused": 4, "joint": 4, "single_sweep": 4, "pipelined": 7}
"""Of unknowns that an iteration sweeps over."""
UNNAMED = ("", "default")
"""Variants of launches that were given no name."""


def size_of(record: AppRecord) -> Extents:
    """Unknowns along x, y and z."""
    return Extents(*(int(record.parameters[key]) for key in ("nx", "ny", "nz")))


def grid_of(record: AppRecord) -> Grid:
    """Processes along x, y and z."""
    return Grid(*(int(record.parameters[key]) for key in ("px", "py", "pz")))


def vectors_B(record: AppRecord) -> float:
    """Bytes of all vectors of all ranks that an iteration sweeps over, halos left out."""
    return 8.0 * VECTORS[record.parameters["variant"]] * math.prod(size_of(record))


def name_of(record: AppRecord) -> str:
    """Size, formulation and, where it was given a name, the launch's variant."""
    parts = [str(size_of(record)), str(record.parameters["variant"])]
    return ", ".join(parts + ([record.variant] if record.variant not in UNNAMED else []))


def last_norm(answer: CgAnswer) -> float | None:
    """Of the residual, as the iteration says; None without computing, or where it is not finite."""
    return answer.residual_norms[-1] if answer.residual_norms else None


def speedups(records: Sequence[AppRecord]) -> list[tuple[float, float] | None]:
    """Speed-up and efficiency of each over the fewest ranks; None where there is no other number of them.

    Compared are runs of one size, formulation and variant of the launch. Where several grids share the fewest
    ranks, the fastest of them is the base. It counts as fully efficient: with r ranks instead of b the
    efficiency is speed-up · b / r. Times are of an iteration.
    """
    ratios: list[tuple[float, float] | None] = []
    for record in records:
        alike = [
            other
            for other in records
            if (size_of(other), other.parameters["variant"], other.variant)
            == (size_of(record), record.parameters["variant"], record.variant)
        ]
        base = min(alike, key=lambda other: (other.ranks, other.answer.read_as(CgAnswer).iteration_s))
        iteration_s = record.answer.read_as(CgAnswer).iteration_s
        if base.ranks == max(other.ranks for other in alike) or not iteration_s:
            ratios.append(None)
            continue
        speedup = base.answer.read_as(CgAnswer).iteration_s / iteration_s
        ratios.append((speedup, speedup * base.ranks / record.ranks))
    return ratios


def cache_line(record: AppRecord, last_cache_B: float, ranks_of_cache: int) -> str:
    """What the cache model says: whether the vectors fit the last-level caches that the ranks have, in one line.

    `last_cache_B`: of one last-level cache; `ranks_of_cache`: ranks that share one when all cores are in use. A
    vector that fits is not read from memory again in the next iteration, so time falls faster than with the
    ranks: efficiency above 1 where the base did not fit.
    """
    share_B = last_cache_B / min(ranks_of_cache, record.ranks)
    each_B = vectors_B(record) / record.ranks
    relation = "fit" if each_B <= share_B else "do not fit"
    return (
        f"{size_of(record)} on {record.ranks}: vectors of {format_bytes_rounded(each_B)} for each rank "
        f"{relation} its {format_bytes_rounded(share_B)} of last-level cache"
    )


@dataclass(frozen=True)
class SolvedRun:
    """A run, what it answered, and its speed-up and efficiency among others."""

    record: AppRecord
    answer: CgAnswer
    ratio: tuple[float, float] | None

    @property
    def shares(self) -> str:
        """Of the time of all ranks together, in percent."""
        parts_s = [
            sum(of_ranks_s) for of_ranks_s in (self.answer.compute_s, self.answer.halo_s, self.answer.allreduce_s)
        ]
        if not sum(parts_s):
            return ""
        return " + ".join(f"{100 * part_s / sum(parts_s):.0f}" for part_s in parts_s) + " %"

    @property
    def traffic(self) -> str:
        """The rate of an iteration's memory traffic."""
        if not (self.record.parameters["compute"] and self.answer.iteration_s):
            return ""
        traffic_B = self.answer.counted_bytes_per_unknown * self.answer.unknowns
        return format_rate(traffic_B / self.answer.iteration_s)

    @property
    def bound(self) -> str:
        """The rate of that traffic by itself."""
        times_s = self.answer.stream_samples_s
        return (
            format_rate(self.answer.bytes_per_unknown * self.answer.unknowns / median(times_s)) if times_s else ""
        )


def solved_runs(records: Sequence[AppRecord]) -> list[SolvedRun]:
    """Each run with its answer, and its ratios among all."""
    return [
        SolvedRun(record, record.answer.read_as(CgAnswer), ratio)
        for record, ratio in zip(records, speedups(records), strict=True)
    ]


SOLVED: list[Column[SolvedRun]] = [
    Column("size", lambda run: str(size_of(run.record)), is_text=True),
    Column("ranks", lambda run: str(run.record.ranks)),
    Column("grid", lambda run: str(grid_of(run.record)), is_text=True),
    Column("formulation", lambda run: str(run.record.parameters["variant"]), is_text=True),
    Column("iterations", lambda run: str(run.answer.iterations)),
    Column(
        "converged",
        lambda run: "" if not run.record.parameters["eps"] else "yes" if run.answer.converged else "no",
        is_text=True,
    ),
    Column("residuum", lambda run: "" if (norm := last_norm(run.answer)) is None else f"{norm**2:.6g}"),
    Column("time of a solution", lambda run: format_time(run.record.time_s)),
]
SPED_UP: list[Column[SolvedRun]] = [
    Column("speed-up", lambda run: f"{run.ratio[0]:.3g}" if run.ratio else ""),
    Column("efficiency", lambda run: f"{run.ratio[1]:.3g}" if run.ratio else ""),
    Column("writing", lambda run: format_time(run.answer.file_write_s) if run.answer.file_write_s else ""),
    Column(
        "rate of writing",
        lambda run: (
            format_rate(run.answer.file_B / run.answer.file_write_s)
            if run.answer.file_B and run.answer.file_write_s
            else ""
        ),
    ),
]
SOLUTIONS = [*SOLVED, *SPED_UP]
"""Columns of published tables of such runs."""
RUNS: list[Column[SolvedRun]] = [
    Column("launch", lambda run: "" if run.record.variant in UNNAMED else run.record.variant, is_text=True),
    *SOLVED,
    Column("iteration", lambda run: format_time(run.answer.iteration_s)),
    Column("compute + halo + sums", lambda run: run.shares),
    Column("traffic", lambda run: run.traffic),
    Column("bound", lambda run: run.bound),
    Column(
        "of bound",
        lambda run: f"{median(run.answer.fractions_of_bound):.1%}" if run.answer.fractions_of_bound else "",
    ),
    *SPED_UP,
]
"""The same with where the time of an iteration goes."""
