"""The tables of the report as rows of text: parameters, quality of the fits, measured points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from hockney.machine.file import Entry, Point
from hockney.machine.formula import domain, formulas, half_bandwidth_size, interval, inverse, latency, quantity
from hockney.models.base import Parameter
from hockney.models.over_ranks.points import HEADINGS, Configuration
from hockney.report.marks import percent
from hockney.units import format_bytes, format_rate, format_size

if TYPE_CHECKING:
    from hockney.report.curves import MessageCurve

NONE = "—"
T = TypeVar("T")
_IN_REGIMES = ("latency_s", "bandwidth_B_per_s")
"""Named parameters that repeat the first α and the last 1/β, and are left out."""


@dataclass(frozen=True)
class Table:
    """Column headings, rows, and which columns are text (the others are numbers, set right).

    `id`: what links on the page lead to; empty where none does.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    text: frozenset[int] = field(default_factory=lambda: frozenset({0}))
    id: str = ""


@dataclass(frozen=True)
class Column(Generic[T]):
    """A column of a table: its heading, and what it says of a row, empty for nothing."""

    heading: str
    value: Callable[[T], str]
    is_text: bool = False
    """Text stands to the left, numbers to the right."""


def table(caption: str, rows: Sequence[T], columns: Sequence[Column[T]], anchor: str = "") -> Table:
    """A table of the rows; columns that say nothing of any are left out. `anchor`: what links lead to."""
    cells = [[column.value(row) for row in rows] for column in columns]
    kept = [(column, values) for column, values in zip(columns, cells, strict=True) if any(values)]
    lines = [[cell or NONE for cell in line] for line in zip(*(values for _, values in kept), strict=True)]
    text = frozenset(number for number, (column, _) in enumerate(kept) if column.is_text)
    return Table(caption, [column.heading for column, _ in kept], lines, text, anchor)


def held(names: Sequence[str], configuration: Callable[[T], Configuration]) -> list[Column[T]]:
    """Columns of what is held in a row."""

    def column(name: str) -> Column[T]:
        return Column(HEADINGS.get(name, name), lambda row: configuration(row)[name], is_text=True)

    return [column(name) for name in names]


def regimes(entry: Entry) -> Table:
    """Every model's T(n) = α + βn, one row for each regime."""
    rows = []
    for model, fit in entry.fits.items():
        for index, (regime, line) in enumerate(zip(fit.regimes, formulas(fit), strict=True)):
            # The formula leaves out a slope that is too small: its inverse would be meaningless.
            rate = inverse(regime.beta_s_per_B, "B/s") if "n /" in line else None
            rows.append(
                [
                    f"{model} (nonphysical)" if fit.nonphysical else model,
                    domain(fit, index),
                    quantity(regime.alpha_s.value, "s"),
                    interval(regime.alpha_s),
                    quantity(rate.value, "B/s") if rate else NONE,
                    interval(rate) if rate else NONE,
                ]
            )
    return Table(
        "Parameters: T(n) = α + βn",
        ["model", "message sizes", "α", "95 % interval", "1/β", "95 % interval"],
        rows,
        frozenset({0, 1}),
    )


def quality(entry: Entry) -> Table:
    """The errors of each model at the points, and its n½."""
    rows = []
    for model, fit in entry.fits.items():
        q = fit.quality
        known = [q.median_relative_error, q.p95_relative_error, q.max_relative_error] if q else [None] * 3
        left_out = [q.leave_one_out_median, q.leave_one_out_p95] if q else [None, None]
        r2 = NONE if q is None or q.adjusted_r2 is None else _r2(q.adjusted_r2)
        rows.append(
            [
                model,
                str(q.points) if q else NONE,
                *(_percent(value) for value in known),
                *(_percent(value) for value in left_out),
                r2,
                _with_interval(half_bandwidth_size(entry, fit)),
            ]
        )
    return Table(
        "Quality: |predicted − measured| / measured",
        ["model", "points", "median", "P95", "largest", "left out: median", "left out: P95", "adjusted R²", "n½"],
        rows,
    )


