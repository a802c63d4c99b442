"""Conjugate gradients: what is asked for, checked before anything is launched, and what came of it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal, get_args
from urllib.parse import quote

from rich.table import Table

from hockney.apps.cg.answer import CgAnswer
from hockney.apps.cg.solution import describe
from hockney.apps.jacobi.study import MOST_CELLS, Cells, Faces
from hockney.apps.launched import Launched, repetitions
from hockney.apps.stencil.grids import Grid, factorisations
from hockney.apps.stencil.stencil import Exchange
from hockney.campaign.loop import Asking
from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.units import format_bytes_rounded, format_rate, format_time

Variant = Literal["reference", "fused", "joint", "single_sweep", "pipelined"]
Stores = Literal["auto", "plain", "streaming"]

VECTORS = {"reference": 4, "fused": 4, "joint": 4, "single_sweep": 4, "pipelined": 7}
"""Of unknowns that an iteration sweeps over."""
MOST_ITERATIONS = 10**6
UNNAMED = ("", "default")
"""Variants of launches that were given no name."""
STREAMED = 10
"""How often the traffic of an iteration is timed by itself before each solve."""


def parse_unknowns(text: str) -> tuple[int, Cells]:
    """`300x300` → (2, 300 × 300 × 1), `100x100x60` → (3, …): dimensions and unknowns; RequestError else."""
    hint = "write 1000x1000 for two dimensions, 200x200x100 for three: unknowns along x, y and z"
    if not re.fullmatch(r"\s*0*[0-9]{1,9}(x0*[0-9]{1,9}){1,2}\s*", text):
        raise RequestError(f"{text[:40]!r} is not a grid of unknowns", hint)
    counts = [int(count) for count in text.split("x")]
    if min(counts) < 1:
        raise RequestError(f"{text.strip()} has a direction without unknowns", hint)
    if max(counts) > MOST_CELLS:
        raise RequestError(f"there are at most {MOST_CELLS} unknowns along a direction", hint)
    return len(counts), Cells(*[*counts, 1][:3])


@dataclass(frozen=True)
class Wanted:
    """A study: each size on each number of ranks and each of its grids, in one launch.

    `grid` None takes the one that cuts through the fewest unknowns, `every_grid` all that fit. `eps` 0 does
    exactly `iterations`. `cell_s`: seconds that a simulated host takes for an unknown and iteration. `launches`:
    how many there will be, each with the whole study.
    """

    ranks: tuple[int, ...]
    sizes: tuple[tuple[int, Cells], ...]
    grid: Grid | None = None
    every_grid: bool = False
    variants: tuple[Variant, ...] = ("single_sweep",)
    halo: Exchange = "nonblocking"
    faces: Faces = "packed"
    stores: Stores = "auto"
    eps: float = 1e-6
    iterations: int = 10000
    replace_every: int = 50
    bound: bool = False
    compute: bool = True
    cell_s: float = 0.0
    solution: Path | None = None
    repetitions: int | None = None
    launches: int = 1

    def __post_init__(self) -> None:
        """RequestError for what no launch could do."""
        for name, value, kind in (
            *(("variant", variant, Variant) for variant in self.variants),
            ("halo", self.halo, Exchange),
            ("faces", self.faces, Faces),
            ("stores", self.stores, Stores),
        ):
            if value not in get_args(kind):
                raise RequestError(f"unknown --{name} {value!r}", f"known: {', '.join(get_args(kind))}")
        if not (0 <= self.eps < 1):
            raise RequestError(f"--eps must be at least 0 and below 1, not {self.eps:g}", "for example 1e-6")
        if not 1 <= self.iterations <= MOST_ITERATIONS:
            raise RequestError(f"--iterations must be from 1 to {MOST_ITERATIONS}", "for example 100")
        if self.replace_every < 0:
            raise RequestError("--replace-every must not be negative", "50, or 0 for never")
        if not (self.cell_s >= 0 and math.isfinite(self.cell_s)):
            raise RequestError("--cell-time must not be negative", "write for example 1ns")
        if not self.compute and (self.eps > 0 or self.faces != "packed" or self.solution):
            raise RequestError(
                "without computing nothing converges and there is nothing to write",
                "give --iterations and leave out --solution, with --faces packed",
            )
        if self.grid is not None and {self.grid.ranks} != set(self.ranks):
            raise RequestError(
                f"grid {self.grid} has {self.grid.ranks} processes, not {', '.join(map(str, self.ranks))}",
                f"--ranks {self.grid.ranks}, or leave out --grid",
            )
        count = self.launches * len(self.problems())
        if self.solution and count > 1:
            raise RequestError(f"{count} runs would write to the same file", "ask for one run, or no --solution")

    def grids(self, ranks: int, cells: Cells) -> list[Grid]:
        """The process grids of one size on so many ranks; RequestError where there is none."""
        fitting = [
            grid
            for grid in ([self.grid] if self.grid else factorisations(ranks))
            if all(p <= n for p, n in zip(grid, cells, strict=True))
        ]
        if not fitting:
            raise RequestError(
                f"there are more ranks than unknowns along a direction: {self.grid or ranks} on {cells}",
                "take more unknowns, fewer ranks or another grid",
            )
        if self.every_grid or self.grid:
            return fitting

        def cut(grid: Grid) -> int:
            return sum((p - 1) * math.prod(cells) // n for p, n in zip(grid, cells, strict=True))

        return [min(fitting, key=lambda grid: (cut(grid), grid.x, grid.y))]

    def problems(self) -> list[tuple[int, int, Cells, Grid, Variant]]:
        """Every run as ranks, dimensions, unknowns, grid and variant."""
        return [
            (ranks, dimensions, cells, grid, variant)
            for dimensions, cells in self.sizes
            for ranks in self.ranks
            for grid in self.grids(ranks, cells)
            for variant in self.variants
        ]

    def parameters(
        self, dimensions: int, cells: Cells, grid: Grid, variant: Variant, is_simulated: bool
    ) -> dict[str, Any]:
        """The keys of the program's request. On simulated hosts nothing can bound the bandwidth."""
        return {
            "dimensions": dimensions,
            **dict(zip(("nx", "ny", "nz"), cells, strict=True)),
            **dict(zip(("px", "py", "pz"), grid, strict=True)),
            "variant": variant,
            "halo": self.halo,
            "faces": self.faces,
            "stores": self.stores,
            "eps": self.eps,
            "iterations": self.iterations,
            "replace_every": self.replace_every,
            "stream": STREAMED if self.bound and self.compute and not is_simulated else 0,
            "compute": int(self.compute),
            "cell_s": self.cell_s,
            "file": quote(str(self.solution.absolute())) if self.solution else "",
            **repetitions(self.repetitions),
        }

    def asking(self, launched: Launched) -> Asking[AppRecord]:
        """One run for each problem; the description of the solution where one was written."""
        is_simulated = launched.placement[0].simulated
        for ranks, dimensions, cells, grid, variant in self.problems():
            asked = self.parameters(dimensions, cells, grid, variant, is_simulated)
            (record,) = yield launched.request("cg", asked, ranks)
            if self.solution:
                answer = record.answer.read_as(CgAnswer)
                facts = {
                    "iterations": answer.iterations,
                    "converged": answer.converged,
                    "verified": answer.verified,
                    "residual_norm": last_norm(answer),
                }
                describe(self.solution, (cells.z, cells.y, cells.x), 1 / (max(cells) + 1), facts)


