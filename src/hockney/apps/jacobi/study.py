"""Jacobi in three dimensions: what is asked for, checked before anything is launched, and what came of it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from hockney.apps.jacobi.answer import JacobiAnswer
from hockney.apps.launched import Launched, repetitions
from hockney.apps.stencil.choice import Source, rank_grids
from hockney.apps.stencil.grids import Grid, factorisations
from hockney.apps.stencil.stencil import Exchange, Stencil
from hockney.apps.stencil.steps import Step
from hockney.apps.stencil.surroundings import Surroundings
from hockney.campaign.loop import Asking
from hockney.errors import RequestError
from hockney.predict.machine_costs import MachineCosts
from hockney.records.app_record import AppRecord
from hockney.units import format_time

Faces = Literal["datatype", "packed"]
Stores = Literal["auto", "regular", "non_temporal"]
Instructions = Literal["auto", "avx512", "avx2", "portable"]

MOST_CELLS = 10**6
"""Along one direction."""
MOST_RANKS = 10**6
USUAL_CELL_S = 1e-9
"""Beside the exchange, to weigh parts of unequal size where a grid is chosen by its predicted time."""


class Cells(NamedTuple):
    """Cells along x, y and z; x is contiguous in memory."""

    x: int
    y: int
    z: int

    def __str__(self) -> str:
        return f"{self.x}x{self.y}x{self.z}"


def parse_cells(text: str) -> Cells:
    """`400` → a cube, `2000x2000x64` → a box. RequestError for anything else and for directions without cells."""
    hint = "write 400 for a cube or 2000x1000x64: cells along x, y and z"
    found = re.fullmatch(r"\s*([0-9]+)(?:x([0-9]+)x([0-9]+))?\s*", text)
    if found is None:
        raise RequestError(f"{text!r} is not a number of cells", hint)
    # Long rows of digits are refused before Python refuses to read them.
    sides = [
        int(side[-7:]) if side.lstrip("0") == side[-7:].lstrip("0") else -1 for side in found.groups() if side
    ]
    if 0 in sides:
        raise RequestError(f"{text.strip()!r} has a direction without cells", hint)
    if any(not 1 <= side <= MOST_CELLS for side in sides):
        raise RequestError(
            f"there are at most {MOST_CELLS} cells along a direction, not {text.strip()[:40]}", hint
        )
    return Cells(*(sides * 3)[:3])


def parse_ranks(text: str) -> list[int]:
    """`1,2,4` → [1, 2, 4], at least one; RequestError for anything but positive whole numbers."""
    counts = []
    for word in text.split(","):
        if not re.fullmatch(r"\s*0*[1-9][0-9]{0,6}\s*", word):
            raise RequestError(f"{text!r} is not a list of ranks", "write 4 or 1,2,4")
        counts.append(int(word))
    if max(counts) > MOST_RANKS:
        raise RequestError(f"at most {MOST_RANKS} ranks are launched, not {max(counts)}", "write 4 or 1,2,4")
    return counts


def smallest_surface(ranks: int, cells: Cells | None) -> Grid:
    """The grid that cuts through the fewest cells; of a cube for each rank (None) the whole nearest to a cube.

    Ties cut z, then y, then x. RequestError where no grid has a cell for each of its processes.
    """

    def surface(grid: Grid) -> int:
        if cells is None:
            return grid.x * grid.y + grid.y * grid.z + grid.x * grid.z
        x, y, z = cells
        return (grid.x - 1) * y * z + (grid.y - 1) * x * z + (grid.z - 1) * x * y

    fitting = [
        grid
        for grid in factorisations(ranks)
        if cells is None or all(p <= n for p, n in zip(grid, cells, strict=True))
    ]
    if not fitting:
        raise RequestError(
            f"no grid of {ranks} processes has a cell of {cells} for each of them along every direction",
            "take more cells or fewer ranks",
        )
    return min(fitting, key=lambda grid: (surface(grid), grid.x, grid.y))


def fastest_grid(ranks: int, cells: Cells | None, side: int, halo: Exchange, costs: MachineCosts) -> Grid:
    """The grid with the shortest predicted sweep, all ranks being as far apart as was measured."""

    def on(grid: Grid) -> Step:
        whole = cells or Cells(side * grid.x, side * grid.y, side * grid.z)
        return Step(Stencil(whole, grid, halo), USUAL_CELL_S)

    source = Source(Surroundings(costs, lambda _: None))
    return rank_grids(on, factorisations(ranks), source, 1)[0][0].grid


@dataclass(frozen=True)
class Wanted:
    """A study: the same box on several numbers of ranks (`cells`), or the same cube on each rank (`subdomain`).

    `block_rows` 0 lets the caches decide; `cell_s` are seconds that a simulated host takes for an update.
    Without a `grid`, that of a number of ranks is in `grids`, or cuts through the fewest cells.
    """

    ranks: tuple[int, ...]
    cells: Cells | None = None
    subdomain: int | None = None
    grid: Grid | None = None
    halo: Exchange = "nonblocking"
    faces: Faces = "packed"
    iterations: int = 10
    threads: int = 1
    block_rows: int = 0
    stores: Stores = "auto"
    instructions: Instructions = "auto"
    bound: bool = True
    compute: bool = True
    cell_s: float = 0.0
    repetitions: int | None = None
    grids: Mapping[int, Grid] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """RequestError for what no launch could do."""
        if (self.cells is None) == (self.subdomain is None):
            raise RequestError(
                "give the size either as --cells or as --subdomain",
                "--cells 400 for the same box on any number of ranks, --subdomain 200 for a cube on each rank",
            )
        for name, kind in (
            ("halo", Exchange),
            ("faces", Faces),
            ("stores", Stores),
            ("instructions", Instructions),
        ):
            if getattr(self, name) not in get_args(kind):
                raise RequestError(
                    f"unknown --{name} {getattr(self, name)!r}", f"known: {', '.join(get_args(kind))}"
                )
        if self.grid is not None and {self.grid.ranks} != set(self.ranks):
            raise RequestError(
                f"grid {self.grid} has {self.grid.ranks} processes, not {', '.join(map(str, self.ranks))}",
                f"--ranks {self.grid.ranks}, or leave out --grid",
            )
        if not self.compute and self.faces != "packed":
            raise RequestError("without computing there are no fields to send from", "--faces packed")
        if not (self.cell_s >= 0 and math.isfinite(self.cell_s)):
            raise RequestError("--cell-time must not be negative", "write for example 1ns")
        for ranks in self.ranks:
            self.problem(ranks)

    @property
    def scaling(self) -> str:
        """`strong` where the box is the same on any number of ranks, `weak` where each rank's cube is."""
        return "strong" if self.cells else "weak"

    def problem(self, ranks: int) -> tuple[Cells, Grid]:
        """The whole box and the process grid for so many ranks; RequestError where they do not fit."""
        grid = self.grid or self.grids.get(ranks) or smallest_surface(ranks, self.cells)
        cells = self.cells or Cells(*((self.subdomain or 0) * count for count in grid))
        for direction, p, n in zip("xyz", grid, cells, strict=True):
            if p > n:
                raise RequestError(
                    f"grid {grid} has more processes ({p}) than cells ({n}) along {direction}",
                    "take more cells or another grid",
                )
        if max(cells) > MOST_CELLS:
            raise RequestError(f"there are at most {MOST_CELLS} cells along a direction, not {max(cells)}", "")
        return cells, grid

    def parameters(self, ranks: int, is_simulated: bool) -> dict[str, Any]:
        """The keys of the program's request. On simulated hosts nothing can bound the bandwidth."""
        cells, grid = self.problem(ranks)
        return {
            **dict(zip(("nx", "ny", "nz"), cells, strict=True)),
            **dict(zip(("px", "py", "pz"), grid, strict=True)),
            "halo": self.halo,
            "faces": self.faces,
            "iterations": self.iterations,
            "threads": self.threads,
            "instructions": self.instructions,
            "stores": self.stores,
            "block_rows": self.block_rows,
            "bound": int(self.bound and self.compute and not is_simulated),
            "compute": int(self.compute),
            "cell_s": self.cell_s,
            **repetitions(self.repetitions),
        }

    def asking(self, launched: Launched) -> Asking[AppRecord]:
        """One run for each number of ranks."""
        is_simulated = launched.placement[0].simulated
        for ranks in self.ranks:
            yield launched.request("jacobi", self.parameters(ranks, is_simulated), ranks)


