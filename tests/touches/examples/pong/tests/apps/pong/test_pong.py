"""Pong by hand: on the machine of these tests a message takes 2 µs + n / 1 GB/s."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hockney.apps.pong.predict import there_and_back_s
from hockney.apps.pong.section import section as pong
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Runs


def test_both_ways_take_alike(basis: Basis) -> None:
    assert there_and_back_s(basis.machine, 1000) == pytest.approx(2 * 3e-6, rel=1e-6)


def test_a_run_is_shown_beside_its_prediction(run: Callable[..., AppRecord], basis: Basis) -> None:
    record = run("pong", 2, 5e-6, parameters={"bytes": 1000}, answer={"verified": True, "wrong_messages": 0})
    made = pong(Runs([record], basis))
    assert made.runs[0]["predicted_s"] == pytest.approx(6e-6, rel=1e-6)
    (table,) = made.sections[0].tables
    assert dict(zip(table.columns, table.rows[0], strict=True))["MB/s"] == "400"  # 2 kB in 5 µs