def last_norm(answer: CgAnswer) -> float | None:
    """Of the residual, as the iteration says; None without computing, or where it is not finite."""
    return answer.residual_norms[-1] if answer.residual_norms else None


def size_of(record: AppRecord) -> Cells:
    """Unknowns along x, y and z."""
    return Cells(*(int(record.parameters[key]) for key in ("nx", "ny", "nz")))


def grid_of(record: AppRecord) -> Grid:
    """Processes along x, y and z."""
    return Grid(*(int(record.parameters[key]) for key in ("px", "py", "pz")))


def vectors_B(record: AppRecord) -> float:
    """Bytes of all vectors of all ranks that an iteration sweeps over, halos left out."""
    return 8.0 * VECTORS[record.parameters["variant"]] * math.prod(size_of(record))


def unconverged(records: Sequence[AppRecord]) -> list[AppRecord]:
    """Those that were to converge and did not."""
    return [
        record
        for record in records
        if record.parameters["eps"] > 0 and not record.answer.read_as(CgAnswer).converged
    ]


def wrong(records: Sequence[AppRecord]) -> list[AppRecord]:
    """Those whose true residual is not what the iteration says, beyond rounding, or where a number is none."""
    return [record for record in records if record.answer.verified is False]


def name_of(record: AppRecord) -> str:
    """Size, formulation and, where it was given a name, the launch's variant."""
    parts = [str(size_of(record)), str(record.parameters["variant"])]
    return ", ".join(parts + ([record.variant] if record.variant not in UNNAMED else []))