def wrong(records: Sequence[AppRecord]) -> list[AppRecord]:
    """Those whose solution is not what it must be after so many sweeps."""
    return [record for record in records if record.answer.verified is False]


HEADINGS = ("variant", "ranks", "grid", "cells", "sweep", "MLUP/s", "bound", "of bound", "compute", "pack", "MPI")
LEFT = {"variant", "grid", "cells"}


def table(records: Sequence[AppRecord]) -> list[str]:
    """A line for each run below a heading: time of a sweep, rate, bound and share, parts of the slowest rank."""
    rows: list[tuple[str, ...]] = [HEADINGS]
    for record in records:
        asked, answer = record.parameters, record.answer.read_as(JacobiAnswer)
        sweeps = asked["iterations"]
        bound, share = answer.bound_mlups, answer.fraction_of_bound
        rows.append(
            (
                record.variant or record.mpi,
                str(record.ranks),
                "x".join(str(asked[key]) for key in ("px", "py", "pz")),
                "x".join(str(asked[key]) for key in ("nx", "ny", "nz")),
                format_time(record.time_s / sweeps),
                f"{answer.mlups:.5g}",
                f"{bound:.5g}" if bound else "",
                f"{100 * share:.1f} %" if share else "",
                *(
                    format_time(max(of_ranks_s) / sweeps)
                    for of_ranks_s in (answer.compute_s, answer.pack_s, answer.wait_s)
                ),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if name in LEFT else cell.rjust(width)
            for name, cell, width in zip(HEADINGS, row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def explained(record: AppRecord) -> str:
    """What the bound of a run is made of, in one line; empty for a run without."""
    answer = record.answer.read_as(JacobiAnswer)
    if answer.stream_bandwidth_B_per_s is None or answer.bytes_per_update is None:
        return ""
    stores = "non-temporal stores" if answer.non_temporal else "regular stores"
    layer = "" if answer.is_layer_kept else ", planes read more than once because they do not fit the cache"
    bandwidth = answer.stream_bandwidth_B_per_s / 1e9
    return (
        f"bound: {bandwidth:.4g} GB/s / {answer.bytes_per_update:g} B per update "
        f"({answer.instructions}, {stores}, blocks of {answer.block_rows} rows{layer})"
    )
