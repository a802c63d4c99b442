"""Lattice updates per second against the number of ranks, with the ideal lines and the breaks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hockney.apps.jacobi.scaling import ScalingTable
from hockney.models.base import Parameter
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.style import QUIET, styles

MOST_TABLES = 8
"""Lines of one figure, those with the most runs."""
LETTERS = 140
"""Characters of a line of the legend."""


def rates(tables: Sequence[ScalingTable]) -> Drawing:
    """P of each table: dots for every grid, a line through the fastest of each number of ranks.

    Colours go by the order of the tables. A thin line of the same colour is N P₁. A dotted vertical line stands
    where the time steps.
    """
    drawn = sorted(tables, key=lambda table: -len(table.runs))[:MOST_TABLES]
    shown = [table for table in tables if table in drawn]
    looks = styles([table.name for table in shown])
    figure = Figure(figsize=(WIDTH_IN, 4.2), layout="constrained")
    axes = figure.subplots()
    most = max(run.grid.ranks for table in shown for run in table.runs)
    words, ideals = [], set()
    for table in shown:
        look, fastest = looks[table.name], table.fastest()
        every = [*([table.alone] if table.alone else []), *table.runs]
        axes.errorbar(
            [run.grid.ranks for run in every], [run.mlups.value for run in every],
            yerr=np.array([_reach(run.mlups) for run in every]).T, linestyle="",
            marker=look.marker, color=look.colour, markersize=3.6, elinewidth=0.8, alpha=0.55,
        )  # fmt: skip
        axes.plot(
            [run.grid.ranks for run in fastest], [run.mlups.value for run in fastest], marker=look.marker,
            markersize=4.2, label=table.name + (" each" if table.is_weak else ""), **look.line,
        )  # fmt: skip
        if table.alone is not None and (first := table.alone.mlups.value) not in ideals:
            ideals.add(first)
            axes.plot([0, most], [0, most * first], color=look.colour, linewidth=0.7, alpha=0.7, zorder=1)
            axes.annotate(
                f"N·P₁, P₁ = {first:.4g}", (most, most * first), textcoords="offset points", xytext=(-4, -2),
                ha="right", va="bottom", fontsize=7.5, color=look.colour,
            )  # fmt: skip
        broken = made.broken if (made := table.study()) is not None else None
        if broken is not None:
            axes.axvline((broken.before + broken.after) / 2, color=look.colour, linestyle=":", linewidth=1.1)
            axes.annotate(
                f"{broken.before} | {broken.after}: time × {broken.ratio.value:.3g}",
                ((broken.before + broken.after) / 2, 0.98), xycoords=("data", "axes fraction"), rotation=90,
                ha="right", va="top", fontsize=7.5, color=QUIET,
            )  # fmt: skip
        last = fastest[-1]
        words.append(f"{table.name}: {last.mlups.value:.4g} MLUP/s on {last.grid.ranks} ranks")
    axes.set_xlim(0, most * 1.02)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("ranks N")
    axes.set_ylabel("P [10⁶ lattice updates per second]")
    handles, labels = axes.get_legend_handles_labels()
    columns = max(1, min(len(labels), LETTERS // (max(map(len, labels)) + 8)))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    left = f" {len(tables) - len(shown)} further tables are not drawn." if len(tables) > len(shown) else ""
    return Drawing(
        "app-jacobi-rates",
        "Jacobi: lattice updates per second.",
        f"Lattice updates per second against ranks, with ideal lines. {'; '.join(words)}.",
        "Dots are process grids with 95 % intervals, lines join the fastest of each number of ranks, thin lines "
        f"are N times the rate of one rank, and dotted ones stand where the time of a sweep steps.{left}",
        figure,
    )


def _reach(rate: Parameter) -> tuple[float, float]:
    """How far the interval goes down and up; 0 where there is none."""
    if rate.low is None or rate.high is None:
        return 0.0, 0.0
    return max(rate.value - rate.low, 0.0), max(rate.high - rate.value, 0.0)
