"""The picture of what conjugate gradients converge to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from hockney.report.drawing import WIDTH_IN, write_figure
from hockney.report.style import drawing_style

MOST_PIXELS = 1000
"""Along one direction of a picture of a solution: more are thinned out."""


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
