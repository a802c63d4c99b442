"""Runs of `hockney run jacobi|cg` as what predictions start from: time of a cell, packing, times to fit to."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hockney.apps.stencil.answer import StencilAnswer
from hockney.apps.stencil.calibrate import StencilRun
from hockney.apps.stencil.grids import cells_of, grid_of
from hockney.apps.stencil.options import EXCHANGES, Variant
from hockney.apps.stencil.stencil import CELL_B, Stencil
from hockney.apps.stencil.steps import TRAFFIC, StencilStep
from hockney.errors import RequestError
from hockney.records.app_record import AppRecord
from hockney.records.folder import Campaign
from hockney.units import counted

PROGRAMS = ("jacobi", "cg")
SATURATED = 1.05
"""Cells that take this much longer where more ranks share a memory: it is what limits them."""
FAR = 2.0
"""Between boxes whose bytes have this ratio, or more, a cache may hold one and not the other."""


@dataclass(frozen=True)
class MeasuredRuns:
    """Runs in a folder that predictions can start from; `warnings` say which others are left out, and why."""

    folder: Path
    records: list[AppRecord]
    warnings: list[str]


@dataclass(frozen=True)
class Computation:
    """Seconds for a cell and iteration: by ranks on a node, then by the bytes of a rank's box.

    `packing_s_per_B`: faces copied out or in; None where no run tells.
    """

    cell_s: dict[int, dict[float, float]]
    packing_s_per_B: float | None

    def at(self, busy: int, rank_B: float) -> float:
        """With so many ranks on a node and boxes of so many bytes.

        Of ranks: measured, or between two that were; beyond the most it grows in proportion where the memory was
        already what limits, else it stays (max-rate: Gropp, Olson and Samfass 2016).
        """
        known = sorted(self.cell_s)
        times = [self._of_box(ranks, rank_B) for ranks in known]
        if busy > known[-1] and times[-1] > SATURATED * times[0]:
            return times[-1] * busy / known[-1]
        return float(np.interp(busy, known, times))

    def open_at(self, fewest: int, most: int, rank_B: float) -> tuple[float, float]:
        """The least and the most that a cell may take with `fewest` to `most` ranks on a node.

        Beyond those of the runs either law may hold: cells stay as fast, or they slow down in proportion. Between
        two boxes that were measured and are more than `FAR` apart, the caches may let go anywhere.
        """
        of_ranks = {ranks: self._of_box(ranks, rank_B) for ranks in sorted(self.cell_s)}
        first, last = min(of_ranks), max(of_ranks)
        times = [time_s for ranks, time_s in of_ranks.items() if fewest <= ranks <= most]
        times += np.interp((fewest, most), list(of_ranks), list(of_ranks.values())).tolist()
        if fewest < first:
            times.append(of_ranks[first] * fewest / first)
        if most > last:
            times.append(of_ranks[last] * most / last)
        least, longest = self._open_between(rank_B)
        return min(times) * least, max(times) * longest

    def _of_box(self, ranks: int, rank_B: float) -> float:
        """Of one of the numbers of ranks that were measured.

        Beyond their own boxes, in proportion to the curve of the ranks that were measured on the widest range.
        """
        own = self.cell_s[ranks]
        near_B = float(np.clip(rank_B, min(own), max(own)))
        widest = self._widest()
        return _between(own, near_B) * _between(widest, rank_B) / _between(widest, near_B)

    def _open_between(self, rank_B: float) -> tuple[float, float]:
        """Factors of what was measured on the boxes next to this one, where they are far apart; else 1 and 1."""
        curve = self._widest()
        below = [box_B for box_B in curve if box_B < rank_B]
        above = [box_B for box_B in curve if box_B > rank_B]
        if rank_B in curve or not below or not above or min(above) <= FAR * max(below):
            return 1.0, 1.0
        middle = _between(curve, rank_B)
        ends = [curve[max(below)] / middle, curve[min(above)] / middle]
        return min(1.0, *ends), max(1.0, *ends)

    def _widest(self) -> dict[float, float]:
        return max(self.cell_s.values(), key=lambda curve: (max(curve) / min(curve), len(curve)))

    def doubt(self, stencil: Stencil) -> str:
        """Warns where ranks work on much more or less than in the runs: caches may hold only one of both."""
        boxes_B = sorted({box_B for curve in self.cell_s.values() for box_B in curve})
        if boxes_B[0] / FAR <= largest_box_B(stencil) <= boxes_B[-1] * FAR:
            return ""
        return (
            f"a rank's box has {largest_box_B(stencil) / 2**20:.3g} MiB, those of the runs "
            f"{boxes_B[0] / 2**20:.3g} to {boxes_B[-1] / 2**20:.3g} MiB: caches may change a cell's time, so "
            "there is no interval"
        )


def _between(curve: dict[float, float], box_B: float) -> float:
    """Between the measured boxes next to this one, on logarithmic scales; beyond the last, as there."""
    boxes_B = sorted(curve)
    near_B = min(max(box_B, boxes_B[0]), boxes_B[-1])
    if near_B in curve:
        return curve[near_B]
    times = np.log([curve[each_B] for each_B in boxes_B])
    return float(np.exp(np.interp(np.log(near_B), np.log(boxes_B), times)))


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
    return Stencil(cells_of(record), grid_of(record), record.parameters["halo"])


def unusable(record: AppRecord) -> str:
    """Why a run says nothing here (a damaged line, another version's program); empty where it does."""
    try:
        stencil, answer = stencil_of(record), record.answer.read_as(StencilAnswer)
        if not answer.compute_s:
            return "it does not say what its cells took"
        if stencil.ranks != record.ranks or len(answer.compute_s) != record.ranks:
            return f"its grid {stencil.grid} is not one of {counted(record.ranks, 'rank')}"
        if stencil.exchange not in EXCHANGES or record.parameters["faces"] not in ("datatype", "packed"):
            return "its exchange is not known here"
        if not (cell_s_of(record) > 0 and record.time_s > 0 and sum(answer.halo_B) >= 0):
            return "it took no time"
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        return f"what it says of itself is damaged ({type(error).__name__}: {error})"
    except RequestError as error:
        return error.message
    return ""


def iterations_of(record: AppRecord) -> float:
    """Of a repetition: as many as asked for, or as a solver did."""
    return float(record.answer.read_as(StencilAnswer).iterations or record.parameters["iterations"])


def cell_s_of(record: AppRecord) -> float:
    """Seconds for a cell and iteration of the run's slowest rank."""
    cells = stencil_of(record).boxes().prod(axis=1)
    variant: Variant | None = record.parameters.get("variant")
    iterations, answer = iterations_of(record), record.answer.read_as(StencilAnswer)
    if variant:
        # Replaced residuals and the first are in what was counted.
        counted_B, iteration_B = answer.counted_bytes_per_unknown, answer.bytes_per_unknown
        whole = iterations + TRAFFIC[variant].around
        iterations = iterations * counted_B / iteration_B if counted_B and iteration_B else whole
    return float(max(answer.compute_s / cells) / iterations)


def computation(records: Sequence[AppRecord]) -> Computation:
    """From runs of one program. RequestError where there are none."""
    if not records:
        raise RequestError(
            "no run gives the time of a cell", "measure one with `hockney run`, or give --cell-time"
        )
    measured: dict[int, dict[float, list[float]]] = {}
    packing = []
    for record in records:
        of_ranks = measured.setdefault(-(-record.ranks // (record.nodes or 1)), {})
        of_ranks.setdefault(largest_box_B(stencil_of(record)), []).append(cell_s_of(record))
        answer = record.answer.read_as(StencilAnswer)
        halo_B = sum(answer.halo_B)
        if record.parameters["faces"] == "packed" and halo_B and answer.pack_s is not None:
            packing.append(sum(answer.pack_s) / (2 * halo_B * iterations_of(record)))
    return Computation(
        {
            busy: {box_B: statistics.median(times) for box_B, times in of_boxes.items()}
            for busy, of_boxes in measured.items()
        },
        statistics.median(packing) if packing else None,
    )


def runs_of(records: Sequence[AppRecord]) -> list[StencilRun]:
    """What calibration takes, of any of the programs: each run with the time that its own cells took."""
    runs = []
    for record in records:
        iterations = round(iterations_of(record))
        step = StencilStep(
            stencil_of(record),
            cell_s_of(record),
            record.parameters.get("variant", "single_sweep") if record.operation == "cg" else None,
        )
        runs.append(StencilRun(step, iterations, record.time_s / iterations))
    return runs
