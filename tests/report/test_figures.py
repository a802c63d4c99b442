"""What is in the figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from hockney.models._evaluate import HeldOut
from hockney.models.base import Fit
from hockney.report.curves import MessageCurve
from hockney.report.drawing import Drawing, svg_file
from hockney.report.figures import Context, held_out, overview, residuals, with_fits
from hockney.report.marks import Peak, SizeMark
from hockney.report.style import drawing_style, model_styles

Make = Callable[..., MessageCurve]
POINTS = [
    (0, 2e-6, 1.9e-6, 2.1e-6),
    *((2**k, 2e-6 + 2**k / 1e9, 1.9e-6 + 2**k / 1e9, 2.1e-6 + 2**k / 1e9) for k in range(21)),
]


def context(**other: object) -> Context:
    return Context(model_styles(["good", "bad"]), **other)  # type: ignore[arg-type]


def words(drawing: Drawing) -> str:
    return svg_file(drawing.figure).decode()


@pytest.fixture
def fits(line: Callable[..., Fit]) -> dict[str, Fit]:
    return {"good": line(2e-6, 1e-9), "bad": line(-1e-3, 1e-8)}


@pytest.fixture(autouse=True)
def style() -> Iterator[None]:
    with drawing_style():
        yield


def test_fits_and_points(curve: Make, fits: dict[str, Fit]) -> None:
    marks = [SizeMark(32768, "L1d"), SizeMark(2**30, "L3")]
    drawing = with_fits(
        curve(POINTS, fits, eager_limit_B=4096), context(size_marks=marks, peaks=[Peak("Link", 2e9)])
    )
    text = words(drawing)
    for word in ("good", "bad", "0 B", "L1d", "eager limit", "throughput (GB/s)", "Link 2 GB/s: 50 % reached"):
        assert word in text
    assert ">L3<" not in text
    assert "L3 1 GiB (outside the plot)" in drawing.caption
    assert "bad: not drawn where the model gives a negative time" in drawing.caption
    assert "0 B takes 2 µs" in drawing.alt


def test_a_drawn_fit_is_the_model(curve: Make, line: Callable[..., Fit]) -> None:
    drawing = with_fits(curve(POINTS, {"good": line(2e-6, 1e-9)}), context())
    time_axes, rate_axes = drawing.figure.axes
    solid = [one for one in time_axes.lines if np.size(one.get_xdata()) > 20 and one.get_linestyle() == "-"]
    x, y = (np.asarray(data, dtype=float) for data in solid[0].get_data())
    np.testing.assert_allclose(y, 2 + 2**x / 1e3)  # µs
    assert rate_axes.get_ylim()[0] == 0


def test_a_peak_far_above_the_data_is_not_drawn(curve: Make, fits: dict[str, Fit]) -> None:
    drawing = with_fits(curve(POINTS, fits), context(peaks=[Peak("Far", 1e12)]))
    assert "Far" not in words(drawing)
    assert drawing.figure.axes[1].get_ylim()[1] < 2


def test_a_peak_of_short_messages_lies_over_these(curve: Make, fits: dict[str, Fit]) -> None:
    peaks = [Peak("Short", 0.8e9, up_to_B=4096), Peak("Longer", 1e9, above_B=2**21)]
    drawing = with_fits(curve(POINTS, fits), context(peaks=peaks))
    # 4096 B in 2 + 4.096 µs are 0.672 GB/s, 84 % of 0.8; nothing is longer than 2 MiB.
    assert "Short up to 4 KiB 0.8 GB/s: 84 % reached" in words(drawing).replace("800 MB/s", "0.8 GB/s")
    assert "Longer" not in words(drawing)
    rates = drawing.figure.axes[1]
    (peak,) = [one for one in rates.lines if np.allclose(np.asarray(one.get_ydata(), dtype=float), 0.8)]
    low, high = rates.get_xlim()
    first, last = np.asarray(peak.get_xdata(), dtype=float)
    assert first == 0
    assert low + last * (high - low) == pytest.approx(12)  # log2 of 4096


def test_the_legend_covers_no_data(curve: Make, fits: dict[str, Fit]) -> None:
    many = [curve(POINTS, fits, variant=f"variant number {i}") for i in range(8)]
    for drawing in (with_fits(many[0], context()), overview("x", "x", many, context())):
        drawing.figure.draw_without_rendering()
        (legend,) = drawing.figure.legends
        box = legend.get_window_extent()
        for axes in drawing.figure.axes:
            assert box.y1 <= axes.get_tightbbox().y0  # type: ignore[union-attr]
        assert box.x0 >= 0
        assert box.x1 <= drawing.figure.bbox.x1


def test_residuals_in_per_cent(curve: Make, line: Callable[..., Fit]) -> None:
    """A model of 1.1 times the truth is 10 % off everywhere."""
    drawing = residuals(curve(POINTS, {"good": line(2.2e-6, 1.1e-9)}), context())
    assert "median 10 %" in words(drawing)
    np.testing.assert_allclose(np.asarray(drawing.figure.axes[0].lines[0].get_ydata(), dtype=float), 10)


def test_held_out_numbers_are_shown() -> None:
    result = HeldOut(np.array([1e-6, 2e-6]), np.array([1e-6, -1.0]), 0.021, 0.14)
    assert "median 2.1 %, P95 14 %" in words(held_out("x", "x", {"good": result}, context()))


def test_one_point_is_a_figure_too(curve: Make, fits: dict[str, Fit]) -> None:
    for points in ([(0, 1e-6)], [(8, 1e-6)]):
        words(with_fits(curve(points, fits), context()))
        words(residuals(curve(points, fits), context()))


def left_of_axes(drawing: Drawing) -> float:
    """Where the leftmost label of an axis begins, in parts of the figure's width."""
    canvas = FigureCanvasAgg(drawing.figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    boxes = [axes.yaxis.get_tightbbox(renderer) for axes in drawing.figure.axes]
    return min(float(box.x0) for box in boxes if box is not None) / float(drawing.figure.bbox.width)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5])
