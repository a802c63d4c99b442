"""What the figures of runs hold."""

from __future__ import annotations

import numpy as np
from tests.factories import app_run

from hockney.report.run_figures import MOST_GRIDS, MOST_SERIES, figures
from hockney.report.run_tables import ReportedRun


def _shown(ranks: int, time_s: float, series: str = "s", **other: object) -> ReportedRun:
    record = app_run("x", ranks, time_s, low_s=0.9 * time_s, high_s=1.2 * time_s)
    return ReportedRun(record, "p", series=series, **other)  # type: ignore[arg-type]


def test_times_stand_at_their_ranks_with_their_predictions() -> None:
    (drawing,) = figures("x", "X", "a sweep", [_shown(2, 3e-3, predicted_s=2e-3), _shown(1, 5e-3)])
    times, errors = drawing.figure.axes
    joined = next(line for line in times.get_lines() if line.get_label() == "s")
    np.testing.assert_allclose(joined.get_xydata(), [[1, 5.0], [2, 3.0]])  # type: ignore[arg-type]
    foretold = next(line for line in times.get_lines() if line.get_marker() == "x" and len(line.get_xydata()))  # type: ignore[arg-type]
    np.testing.assert_allclose(foretold.get_xydata(), [[2, 2.0]])  # type: ignore[arg-type]
    np.testing.assert_allclose(errors.get_lines()[0].get_xydata(), [[2, -100 / 3]])  # type: ignore[arg-type]
    assert "(ms)" in times.get_ylabel()
    assert "From 3 ms on 2 ranks to 5 ms on 1." in drawing.alt


def test_the_fastest_of_several_grids_is_joined_and_all_are_compared() -> None:
    runs = [_shown(1, 9e-6), _shown(4, 3e-6, grid="1x4x1"), _shown(4, 2e-6, grid="2x2x1", predicted_s=1e-6)]
    against_ranks, against_grids = figures("x", "X", "a sweep", runs)
    joined = next(line for line in against_ranks.figure.axes[0].get_lines() if line.get_label() == "s")
    np.testing.assert_allclose(joined.get_xydata(), [[1, 9.0], [4, 2.0]])  # type: ignore[arg-type]
    names = [text.get_text() for text in against_grids.figure.axes[0].get_yticklabels()]
    assert names == ["2x2x1", "1x4x1"]


def test_what_does_not_fit_is_said() -> None:
    many = [_shown(ranks, 1e-3, series=str(n)) for n in range(MOST_SERIES + 2) for ranks in (1, 2)]
    (drawing,) = figures("x", "X", "a sweep", many)
    assert "2 further series are in the table only" in drawing.caption
    grids = [_shown(4, 1e-3 * n, grid=str(n)) for n in range(1, MOST_GRIDS + 2)]
    (drawing,) = figures("x", "X", "a sweep", grids)
    assert f"the fastest {MOST_GRIDS} of {MOST_GRIDS + 1}" in drawing.caption


def test_one_point_and_no_time_are_no_figure() -> None:
    assert figures("x", "X", "a sweep", [_shown(2, 1e-3)]) == []
    assert figures("x", "X", "a sweep", [_shown(1, 0.0), _shown(2, 0.0)]) == []
