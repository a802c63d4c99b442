"""Runs of conjugate gradients: what they solved, their speed-up, and the columns of their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from hockney.apps.cg.answer import CgAnswer
from hockney.apps.stencil.grids import cells_of, grid_of
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import USUAL
from hockney.report.run_tables import Column
from hockney.units import format_rate, format_time, grouped


def name_of(record: AppRecord) -> str:
    """Size, formulation and, where it was given a name, the launch's variant."""
    parts = [str(cells_of(record)), str(record.parameters["variant"])]
    return ", ".join(parts + ([record.variant] if record.variant not in USUAL else []))


def last_norm(answer: CgAnswer) -> float | None:
    """Of the residual, as the iteration says; None without computing, or where it is not finite."""
    return answer.residual_norms[-1] if answer.residual_norms else None


def speedups(records: Sequence[AppRecord]) -> list[tuple[float, float] | None]:
    """Speed-up and efficiency of each over the fewest ranks; None where there is no other number of them.

    Compared are runs of one size, formulation and variant of the launch. Where several grids share the fewest
    ranks, the fastest of them is the base. It counts as fully efficient: with r ranks instead of b the
    efficiency is speed-up · b / r. Times are of an iteration.
    """
    timed = [(name_of(run), run.ranks, run.answer.read_as(CgAnswer).iteration_s) for run in records]
    groups = grouped(timed, itemgetter(0))
    ratios: list[tuple[float, float] | None] = []
    for name, ranks, time_s in timed:
        _, base, base_s = min(groups[name])
        is_alone = base == max(groups[name])[1] or not time_s
        ratios.append(None if is_alone else (base_s / time_s, base_s / time_s * base / ranks))
    return ratios


@dataclass(frozen=True)
class SolvedRun:
    """A run, what it answered, and its speed-up and efficiency among others."""

    record: AppRecord
    answer: CgAnswer
    ratio: tuple[float, float] | None


def solved_runs(records: Sequence[AppRecord]) -> list[SolvedRun]:
    """Each run with its answer, and its ratios among all."""
    return [
        SolvedRun(record, record.answer.read_as(CgAnswer), ratio)
        for record, ratio in zip(records, speedups(records), strict=True)
    ]


SOLUTIONS: list[Column[SolvedRun]] = [
    Column("launch", lambda run: "" if run.record.variant in USUAL else run.record.variant, is_text=True),
    Column("size", lambda run: str(cells_of(run.record)), is_text=True),
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
"""Columns of published tables of such runs."""