def test_no_label_is_cut(curve: Make, line: Callable[..., Fit], scale: float) -> None:
    points = [(size, *(scale * time_s for time_s in times)) for size, *times in POINTS]
    one = curve(points, {"good": line(scale * 2e-6, scale * 1e-9)}, operation="bidirectional")
    held = HeldOut(np.array([1e-6, 1e-4]) * scale, np.array([1e-6, 1e-4]) * scale, 0.1, 0.2)
    drawings = [
        with_fits(one, context()),
        overview("x", "x", [one, curve(points, variant="two", operation="bidirectional")], context()),
        held_out("x", "x", {"good": held}, context()),
    ]
    for drawing in drawings:
        assert left_of_axes(drawing) >= 0, drawing.name


def test_bars_are_said_to_be_intervals_only_where_there_are_some(curve: Make) -> None:
    bare = [(size, time_s) for size, time_s, *_ in POINTS]
    both = [curve(POINTS, variant="one"), curve(bare, variant="two")]
    assert "Bars are 95 % intervals of the median; 1 curve without" in overview("x", "x", both, context()).caption
    assert "no bars" in overview("x", "x", [curve(bare), curve(bare, variant="two")], context()).caption


def test_a_transport_has_one_look_in_every_place(curve: Make) -> None:
    shared = context()
    colours: dict[str, set[str]] = {}
    for locality, variants in (("cache", ("ucx", "tcp")), ("network", ("tcp", "ib0", "ucx"))):
        made = [curve(POINTS, variant=variant, locality=locality) for variant in variants]
        for one in overview(locality, locality, made, shared).figure.axes[0].get_lines():
            for variant in variants:
                if variant in str(one.get_label()):
                    colours.setdefault(variant, set()).add(str(one.get_color()))
    assert {variant: len(of_it) for variant, of_it in colours.items()} == {"ucx": 1, "tcp": 1, "ib0": 1}
    assert len(set.union(*colours.values())) == 3


@pytest.mark.parametrize(
    "peak", [Peak("a long name of a peak", 2e9, above_B=2**9), Peak("early", 1e9, up_to_B=64)]
)
def test_words_of_a_peak_stay_inside_of_the_panel(curve: Make, peak: Peak) -> None:
    drawing = with_fits(curve(POINTS), context(peaks=[peak]))
    FigureCanvasAgg(drawing.figure)
    axes = drawing.figure.axes[1]
    (label,), around = axes.texts[1:], axes.get_window_extent()  # the first is the break after 0 B
    own = label.get_window_extent()
    assert around.x0 <= own.x0
    assert own.x1 <= around.x1