def named(entry: Entry) -> Table | None:
    """Parameters that models name (L, o_s, g, …); None if there are none."""
    rows = [
        [model, name, quantity(parameter.value, parameter.unit), interval(parameter)]
        for model, fit in entry.fits.items()
        for name, parameter in fit.parameters.items()
        if name not in _IN_REGIMES
    ]
    columns = ["model", "parameter", "value", "95 % interval"]
    return Table("Named parameters", columns, rows, frozenset({0, 1})) if rows else None


def summary(curves: Sequence[MessageCurve], model: str) -> Table:
    """One row for each curve, by one model, for operations with many configurations."""
    rows = []
    for curve in curves:
        fit = curve.fits.get(model)
        if fit is None:
            rows.append([curve.label, str(curve.size_B.size), *[NONE] * 6])
            continue
        rate = curve.bandwidth(fit)
        q = fit.quality
        rows.append(
            [
                curve.label,
                str(curve.size_B.size),
                quantity(latency(fit).value, "s"),
                quantity(rate.value, "B/s") if rate else NONE,
                value_and_interval(half_bandwidth_size(curve.entry, fit), size=True)[0],
                str(len(fit.regimes)),
                _percent(q.median_relative_error) if q else NONE,
                _percent(q.leave_one_out_p95) if q else NONE,
            ]
        )
    columns = [
        "configuration",
        "points",
        "latency",
        "bandwidth",
        "n½",
        "regimes",
        "median error",
        "left out: P95",
    ]
    return Table(f"All configurations, model {model}", columns, rows)


def points(curve: MessageCurve) -> Table:
    """All measured points of one curve."""
    return Table(
        "Measured points",
        [
            "size",
            "median (µs)",
            "95 % interval (µs)",
            "throughput",
            "measurements",
            "samples",
            "disturbed",
            "ended by",
        ],
        [_point(point, curve.streams) for point in curve.entry.measurements.points],
    )


def overheads(curve: MessageCurve) -> list[Table]:
    """CPU time of one send and of one receive, if they were measured."""
    columns = ["size", "median (µs)", "95 % interval (µs)", "measurements", "samples", "disturbed", "ended by"]
    result = []
    for name, measured in curve.entry.measurements.overheads.items():
        rows = [[cell for i, cell in enumerate(_point(point, 1)) if i != 3] for point in measured]
        result.append(Table(name, columns, rows))
    return result


def _point(point: Point, streams: int) -> list[str]:
    known = point.low_s is not None and point.high_s is not None
    return [
        format_bytes(point.size_B),
        _us(point.time_s),
        f"{_us(point.low_s)} to {_us(point.high_s)}" if known else NONE,
        format_rate(streams * point.size_B / point.time_s) if point.size_B else NONE,
        _count(point.records),
        _count(point.samples),
        _count(point.disturbed),
        ", ".join(point.stop) or NONE,
    ]


def value_and_interval(parameter: Parameter | None, size: bool = False) -> tuple[str, str]:
    """A parameter and its interval as text."""
    if parameter is None:
        return NONE, ""
    if not size:
        return quantity(parameter.value, parameter.unit), "" if (i := interval(parameter)) == NONE else i
    low, high = parameter.low, parameter.high
    bounds = "" if low is None or high is None else f"{format_size(low)} to {format_size(high)}"
    return format_size(parameter.value), bounds


def _with_interval(size: Parameter | None) -> str:
    value, bounds = value_and_interval(size, size=True)
    return f"{value} ({bounds})" if bounds else value


def stated_with_interval(parameter: Parameter) -> str:
    """`0.2 µs (95 %: 0.19 to 0.21 µs)`."""
    value, bounds = value_and_interval(parameter)
    return f"{value} (95 %: {bounds})" if bounds else f"{value} (no interval)"


def _us(seconds: float | None) -> str:
    """Microseconds with four significant digits, never an exponent."""
    if seconds is None:
        return NONE
    value = seconds * 1e6
    return f"{value:.0f}" if value >= 1000 else f"{value:.4g}"


def _percent(value: float | None) -> str:
    return NONE if value is None else percent(value)


def _r2(value: float) -> str:
    """R² to four digits, close to 1 to six: there its distance from 1 matters."""
    return f"{value:.6f}" if value > 0.9999 else f"{value:.4f}".replace("-", "−")


def _count(value: int | None) -> str:
    return NONE if value is None else str(value)
