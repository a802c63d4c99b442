"""The figure of predicted against measured times: what is drawn where, and what cannot be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from hockney.errors import RequestError
from hockney.predict.estimators.base import Prediction
from hockney.report.predicted import predicted

TEST = pd.DataFrame({"algorithm": ["linear", "linear", "chain"], "time_s": [1e-6, 1e-5, 1e-3]})


def made(*time_s: float) -> Prediction:
    none = np.full(len(time_s), np.nan)
    return Prediction(np.array(time_s), none, none)


def dots(axes: Axes) -> list[tuple[float, float, str, bool]]:
    """Abscissa, ordinate (µs), colour, and whether it is filled, of every point that is drawn."""
    return [
        (float(x), float(y), to_hex(line.get_color()), line.get_markerfacecolor() != "white")
        for line in axes.lines
        if line.get_linestyle() == "None"
        for x, y in zip(np.asarray(line.get_xdata()), np.asarray(line.get_ydata()), strict=True)
    ]


def test_points_stand_where_they_belong() -> None:
    drawing = predicted("bcast", TEST, {"ours": made(2e-6, 1e-5, np.nan)})
    drawn = dots(drawing.figure.axes[0])
    assert [number for x, y, *_ in drawn for number in (x, y)] == pytest.approx([1, 2, 10, 10])
    assert all(filled for *_, filled in drawn)
    assert "median 50 %" in drawing.alt  # of errors 1 and 0
    assert "1 not predicted" in drawing.alt


def test_intervals_are_bars_and_coverage_is_told() -> None:
    time_s = np.array([2e-6, 1e-5, 1e-3])
    one = Prediction(time_s, np.array([0.5e-6, 2e-5, np.nan]), np.array([4e-6, 4e-5, np.nan]))
    drawing = predicted("bcast", TEST, {"ours": one})
    bars = [
        [float(y) for _, y in segment]
        for group in drawing.figure.axes[0].collections[1:]
        for segment in group.get_segments()  # type: ignore[attr-defined]
    ]
    assert bars == [pytest.approx([0.5, 4.0]), pytest.approx([20, 40])]
    # 1 µs lies in the first interval, 10 µs below the second; the third point has none.
    assert "50 % in their 95 % interval" in drawing.alt
    assert "no intervals" in predicted("bcast", TEST, {"ours": made(1e-6, 1e-5, 1e-3)}).alt


def test_an_algorithm_keeps_its_colour_in_all_panels() -> None:
    drawing = predicted("bcast", TEST, {"a": made(1e-6, 1e-5, 1e-3), "b": made(np.nan, np.nan, 1e-3)})
    first, second = (dots(axes) for axes in drawing.figure.axes[:2])
    assert second[0][2] == first[2][2] != first[0][2]


def test_beyond_the_frame_stands_at_its_edge_and_open() -> None:
    drawn = dots(predicted("bcast", TEST, {"ours": made(-5.0, 1e9, 1e-3)}).figure.axes[0])
    low, high = predicted("bcast", TEST, {"ours": made(1e-6, 1e-5, 1e-3)}).figure.axes[0].get_ylim()
    outside = sorted((x, y) for x, y, _, filled in drawn if not filled)
    assert [x for x, _ in outside] == pytest.approx([1, 10])
    assert all(low < y < high for _, y in outside)
    assert len(drawn) == 3


def test_the_band_is_ten_per_cent() -> None:
    axes = predicted("bcast", TEST, {"ours": made(1e-6, 1e-5, 1e-3)}).figure.axes[0]
    corners = np.asarray(axes.collections[0].get_paths()[0].vertices)
    assert {round(float(ratio), 9) for ratio in corners[:, 1] / corners[:, 0]} == {0.9, 1.1}


def test_models_without_a_prediction_have_no_panel() -> None:
    drawing = predicted("bcast", TEST, {"none": made(np.nan, np.nan, np.nan), "ours": made(1e-6, 1e-5, 1e-3)})
    assert [axes.get_title().splitlines()[0] for axes in drawing.figure.axes] == ["ours"]
    with pytest.raises(RequestError, match="no prediction"):
        predicted("bcast", TEST, {"none": made(np.nan, np.nan, np.nan)})
