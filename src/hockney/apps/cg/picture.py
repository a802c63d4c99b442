"""Pictures of a conjugate-gradient run: how it converges, and what it converges to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from hockney.report.drawing import WIDTH_IN, Drawing, write_drawing, write_figure
from hockney.report.explorer.chart import Axis, Chart, Line, Panel
from hockney.report.style import drawing_style, styles

MOST_PIXELS = 1000
"""Along one direction of a picture of a solution: more are thinned out."""


def convergence(path: Path, histories: Sequence[tuple[str, Sequence[float | None]]]) -> None:
    """Draw residual norms relative to the first over iterations; (label, norms) for each line.

    Equal labels share a line style: those of process grids lie on each other where the iteration does not depend
    on them. RequestError for an unwritable place.
    """
    looks = styles(list(dict.fromkeys(label for label, _ in histories)))
    lines = []
    for label, norms in histories:
        # What was no number is null in a record.
        values = np.asarray(norms, dtype=np.float64)
        lines.append(Line(label, np.arange(float(values.size)), values / values[0], style=looks[label]))
    panel = Panel(lines, Axis("iteration", "whole"), Axis("‖r‖ / ‖r at the start‖", "log"))
    chart = Chart([[panel]], 3.6, 0.6 * WIDTH_IN, legend="below" if len(looks) > 1 else "none")
    title = "Residual norms over iterations"
    write_drawing(path, lambda: Drawing("convergence", title, title, "", chart))


def solution(path: Path, values: NDArray[np.float64], spacing: float) -> None:
    """Draw a solution (z, y, x); of a box its middle plane along z. `spacing`: between unknowns."""
    plane = values[values.shape[0] // 2]
    step = max(1, -(-max(plane.shape) // MOST_PIXELS))
    sides = [(count + 1) * spacing for count in plane.shape]
    with drawing_style():
        figure = Figure(figsize=(0.5 * WIDTH_IN, 4.0), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(plane[::step, ::step], origin="lower", extent=(0, sides[1], 0, sides[0]))
        figure.colorbar(image, ax=axes, label="u")
        axes.set_xlabel("x")
        axes.set_ylabel("y")
        if values.shape[0] > 1:
            axes.set_title(f"z = {(values.shape[0] // 2 + 1) * spacing:.4g}", fontsize=9)
        write_figure(path, figure, "The solution")
