"""Runs of `hockney run jacobi|cg` as what predictions start from: time of a cell, packing, times to fit to."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney.apps.stencil.answer import StencilAnswer
from hockney.apps.stencil.calibrate import StencilRun
from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.stencil import CELL_B, Stencil
from hockney.apps.stencil.steps import AROUND, SUMS, StencilStep
from hockney.apps.stencil.ways import EXCHANGES, Variant
from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.records.folder import Campaign

PROGRAMS = ("jacobi", "cg")
SATURATED = 1.05
"""Cells that take this much longer where more ranks share a memory: it is what limits them."""


@dataclass(frozen=True)
class MeasuredRuns:
    """Runs in a folder that predictions can start from; `warnings` say which others are left out, and why."""

    folder: Path
    records: list[AppRecord]
    warnings: list[str]


@dataclass(frozen=True)
class Computation:
    """Seconds for a cell and iteration by ranks on a node, `packing_s_per_B` for faces copied out or in.

    The latter is None where no run tells.

    `largest_rank_B`, `smallest_rank_B`: memory that the ranks of those runs worked on.
    """

    cell_s: dict[int, float]
    packing_s_per_B: float | None
    smallest_rank_B: float
    largest_rank_B: float

    def at(self, busy: int) -> float:
        """With so many ranks on a node.

        Measured, or between two that were; beyond the most it grows in proportion where the memory was already
        what limits, else it stays (max-rate: Gropp, Olson and Samfass 2016).
        """
        known = sorted(self.cell_s)
        if busy in self.cell_s:
            return self.cell_s[busy]
        below = [ranks for ranks in known if ranks < busy]
        above = [ranks for ranks in known if ranks > busy]
        if not below:
            return self.cell_s[above[0]]
        if above:
            share = (busy - below[-1]) / (above[0] - below[-1])
            return self.cell_s[below[-1]] * (1 - share) + self.cell_s[above[0]] * share
        most = self.cell_s[below[-1]]
        return most * busy / below[-1] if most > SATURATED * self.cell_s[known[0]] else most

    def open_at(self, fewest: int, most: int) -> tuple[float, float]:
        """The least and the most that a cell may take with `fewest` to `most` ranks on a node.

        Beyond those of the runs either law may hold: cells stay as fast, or they slow down in proportion.
        """
        known = sorted(self.cell_s)
        times = [self.cell_s[ranks] for ranks in known if fewest <= ranks <= most]
        times += [self.at(min(max(ranks, known[0]), known[-1])) for ranks in (fewest, most)]
        if fewest < known[0]:
            times.append(self.cell_s[known[0]] * fewest / known[0])
        if most > known[-1]:
            times.append(self.cell_s[known[-1]] * most / known[-1])
        return min(times), max(times)

    def has_boxes_like(self, stencil: Stencil) -> bool:
        """Whether ranks work on about as much memory as in the runs: caches hold both, or neither."""
        return self.smallest_rank_B / 2 <= largest_box_B(stencil) <= self.largest_rank_B * 2

    def doubt(self, stencil: Stencil) -> list[str]:
        """A warning where ranks work on much more or less than in the runs: caches may hold only one of both."""
        rank_B = largest_box_B(stencil)
        if self.has_boxes_like(stencil):
            return []
        least_MiB, most_MiB = self.smallest_rank_B / 2**20, self.largest_rank_B / 2**20
        return [
            f"a rank's box has {rank_B / 2**20:.3g} MiB, those of the runs {least_MiB:.3g} to {most_MiB:.3g} "
            "MiB: what a cell takes may differ, as caches hold one or not, and there is no interval"
        ]


def measured_runs(folder: Path) -> MeasuredRuns:
    """The runs of Jacobi and CG in a folder of `hockney run`. RequestError for a folder that is none."""
    campaign = Campaign.open(folder)
    records, warnings = [], []
    for number, record in enumerate(campaign.apps(), 1):
        if record.operation not in PROGRAMS:
            continue
        if why := unusable(record):
            warnings.append(f"run {number} of {folder} is left out: {why}")
        else:
            records.append(record)
    return MeasuredRuns(folder, records, warnings + campaign.warnings)


def largest_box_B(stencil: Stencil) -> float:
    """Bytes of the rank with the most cells."""
    return CELL_B * float(stencil.boxes().prod(axis=1).max())


def stencil_of(record: AppRecord) -> Stencil:
    """What a run computed on."""
    p = record.parameters
    cells = (int(p["nx"]), int(p["ny"]), int(p["nz"]))
    return Stencil(cells, Grid(int(p["px"]), int(p["py"]), int(p["pz"])), p["halo"])


def unusable(record: AppRecord) -> str:
    """Why a run says nothing here (a damaged line, another version's program); empty where it does."""
    try:
        stencil, answer = stencil_of(record), record.answer.read_as(StencilAnswer)
        if stencil.ranks != record.ranks or len(answer.compute_s) != record.ranks:
            return f"its grid {stencil.grid} is not one of {record.ranks} ranks"
        if stencil.exchange not in EXCHANGES or record.parameters["faces"] not in ("datatype", "packed"):
            return "its exchange is not known here"
        if not (cell_s_of(record) > 0 and record.time_s > 0 and sum(answer.halo_B) >= 0):
            return "it took no time"
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        return f"what it says of itself is damaged ({type(error).__name__}: {error})"
    except RequestError as error:
        return error.message
    return ""


def _iterations(record: AppRecord) -> float:
    return float(record.answer.read_as(StencilAnswer).iterations or record.parameters["iterations"])


def cell_s_of(record: AppRecord) -> float:
    """Seconds for a cell and iteration of the run's slowest rank."""
    cells = stencil_of(record).boxes().prod(axis=1)
    variant: Variant | None = record.parameters.get("variant")
    iterations, answer = _iterations(record), record.answer.read_as(StencilAnswer)
    if variant:
        # Replaced residuals and the first are in what was counted.
        counted_B, iteration_B = answer.counted_bytes_per_unknown, answer.bytes_per_unknown
        whole = iterations + AROUND[variant]
        iterations = iterations * counted_B / iteration_B if counted_B and iteration_B else whole
    return float(max(answer.compute_s / cells) / iterations)


def computation(records: Sequence[AppRecord]) -> Computation:
    """From runs of one program. RequestError where there are none."""
    if not records:
        raise RequestError(
            "no run tells what a cell takes", "measure one with `hockney run`, or give --cell-time"
        )
    by_busy: dict[int, list[float]] = {}
    packing, rank_B = [], []
    for record in records:
        busy = -(-record.ranks // (record.nodes or 1))
        by_busy.setdefault(busy, []).append(cell_s_of(record))
        answer = record.answer.read_as(StencilAnswer)
        halo_B = sum(answer.halo_B)
        if record.parameters["faces"] == "packed" and halo_B and answer.pack_s is not None:
            packing.append(sum(answer.pack_s) / (2 * halo_B * _iterations(record)))
        rank_B.append(largest_box_B(stencil_of(record)))
    return Computation(
        {busy: statistics.median(times) for busy, times in by_busy.items()},
        statistics.median(packing) if packing else None,
        min(rank_B),
        max(rank_B),
    )


def runs_of(records: Sequence[AppRecord]) -> list[StencilRun]:
    """What calibration takes, of any of the programs: each run with the time that its own cells took."""
    runs = []
    for record in records:
        iterations = round(_iterations(record))
        step = StencilStep(
            stencil_of(record),
            cell_s_of(record),
            sums=SUMS if record.operation == "cg" else None,
            variant=record.parameters.get("variant", "single_sweep"),
        )
        runs.append(StencilRun(step, iterations, record.time_s / iterations))
    return runs
