"""Crossover sizes lie where two planted lines cross, and none is found where times cannot be told apart."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
import pytest
from tests.factories import row

from hockney.models.over_ranks.crossovers import crossovers
from hockney.models.over_ranks.points import points

SIZES = [2**k for k in range(21)]


def table(times_us: Mapping[str, tuple[float, float]], interval: float = 0.01) -> pd.DataFrame:
    """α + βn of each algorithm, with intervals of ± `interval`."""
    rows = []
    for name, (alpha, beta) in times_us.items():
        for size in SIZES:
            rows.append(row(size, 8, 1e-6 * (alpha + beta * size), algorithm=name, within=interval))
    return points(pd.DataFrame(rows), "bcast")


def test_two_lines_cross_where_they_do() -> None:
    measured = table({"linear": (1.0, 0.01), "chain": (11.0, 0.002)})
    (one,) = crossovers(measured)
    # 1 + 0.01n = 11 + 0.002n at n = 1250 B.
    assert (one.smaller, one.larger, one.low_B, one.high_B, one.last_B) == ("linear", "chain", 1024, 2048, 2**20)
    # Between 1 and 2 KiB both are close to straight in the logarithms.
    assert one.at_B == pytest.approx(1250, rel=0.03)


# ± 40 % is told apart from a ratio of 1.4/0.6 on: up to 406 B, and from 4625 B. Without intervals 10 % are taken:
# at 1 KiB 11.24 against 13.05 µs do not overlap from a ratio of 1.1/0.9 = 1.22 on.
@pytest.mark.parametrize(("interval", "ends"), [(0.4, (256, 8192)), (math.nan, (512, 2048))])
def test_wide_intervals_move_the_ends_apart(interval: float, ends: tuple[int, int]) -> None:
    (crossover,) = crossovers(table({"linear": (1.0, 0.01), "chain": (11.0, 0.002)}, interval=interval))
    assert (crossover.low_B, crossover.high_B) == ends


def test_one_that_is_always_faster_crosses_nobody() -> None:
    assert crossovers(table({"linear": (2.0, 0.01), "chain": (1.0, 0.002)})) == []
    assert crossovers(table({"linear": (1.0, 0.01), "chain": (1.01, 0.01)})) == []
