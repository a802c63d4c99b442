"""Fixed margins of a grid of axes: as asked for, so that nothing lies on anything else or beyond the figure."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hockney.report.axes import log_axis
from hockney.report.drawing import WIDTH_IN, legend_below
from hockney.report.style import drawing_style

GRIDS = {(1, 3): (4.2, (0.12, 0.0)), (3, 3): (9.5, (0.12, 0.72)), (1, 1): (3.7, (0.12, 0.72))}
"""Rows and columns: the height of the figure, inches, and its gaps."""
TOP_IN = 0.3


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("entries", [1, 7])
def test_axes_and_legend_keep_apart(grid: tuple[int, int], entries: int) -> None:
    height_in, gaps_in = GRIDS[grid]
    with drawing_style():
        figure = Figure(figsize=(WIDTH_IN, height_in))
        panels = np.asarray(figure.subplots(*grid, sharex=True, sharey=True, squeeze=False))
        for axes in panels.flat:
            axes.plot([1, 256], [0.01, 1e5], label="")
            axes.set_title("an algorithm: quadratic, scaled, off by 12 %", fontsize=8)
            axes.set_xlabel("ranks")
            axes.tick_params(labelbottom=True)
        for axes in panels[:, 0]:
            axes.set_ylabel("time in µs")
        log_axis(panels[0, 0], 0.01, 1e5)
        handles = [panels[0, 0].plot([], [])[0] for _ in range(entries)]
        legend_below(figure, handles, ["flat_tree_socket"] * entries, 5, top_in=TOP_IN, gaps_in=gaps_in)
        renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
        figure.draw(renderer)
        boxes = [axes.get_tightbbox(renderer) for axes in panels.flat] + [figure.legends[0].get_window_extent()]
    whole = figure.bbox
    assert all(whole.x0 <= one.x0 and one.x1 <= whole.x1 for one in boxes)
    assert all(whole.y0 <= one.y0 and one.y1 <= whole.y1 for one in boxes)
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    width_in, _ = figure.get_size_inches()
    at = np.array([[axes.get_position().extents for axes in row] for row in panels])
    left, bottom, right, top = np.moveaxis(at, -1, 0)
    assert (left[:, 1:] - right[:, :-1]) * width_in == pytest.approx(gaps_in[0])
    assert (bottom[:-1] - top[1:]) * height_in == pytest.approx(gaps_in[1])
    assert (1 - top[0]) * height_in == pytest.approx(TOP_IN)
