"""Effective bisection bandwidth against the number of nodes: computed, measured, and the network's bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hockney.machine.congestion import MeasuredShare
from hockney.network.traffic.study import EffectiveShare
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import Array, Axis, Chart, Line, Mark, Panel
from hockney.report.findings import Finding
from hockney.report.style import MEASURED, QUIET, Style, styles
from hockney.units import counted, percent

NAME = "effective-bisection"


@dataclass(frozen=True)
class ComputedShare(EffectiveShare):
    """The mean over random bisections beside what bounds it."""

    bisection_share: float
    """By the links of the least bisection."""
    worst_permutation_share: float | None
    """Of the slowest pair of the worst permutation; None where it is not looked for."""


def effective(
    title: str,
    computed: Sequence[ComputedShare],
    measured: Sequence[MeasuredShare],
) -> Drawing:
    """One panel over nodes (logarithmic): shares of full bisection, at which every pair has a link for itself.

    Beside what is computed stand its bounds. Points without a line are measured.
    """
    looks = styles(["computed", "bisection", "worst"])
    bounds = {
        "links of the least bisection": ("bisection", [each.bisection_share for each in computed]),
        "slowest pair, worst permutation, all send": (
            "worst",
            [each.worst_permutation_share or np.nan for each in computed],
        ),
    }
    nodes = np.array([each.nodes for each in computed], np.float64)
    lines = [replace(_line("computed, mean over pairs", nodes, computed), style=looks["computed"], dots=4.0)]
    lines += [Line(label, nodes, np.array(shares), style=looks[look]) for label, (look, shares) in bounds.items()]
    ranks = np.array([each.ranks for each in measured], np.float64)
    dots = replace(_line("measured, 95 %", ranks, measured), style=Style(MEASURED, (), "s"), width=0, dots=5.0)
    drawn = [line for line in [*lines, dots] if np.isfinite(line.y).any()]
    said = "; ".join(f"{counted(each.nodes, 'node')}: {each.fraction:.3g}" for each in computed)
    said += "".join(f"; measured on {counted(each.ranks, 'rank')}: {each.fraction:.3g}" for each in measured)
    full = Mark(1.0, "full bisection", Style(QUIET, (), ""), is_level=True)
    axis = Axis(
        "share of full bisection", "from_0", values=np.array([1.0, *(each.high or 1 for each in measured)])
    )
    return Drawing(
        NAME,
        "Effective bisection bandwidth against nodes, one way.",
        f"Effective bisection bandwidth, {title}, as a share of full bisection. {said}.",
        "Bars are 95 % intervals; those of what is computed are of the mean over random bisections.",
        Chart(
            [[Panel(drawn, Axis("nodes", "counts"), axis, marks=[full])]],
            3.4,
            title=f"Effective bisection bandwidth, one way, {title}",
            columns=3,
        ),
    )


def _line(label: str, x: Array, shares: Sequence[ComputedShare | MeasuredShare]) -> Line:
    """Shares with their intervals where these are known."""
    values = [(each.fraction, each.low, each.high) for each in shares]
    fraction, low, high = np.array(values, np.float64).reshape(-1, 3).T
    return Line(label, x, fraction, low, high)


def _within(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" (95 %: {percent(low)} to {percent(high)})"


def findings(computed: Sequence[ComputedShare], measured: Sequence[MeasuredShare]) -> list[Finding]:
    """What is left of full bisection on the most nodes, measured and computed."""
    said = []
    if measured:
        most = measured[-1]
        within = _within(most.low, most.high)
        text = (
            f"On {counted(most.ranks, 'rank')} pairs of random bisections get {percent(most.fraction)}{within} "
            "of full bisection."
        )
        said.append(Finding(text, NAME, 0.6))
    if computed:
        widest = computed[-1]
        within = _within(widest.low, widest.high)
        text = f"By the network's links alone {widest.nodes} nodes would get {percent(widest.fraction)}{within}."
        said.append(Finding(text, NAME, 0.4))
    return said
