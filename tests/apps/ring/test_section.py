"""The ring's section: cycles and hops, predicted from the slowest link."""

from __future__ import annotations

import numpy as np
import pytest
from tests.factories import app_run, ring_run

from hockney.apps.ring.section import predicted_s
from hockney.apps.ring.section import section as ring
from hockney.machine.placement import Placement
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Runs

LINK_S = 2e-6 + 4 / 1e9
"""One message of 4 B on the machine of the tests."""


def test_messages_in_turns_wait_for_each_link_twice(basis: Basis) -> None:
    # Two hops of two messages; the fit finds the line of the data up to rounding.
    assert predicted_s(ring_run(2), basis)[0] == pytest.approx(4 * LINK_S, rel=1e-6)


def test_both_ways_at_once_take_a_link_and_the_processors_part(basis: Basis) -> None:
    made, _ = predicted_s(ring_run(2, exchange="persistent"), basis)
    assert made is not None
    assert 2 * LINK_S < made < 4 * LINK_S


def test_one_process_is_not_predicted(basis: Basis) -> None:
    made = ring(Runs([ring_run(1, time_s=3e-7)], basis))
    assert made.runs[0]["predicted_s"] is None
    assert made.sections[0].figures == []  # a single point is no curve


def test_a_run_has_its_row(basis: Basis) -> None:
    made = ring(Runs([ring_run(1, 4e-7), ring_run(2, 1e-5)], basis))
    (table,) = made.sections[0].tables
    row = dict(zip(table.columns, table.rows[1], strict=True))
    assert row["ranks"] == "2"
    assert row["time of a cycle"] == "10 µs"
    assert row["95 % interval"] == "9.8 µs to 10.2 µs"
    assert row["hops/s"] == "200 000"  # two in 10 µs
    assert row["error"] == "−20 %"  # 8.016 µs of 10 µs
    assert made.runs[1]["error"] == pytest.approx(4 * LINK_S / 1e-5 - 1, rel=1e-5)


def _in_one_cache(run: AppRecord) -> Placement:
    alike = np.zeros(run.ranks, dtype=np.int32)
    return Placement(np.arange(run.ranks, dtype=np.int32), alike, alike, alike, alike)


def test_lines_give_the_latency_beside_that_of_a_pingpong(basis: Basis) -> None:
    # T = 1 µs + 2 · 3 µs · P up to rounding: half the slope is 3 µs, and a ping-pong of 4 B takes LINK_S.
    runs = [ring_run(ranks, 1e-6 + 6e-6 * ranks, samples_s=[6e-6 * ranks, 8e-6 * ranks]) for ranks in range(2, 9)]
    made = ring(Runs(runs, basis, _in_one_cache))
    lines, _ = made.sections[0].tables
    row = dict(zip(lines.columns, lines.rows[0], strict=True))
    assert (row["processes"], row["T_l"], row["T_l, absolute fit"]) == ("2 to 8", "3 µs", "3 µs")
    assert row["farthest neighbours"] == "cache"
    assert row["T_l / ping-pong"].startswith(f"{3e-6 / LINK_S:.3g} (")
    assert made.sections[0].figures[0].name == "app-ring-lines"
    (finding,) = made.findings
    assert finding.text.startswith("In the ring of 2 to 8 processes a message takes 3 µs (95 %: ")
    assert finding.anchor == made.sections[0].id


def test_too_few_processes_for_a_line_leave_the_time_of_a_cycle() -> None:
    runs = [ring_run(ranks, 4e-6 * ranks, low_s=3e-6 * ranks, high_s=5e-6 * ranks) for ranks in (1, 2)]
    (finding,) = ring(Runs(runs)).findings
    assert finding.text.startswith("Ring of 2 processes: a cycle takes 8 µs (95 %: 6 µs to 10 µs).")
    assert finding.verdict == "look"
    assert ring(Runs(runs[:1])).findings == []


def test_rings_of_several_systems_share_a_figure_and_keep_their_names() -> None:
    runs = [
        ring_run(ranks, scale * ranks, system=system, samples_s=[])
        for system, scale in (("thin", 1e-6), ("gpu", 3e-6))
        for ranks in range(2, 9)
    ]
    made = ring(Runs(runs))
    assert [row[0] for row in made.sections[0].tables[0].rows] == ["thin", "gpu"]
    (figure,) = [one for one in made.sections[0].figures if one.name.startswith("app-ring-lines")]
    (legend,) = figure.figure.legends
    assert {text.get_text() for text in legend.get_texts()} >= {
        "thin: fitted, a line between breaks", "gpu: measured", "fitted to absolute residuals",
    }  # fmt: skip


def test_a_break_is_named_with_what_begins_there() -> None:
    def place_of(run: AppRecord) -> Placement:
        # Six ranks to a package.
        package = np.arange(run.ranks, dtype=np.int32) // 6
        node = np.zeros(run.ranks, dtype=np.int32)
        return Placement(np.arange(run.ranks, dtype=np.int32), package, package, package, node)

    runs = [ring_run(ranks, (1e-6 if ranks <= 6 else 2e-6) * ranks) for ranks in range(2, 13)]
    made = ring(Runs(runs, None, place_of))
    lines = made.sections[0].tables[0]
    row = dict(zip(lines.columns, lines.rows[1], strict=True))
    assert [row[name] for name in ("processes", "from there", "level")] == [
        "7 to 12",
        "another package",
        "× 2.00",
    ]
    assert any("breaks from 6 to 7 processes, where another package begins" in one.text for one in made.findings)


def test_a_ring_timed_elsewhere_says_neither_exchange_nor_places() -> None:
    runs = [app_run("ring", ranks, 1e-6 * ranks, launch="") for ranks in range(2, 9)]
    made = ring(Runs(runs))
    assert made.warnings == []
    assert len(made.runs) == 7
    assert made.sections[0].tables[0].rows[0][1] == "2 to 8"
