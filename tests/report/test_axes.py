"""Places on the size axis, and labels that do not touch."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from hockney.report.style import (
    SizeAxis,
    count_axis,
    log_axis,
    plain,
    rate_unit,
    spread_labels,
    thin_labels,
    time_unit,
)


def labels_of(axis: SizeAxis) -> list[str]:
    axes = Figure().subplots()
    axis.apply(axes)
    thin_labels(axes)
    return [label for label in (axes.xaxis.get_major_formatter().format_ticks(list(axes.get_xticks()))) if label]


@given(st.lists(st.integers(0, 2**40), min_size=2, unique=True))
def test_larger_messages_stand_further_right(sizes: list[int]) -> None:
    ordered = np.array(sorted(sizes), dtype=np.float64)
    places = SizeAxis.of([ordered]).position(ordered)
    assert np.all(np.diff(places) > 0)


def test_zero_stands_apart_at_the_left() -> None:
    axis = SizeAxis.of([np.array([0.0, 1.0, 1024.0])])
    assert axis.zero
    assert axis.zero_at <= -1
    assert labels_of(axis)[0] == "0 B"
    assert "0 B" not in labels_of(SizeAxis.of([np.array([1.0, 1024.0])]))


def test_ticks_are_powers_of_two() -> None:
    labels = labels_of(SizeAxis.of([np.array([1.0, 2.0**22])]))
    assert labels == ["1 B", "8 B", "64 B", "512 B", "4 KiB", "32 KiB", "256 KiB", "2 MiB"]


@pytest.mark.parametrize("largest_B", [2.0**24, 1.3 * 2.0**24])
def test_the_last_label_of_a_narrow_panel_stays_inside(largest_B: float) -> None:
    figure = Figure(figsize=(8.0, 2.6))
    figure.subplots_adjust(left=0.1, right=0.995, wspace=0.08)
    panels = figure.subplots(1, 4)
    for axes in panels:
        SizeAxis.of([np.array([0.0, 1.0, largest_B])]).apply(axes)
        thin_labels(axes)
    figure.draw_without_rendering()
    ends = [max(label.get_window_extent().x1 for label in axes.get_xticklabels()) for axes in panels]
    begins = [min(label.get_window_extent().x0 for label in axes.get_xticklabels()) for axes in panels]
    assert ends[-1] <= figure.bbox.x1
    assert all(end < begin for end, begin in zip(ends, begins[1:], strict=False))


@pytest.mark.parametrize("names", [["2"], ["1 048 576", "2 097 152"] * 9, ["512 KiB"] * 24])
@pytest.mark.parametrize("width_in", [1.5, 4.0, 9.0])
def test_wide_labels_never_touch(names: list[str], width_in: float) -> None:
    figure = Figure(figsize=(width_in, 2.0))
    axes = figure.subplots()
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_xticks(range(len(names)), names)
    thin_labels(axes)
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert boxes
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


@pytest.mark.parametrize("sizes", [[0.0], [8.0], [0.0, 8.0], [3.0, 5.0]])
def test_a_single_size_has_an_axis(sizes: list[float]) -> None:
    axes = Figure().subplots()
    SizeAxis.of([np.array(sizes)]).apply(axes)
    low, high = axes.get_xlim()
    assert low < high


def test_plain_numbers_at_the_ticks_of_times() -> None:
    axes = Figure().subplots()
    log_axis(axes, 0.2, 30_000)
    texts = axes.yaxis.get_major_formatter().format_ticks(list(axes.get_yticks()))
    assert {"1", "100", "10 000"} <= set(texts)
    assert plain(0.01) == "0.01"
    assert plain(1000) == "1000"


@pytest.mark.parametrize(("low", "high"), [(0, 1), (5e-324, 1e308), (1e-3, 1e308), (0, 1e-308), (1e308, 1.7e308)])
def test_absurd_times_have_an_axis(low: float, high: float) -> None:
    """Warnings are errors here: a scale that matplotlib refuses ends the test."""
    figure = Figure()
    axes = figure.subplots()
    log_axis(axes, low, high)
    shown_low, shown_high = axes.get_ylim()
    assert 0 < shown_low < shown_high < math.inf
    figure.canvas.draw()


@pytest.mark.parametrize(
    ("rate", "unit"), [(12e9, "GB/s"), (0.6e9, "GB/s"), (0.4e9, "MB/s"), (3e3, "kB/s"), (5, "B/s")]
)
def test_unit_of_a_rate(rate: float, unit: str) -> None:
    assert rate_unit(rate)[1] == unit


@pytest.mark.parametrize(("time_s", "unit"), [(60, "s"), (1, "s"), (0.9, "ms"), (2e-6, "µs"), (9e-7, "ns")])
def test_unit_of_a_time(time_s: float, unit: str) -> None:
    assert time_unit(time_s)[1] == unit


@pytest.mark.parametrize(
    ("counts", "ticks"), [([3, 6, 24, 6], [3, 6, 24]), ([3, 4, 8], [3, 4, 8]), ([5, 6, 7, 40], [8, 16, 32])]
)
def test_counts_too_close_for_labels_give_way_to_powers_of_two(counts: list[int], ticks: list[int]) -> None:
    axes = Figure().subplots()
    count_axis(axes, counts, "ranks")
    assert list(axes.get_xticks()) == ticks
    low, high = axes.get_xlim()
    assert low < min(counts)
    assert max(counts) < high


@given(st.lists(st.tuples(st.floats(0, 20), st.floats(0.1, 5)), max_size=12))
def test_labels_in_one_row_do_not_touch(labels: list[tuple[float, float]]) -> None:
    rows = spread_labels([at for at, _ in labels], [width for _, width in labels])
    for i, (at, width) in enumerate(labels):
        for j, (other, wide) in enumerate(labels):
            if i < j and rows[i] == rows[j]:
                assert abs(at - other) >= (width + wide) / 2 * (1 - 1e-9)  # rounding of the ends


def test_one_row_where_there_is_room() -> None:
    assert spread_labels([0, 10, 5], [4, 4, 4]) == [0, 0, 0]
    assert spread_labels([0, 1, 10], [4, 4, 4]) == [0, 1, 0]
