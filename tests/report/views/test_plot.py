"""Plots of characters: a sign stands where its size and time are."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.command_line import outcome

from hockney.machine.file import Entry, Measurements, Point
from hockney.report.views.plot import HEIGHT, LABEL, as_plots

MACHINE = Path(__file__).parents[3] / "machines" / "bluegene_p.json"
EDGE = LABEL + 2


def entry(*times_s: float) -> Entry:
    points = [Point(size_B=2**power, time_s=time) for power, time in enumerate(times_s)]
    return Entry(operation="pingpong", fits={}, measurements=Measurements(points=points))


def cells(plot: str) -> list[str]:
    return [line[EDGE:] for line in plot.splitlines()[1 : 1 + HEIGHT]]


def test_time_in_proportion_to_size_is_a_diagonal() -> None:
    # As many powers of two as lines, in as many columns.
    plot = as_plots([entry(*(1e-9 * 2**power for power in range(HEIGHT)))], "", EDGE + 1 + HEIGHT)
    assert [line.index("o") for line in cells(plot)] == list(reversed(range(HEIGHT)))
    assert [line.count("o") for line in cells(plot)] == [1] * HEIGHT
    assert plot.splitlines()[1].startswith(" 8.19 µs ┤"), "8192 ns at the top"
    assert plot.splitlines()[HEIGHT].startswith("    1 ns ┤")
    assert plot.splitlines()[-1].split()[:2] == ["1", "B"]
    assert plot.splitlines()[-1].split()[-2:] == ["8", "KiB"]


@pytest.mark.parametrize("width", [40, 80, 100])
def test_it_keeps_to_the_width(width: int) -> None:
    plot = as_plots([entry(1e-6, 2e-6, 9e-6)], "", width)
    assert max(map(len, plot.splitlines())) <= width
    assert plot.count("o") >= 3


def test_an_empty_message_and_one_time_alone_have_a_place() -> None:
    alone = Entry(operation="pingpong", fits={}, measurements=Measurements(points=[Point(size_B=0, time_s=1e-6)]))
    assert sum(line.count("o") for line in cells(as_plots([alone], "", 40))) == 1


def test_nothing_measured_and_no_model_is_no_plot() -> None:
    assert as_plots([Entry(operation="pingpong", fits={})], "", 80) == ""


def test_show_draws_a_published_model() -> None:
    code, out, _ = outcome("show", MACHINE, "--plot", "--operation", "pingpong")
    assert code == 0
    assert out.splitlines()[0].endswith(": · piecewise")
    assert "4 MiB" in out.splitlines()[-1]


def test_what_is_no_plot_of_messages_is_refused() -> None:
    for words in (
        ["--json"],
        ["--format", "latex"],
        ["--operation", "bcast"],
        ["--view", "all"],
        ["--topology", "torus:2"],
    ):
        code, out, err = outcome("show", MACHINE, "--plot", *words)
        assert code == 2
        assert "--plot draws the times of messages" in out + err
