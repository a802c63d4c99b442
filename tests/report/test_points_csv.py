"""The CSV of a curve, each value worked out by hand."""

from __future__ import annotations

import io
from collections.abc import Callable

import pandas as pd
import pytest

from hockney.models.base import Fit
from hockney.records.answers import RankPlace
from hockney.records.journal import LaunchLine
from hockney.report.curves import MessageCurve
from hockney.report.points_csv import text
from hockney.report.provenance import command_line, hosts

LAUNCHES = [
    LaunchLine(
        id="a",
        argv=["mpirun", "-n", "2", "my prog"],
        ranks=[RankPlace(rank=rank, host=host) for rank, host in enumerate(("n1", "n2", "n1"))],
    ),
    LaunchLine(id="other", argv=["never"], ranks=[RankPlace(rank=0, host="n9")]),
]


def test_values_by_hand(curve: Callable[..., MessageCurve], line: Callable[..., Fit]) -> None:
    """At 1000 B 1 µs + n / 2 GB/s is 1.5 µs, or 1000 B / 1.5 µs = 666.667 MB/s; below zero there is no rate."""
    made = curve(
        [(0, 1e-6), (1000, 2e-6, 1e-6, 4e-6)], {"line": line(1e-6, 0.5e-9), "negative": line(-3e-6, 1e-9)}
    )
    lines = text(made, LAUNCHES).splitlines()
    assert lines == [
        "# configuration: pingpong, label",
        "# command line: mpirun -n 2 'my prog'",
        "# nodes: n1, n2",
        "# line: latency 1 us, bandwidth 2000 MB/s",
        "# negative: latency -3 us, bandwidth 1000 MB/s, nonphysical",
        "bytes,repetitions,t_us,low_us,high_us,MB_per_s,t_us_line,MB_per_s_line,t_us_negative,MB_per_s_negative",
        "0,,1,,,0,1,0,-3,",
        "1000,,2,1,4,500,1.5,666.667,-2,",
    ]


@pytest.mark.parametrize(("operation", "pairs", "streams"), [("bidirectional", "4", 8), ("bandwidth", "3", 3)])
def test_rates_count_all_pairs_and_directions(
    curve: Callable[..., MessageCurve], operation: str, pairs: str, streams: int, line: Callable[..., Fit]
) -> None:
    made = curve([(1000, 2e-6)], {"line": line(1e-6, 1e-9)}, operation=operation, other={"pairs": pairs})
    table = pd.read_csv(io.StringIO(text(made, [])), comment="#")
    assert table["MB_per_s"].tolist() == [500 * streams]
    assert table["MB_per_s_line"].tolist() == [500 * streams]
    assert f"bandwidth {1000 * streams} MB/s" in text(made, [])


def test_a_name_with_a_line_break_stays_a_comment(curve: Callable[..., MessageCurve]) -> None:
    made = text(curve([(1, 1e-6)]), [LaunchLine(id="a", argv=["run", "a\nb"])])
    assert next(row for row in made.splitlines() if not row.startswith("#")).startswith("bytes,")


def test_an_import_tells_its_own_command_line() -> None:
    assert (
        command_line(LaunchLine(imported="f", metadata={"command": "IMB-MPI1 pingpong"})) == "IMB-MPI1 pingpong"
    )
    assert command_line(LaunchLine()) == ""
    assert hosts([LaunchLine()]) == []
