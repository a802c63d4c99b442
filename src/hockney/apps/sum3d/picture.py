"""The time of a cycle on every grid: a panel for each size, a colour for each split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hockney.apps.stencil.grid_test import Configuration
from hockney.report.axes import time_unit
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import Axis, Chart, Line, Panel
from hockney.report.style import styles

MOST_PANELS = 6
MOST_GRIDS = 40


def grids(groups: Mapping[str, Sequence[Configuration]], name: str = "app-sum3d-all-grids") -> Drawing:
    """Means with 95 % intervals, the grids of a panel from top to bottom; all panels share their axis of time."""
    shown = dict([*groups.items()][:MOST_PANELS])
    every = [each for group in shown.values() for each in group]
    looks = styles(list(dict.fromkeys(each.split for each in every)))
    longest_s = max(each.high_s or each.mean_s for each in every)
    scale, unit = time_unit(longest_s)
    ends_s = np.array([0.98 * min(each.low_s or each.mean_s for each in every), 1.02 * longest_s])
    x = Axis(f"time of a cycle [{unit}]", "linear", scale, ends_s)
    panels = []
    for size, group in shown.items():
        names = list(dict.fromkeys(each.grid for each in group))[:MOST_GRIDS]
        lines = []
        for number, (split, look) in enumerate(looks.items()):
            own = [each for each in group if each.split == split and each.grid in names]
            values = [(each.mean_s, each.low_s, each.high_s) for each in own]
            mean_s, low_s, high_s = np.array(values, dtype=np.float64).reshape(-1, 3).T
            places = np.array([names.index(each.grid) for each in own]) + 0.25 * (number - (len(looks) - 1) / 2)
            lines.append(Line(split, mean_s, places, low_s, high_s, look, width=0, dots=3.6, is_across=True))
        panels.append(Panel(lines, x, Axis("process grid", "names", names=names), size))
    left_out = len(groups) - len(shown)
    caption = "Dots are means, bars their 95 % intervals (Student's t). The axis of time begins above zero."
    caption += f" {left_out} further sizes are in the table only." if left_out else ""
    title = "Sum of matrices: every grid"
    alt = f"{title}: the time of a cycle for {', '.join(shown)}."
    chart = Chart([panels], 1.6 + 0.19 * max(len(panel.y.names) for panel in panels))
    return Drawing(name, f"{title}.", alt, caption, chart)
