"""Rows of runs: names of series, columns that tell nothing, units."""

from __future__ import annotations

from hockney.records.app_record import AppRecord
from hockney.report.run_tables import ReportedRun, name_series, plain, runs_table


def _shown(ranks: int, problem: str = "a", **other: object) -> ReportedRun:
    words = {"mapping": "core", "variant": "default", "mpi": "Open MPI 5"}
    fields = {name: str(other.pop(name, word)) for name, word in words.items()}
    told = {"operation": "x", "ranks": ranks, "parameters": {}, "time_s": 3e-6, "answer": {}}
    record = AppRecord.model_validate(told | fields)
    return ReportedRun(record, problem, **other)  # type: ignore[arg-type]


def test_a_series_is_named_by_what_differs() -> None:
    shown = [_shown(1, way="b"), _shown(2, way="c"), _shown(2, way="c", mapping="node")]
    name_series(shown)
    assert [one.series for one in shown] == ["b, core", "c, core", "c, node"]
    alike = [_shown(1), _shown(2)]
    name_series(alike)
    assert [one.series for one in alike] == ["a", "a"]


def test_weak_scaling_is_named_by_the_share_of_a_rank() -> None:
    shown = [_shown(n, f"{10 * n}", of_rank="10") for n in (1, 2, 3)] + [
        _shown(n, "60", of_rank=f"{60 // n}") for n in (1, 2, 3)
    ]
    name_series(shown)
    assert [one.series for one in shown] == ["10 each"] * 3 + ["60"] * 3


def test_columns_that_tell_nothing_are_left_out() -> None:
    columns = runs_table([_shown(1), _shown(2)], "a sweep", "MLUP/s").columns
    assert list(columns) == ["problem", "ranks", "mapping", "time of a sweep"]
    told = runs_table([_shown(1, variant="tcp", rate=12345.6), _shown(2)], "a sweep", "MLUP/s")
    assert [row[told.columns.index("variant")] for row in told.rows] == ["tcp", "default"]
    assert [row[told.columns.index("MLUP/s")] for row in told.rows] == ["12 350", "—"]
    assert list(plain([_shown(1).record]).columns) == ["application", "ranks", "mapping", "time"]


def test_errors_are_relative_to_what_was_measured() -> None:
    assert _shown(1, predicted_s=4.5e-6).error == 0.5
    assert _shown(1, predicted_s=4.5e-6, count=3).error == 3.5  # of one in three
    assert _shown(1).error is None
