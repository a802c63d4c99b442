"""Rows of the tables, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

from tests.factories import not_none

from hockney.machine.file import Point
from hockney.models.base import Fit, Parameter, Quality
from hockney.report.curves import MessageCurve
from hockney.report.tables import by_estimator, named, overheads, points, quality, regimes, summary

Make = Callable[..., MessageCurve]


def with_intervals(
    line: Callable[..., Fit], alpha: tuple[float, float, float], beta: tuple[float, float, float]
) -> Fit:
    fit = line(alpha[0], beta[0])
    fit.regimes[0].alpha_s = Parameter(value=alpha[0], low=alpha[1], high=alpha[2], unit="s")
    fit.regimes[0].beta_s_per_B = Parameter(value=beta[0], low=beta[1], high=beta[2], unit="s/B")
    return fit


def test_regimes(curve: Make, line: Callable[..., Fit]) -> None:
    fits = {
        "good": with_intervals(line, (1e-6, 0.5e-6, 2e-6), (1e-9, 0.5e-9, 2e-9)),
        "open": with_intervals(line, (-1e-6, -2e-6, 1e-6), (1e-9, -1e-9, 2e-9)),
        "flat": line(1e-6, 0.0),
        "nearly": with_intervals(line, (1e-6, 1e-6, 1e-6), (1e-24, 1e-24, 1e-24)),
    }
    fits["nearly"].regimes[0].max_B = 4096
    assert regimes(curve([(1, 1e-6)], fits).entry).rows == [
        ["good", "n ≥ 0", "1 µs", "0.5 to 2 µs", "1 GB/s", "500 MB/s to 2 GB/s"],
        # A slope that may be zero leaves no bound for its inverse.
        ["open (nonphysical)", "n ≥ 0", "–", "—", "1 GB/s", "—"],
        ["flat", "n ≥ 0", "1 µs", "—", "—", "—"],
        ["nearly", "0 ≤ n ≤ 4 KiB", "1 µs", "1 to 1 µs", "—", "—"],
    ]


def test_lines_below_and_above_256_B_stand_beside_the_models(curve: Make, line: Callable[..., Fit]) -> None:
    """1 µs + n · 10 ns/B up to 256 B, 3 µs + n · 1 ns/B from there on, where both give 3.56 and 3.256 µs."""
    times_s = {n: 1e-6 + 1e-8 * n for n in (0, 64, 128)} | {n: 3e-6 + 1e-9 * n for n in (1024, 4096, 65536)}
    made = by_estimator([curve([*times_s.items()], {"piecewise": line(2e-6, 4e-9)})])
    row = dict(zip(made.columns, made.rows[0], strict=True))
    assert row["λ, line up to 256 B"] == "1 µs"
    assert row["B, line from 256 B on"] == "1 GB/s"
    assert (row["λ, piecewise"], row["B, piecewise"]) == ("2 µs", "250 MB/s")
    assert (
        by_estimator([curve([(0, 1e-6), (64, 1e-6), (1024, 2e-6)], {"piecewise": line(2e-6, 4e-9)})]).rows == []
    )


def test_quality(curve: Make, line: Callable[..., Fit]) -> None:
    fit = line(1e-6, 1e-9)
    fit.quality = Quality(
        points=9, median_relative_error=0.012, p95_relative_error=0.34, max_relative_error=1.5,
        adjusted_r2=0.99995, leave_one_out_median=None, leave_one_out_p95=0.5,
    )  # fmt: skip
    fit.n_half_B = Parameter(value=1024, unit="B")
    assert quality(curve([(1, 1e-6)], {"m": fit, "bare": line(1e-6, 1e-9)}).entry).rows == [
        ["m", "9", "1.2 %", "34 %", "150 %", "—", "50 %", "0.999950", "1 KiB"],
        ["bare", *["—"] * 8],
    ]


def test_named_parameters_do_not_repeat_the_regimes(curve: Make, line: Callable[..., Fit]) -> None:
    fit = line(1e-6, 1e-9)
    fit.parameters = {"latency_s": Parameter(value=1e-6, unit="s"), "o_s": Parameter(value=3e-8, unit="s")}
    table = not_none(named(curve([(1, 1e-6)], {"m": fit}).entry))
    assert table.rows == [["m", "o_s", "0.03 µs", "—"]]
    assert named(curve([(1, 1e-6)], {"m": line(1e-6, 1e-9)}).entry) is None


def test_points(curve: Make) -> None:
    made = curve([(0, 1.23456e-6), (1024, 2e-6, 1e-6, 4e-6)], operation="bidirectional")
    made.entry.measurements.points[1] = Point(
        size_B=1024, time_s=2e-6, low_s=1e-6, high_s=4e-6, records=2, samples=40, disturbed=3, stop=["budget"]
    )
    assert points(made).rows == [
        ["0 B", "1.235", "—", "—", "—", "—", "—", "—"],
        ["1 KiB", "2", "1 to 4", "1.02 GB/s", "2", "40", "3", "budget"],
    ]


def test_overheads(curve: Make) -> None:
    made = curve([(1, 1e-6)])
    made.entry.measurements.overheads["send_overhead"] = [Point(size_B=8, time_s=3e-8)]
    (table,) = overheads(made)
    assert table.caption == "send_overhead"
    assert table.rows == [["8 B", "0.03", "—", "—", "—", "—", "—"]]
    assert len(table.columns) == 7


def test_summary_has_a_row_for_each_curve(curve: Make, line: Callable[..., Fit]) -> None:
    points = [(1000, 1e-6), (4000, 8e-6)]
    table = summary([curve(points, {"hockney": line(2e-6, 0.5e-9)}), curve(points)], lambda _: "")
    assert table.columns[1:5] == ["latency", "peak", "largest message", "model's λ"]
    measured = ["label", "1 µs at 1000 B", "1 GB/s at 1000 B", "500 MB/s at 4000 B"]
    assert table.rows == [[*measured, "2 µs", "2 GB/s", "—"], [*measured, "—", "—", "—"]]


def test_the_size_of_half_the_bandwidth_is_that_of_the_bandwidth_beside_it(
    curve: Make, line: Callable[..., Fit]
) -> None:
    """2 µs + n / 1 GB/s up to 64 KiB, and one size beyond at a tenth of it: half of 1 GB/s is at 2000 B."""
    near, far = line(2e-6, 1e-9).regimes[0], line(0.0, 1e-8).regimes[0]
    regimes_ = [near.model_copy(update={"max_B": 65536.0}), far.model_copy(update={"min_B": 65536.0})]
    fit = Fit(model="piecewise", regimes=regimes_, n_half_B=Parameter(value=52.6, unit="B"))
    made = curve([(1, 1e-6), (1024, 2e-6), (2**20, 1e-2)], {"piecewise": fit})
    assert quality(made.entry).rows[0][-1] == "1.95 KiB"
    assert summary([made], lambda _: "").rows[0][-2:] == ["1 GB/s", "1.95 KiB"]
