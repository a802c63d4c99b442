"""Whole solutions against the size of the grid: time, iterations, and the residual that is left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from hockney.apps.cg.answer import CgAnswer
from hockney.apps.cg.iterations import laws, sides_of
from hockney.apps.cg.solved import last_norm, size_of
from hockney.apps.stencil.solution import equal_side
from hockney.records.app_record import AppRecord
from hockney.report.axes import count_axis, log_axis
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.style import styles

MOST_SERIES = 8
"""Lines of one figure, those with the most sizes."""


def side_of(record: AppRecord) -> float:
    """n: the side of the square or cube with the same condition number."""
    return equal_side(sides_of(size_of(record)))


def over_sizes(records: Sequence[AppRecord]) -> Drawing | None:
    """Three panels over n: time of a solution, iterations with their law, ‖r‖. None without several sizes.

    A line is one number of ranks, formulation, eps and variant; of several grids the fastest counts.
    """
    series: dict[str, dict[float, AppRecord]] = {}
    for record in records:
        asked, side = record.parameters, side_of(record)
        dimensions = len(sides_of(size_of(record)))
        words = [
            f"{record.ranks} rank{'s' if record.ranks > 1 else ''}",
            f"{dimensions}-D",
            str(asked["variant"]),
            f"eps {float(asked['eps']):g}",
        ]
        words += [record.variant] if record.variant not in ("", "default") else []
        of_series = series.setdefault(", ".join(words), {})
        if side not in of_series or record.time_s < of_series[side].time_s:
            of_series[side] = record
    several = {name: of_series for name, of_series in series.items() if len(of_series) > 1}
    if not several:
        return None
    drawn = sorted(several, key=lambda name: -len(several[name]))[:MOST_SERIES]
    looks = styles(drawn)
    figure = Figure(figsize=(WIDTH_IN, 3.8), layout="constrained")
    time_axes, count_axes, norm_axes = figure.subplots(1, 3)
    sides = sorted({side for name in drawn for side in several[name]})
    times, counts, norms, words = [], [], [], []
    for name in drawn:
        at = sorted(several[name])
        answers = [several[name][side].answer.read_as(CgAnswer) for side in at]
        seconds = [several[name][side].time_s for side in at]
        iterations = [float(answer.iterations) for answer in answers]
        left = [last_norm(answer) or 0.0 for answer in answers]
        look = {"marker": looks[name].marker, "markersize": 4.0, **looks[name].line}
        time_axes.plot(at, seconds, label=name, **look)
        count_axes.plot(at, iterations, **look)
        norm_axes.plot(at, left, **look)
        times += seconds
        counts += iterations
        norms += [value for value in left if value > 0]
        words.append(f"{name}: {seconds[-1]:.3g} s and {iterations[-1]:.0f} iterations at n = {at[-1]:.4g}")
    for (dimensions, eps), law in laws(records).items():
        curve = np.geomspace(law.smallest, law.largest, 50)
        count_axes.plot(
            curve, law.coefficient.value * curve**law.exponent.value, color="#444444", linewidth=0.8, zorder=1
        )
        words.append(f"{dimensions}-D to {eps:g}: iterations grow as n to the power {law.exponent.value:.3g}")
    for axes, values, label in (
        (time_axes, times, "time of a solution [s]"),
        (count_axes, counts, "iterations"),
        (norm_axes, norms, "‖r‖ at the end"),
    ):
        count_axis(axes, sides, "unknowns along a side, n")
        if values:
            log_axis(axes, min(values), max(values))
        axes.set_ylabel(label)
    figure.legend(*time_axes.get_legend_handles_labels(), loc="outside lower center", ncols=min(len(drawn), 3))
    left_out = (
        f" {len(several) - len(drawn)} further series are in the table only." if len(several) > len(drawn) else ""
    )
    return Drawing(
        "app-cg-sizes",
        "Conjugate gradients: against the size.",
        f"Time, iterations and residual of whole solutions against the size. {'; '.join(words)}.",
        "n is the side of the square or cube with the same condition number. Thin lines are the fitted powers; "
        f"of several process grids the fastest is drawn.{left_out}",
        figure,
    )
