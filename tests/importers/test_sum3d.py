"""Printed tables of sums: every row a run, with its interval."""

from __future__ import annotations

from functools import partial

import pytest
from tests.importers import reading
from tests.importers.reading import DATA

from hockney.importers import sum3d as module
from hockney.importers.base import load_text

read_text = partial(reading.read_text, module)


def test_a_printed_table() -> None:
    first, _, last = read_text(load_text(DATA / "sum3d_table.txt")).apps
    assert (first.operation, first.ranks, first.low_s, first.high_s) == ("sum3d", 24, 0.62277, 0.630782)
    assert first.time_s == pytest.approx((0.62277 + 0.630782) / 2)
    assert [first.parameters[name] for name in ("nx", "ny", "nz", "px", "py", "pz", "split")] == [
        2400, 100, 100, 24, 1, 1, "balanced",
    ]  # fmt: skip
    assert (last.parameters["split"], last.parameters["px"]) == ("cartesian", 8)
    assert str(last.answer.as_said()["loads"]).startswith("P. 0,3,6,9,12,15,18,21: 1020000 P. 1,2,")


def test_plain_columns() -> None:
    (run,) = read_text("4 x 3 x 2 | (2, 1, 1) | 1 | P. 0-1: 12 | [0.5, 0.75]").apps
    assert (run.ranks, run.time_s) == (2, 0.625)


@pytest.mark.parametrize("interval", ["[0.7, 0.6]", "[0, 0.1]", "[1e-9e, 1]", "[1, 1e12]"])
def test_a_row_without_a_time_is_named(interval: str) -> None:
    made = read_text(f"4x3x2 (2, 1, 1) 1 P. 0-1: 12 {interval}")
    assert made.apps == []
    assert made.warnings == ["f:1: no sizes, or no interval of a time; left out"]