def speedups(records: Sequence[AppRecord]) -> list[tuple[float, float] | None]:
    """Speed-up and efficiency of each over the fewest ranks; None where there is no other number of them.

    Compared are runs of one size, formulation and variant of the launch. Where several grids share the fewest
    ranks, the fastest of them is the base. It counts as fully efficient: with r ranks instead of b the
    efficiency is speed-up · b / r. Times are of an iteration.
    """
    found: list[tuple[float, float] | None] = []
    for record in records:
        alike = [
            one
            for one in records
            if (size_of(one), one.parameters["variant"], one.variant)
            == (size_of(record), record.parameters["variant"], record.variant)
        ]
        base = min(alike, key=lambda one: (one.ranks, one.answer.read_as(CgAnswer).iteration_s))
        iteration_s = record.answer.read_as(CgAnswer).iteration_s
        if base.ranks == max(one.ranks for one in alike) or not iteration_s:
            found.append(None)
            continue
        speedup = base.answer.read_as(CgAnswer).iteration_s / iteration_s
        found.append((speedup, speedup * base.ranks / record.ranks))
    return found


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


LEFT = {"launch", "size", "grid", "formulation"}


def table(records: Sequence[AppRecord]) -> Table:
    """A row for each run: iterations, residual, times and where they go, share of the bound, speed-up."""
    made = Table(box=None, pad_edge=False)
    answers = [record.answer.read_as(CgAnswer) for record in records]
    with_bound = any(answer.fractions_of_bound for answer in answers)
    ratios = speedups(records)
    with_launch = any(one.variant not in UNNAMED for one in records)
    names = ["launch"] if with_launch else []
    names += ["size", "ranks", "grid", "formulation", "iterations", "residuum", "time", "iteration"]
    names += ["compute + halo + sums", "traffic"]
    names += ["bound", "of bound"] if with_bound else []
    names += ["speed-up", "efficiency"] if any(ratios) else []
    for name in names:
        made.add_column(name, justify="left" if name in LEFT else "right")
    for record, answer, ratio in zip(records, answers, ratios, strict=True):
        norm, iteration_s = last_norm(answer), answer.iteration_s
        traffic_B = answer.counted_bytes_per_unknown * answer.unknowns
        cells = [record.variant] if with_launch else []
        cells += [
            str(size_of(record)),
            str(record.ranks),
            str(grid_of(record)),
            str(record.parameters["variant"]),
            str(answer.iterations),
            f"{norm**2:.6g}" if norm is not None else "",
            format_time(record.time_s),
            format_time(iteration_s),
            _shares(answer),
            format_rate(traffic_B / iteration_s) if record.parameters["compute"] and iteration_s else "",
        ]
        if with_bound:
            bytes_B = answer.bytes_per_unknown * answer.unknowns
            times_s, fractions = answer.stream_samples_s, answer.fractions_of_bound
            cells += [
                format_rate(bytes_B / median(times_s)) if times_s else "",
                f"{100 * median(fractions):.1f} %" if fractions else "",
            ]
        if any(ratios):
            cells += [f"{ratio[0]:.3g}", f"{ratio[1]:.3g}"] if ratio else ["", ""]
        made.add_row(*cells)
    return made


def _shares(answer: CgAnswer) -> str:
    """Of the time of all ranks together, in percent."""
    parts_s = [sum(of_ranks_s) for of_ranks_s in (answer.compute_s, answer.halo_s, answer.allreduce_s)]
    return " + ".join(f"{100 * part_s / sum(parts_s):.0f}" for part_s in parts_s) + " %" if sum(parts_s) else ""
