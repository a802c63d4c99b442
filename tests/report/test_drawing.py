"""Fixed margins of a chart's panels: nothing lies on anything else or beyond the figure."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from hockney.report.explorer.chart import Axis, Chart, Line, Panel
from hockney.report.explorer.drawn import draw
from hockney.report.style import drawing_style

X, TIMES_S = np.array([1.0, 256.0]), np.array([1e-8, 0.1])


def chart(rows: int, columns: int, height_in: float, entries: int, *, shared: bool, is_right: bool) -> Chart:
    labels = [f"flat_tree_socket {number}" for number in range(entries)]
    panel = Panel(
        [Line(label, X, TIMES_S) for label in labels],
        Axis("ranks", "counts"),
        Axis("time in µs", "log", 1e-6),
        "an algorithm, 12 %",
    )
    return Chart(
        [[panel] * columns] * rows,
        height_in,
        shared="all" if shared else "",
        legend="right" if is_right else "below",
        title="a title",
    )


@pytest.mark.parametrize(
    ("rows", "columns", "height_in", "entries", "shared", "is_right"),
    [
        (1, 3, 4.2, 7, True, False),
        (3, 3, 9.5, 1, True, False),
        (1, 1, 3.7, 4, False, True),
        (2, 2, 7.4, 4, False, True),
        (2, 3, 7.4, 7, False, False),
    ],
)
def test_panels_and_legend_keep_apart(
    rows: int, columns: int, height_in: float, entries: int, shared: bool, is_right: bool
) -> None:
    figure = draw(chart(rows, columns, height_in, entries, shared=shared, is_right=is_right))
    with drawing_style():
        renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
        figure.draw(renderer)
        boxes = [box for axes in figure.axes if (box := axes.get_tightbbox(renderer)) is not None]
        boxes += [legend.get_window_extent() for legend in figure.legends]
    whole = figure.bbox
    assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 for box in boxes)
    assert all(whole.y0 <= box.y0 and box.y1 <= whole.y1 for box in boxes)
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
