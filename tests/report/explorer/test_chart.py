"""The description of figures: which numbers a choice shows, and that print draws the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.container import ErrorbarContainer
from tests.factories import not_none
from tests.report.explorer.planted import EVIL, RANKS, SIZES_B, planted, time_s

from hockney.machine.build import fitted
from hockney.machine.locality import Places
from hockney.models.base import models, predict
from hockney.models.over_ranks.points import groups, points
from hockney.records import table
from hockney.records.contents import read
from hockney.report import collectives, maps
from hockney.report.collective_figures import against_size
from hockney.report.curves import curves
from hockney.report.explorer import explored as explorer
from hockney.report.explorer.chart import (
    AGAINST_RANKS,
    AGAINST_SIZE,
    FASTEST,
    RATE,
    Explored,
    Shown,
    figure,
    model_lines,
    panel,
)
from hockney.report.explorer.drawn import draw
from hockney.report.explorer.explored import Explorable, explored, leading
from hockney.report.figures import Context, overview, residuals, with_fits
from hockney.report.style import PENALTIES, Looks, drawing_style, model_styles


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return table.load(planted(tmp_path_factory.mktemp("planted") / "t.csv"))


@pytest.fixture(scope="module")
def seen(frame: pd.DataFrame) -> Explored:
    made = explored([Explorable("t.csv", frame, [], dict.fromkeys(("barrier", "bcast", "reduce"), "completion"))])
    assert made is not None
    return made


def test_the_first_choice_is_where_the_default_costs_most(seen: Explored) -> None:
    """From 4096 B the chain takes half the time, so that the default takes 2.6 times as long."""
    first = seen.first["bcast"]
    assert (first.by, first.ranks, first.bytes) == ("algorithm", RANKS[-1], 4096)
    assert first.held["algorithm"] == "default"


def test_a_reader_begins_with_what_the_page_is_about(frame: pd.DataFrame) -> None:
    sources = [Explorable("t.csv", frame, [], dict.fromkeys(("barrier", "bcast", "reduce"), "completion"))]
    for about, first in (((), "barrier"), (("allreduce", "reduce", "bcast"), "reduce"), (("ring",), "barrier")):
        made = not_none(explored(sources, about))
        assert next(iter(made.first)) == first
        assert json.loads(explorer.data(made, Looks()))["first"][0]["operation"] == first


def test_a_choice_holds_what_it_says(seen: Explored) -> None:
    first = seen.first["reduce"]
    held = {**first.held, "placement": "allocation node"}
    lines = {line.label: line for line in panel(AGAINST_SIZE, replace(first, held=held, ranks=8), seen).lines}
    assert set(lines) == {"default", "binomial", "chain"}
    assert [*lines["chain"].x] == [*SIZES_B]
    expected = [time_s("reduce", "chain", "node", 8, size_B) for size_B in SIZES_B]
    assert lines["chain"].y == pytest.approx(expected, rel=1e-6)  # as a CSV keeps them
    assert lines["chain"].low == pytest.approx(np.multiply(0.99, expected), rel=1e-6)
    placements = panel(AGAINST_RANKS, replace(first, by="placement", bytes=64), seen).lines
    assert [line.label for line in placements] == ["allocation core", "allocation node"]
    assert placements[1].y == pytest.approx([time_s("reduce", "default", "node", n, 64) for n in RANKS], rel=1e-6)
    (rate, *_) = panel(RATE, replace(first, held=held, ranks=8), seen).lines
    assert rate.y == pytest.approx([b / time_s("reduce", "binomial", "node", 8, b) for b in SIZES_B], rel=1e-6)
    assert (not_none(rate.low) < rate.y).all()


def test_the_map_has_a_cell_for_each_point(seen: Explored) -> None:
    cells = {(cell.ranks, cell.bytes): cell for cell in panel(FASTEST, seen.first["bcast"], seen).cells}
    assert set(cells) == {(ranks, size_B) for ranks in RANKS for size_B in SIZES_B}
    for (ranks, size_B), cell in cells.items():
        assert cell.best == ("chain" if size_B >= 4096 else "binomial")
        assert cell.penalty == pytest.approx(2.6 if size_B >= 4096 else 1.3, rel=1e-6)
        assert cell.best_s == pytest.approx(time_s("bcast", cell.best, "core", ranks, size_B), rel=1e-6)
        assert not cell.is_default


def test_a_default_is_known_by_more_than_its_name(frame: pd.DataFrame) -> None:
    """It is twenty times as fast, in segments, so that it is the fastest, and its label is longer."""
    is_default = frame["algorithm"] == "default"
    fast = frame.assign(
        time_s=frame["time_s"] / np.where(is_default, 20, 1), segment_bytes=np.where(is_default, 4096, np.nan)
    )
    made = explored([Explorable("t.csv", fast.drop(columns=["low_s", "high_s"]), [], {"bcast": "completion"})])
    assert made is not None
    assert {
        (cell.best != "default", cell.is_default) for cell in panel(FASTEST, made.first["bcast"], made).cells
    } == {(True, True)}


def test_print_draws_the_numbers_of_the_description(seen: Explored) -> None:
    """The pixels of the map, and the points of lines, are those of the charts."""
    looks, first = Looks(), seen.first["bcast"]
    with drawing_style():
        drawing = not_none(maps.drawing("bcast", seen, looks))
        cells = panel(FASTEST, first, seen).cells
        fastest, costs = (drawing.figure.axes[at].get_images()[0].get_array() for at in (0, 2))
        assert fastest is not None
        assert costs is not None
        styles = looks.of(["binomial", "chain"])
        for cell in cells:
            at = RANKS.index(cell.ranks), SIZES_B.index(cell.bytes)
            assert tuple(fastest[at]) == pytest.approx(to_rgb(styles[cell.best].colour))
            assert tuple(costs[at]) == pytest.approx(to_rgb(PENALTIES[maps.shade(not_none(cell.penalty))]))
        one = panel(AGAINST_SIZE, first, seen)
        (axes,) = draw(figure(AGAINST_SIZE, {"": one}, looks)).axes
    drawn = {
        str(line.get_label()): line for line in axes.get_lines() if not str(line.get_label()).startswith("_")
    }
    for line in one.lines:
        assert np.asarray(drawn[line.label].get_ydata()) == pytest.approx(line.y * 1e6)
        assert np.asarray(drawn[line.label].get_xdata()) == pytest.approx(np.log2(line.x))


def test_the_section_draws_the_numbers_of_its_choice(frame: pd.DataFrame, seen: Explored) -> None:
    """The figure against size leads to a choice in the explorer that has the same numbers."""
    measured = points(frame, "bcast", "completion")
    (configuration, rows), *_ = groups(measured[measured["ranks"] == 16], ("mapping", "ranks"))
    with drawing_style():
        drawing = against_size(
            "bcast", rows, configuration, ["mapping"], 0, 0, Looks(), "time", leading(seen, "bcast")
        )
    assert drawing.choice is not None
    held = {**seen.first["bcast"].held, **(drawing.choice.held or {})}
    one = panel(AGAINST_SIZE, replace(seen.first["bcast"], ranks=not_none(drawing.choice.ranks), held=held), seen)
    (axes,) = drawing.figure.axes
    drawn = {str(line.get_label()).partition(" ")[0]: line for line in axes.get_lines()}
    for line in one.lines:
        assert np.asarray(drawn[line.label].get_ydata()) == pytest.approx(line.y * 1e6)


def test_the_overview_of_messages_draws_the_numbers_of_its_choice(tmp_path: Path) -> None:
    """Its lines and bars, of times and of rates, are those of the charts that the explorer begins with."""
    contents = read(planted(tmp_path / "t.csv"))
    every = curves(fitted(contents, statistics={}))
    made = not_none(explored([Explorable("t.csv", contents.frame, every, {})]))
    with drawing_style():
        drawing = overview("pingpong", "pingpong", every, Context(model_styles(models.names())))
    assert drawing.choice == Shown("pingpong")
    for axes, view, scale in zip(drawing.figure.axes, (AGAINST_SIZE, RATE), (1e6, 1e-9), strict=True):
        lines = panel(view, made.first["pingpong"], made).lines
        drawn = [bars for bars in axes.containers if isinstance(bars, ErrorbarContainer)]
        joined = [one for one in axes.get_lines() if np.size(one.get_xdata()) >= lines[0].x.size]
        for line, bars, one in zip(lines, drawn, joined, strict=True):
            values = np.asarray(one.get_ydata(), np.float64)  # the line has a gap after 0 B
            assert values[np.isfinite(values)] == pytest.approx(np.asarray(line.y) * scale)
            (segments,) = (one.get_segments() for one in bars.lines[2])
            assert [end for segment in segments for end in segment[:, 1]] == pytest.approx(
                [
                    end * scale
                    for ends in zip(not_none(line.low), not_none(line.high), strict=True)
                    for end in ends
                ]
            )


def test_fits_and_residuals_are_those_of_the_models(tmp_path: Path) -> None:
    contents = read(planted(tmp_path / "t.csv"))
    curve = curves(fitted(contents, statistics={}))[0]
    context = Context(model_styles(models.names()))
    with drawing_style():
        fits, missed = with_fits(curve, context), residuals(curve, context)
    lines = model_lines(curve.points, curve.regimes)
    assert {line.label for line in lines} == set(curve.fits)
    times, rates = (
        [line for line in axes.get_lines() if line.get_linestyle() != "None" and np.size(line.get_xdata())]
        for axes in fits.figure.axes
    )
    for line, one in zip(lines, times, strict=True):
        assert np.asarray(one.get_ydata())[: line.y.size] == pytest.approx(1e6 * line.y)
        assert line.y == pytest.approx(predict(curve.fits[line.label], line.x))
    for line, one in zip((line for line in lines if line.x[-1] > 0), rates, strict=True):
        assert np.asarray(one.get_ydata()) == pytest.approx(line.x / line.y * 1e-9)
    ratios = model_lines(curve.points, curve.regimes, over_measured=True)
    for line, axes in zip(ratios, missed.figure.axes, strict=False):
        assert line.y == pytest.approx(predict(curve.fits[line.label], curve.size_B) / curve.time_s)
        assert np.asarray(axes.get_lines()[0].get_ydata()) == pytest.approx(100 * (line.y - 1))


@pytest.mark.parametrize(("penalty", "expected"), [(1.0, 0), (1.05, 1), (1.1, 1), (1.3, 3), (2.0, 4), (2.6, 5)])
def test_classes_of_a_penalty(penalty: float, expected: int) -> None:
    assert maps.shade(penalty) == expected


def test_no_name_ends_the_script(seen: Explored) -> None:
    named = replace(seen, points=seen.points.assign(origin=f"{EVIL}<!--"))
    text = explorer.data(named, Looks())
    assert "<" not in text
    whole = json.loads(text)
    assert whole["words"]["origin"] == [f"{EVIL}<!--"]
    assert sum(len(one[11]) for one in whole["series"]) == len(seen.points)


def test_a_page_carries_no_more_than_it_can_and_says_so(seen: Explored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer, "MOST_POINTS", len(seen.points) // 2)
    fewer, said = explorer.thinned(seen)
    assert len(fewer.points) <= len(seen.points) // 2
    assert {2, RANKS[-1]} == set(fewer.points["ranks"])  # the ends, which the first choice is one of
    assert f"Of {len(seen.points)} points" in said
    assert explorer.thinned(replace(seen, points=fewer.points)) == (replace(seen, points=fewer.points), "")


def test_placements_with_several_algorithms_have_a_figure_each(frame: pd.DataFrame) -> None:
    """One line for a placement would join the times of different algorithms."""
    few = frame[frame["ranks"] > 8]  # nothing is fitted against two numbers of ranks
    with drawing_style():
        source = Explorable("t.csv", few, [], {"bcast": "completion"})
        seen = not_none(explored([source]))
        section = collectives.section(source, "bcast", Places(few), (), Looks(), seen)
    assert [drawing.title for drawing in section.figures if drawing.name.startswith("bcast-against-size")] == [
        f"bcast by algorithm, 32 ranks, allocation {mapping}." for mapping in ("core", "node")
    ]
