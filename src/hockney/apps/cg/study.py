"""Conjugate gradients: what came of the runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from rich.table import Table

from hockney.apps.cg.answer import CgAnswer
from hockney.apps.cg.options import last_norm
from hockney.apps.stencil.grids import Grid
from hockney.records.app_record import AppRecord
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


LEFT = {"launch", "size", "grid", "formulation"}


def table(records: Sequence[AppRecord]) -> Table:
    """A row for each run: iterations, residual, times and where they go, share of the bound, speed-up."""
    shown = Table(box=None, pad_edge=False)
    answers = [record.answer.read_as(CgAnswer) for record in records]
    with_bound = any(answer.fractions_of_bound for answer in answers)
    ratios = speedups(records)
    with_launch = any(record.variant not in UNNAMED for record in records)
    names = ["launch"] if with_launch else []
    names += ["size", "ranks", "grid", "formulation", "iterations", "residuum", "time", "iteration"]
    names += ["compute + halo + sums", "traffic"]
    names += ["bound", "of bound"] if with_bound else []
    names += ["speed-up", "efficiency"] if any(ratios) else []
    names += ["written"] if any(answer.file_write_s for answer in answers) else []
    for name in names:
        shown.add_column(name, justify="left" if name in LEFT else "right")
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
        if answer.file_B and answer.file_write_s:
            cells.append(
                f"{format_time(answer.file_write_s)}, {format_rate(answer.file_B / answer.file_write_s)}"
            )
        shown.add_row(*cells)
    return shown


def _shares(answer: CgAnswer) -> str:
    """Of the time of all ranks together, in percent."""
    parts_s = [sum(of_ranks_s) for of_ranks_s in (answer.compute_s, answer.halo_s, answer.allreduce_s)]
    return " + ".join(f"{100 * part_s / sum(parts_s):.0f}" for part_s in parts_s) + " %" if sum(parts_s) else ""
