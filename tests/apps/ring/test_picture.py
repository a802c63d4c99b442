"""The ring's figure: what was measured, the lines, and where something is full."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.factories import not_none

from hockney.apps.ring.lines import RingComparison, compared
from hockney.apps.ring.picture import MOST_NAMED, ring
from hockney.apps.ring.rings import RingName, RingRun, RingSeries
from hockney.models.over_ranks.boundaries import Boundary
from hockney.records.answers import Answer
from hockney.records.app_record import AppRecord
from hockney.report.explorer.chart import Chart, Panel

RANKS = np.arange(2.0, 25.0)
TIME_S = np.where(RANKS <= 12, 0.7e-6, 1.2e-6) * RANKS
BREAK = [Boundary(12, 13, "package")]


def curve(boundaries: list[Boundary] = BREAK) -> RingComparison:
    """Of the first point no interval is known."""
    runs = []
    for ranks, time_s in zip(RANKS.astype(int).tolist(), TIME_S.tolist(), strict=True):
        bounds = {} if ranks == 2 else {"low_s": 0.9 * time_s, "high_s": 1.2 * time_s}
        record = AppRecord(operation="ring", ranks=ranks, parameters={}, time_s=time_s, answer=Answer(), **bounds)
        runs.append(RingRun(record, [], ["package"] * ranks))
    series = RingSeries(RingName(exchange="sendrecv"), runs, BREAK)
    (made,) = compared([series])
    return replace(made, curve=replace(series, boundaries=boundaries))


def panel(curves: dict[str, RingComparison]) -> Panel:
    chart = ring(curves).chart
    assert isinstance(chart, Chart)
    ((shown,),) = chart.rows
    assert shown is not None
    return shown


def test_measured_and_fitted() -> None:
    shown = panel({"core": curve()})
    measured, *fitted = shown.lines[:5]
    assert measured.y == pytest.approx(TIME_S)
    assert measured.low is not None
    # Of the first point no interval is known.
    assert measured.low[1:] == pytest.approx(0.9 * TIME_S[1:])
    assert not_none(measured.high)[1:] == pytest.approx(1.2 * TIME_S[1:])
    assert np.isnan(measured.low[0])
    assert [line.x.tolist() for line in fitted] == [[2, 12], [2, 12], [13, 24], [13, 24]]
    assert (shown.y.title, shown.y.scale, shown.y.unit) == ("time of a cycle [µs]", "from_0", 1e-6)


def test_boundaries_are_named_of_too_many_those_where_a_line_begins() -> None:
    assert [(mark.text, mark.at) for mark in panel({"core": curve()}).marks] == [("another package", 12.5)]
    # A node for each rank.
    many = [Boundary(ranks, ranks + 1, "node") for ranks in range(2, 3 + MOST_NAMED)]
    assert [(mark.text, mark.at) for mark in panel({"core": curve(many)}).marks] == [("another node", 12.5)]
    assert len(panel({"core": curve(many[:-1])}).marks) == MOST_NAMED


def test_each_curve_has_its_lines() -> None:
    curves = {"core": curve(), "node": curve()}
    fitted = {f"{name}: fitted, a line between breaks" for name in curves} | {"fitted to absolute residuals"}
    labels = {line.label for line in panel(curves).lines} - {""}
    assert labels == {"core: measured", "node: measured"} | fitted
    assert "core, node" in ring(curves).alt
