"""The tables of the report as rows of text: parameters, quality of the fits, measured points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from hockney.machine.file import Entry, Point
from hockney.machine.formula import (
    domain,
    half_bandwidth_size,
    interval,
    latency,
    quantity,
    regimes_shown,
    right_side,
    stated_alpha,
)
from hockney.machine.measured import Throughput, measured_pair
from hockney.models.base import Parameter, preferred_model
from hockney.models.over_ranks.points import HEADINGS, Configuration
from hockney.report.marks import percent
from hockney.statistics import least_squares
from hockney.units import format_bytes, format_rate, format_size

if TYPE_CHECKING:
    from hockney.report.curves import MessageCurve

NONE = "—"
T = TypeVar("T")
PARTED_B = 256
"""Where the two lines meet by which messages are often summed up."""
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
        for index in regimes_shown(fit):
            regime = fit.regimes[index]
            # The formula leaves out a slope that is too small: its inverse would be meaningless.
            rate = regime.beta_s_per_B.inverse.scaled(1, "B/s") if "n /" in right_side(regime) else None
            rows.append(
                [
                    f"{model} (nonphysical)" if fit.nonphysical else model,
                    domain(fit, index),
                    stated_alpha(regime.alpha_s),
                    interval(regime.alpha_s) if regime.alpha_s.value > 0 else NONE,
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
        r2 = if_known(q.adjusted_r2 if q else None, _r2)
        rows.append(
            [
                model,
                str(q.points) if q else NONE,
                *(if_known(value, percent) for value in known),
                *(if_known(value, percent) for value in left_out),
                r2,
                _with_interval(half_bandwidth_size(entry, fit), size=True),
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


def summary(curves: Sequence[MessageCurve], shares: Callable[[MessageCurve], str]) -> Table:
    """One row for each curve: what was measured, `shares` of peaks, then λ and B of the model that answers."""

    def known(curve: MessageCurve) -> tuple[Parameter | None, Parameter | None, Parameter | None]:
        fit = curve.fits.get(preferred_model(curve.fits) or "")
        if fit is None:
            return None, None, None
        return latency(fit), curve.bandwidth(fit), half_bandwidth_size(curve.entry, fit)

    def measured(parameter: Parameter | None, size_B: float | None) -> str:
        stated = value_and_interval(parameter)[0]
        return "" if parameter is None else f"{stated} at {format_bytes(int(size_B or 0))}"

    def rate(reached: Throughput | None) -> str:
        return measured(reached.rate, reached.size_B) if reached else ""

    pairs = {curve.name: measured_pair(curve.entry) for curve in curves}
    columns: list[Column[MessageCurve]] = [
        Column("configuration", lambda curve: curve.label, is_text=True),
        Column("latency", lambda curve: measured(pairs[curve.name].latency_s, pairs[curve.name].smallest_B)),
        Column("peak", lambda curve: rate(pairs[curve.name].peak)),
        Column("of a peak", shares),
        Column("largest message", lambda curve: rate(pairs[curve.name].largest)),
        Column("model's λ", lambda curve: _with_interval(known(curve)[0])),
        Column("model's B, n → ∞", lambda curve: _with_interval(known(curve)[1])),
        Column("model's n½", lambda curve: value_and_interval(known(curve)[2], size=True)[0]),
    ]
    return table("As measured, and as the model has it, with its 95 % intervals", curves, columns)


def by_estimator(curves: Sequence[MessageCurve]) -> Table:
    """λ and B of two least-squares lines, below and above `PARTED_B`, beside those of each model.

    Of curves with two sizes on either side.
    """
    known = [
        curve
        for curve in curves
        if min((curve.size_B <= PARTED_B).sum(), (curve.size_B >= PARTED_B).sum()) > 1 and curve.fits
    ]

    def line(curve: MessageCurve, *, above: bool) -> tuple[float, float]:
        """Its λ in s and its 1/B in s/B."""
        side = curve.size_B >= PARTED_B if above else curve.size_B <= PARTED_B
        design = np.column_stack([np.ones(int(side.sum())), curve.size_B[side]])
        constant_s, slope_s_per_B = least_squares(design, curve.time_s[side]).value
        return float(constant_s), float(slope_s_per_B)

    def rate(curve: MessageCurve) -> str:
        slope_s_per_B = line(curve, above=True)[1]
        return format_rate(curve.streams / slope_s_per_B) if slope_s_per_B > 0 else NONE

    def of_model(model: str) -> Iterator[Column[MessageCurve]]:
        def latency_of(curve: MessageCurve) -> str:
            return quantity(latency(curve.fits[model]).value, "s") if model in curve.fits else ""

        def bandwidth_of(curve: MessageCurve) -> str:
            known = curve.bandwidth(curve.fits[model]) if model in curve.fits else None
            return format_rate(known.value) if known else ""

        yield Column(f"λ, {model}", latency_of)
        yield Column(f"B, {model}", bandwidth_of)

    parted = format_bytes(PARTED_B)
    columns: list[Column[MessageCurve]] = [
        Column("configuration", lambda curve: curve.label, is_text=True),
        Column(f"λ, line up to {parted}", lambda curve: quantity(line(curve, above=False)[0], "s")),
        Column(f"B, line from {parted} on", rate),
        *(
            column
            for model in dict.fromkeys(name for curve in known for name in curve.fits)
            for column in of_model(model)
        ),
    ]
    return table("Latency and bandwidth by each estimator; lines are of least squares", known, columns)


def points(curve: MessageCurve) -> Table:
    """All measured points of one curve."""
    return _points("Measured points", curve.entry.measurements.points, curve.streams)


def overheads(curve: MessageCurve) -> list[Table]:
    """CPU time of one send and of one receive, if they were measured."""
    return [_points(name, measured, 0) for name, measured in curve.entry.measurements.overheads.items()]


def _points(caption: str, measured: Sequence[Point], streams: int) -> Table:
    """Times and how they were measured; throughput where messages are streams."""

    def throughput(point: Point) -> str:
        return format_rate(streams * point.size_B / point.time_s) if streams and point.size_B else ""

    def within(point: Point) -> str:
        return if_known(point.low_s, lambda low_s: f"{_us(low_s)} to {if_known(point.high_s, _us)}")

    columns: list[Column[Point]] = [
        Column("size", lambda point: format_bytes(point.size_B), is_text=True),
        Column("median (µs)", lambda point: _us(point.time_s)),
        Column("95 % interval (µs)", within),
        Column("throughput", throughput),
        Column("records", lambda point: if_known(point.records, str)),
        Column("samples", lambda point: if_known(point.samples, str)),
        Column("disturbed", lambda point: if_known(point.disturbed, str)),
        Column("ended by", lambda point: ", ".join(point.stop) or NONE),
    ]
    return table(caption, measured, columns)


def value_and_interval(parameter: Parameter | None, size: bool = False) -> tuple[str, str]:
    """A parameter and its interval as text."""
    if parameter is None:
        return NONE, ""
    if not size:
        return quantity(parameter.value, parameter.unit), "" if (i := interval(parameter)) == NONE else i
    low, high = parameter.low, parameter.high
    bounds = "" if low is None or high is None else f"{format_size(low)} to {format_size(high)}"
    return format_size(parameter.value), bounds


def _with_interval(parameter: Parameter | None, size: bool = False) -> str:
    value, bounds = value_and_interval(parameter, size)
    return f"{value} ({bounds})" if bounds else value


def stated_with_interval(parameter: Parameter) -> str:
    """`0.2 µs (95 %: 0.19 to 0.21 µs)`."""
    value, bounds = value_and_interval(parameter)
    return f"{value} (95 %: {bounds})" if bounds else f"{value} (no interval)"


def if_known(value: T | None, text: Callable[[T], str]) -> str:
    """A value as text, where there is one."""
    return NONE if value is None else text(value)


def _us(seconds: float) -> str:
    """Microseconds with four significant digits, never an exponent."""
    value = seconds * 1e6
    return f"{value:.0f}" if value >= 1000 else f"{value:.4g}"


def _r2(value: float) -> str:
    """R² to four digits, close to 1 to six: there its distance from 1 matters."""
    return f"{value:.6f}" if value > 0.9999 else f"{value:.4f}".replace("-", "−")
