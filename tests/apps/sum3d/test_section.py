"""The section on the sum of matrices: cycles, shares, and the model with each run's own bandwidth."""

from __future__ import annotations

import pytest
from tests.factories import app_run, not_none

from hockney.apps.sum3d.section import predicted_s
from hockney.apps.sum3d.section import section as sum3d
from hockney.records.answers import Answer
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Runs

COPY_B_PER_S, SUM_B_PER_S = 1e10, 2e10


def _run(ranks: int, time_s: float = 1e-3) -> AppRecord:
    asked = {
        "nx": 10, "ny": 100, "nz": 100, "px": ranks, "py": 1, "pz": 1, "split": "balanced", "seed": 1,
        "cycles": 1,
    }  # fmt: skip
    answer = {
        "scatter_s": [2e-4] * ranks, "compute_s": [5e-5] * ranks, "gather_s": [1e-4] * ranks,
        "memory_bandwidth_B_per_s": [COPY_B_PER_S] * ranks,
        "sum_bandwidth_B_per_s": [SUM_B_PER_S] * ranks, "elements": [100_000 // ranks] * ranks, "verified": True,
    }  # fmt: skip
    return app_run("sum3d", ranks, time_s, parameters=asked, answer=answer)


def test_one_rank_copies_and_adds(basis: Basis) -> None:
    made, _ = predicted_s(_run(1), basis)
    # Two matrices scattered and one gathered, read and written; the sum reads two and writes one.
    assert made == pytest.approx(1e5 * (3 * 16 / COPY_B_PER_S + 24 / SUM_B_PER_S))


def test_two_ranks_send_halves(basis: Basis) -> None:
    made, _ = predicted_s(_run(2), basis)
    assert made is not None
    message_s = 2e-6 + 8 * 50_000 / 1e9
    own_s = 5e4 * (3 * 16 / COPY_B_PER_S + 24 / SUM_B_PER_S)
    # Three messages of half a matrix; what overlaps is less than a latency of each.
    assert made == pytest.approx(own_s + 3 * message_s, abs=3 * 2e-6)


def test_a_run_has_its_row() -> None:
    made = sum3d(Runs([_run(1), _run(2)]))
    (table,) = made.sections[0].tables
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert (row["problem"], row["grid"]) == ("10x100x100", "1x1x1")
    assert table.caption == "Runs (2): balanced"
    assert row["10⁶ sums/s"] == "100"  # 1e5 in 1 ms
    assert row["communication"].replace("\N{NO-BREAK SPACE}", " ") == "86 %"  # 0.3 of 0.35 ms
    assert "predicted" not in row


def test_grids_stand_in_a_table_and_are_tested() -> None:
    records = []
    for px, py, pz, split in (
        (4, 1, 1, "balanced"),
        (2, 2, 1, "balanced"),
        (1, 4, 1, "balanced"),
        (4, 1, 1, "cartesian"),
    ):
        for number in range(5):
            one = _run(4, time_s=1e-3 * (1 + 0.01 * number))
            changed = one.parameters | {"px": px, "py": py, "pz": pz, "split": split, "round": number}
            records.append(one.model_copy(update={"parameters": changed, "samples_s": [one.time_s]}))
    made = sum3d(Runs(records))
    page = made.sections[0]
    (table, _) = page.tables
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert (row["size"], row["topology"], row["a"]) == ("10x100x100", "(4, 1, 1)", "0")
    assert row["elements of the ranks"] == "P. 0-3: 25000"
    # Mean 1.02 ms; Student's t of four degrees of freedom is 2.776, S = 0.01 · √2.5 ms: ± 0.0196 ms.
    assert row["95 % interval"] == "1 ms to 1.04 ms"
    # All grids took the same in each round: nothing differs.
    assert page.note.startswith("No evidence that the grid matters for 10x100x100, balanced, by 0 % at most (")
    assert [figure.name for figure in page.figures] == ["app-sum3d-all-grids"]
    assert any(finding.text.startswith("Scattering and gathering take ") for finding in made.findings)


def test_a_table_from_elsewhere_is_shown_and_tested() -> None:
    records = [
        AppRecord.model_validate(
            {
                "operation": "sum3d", "ranks": 24, "answer": {},
                "time_s": (low_s + high_s) / 2, "low_s": low_s, "high_s": high_s,
                "parameters": {
                    "nx": 2400, "ny": 100, "nz": 100, "px": px, "py": 24 // px, "pz": 1, "split": "balanced",
                },
            }
        )
        for px, low_s, high_s in ((24, 0.62277, 0.630782), (12, 0.624, 0.631), (8, 0.62446, 0.630308))
    ]  # fmt: skip
    made = sum3d(Runs(records))
    assert made.warnings == []
    assert [row[1] for row in made.sections[0].tables[0].rows] == ["(24, 1, 1)", "(12, 2, 1)", "(8, 3, 1)"]
    assert len(made.runs) == 3


def test_each_rank_measured_its_own_memory(basis: Basis) -> None:
    one = _run(2)
    answer = {
        **one.answer.as_said(),
        "memory_bandwidth_B_per_s": [1e10, 1e9],
        "sum_bandwidth_B_per_s": [2e10, 1e8],
    }
    made, _ = predicted_s(one.model_copy(update={"answer": Answer.model_validate(answer)}), basis)
    usual, _ = predicted_s(one, basis)
    # Rank 0 copies, and the slowest sum of 24 B for each of 50,000 elements holds up the gather.
    assert not_none(made) - not_none(usual) == pytest.approx(24 * 5e4 * (1 / 1e8 - 1 / 2e10))
