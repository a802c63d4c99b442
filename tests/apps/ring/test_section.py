"""The ring's section: cycles and hops, predicted from the slowest link."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hockney.apps.ring.section import Ring, ring
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Runs

LINK_S = 2e-6 + 4 / 1e9
"""One message of 4 B on the machine of the tests."""


def test_messages_in_turns_wait_for_each_link_twice(ring_run: Callable[..., AppRecord], basis: Basis) -> None:
    # Two hops of two messages; the fit finds the line of the data up to rounding.
    assert Ring().predicted_s(ring_run(2), basis)[0] == pytest.approx(4 * LINK_S, rel=1e-6)


def test_both_ways_at_once_take_a_link_and_the_processors_part(
    ring_run: Callable[..., AppRecord], basis: Basis
) -> None:
    made, _ = Ring().predicted_s(ring_run(2, exchange="persistent"), basis)
    assert made is not None
    assert 2 * LINK_S < made < 4 * LINK_S


def test_one_process_is_not_predicted(ring_run: Callable[..., AppRecord], basis: Basis) -> None:
    made = ring(Runs([ring_run(1, time_s=3e-7)], basis))
    assert made.runs[0]["predicted_s"] is None
    assert made.sections[0].figures == []  # a single point is no curve


def test_a_run_has_its_row(ring_run: Callable[..., AppRecord], basis: Basis) -> None:
    made = ring(Runs([ring_run(1, 4e-7), ring_run(2, 1e-5)], basis))
    (table,) = made.sections[0].tables
    row = dict(zip(table.columns, table.rows[1], strict=True))
    assert row["ranks"] == "2"
    assert row["time of a cycle"].replace("\N{NO-BREAK SPACE}", " ") == "10 µs"
    assert row["95 % interval"].replace("\N{NO-BREAK SPACE}", " ") == "9.8 to 10.2 µs"
    assert row["hops/s"] == "200 000"  # two in 10 µs
    assert row["error"].replace("\N{NO-BREAK SPACE}", " ") == "−20 %"  # 8.016 µs of 10 µs
    assert made.runs[1]["error"] == pytest.approx(4 * LINK_S / 1e-5 - 1, rel=1e-5)
