"""Figure and table of the model of a measured collective."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests.factories import regime, version_1, written

from hockney.machine.build import build
from hockney.models.base import Fit
from hockney.models.collectives.base import CollectiveModel
from hockney.models.collectives.fitting import fit_collective
from hockney.models.collectives.pieces import CollectivePoints
from hockney.report.collective_models import drawings, least_message, model_table
from hockney.report.make import make
from hockney.report.reading import Wish


def model(ranks: tuple[float, ...] = (2, 4, 8, 16), operation: str = "bcast") -> CollectiveModel:
    at, size_B = (each.ravel() for each in np.meshgrid(np.array(ranks), np.array([8.0, 512.0, 4096.0, 32768.0])))
    time_s = 2e-6 + 1e-9 * size_B * np.log2(at)
    nothing = np.full(at.shape, np.nan)
    made = fit_collective(CollectivePoints(operation, "default", at, size_B, time_s, nothing, nothing))
    return made.model_copy(update={"algorithm": ""})


def test_each_range_is_a_row() -> None:
    (table,) = model_table([model()])
    assert len(table.rows) == len(model().regimes)
    assert "2 ≤ P ≤ 16" in table.rows[0][1]
    assert model_table([]) == []


@pytest.mark.parametrize(("ranks", "panels"), [((2, 4, 8, 16), 4), ((8,), 2)])
def test_time_and_rate_are_drawn_over_bytes_and_over_ranks(ranks: tuple[float, ...], panels: int) -> None:
    (drawing,) = drawings([model(ranks)], None)
    axes = drawing.figure.axes
    assert len(axes) == panels
    for panel in axes[1::2]:
        assert "whole vector / time" in panel.get_ylabel()


def test_the_rate_is_that_of_all_blocks_where_sizes_are_blocks() -> None:
    """A block of 32 KiB of each of 16 ranks in 2 µs + 4 · 32.8 µs is 3.9 GB/s, 16 times that of one block."""
    (whole,), (blocks,) = (drawings([model(operation=name)], None) for name in ("bcast", "allgather"))
    tops = [
        max(float(np.asarray(line.get_ydata())[-1]) for line in drawing.figure.axes[1].get_lines())
        for drawing in (whole, blocks)
    ]
    units = [drawing.figure.axes[1].get_ylabel() for drawing in (whole, blocks)]
    assert all("GB/s" in unit or "MB/s" in unit for unit in units)
    scale = [1000 if "GB/s" in unit else 1 for unit in units]
    # Among the drawn ranks 2 ranks are fastest for a vector: 32 KiB in 34.8 µs; for blocks 16 ranks are.
    assert tops[1] * scale[1] == pytest.approx(16 * 32768 / (2 + 4 * 32.768), rel=0.02)
    assert tops[0] * scale[0] == pytest.approx(32768 / (2 + 32.768), rel=0.02)


def test_an_interval_that_does_not_hold_its_time_is_drawn() -> None:
    """A table may say so: the median of one thing, the interval of another."""
    made = model()
    rows = [
        {**row, "low_s": 1.1 * float(row["time_s"] or 0), "high_s": 1.2 * float(row["time_s"] or 0)}
        for row in made.points
    ]
    assert drawings([made.model_copy(update={"points": rows})], None)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("has_file", [False, True])
def test_models_are_those_of_the_statistic_that_is_asked_for(tmp_path: Path, has_file: bool) -> None:
    """The mean takes 10 µs and 10 ns a byte, the slowest rank ten times that."""
    rows = ["system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition"]
    for ranks, size_B in product((2, 4, 8, 16), (8, 64, 512, 4096)):
        for statistic, factor in (("mean_over_ranks", 1), ("max_over_ranks", 10)):
            time_us = factor * (10 + 0.01 * size_B)
            rows.append(f"s,m,bcast,default,core,1,{ranks},{ranks},{size_B},{statistic},{time_us},0")
    path = written(tmp_path / "t.csv", "\n".join(rows) + "\n")
    machine = build(path) if has_file else None
    sections = make(path, Wish(machine, statistic="mean_over_ranks")).sections
    (section,) = (section for section in sections if section.title == "Bcast")
    (table,) = [one for one in section.tables if one.caption.startswith("Models of the mean time over ranks in")]
    assert table.rows[0][2].startswith("10 µs")
    (figure,) = (figure for figure in section.figures if figure.name == "bcast-model")
    assert "mean time over ranks" in figure.title


def test_no_message_is_faster_than_the_bound_of_a_bumpy_fit() -> None:
    """A flat regime and one through the origin, as fits of real libraries have: least α and β are both zero."""
    # 1 µs up to 100 B, 10 ns/B up to 1 kB, then 5 µs + 5 ns/B: least 1 µs; per byte 5 ns, where n is endless.
    regimes = [regime(1e-6, 0, 0, 100), regime(0, 1e-8, 100, 1000), regime(5e-6, 5e-9, 1000)]
    assert least_message([Fit(model="piecewise", regimes=regimes)]) == (1e-6, 5e-9)


def test_the_bound_is_of_ranks_that_shared_no_core() -> None:
    """Thin grey lines stand under the models' only where a ping-pong tells."""
    machine = version_1()
    (drawing,) = drawings([model()], machine)
    for entry in machine.point_to_point:
        entry.oversubscribed = True
    (bare,) = drawings([model()], machine)
    assert "no algorithm beats" in drawing.caption
    assert "no algorithm beats" not in bare.caption
