"""Times against sizes as characters, for a terminal: what was measured, and the model through it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hockney.machine.file import Entry
from hockney.machine.select import titles
from hockney.models.base import predict, preferred_model
from hockney.units import format_bytes, format_bytes_rounded, format_time

HEIGHT = 14
"""Lines of a plot, without the axis below."""
LABEL = 8
"""Columns of the times at the left."""
MEASURED, MODEL = "o", "·"


def as_plots(entries: list[Entry], model: str, width: int) -> str:
    """A plot for each entry with points or a model, at most `width` columns wide; the model is its preferred one.

    `model` is another one to draw, or "all" for the preferred.
    """
    blocks = []
    for entry, title in zip(entries, titles(entries), strict=True):
        name = model if model in entry.fits else preferred_model(entry.fits) or ""
        if lines := _plot(entry, name, width):
            drawn = " and ".join(
                [f"{MEASURED} measured"] * bool(entry.measurements.points) + [f"{MODEL} {name}"] * bool(name)
            )
            blocks.append("\n".join([f"{title}: {drawn}", *lines]))
    return "\n\n".join(blocks)


def _plot(entry: Entry, model: str, width: int) -> list[str]:
    """The lines of a plot, both axes logarithmic; an empty message stands at the left, as if it were of 1/2 B."""
    points = entry.measurements.points
    measured_B = np.array([point.size_B for point in points], dtype=np.float64)
    measured_s = np.array([point.time_s for point in points])
    columns = width - LABEL - 3
    # Published models have no points: the sizes that most machines are measured at.
    ends_B = (measured_B.min(), measured_B.max()) if points else (1.0, 2.0**22)
    left, right = np.log2(max(ends_B[0], 0.5)), np.log2(max(ends_B[1], 1.0))
    grid_B = 2.0 ** np.linspace(left, right, columns)
    model_s = predict(entry.fits[model], grid_B) if model else np.full(columns, np.nan)
    times_s = np.concatenate([measured_s, model_s])
    times_s = times_s[np.isfinite(times_s) & (times_s > 0)]
    if not times_s.size or columns < 1:
        return []
    bottom, top = np.log10(times_s.min()), np.log10(times_s.max())
    cells = [[" "] * columns for _ in range(HEIGHT)]
    _put(cells, MODEL, grid_B, model_s, (left, right), (bottom, top))
    _put(cells, MEASURED, measured_B, measured_s, (left, right), (bottom, top))
    labels = {row: 10 ** (top - (top - bottom) * row / (HEIGHT - 1)) for row in (0, HEIGHT // 2, HEIGHT - 1)}
    lines = [
        f"{format_time(labels[row]) if row in labels else '':>{LABEL}} ┤{''.join(cells[row])}".rstrip()
        for row in range(HEIGHT)
    ]
    first, last = format_bytes(ends_B[0]), format_bytes(ends_B[1])
    middle = format_bytes_rounded(2 ** ((left + right) / 2))
    between = columns - len(first) - len(last)
    axis = f"{first}{middle if between > len(middle) + 1 else '':^{max(1, between)}}{last}"
    return [*lines, f"{'':>{LABEL}} └{'─' * columns}", f"{'':>{LABEL}}  {axis}"]


def _put(
    cells: list[list[str]],
    sign: str,
    size_B: NDArray[np.float64],
    time_s: NDArray[np.float64],
    across: tuple[float, float],
    up: tuple[float, float],
) -> None:
    """Write a sign into the cell of each point."""
    for size, time in zip(size_B, time_s, strict=True):
        if np.isfinite(time) and time > 0:
            x = _share(float(np.log2(max(size, 0.5))), across) * (len(cells[0]) - 1)
            y = _share(float(np.log10(time)), up) * (len(cells) - 1)
            cells[len(cells) - 1 - round(y)][round(x)] = sign


def _share(value: float, ends: tuple[float, float]) -> float:
    """Where a value is between two ends; 0 where they are one."""
    low, high = ends
    return (value - low) / (high - low) if high > low else 0.0
