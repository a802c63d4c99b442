"""Conjugate gradients: time of an iteration, the bandwidth that bounds it, and whole solutions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from statistics import median

import numpy as np

from hockney.apps.cg.answer import CgAnswer
from hockney.apps.cg.app import APP
from hockney.apps.cg.iterations import laws, sides_of
from hockney.apps.cg.solved import SOLUTIONS, last_norm, solved_runs
from hockney.apps.stencil.grids import cells_of
from hockney.apps.stencil.options import VARIANTS
from hockney.apps.stencil.runs import reported_run, simulated_s
from hockney.apps.stencil.scaling import add_scaling, scaling_tables
from hockney.apps.stencil.solution import equal_side
from hockney.records.app_record import AppRecord
from hockney.report import runs_section
from hockney.report.app_sections import UNREADABLE, USUAL, Contribution, Runs, page_id
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import Axis, Chart, Line, Panel
from hockney.report.findings import Finding
from hockney.report.run_tables import ReportedRun, table
from hockney.report.style import styles
from hockney.units import counted

ANCHOR = page_id("cg")
MOST_SERIES = 8
"""Lines of one figure, those with the most sizes."""
ABOUT_SOLUTIONS = (
    "Residuum is r·r at the end. Speed-up and efficiency are over the fewest ranks of the same size and "
    "formulation; above 1, caches hold more of a rank's vectors. Writing is one MPI_File_write_all with "
    "MPI_File_sync."
)


def reported(record: AppRecord) -> ReportedRun:
    """An iteration."""
    asked, answer = record.parameters, record.answer.read_as(CgAnswer)
    return reported_run(
        record,
        f"{asked['variant']}, {asked['halo']}, {asked['faces']}",
        {"compute": answer.compute_s, "halo": answer.halo_s, "sums": answer.allreduce_s},
        rate=answer.iterations / record.time_s if record.time_s else None,
        bound_share=median(answer.fractions_of_bound) if answer.fractions_of_bound else None,
    )


def section(runs: Runs) -> Contribution:
    """Iterations, then whole solutions with their residuals and speed-ups, and figures over size."""
    contribution = runs_section.section(APP, runs, reported, simulated_s)
    page = contribution.sections[0]
    records = [record for record in runs.records if _is_understood(record)]
    if not records:
        return contribution
    page.figures += filter(None, [over_sizes(records)])
    page.tables.insert(1, table("Solutions", solved_runs(records), SOLUTIONS))
    page.note = f"{page.note} {ABOUT_SOLUTIONS}"
    contribution.findings += findings(records)
    add_scaling(APP, scaling_tables(records), runs, contribution)
    return contribution


def _is_understood(record: AppRecord) -> bool:
    with suppress(*UNREADABLE):
        record.answer.read_as(CgAnswer)
        return record.parameters["variant"] in VARIANTS and cells_of(record).product > 0
    return False


def findings(records: Sequence[AppRecord]) -> list[Finding]:
    """How iterations grow with the size."""
    return [
        Finding(
            f"{APP.title} in {dimensions} dimensions to {eps:g}: iterations grow as n to the power "
            f"{law.exponent.value:.3g}{law.exponent.bounds(none=' (two sizes, no interval)')}, over {law.sizes} "
            f"sizes, n from {law.smallest_n:.4g} to {law.largest_n:.4g}.",
            ANCHOR,
            0.6,
        )
        for (dimensions, eps), law in laws(records).items()
    ]


def over_sizes(records: Sequence[AppRecord]) -> Drawing | None:
    """Three panels over n: time of a solution, iterations with their law, ‖r‖. None without several sizes.

    A line is one number of ranks, formulation, eps and variant; of several grids the fastest counts.
    """
    series: dict[str, dict[float, AppRecord]] = {}
    for record in sorted(records, key=lambda record: -record.time_s):
        asked, sides = record.parameters, sides_of(cells_of(record))
        words = [counted(record.ranks, "rank"), f"{len(sides)}-D", str(asked["variant"]), f"eps {asked['eps']:g}"]
        words += [record.variant] if record.variant not in USUAL else []
        series.setdefault(", ".join(words), {})[equal_side(sides)] = record
    several = {name: by_side for name, by_side in series.items() if len(by_side) > 1}
    if not several:
        return None
    drawn = sorted(several, key=lambda name: -len(several[name]))[:MOST_SERIES]
    every = np.array([side for name in drawn for side in several[name]])
    x = Axis("unknowns along a side, n", "counts", values=every)
    lines: list[list[Line]] = [[], [], []]
    words = []
    for name, look in styles(drawn).items():
        sides_n = sorted(several[name])
        runs = [several[name][side] for side in sides_n]
        answers = [run.answer.read_as(CgAnswer) for run in runs]
        values = (
            [run.time_s for run in runs],
            [answer.iterations for answer in answers],
            [last_norm(answer) or np.nan for answer in answers],
        )
        for panel, of_runs in zip(lines, values, strict=True):
            panel.append(Line(name, np.array(sides_n), np.array(of_runs, dtype=np.float64), style=look, dots=4.0))
        words.append(f"{name}: {values[0][-1]:.3g} s and {values[1][-1]} iterations at n = {sides_n[-1]:.4g}")
    for law in laws(records).values():
        curve = np.geomspace(law.smallest_n, law.largest_n, 50)
        power = law.coefficient.value * curve**law.exponent.value
        lines[1].append(replace(Line("", curve, power), width=0.8, order=1))
    titles = ("time of a solution [s]", "iterations", "‖r‖ at the end")
    panels = [Panel(own, x, Axis(title, "log")) for own, title in zip(lines, titles, strict=True)]
    left_out = len(several) - len(drawn)
    return Drawing(
        "app-cg-sizes",
        "Conjugate gradients: against the size.",
        f"Time, iterations and residual of whole solutions against the size. {'; '.join(words)}.",
        "n is the side of the square or cube with the same condition number. Thin lines are the fitted powers; "
        "of several process grids the fastest is drawn."
        + (f" {left_out} further series are in the table only." if left_out else ""),
        Chart([panels], 3.8, columns=3),
    )
