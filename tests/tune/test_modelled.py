"""Cells by the model calibrated on a table, where nobody knows what the library chooses by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.factories import written

from hockney.records import table
from hockney.tune.modelled import calibrated
from hockney.tune.rules import Method

SIZES = (8, 1024, 65536)
HEAD = "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition\n"


def test_a_default_that_nobody_knows_keeps_its_ratio_to_the_fastest(tmp_path: Path) -> None:
    """It takes a third of a binomial tree, as no schedule that it might be does; beside it a linear one."""
    rows = [
        f"planted,Fujitsu MPI 4.0.1,bcast,{name},node,{ranks},1,{ranks},{size_B},max_over_ranks,{time_us},0\n"
        for ranks, depth in ((4, 2), (8, 3))
        for size_B in SIZES
        for name, rounds in (("default", depth / 3), ("binomial", depth), ("linear", ranks - 1))
        for time_us in [rounds * (100 + size_B / 10)]
    ]
    file = written(tmp_path / "t.csv", HEAD + "".join(rows))
    cells = calibrated(table.load(file), "bcast", lambda _: True, [64])
    assert [cell.bytes for cell in cells] == list(SIZES)
    for cell in cells:
        fastest_s = min(time.time_s for time in cell.others.values())
        assert cell.others[Method("linear")].time_s > 2 * fastest_s
        assert cell.default.time_s == pytest.approx(fastest_s / 3)
