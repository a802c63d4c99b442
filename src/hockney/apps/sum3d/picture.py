"""The time of a cycle on every grid: a panel for each size, a colour for each split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from hockney.apps.sum3d.grid_test import Configuration
from hockney.report.axes import time_unit
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.style import styles

MOST_PANELS = 6
MOST_GRIDS = 40


def grids(groups: Mapping[str, Sequence[Configuration]], name: str = "app-sum3d-all-grids") -> Drawing:
    """Means with 95 % intervals, the grids of a panel from top to bottom; all panels share their axis of time."""
    shown = dict([*groups.items()][:MOST_PANELS])
    splits = list(dict.fromkeys(one.split for group in shown.values() for one in group))
    looks = styles(splits)
    of_panel = {
        size: list(dict.fromkeys(one.grid for one in group))[:MOST_GRIDS] for size, group in shown.items()
    }
    figure = Figure(figsize=(WIDTH_IN, 1.6 + 0.19 * max(map(len, of_panel.values()))), layout="constrained")
    panels = figure.subplots(1, len(shown), sharex=True, squeeze=False)[0]
    every = [one.high_s or one.mean_s for group in shown.values() for one in group]
    scale, unit = time_unit(max(every))
    for axes, (size, group) in zip(panels, shown.items(), strict=True):
        places = {grid: place for place, grid in enumerate(of_panel[size])}
        for number, split in enumerate(splits):
            own = [one for one in group if one.split == split and one.grid in places]
            look = looks[split]
            shift = (number - (len(splits) - 1) / 2) * 0.25
            spread = np.array([[one.mean_s - (one.low_s or one.mean_s) for one in own],
                               [(one.high_s or one.mean_s) - one.mean_s for one in own]])  # fmt: skip
            axes.errorbar(
                [one.mean_s / scale for one in own], [places[one.grid] + shift for one in own],
                xerr=spread / scale, fmt=look.marker, color=look.colour, markersize=3.6, elinewidth=1.0,
                capsize=2.0, label=split if axes is panels[0] else "",
            )  # fmt: skip
        axes.set_yticks(range(len(places)), list(places))
        axes.set_ylim(len(places) - 0.4, -0.6)
        axes.set_title(size)
        axes.set_xlabel(f"time of a cycle [{unit}]")
        axes.set_xlim(left=max(axes.get_xlim()[0], 0.0))
    panels[0].set_ylabel("process grid")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    left_out = len(groups) - len(shown)
    caption = "Dots are means, bars their 95 % intervals (Student's t). The axis of time begins above zero."
    caption += f" {left_out} further sizes are in the table only." if left_out else ""
    title = "Sum of matrices: every grid"
    return Drawing(name, f"{title}.", f"{title}: the time of a cycle for {', '.join(shown)}.", caption, figure)
