"""Effective bisection bandwidth against the number of nodes: computed, measured, and the network's bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from hockney.machine.congestion import MeasuredShare
from hockney.network.traffic.study import EffectiveShare
from hockney.report.axes import count_axis
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.findings import Finding
from hockney.report.style import MEASURED, QUIET, styles

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

    Beside what is computed stand its bounds. Points with bars are measured.
    """
    figure = Figure(figsize=(WIDTH_IN, 3.4), layout="constrained")
    axes = figure.subplots()
    looks = styles(["computed", "bisection", "worst"])
    nodes = np.array([each.nodes for each in computed], np.float64)
    if len(nodes):
        axes.plot(
            nodes,
            [each.fraction for each in computed],
            "o-",
            label="computed, mean over pairs",
            color=looks["computed"].colour,
        )
        axes.fill_between(
            nodes,
            [each.fraction if each.low is None else each.low for each in computed],
            [each.fraction if each.high is None else each.high for each in computed],
            color=looks["computed"].colour,
            alpha=0.2,
            linewidth=0,
        )
        bounds = [each.bisection_share for each in computed]
        axes.plot(nodes, bounds, label="links of the least bisection", **looks["bisection"].line)
        worst = [each.worst_permutation_share for each in computed]
        if any(share is not None for share in worst):
            shares = [np.nan if share is None else share for share in worst]
            axes.plot(nodes, shares, label="slowest pair, worst permutation", **looks["worst"].line)
    if measured:
        ranks = np.array([each.ranks for each in measured], np.float64)
        share = np.array([each.fraction for each in measured])
        below = [each.fraction - (each.fraction if each.low is None else each.low) for each in measured]
        above = [(each.fraction if each.high is None else each.high) - each.fraction for each in measured]
        axes.errorbar(
            ranks,
            share,
            yerr=np.maximum([below, above], 0),
            fmt="s",
            color=MEASURED,
            capsize=2,
            label="measured, 95 %",
            zorder=3,
        )
    axes.axhline(1.0, color=QUIET, linewidth=0.9, label="full bisection")
    count_axis(axes, sorted({*nodes.tolist(), *(float(each.ranks) for each in measured)}), "nodes")
    axes.set_ylim(0, 1.08 * max(1.0, *(each.high or each.fraction for each in measured), 1.0))
    axes.set_ylabel("share of full bisection")
    axes.set_title(f"Effective bisection bandwidth, {title}")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    said = "; ".join(f"{each.nodes} nodes: {each.fraction:.3g}" for each in computed)
    said += "".join(f"; measured on {each.ranks} ranks: {each.fraction:.3g}" for each in measured)
    return Drawing(
        NAME,
        "Effective bisection bandwidth against nodes.",
        f"Effective bisection bandwidth, {title}, as a share of full bisection. {said}.",
        "The band is the 95 % interval of the mean over random bisections.",
        figure,
    )


def findings(computed: Sequence[ComputedShare], measured: Sequence[MeasuredShare]) -> list[Finding]:
    """What is left of full bisection on the most nodes, measured and computed."""
    said = []
    if measured:
        most = measured[-1]
        within = "" if most.low is None or most.high is None else f" (95 %: {most.low:.1%} to {most.high:.1%})"
        text = (
            f"On {most.ranks} ranks pairs of random bisections get {most.fraction:.1%}{within} of full bisection."
        )
        said.append(Finding(text, NAME, 0.6))
    if computed:
        widest = computed[-1]
        within = "" if widest.low is None else f" (95 %: {widest.low:.1%} to {widest.high:.1%})"
        text = f"By the network's links alone {widest.nodes} nodes would get {widest.fraction:.1%}{within}."
        said.append(Finding(text, NAME, 0.4))
    return said
