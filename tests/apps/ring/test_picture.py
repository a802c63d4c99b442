"""The ring's figure: what was measured, the lines, what was predicted, and where something is full."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from hockney.apps.ring.app import OURS
from hockney.apps.ring.lines import RingComparison, compared
from hockney.apps.ring.model import RingPrediction
from hockney.apps.ring.picture import MOST_NAMED, ring, write
from hockney.apps.ring.rings import RingName, RingRun, RingSeries
from hockney.errors import RequestError
from hockney.models.over_ranks.boundaries import Boundary
from hockney.records.answers import Answer
from hockney.records.app_record import AppRecord

RANKS = np.arange(2.0, 25.0)
TIME_S = np.where(RANKS <= 12, 0.7e-6, 1.2e-6) * RANKS
BREAK = [Boundary(12, 13, "package")]


def curve(boundaries: list[Boundary] = BREAK, *, predicted: bool = True) -> RingComparison:
    """Of the first point no interval is known; predictions take twice as long."""
    runs = []
    for ranks, time_s in zip(RANKS.astype(int).tolist(), TIME_S.tolist(), strict=True):
        bounds = {} if ranks == 2 else {"low_s": 0.9 * time_s, "high_s": 1.2 * time_s}
        record = AppRecord(operation="ring", ranks=ranks, parameters={}, time_s=time_s, answer=Answer(), **bounds)
        runs.append(RingRun(record, [], ["package"] * ranks))
    series = RingSeries(RingName(exchange="sendrecv"), runs, BREAK)
    (made,) = compared([series], None, OURS, [])
    points = [
        replace(one, predicted=RingPrediction(one.ranks, 2 * one.time_s, None, None, "") if predicted else None)
        for one in made.points
    ]
    return replace(made, points=points, curve=replace(series, boundaries=boundaries))


def along(line: Line2D) -> NDArray[np.float64]:
    return np.asarray(line.get_xdata(), dtype=np.float64)


def bars(axes: Axes) -> ErrorbarContainer:
    (found,) = axes.containers
    assert isinstance(found, ErrorbarContainer)
    return found


def upright(axes: Axes) -> list[float]:
    return [along(line)[0] for line in axes.lines if along(line).size == 2 and np.ptp(along(line)) == 0]


def test_measured_fitted_and_predicted_in_microseconds() -> None:
    (axes,) = ring({"core": curve()}, "slowest-link").figure.axes
    assert bars(axes).lines[0].get_ydata() == pytest.approx(TIME_S * 1e6)
    ends = [along(line).tolist() for line in axes.lines if line.get_linestyle() == "-" and along(line).size == 2]
    assert [one for one in ends if one[0] != one[1]] == [[2, 12], [13, 24]]
    (dotted,) = (line for line in axes.lines if line.get_linestyle() == ":")
    assert dotted.get_ydata() == pytest.approx(2e6 * TIME_S)
    assert dotted.get_label() == "core: predicted (slowest-link)"
    assert axes.get_ylabel() == "time of a cycle [µs]"
    assert axes.get_ylim()[0] == 0


def test_intervals_go_from_low_to_high() -> None:
    (axes,) = ring({"core": curve()}, "slowest-link").figure.axes
    spans = np.array([[one[0][1], one[1][1]] for one in bars(axes).lines[2][0].get_segments()])
    # Of the first point no interval is known.
    assert spans[0] == pytest.approx([TIME_S[0] * 1e6] * 2)
    assert spans[1:] == pytest.approx(np.column_stack([0.9e6 * TIME_S, 1.2e6 * TIME_S])[1:])


def test_boundaries_have_names() -> None:
    (axes,) = ring({"core": curve()}, "slowest-link").figure.axes
    assert [text.get_text() for text in axes.texts] == ["another package"]
    assert upright(axes) == [12.5]


def test_of_too_many_boundaries_those_where_a_line_begins_are_drawn() -> None:
    # A node for each rank.
    many = [Boundary(ranks, ranks + 1, "node") for ranks in range(2, 3 + MOST_NAMED)]
    (axes,) = ring({"core": curve(many)}, "slowest-link").figure.axes
    assert [text.get_text() for text in axes.texts] == ["another node"]
    assert upright(axes) == [12.5]
    (axes,) = ring({"core": curve(many[:-1])}, "slowest-link").figure.axes
    assert len(upright(axes)) == len(axes.texts) == MOST_NAMED


def test_nothing_predicted_has_no_line() -> None:
    drawing = ring({"core": curve(predicted=False), "node": curve()}, "slowest-link")
    labels = {text.get_text() for text in drawing.figure.legends[0].get_texts()}
    fitted = {"core: fitted, a line between breaks", "node: fitted, a line between breaks"}
    fitted.add("fitted to absolute residuals")
    assert labels == {"core: measured", "node: measured", "node: predicted (slowest-link)"} | fitted
    assert "core, node" in drawing.alt


@pytest.mark.parametrize(("ending", "begins"), [(".svg", b"<?xml"), (".png", b"\x89PNG"), (".html", b"<!")])
def test_a_file_is_what_its_name_says(ending: str, begins: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"ring{ending}"
    write(path, {"core": curve()}, "slowest-link")
    assert path.read_bytes().lstrip()[: len(begins)].lower() == begins.lower()


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"cannot draw a figure as 'ring\.jpeg'"):
        write(tmp_path / "ring.jpeg", {"core": curve()}, "slowest-link")
    with pytest.raises(RequestError, match="cannot write"):
        write(tmp_path / "nowhere" / "ring.svg", {"core": curve()}, "slowest-link")
