"""Figures of bandwidth: each rate by its definition, a line for each number of ranks or size, with the bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from hockney.models.base import Fit
from hockney.models.over_ranks.points import points
from hockney.report.bandwidths import drawings
from hockney.report.drawing import Drawing
from hockney.report.views.collective_bounds import least_time_s
from hockney.report.views.collective_costs import CollectiveCosts

RANKS, SIZES = (2, 4, 8, 16), (8, 1024, 65536)


def measured(operation: str) -> pd.DataFrame:
    """`slow` takes 10 µs and 2 ns for each byte, `default` half of it."""
    fields = {"system": "s", "mpi": "m", "mapping": "core", "nodes": 1, "ppn": 16, "statistic": "completion"}
    rows = [
        fields | {
            "operation": operation, "algorithm": name, "ranks": ranks, "bytes": size, "repetition": 0,
            "time_s": factor * (10e-6 + 2e-9 * size),
        }
        for ranks in RANKS for size in SIZES for name, factor in (("slow", 1.0), ("default", 0.5))
    ]  # fmt: skip
    return points(pd.DataFrame(rows), operation)


def lines(drawing: Drawing, panel: int) -> list[np.ndarray]:
    """Ordinates of the drawn lines of one panel, in B/s."""
    axes = drawing.figure.axes[panel]
    unit = {"GB/s": 1e9, "MB/s": 1e6, "kB/s": 1e3}
    label = drawing.figure.axes[panel - panel % 2].get_ylabel()
    scale = unit[label.partition("(")[2].rstrip(")")]
    return [
        scale * np.asarray(line.get_ydata(), np.float64)
        for line in axes.get_lines()
        if np.size(line.get_xdata()) > 1
    ]


def test_a_line_for_each_number_of_ranks_by_each_definition() -> None:
    over_size, over_ranks = drawings("bcast", measured("bcast"), ["mapping"], None)
    assert [axes.get_title() for axes in over_size.figure.axes[:2]] == ["default", "slow"]
    time_s = 10e-6 + 2e-9 * np.array(SIZES)
    for line in lines(over_size, 1):
        assert line == pytest.approx(np.array(SIZES) / time_s)
    # All P − 1 other ranks get the vector.
    for ranks, line in zip(RANKS, lines(over_size, 3), strict=True):
        assert line == pytest.approx((ranks - 1) * np.array(SIZES) / time_s)
    for size, line in zip(SIZES, lines(over_ranks, 3), strict=True):
        assert line == pytest.approx((np.array(RANKS) - 1) * size / (10e-6 + 2e-9 * size))


def test_blocks_are_counted_by_all_ranks() -> None:
    over_size, _ = drawings("allgather", measured("allgather"), ["mapping"], None)
    time_s = 10e-6 + 2e-9 * np.array(SIZES)
    for ranks, whole, moved in zip(RANKS, lines(over_size, 1), lines(over_size, 3), strict=True):
        assert whole == pytest.approx(ranks * np.array(SIZES) / time_s)
        assert moved == pytest.approx(ranks * (ranks - 1) * np.array(SIZES) / time_s)


def test_the_bound_is_the_larger_of_latencies_and_bytes(line: Callable[..., Fit]) -> None:
    costs = CollectiveCosts(line(1e-6, 1e-9), line(1e-6, 1e-9), None, ("cache", "cache"))
    # ⌈log₂ 16⌉ messages one after another, or all bytes once (Chan et al. 2007, table 1).
    assert least_time_s("bcast", 16, 8, costs) == pytest.approx(4e-6, rel=0.01)
    assert least_time_s("bcast", 16, 10**9, costs) == pytest.approx(1.0, rel=0.01)
    over_size, _ = drawings("bcast", measured("bcast"), ["mapping"], costs)
    drawn = lines(over_size, 1)
    rates, bounds = drawn[: len(RANKS)], drawn[len(RANKS) :]
    assert len(rates) == len(bounds) == len(RANKS)
    assert all(np.all(bound > rate) for rate, bound in zip(rates, bounds, strict=True))


def test_lines_are_of_ranks_that_all_algorithms_have() -> None:
    more = measured("bcast")
    further = more[(more["label"] == "slow") & (more["ranks"] == 16)]
    more = pd.concat([more, *(further.assign(ranks=ranks) for ranks in range(17, 64))], ignore_index=True)
    over_size, _ = drawings("bcast", more, ["mapping"], None)
    assert [len(lines(over_size, panel)) for panel in (0, 1)] == [len(RANKS), len(RANKS)]


def test_a_barrier_has_no_bandwidth() -> None:
    assert drawings("barrier", measured("barrier"), ["mapping"], None) == []
