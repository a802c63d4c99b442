"""The held-out check says what `hockney evaluate` says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.factories import campaign, not_none

from hockney.machine.build import build
from hockney.models._evaluate import evaluate, predicted_apart
from hockney.models.base import Fit
from hockney.records.record import Record
from hockney.records.series_of_table import series
from hockney.records.table import load
from hockney.report.curves import MessageCurve, curves

SIZES = (0, *(2**power for power in range(21)))


def test_as_evaluate(tmp_path: Path, record: Callable[..., Record]) -> None:
    path = campaign(tmp_path / "demo", [record(size, scale=1.0 if size <= 4096 else 3.0) for size in SIZES])
    found = predicted_apart([(curve.series, curve.fits) for curve in curves(build(path))])
    evaluation = evaluate(series(load(path), "pingpong", "one_way"))
    # Predictions by piecewise follow the measured sizes.
    expected = {**evaluation.models, "piecewise": not_none(evaluation.corrected)}
    assert set(found) == {name for name, row in expected.items() if row.median_relative_error is not None}
    for name, result in found.items():
        assert result.median == pytest.approx(expected[name].median_relative_error)
        assert result.p95 == pytest.approx(expected[name].p95_relative_error)
        assert result.measured_s.size == 10  # of 22 sizes positions 1, 3, … 19; the last, 21, stays


def test_too_few_sizes_hold_nothing_out(curve: Callable[..., MessageCurve], line: Callable[..., Fit]) -> None:
    short = curve([(1, 1e-6), (2, 1e-6)], {"hockney": line(1e-6, 1e-9)})
    assert predicted_apart([(short.series, short.fits)]) == {}
