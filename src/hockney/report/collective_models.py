"""The model of a measured collective: its formula as a table, time and rate over bytes and ranks as a figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hockney.machine.file import Machine
from hockney.machine.select import collective_title, collective_words
from hockney.models.base import Fit
from hockney.models.collectives.base import CollectiveModel, CollectiveRegime
from hockney.models.collectives.closed_form import collective_models
from hockney.models.collectives.expression import FormulaCall
from hockney.models.collectives.statements import domain, formula_text, growth_text
from hockney.models.views import VIEWS
from hockney.records.keys import sizes_are_blocks
from hockney.records.statistic import BY_NAME
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import AGAINST_SIZE, GREY, Axis, Chart, Line, Panel, along
from hockney.report.findings import Finding, certainty
from hockney.report.page import Row, Section
from hockney.report.style import rate_unit, styles
from hockney.report.tables import Table
from hockney.report.views.render_views import sections_tables
from hockney.report.views.sections import of_collectives
from hockney.statistics import Array
from hockney.units import format_bytes, grouped, percent

MOST_DRAWN = 2
"""Models of one operation that have a figure."""
MOST_CURVES = 4
"""Curves of a panel, from the fewest ranks or bytes to the most."""


def sections(machine: Machine) -> list[Section]:
    """A section for each collective of a machine file: its formulas; folded, the statements of `hockney show`."""
    result = []
    for operation, models in grouped(machine.collectives, lambda model: model.operation).items():
        part = Section(f"models-{operation}", operation.capitalize(), "Models on P ranks, of n bytes.")
        part.figures, part.tables = drawings(models, machine), model_table(models)
        shown = of_collectives(machine.model_copy(update={"collectives": models}), None)
        part.tables += sections_tables(shown, VIEWS)
        result.append(part)
    return result


def model_table(models: Sequence[CollectiveModel]) -> list[Table]:
    """A row for each range of each model; nothing without a model."""
    rows = []
    for model in models:
        quality = model.quality
        for number, regime in enumerate(model.regimes):
            first = number == 0 and quality is not None
            rows.append(
                [
                    collective_title(model, models).partition(" — ")[2] if number == 0 else "",
                    domain(regime),
                    ("≥ " if regime.lower_bound else "") + formula_text(model, regime),
                    growth_text(model, regime),
                    percent(quality.median_relative_error) if first and quality else "",
                    _factor(quality.model_factor if first and quality else None),
                    _factor(quality.prediction_factor if first and quality else None),
                ]
            )
    columns = [
        "algorithm",
        "where",
        "T(P, n)",
        "grows as",
        "median error",
        "formula, left out",
        "with points around, left out",
    ]
    named = " or ".join(dict.fromkeys(map(_words, models)))
    title = f"Models of the {named} in ranks P and bytes n"
    if not any(model.quality for model in models):
        columns, rows = columns[:4], [row[:4] for row in rows]
    else:
        title += " (95 % of what was left out lies within the factor)"
    anchor = f"{models[0].operation}-models" if models else ""
    return [Table(title, columns, rows, frozenset({0, 1, 2, 3}), anchor)] if rows else []


def of_models(models: Sequence[CollectiveModel]) -> list[Finding]:
    """How the time grows with ranks: of the library's own choice, else of each algorithm; on the most ranks."""
    grown = [model for model in models if model.quality and any(map(_is_grown, model.regimes))]
    return [_finding(model, models) for model in [m for m in grown if not m.algorithm] or grown]


def _is_grown(regime: CollectiveRegime) -> bool:
    return regime.min_ranks != regime.max_ranks


def _finding(model: CollectiveModel, among: Sequence[CollectiveModel]) -> Finding:
    grown = filter(_is_grown, model.regimes)
    last = max(grown, key=lambda regime: (regime.max_ranks or 0, regime.max_B or 0.0))
    off = model.quality.median_relative_error if model.quality else 0.0
    text = (
        f"{collective_title(model, among)}: T(P, n) = {formula_text(model, last)} for {domain(last)} "
        f"(median error {percent(off)})."
    )
    return Finding(text, f"{model.operation}-models", 0.8, "growth", certainty(1.0, 1 - off, 1 + off))


def model_rows(models: Sequence[CollectiveModel]) -> list[Row]:
    """Every range of every model as a row of plain values, for JSON and CSV."""
    return [
        {
            **collective_words(model),
            **regime.model_dump(include={"min_ranks", "max_ranks", "min_B", "max_B"}),
            "formula": formula_text(model, regime),
            "grows": growth_text(model, regime),
            **(model.quality.model_dump() if model.quality else {}),
        }
        for model in models
        for regime in model.regimes
    ]


def _words(model: CollectiveModel) -> str:
    """Which time it gives."""
    return BY_NAME[model.statistic].axis if model.statistic in BY_NAME else "time"


def _factor(factor: float | None) -> str:
    return "" if factor is None else f"× {factor:.3g}"


def drawings(models: Sequence[CollectiveModel], machine: Machine | None) -> list[Drawing]:
    """Figures of the library's own choice, of other algorithms where that was not measured."""
    drawn = [
        model
        for model in models
        if model.regimes and model.is_fitted and len({row["bytes"] for row in model.points}) > 1
    ]
    drawn.sort(key=lambda model: (bool(model.algorithm), -len(model.points)))
    default = [model for model in drawn if not model.algorithm] or drawn[:1]
    bound = _bound_of(machine)
    return [
        _drawing(model, collective_title(model, models), bound, number)
        for number, model in enumerate(default[:MOST_DRAWN])
    ]


Bound = Callable[[str, Array, Array], Array]
"""Seconds that no algorithm of an operation beats, of arrays of ranks and bytes, shape (n,)."""


def _bound_of(machine: Machine | None) -> Bound | None:
    """The optimum with the least α and β of any measured pair; None where no pair was measured."""
    fits = [] if machine is None else _of_messages(machine)
    if not fits:
        return None
    alpha_s, beta_s_per_B = least_message(fits)

    def bound(operation: str, ranks: Array, size_B: Array) -> Array:
        counts = collective_models.get(operation).optimum.counts(FormulaCall(np.maximum(ranks, 2), size_B))
        return np.maximum(np.asarray(counts.alpha) * alpha_s, np.asarray(counts.bytes) * beta_s_per_B)

    return bound


def _of_messages(machine: Machine) -> list[Fit]:
    """Piecewise fits of ping-pongs with the default variant and a warm cache, of ranks that shared no core.

    Times of ranks that shared a core are those of the scheduler.
    """
    return [
        entry.fits["piecewise"]
        for entry in machine.point_to_point
        if entry.operation == "pingpong"
        and "piecewise" in entry.fits
        and entry.variant in ("", "default")
        and entry.cache in ("", "warm")
        and not entry.oversubscribed
    ]


def least_message(fits: Sequence[Fit]) -> tuple[float, float]:
    """The least T(m) in s and the least T(m)/m in s/B of all fits: no message, and no byte of one, is faster.

    The least of a line is at one of its ends. α and β of a single regime would not do: both may be zero.
    """
    ends = [
        (regime, size)
        for fit in fits
        for regime in fit.regimes
        for size in (regime.min_B, regime.max_B)
        if size is not None
    ]
    times = [(regime.alpha_s.value + regime.beta_s_per_B.value * size, size) for regime, size in ends]
    rates = [time / size for time, size in times if size > 0]
    return min(time for time, _ in times), min([*rates, *(fit.regimes[-1].beta_s_per_B.value for fit in fits)])


def _drawing(model: CollectiveModel, title: str, bound: Bound | None, number: int) -> Drawing:
    ranks, size_B, time_s, low_s, high_s = (
        np.array([np.nan if row.get(name) is None else float(row[name] or 0) for row in model.points])
        for name in ("ranks", "bytes", "time_s", "low_s", "high_s")
    )
    measured = _Measured(
        model, bound, ranks, size_B, time_s, *(np.where(np.isnan(end), time_s, end) for end in (low_s, high_s))
    )
    counts, sizes = np.unique(ranks), np.unique(size_B[size_B > 0])
    grid_B = 2.0 ** np.linspace(np.log2(sizes[0]), np.log2(sizes[-1]), 200)
    rows = [
        measured.panels(
            {
                f"P = {count:.0f}": (ranks == count, np.full(grid_B.shape, count), grid_B)
                for count in _spread(counts)
            },
            replace(along(AGAINST_SIZE, model.operation), values=size_B),
        )
    ]
    if counts.size > 1:
        grid = 2.0 ** np.linspace(np.log2(counts[0]), np.log2(counts[-1]), 200)
        rows.append(
            measured.panels(
                {
                    f"n = {format_bytes(size)}": (size_B == size, grid, np.full(grid.shape, size))
                    for size in _spread(sizes)
                },
                Axis("ranks P", "counts", values=counts),
            )
        )
    thin = " Thin grey: what no algorithm beats, by the ping-pongs of this campaign." if bound is not None else ""
    return Drawing(
        f"{model.operation}-model" + (f"-{number + 1}" if number else ""),
        f"{title}: {_words(model)}, measured and the model.",
        f"{title}: time and whole vector over time, against bytes and against ranks, measured and modelled",
        "Symbols: measured, with 95 % intervals where there are any. Lines: the formula of the table, where it "
        f"holds.{thin}",
        Chart(rows, 7.4 if len(rows) > 1 else 4.0, legend="right"),
    )


def _spread(values: Array) -> list[float]:
    """At most `MOST_CURVES` of sorted values, the first and the last among them."""
    places = np.unique(np.linspace(0, values.size - 1, min(MOST_CURVES, values.size)).round().astype(int))
    return [float(values[place]) for place in places]


@dataclass(frozen=True)
class _Measured:
    """The points of a model, shape (n,), with the ends of their intervals."""

    model: CollectiveModel
    bound: Bound | None
    ranks: Array
    size_B: Array
    time_s: Array
    low_s: Array
    high_s: Array

    def panels(self, curves: Mapping[str, tuple[Array, Array, Array]], x: Axis) -> list[Panel]:
        """Time and rate beside each other; `curves`: which points, and ranks and bytes of the model's line."""
        looks = styles(list(curves))
        of_rates = self._rates(self.ranks, self.size_B, self.time_s)
        unit, name = rate_unit(float(of_rates.max()))
        times, rates = [], []
        for label, (chosen, ranks, size_B) in curves.items():
            over, at = (size_B, self.size_B[chosen]) if x.scale == "size" else (ranks, self.ranks[chosen])
            values = self.time_s[chosen], self.low_s[chosen], self.high_s[chosen]
            rate, fast, slow = (self._rates(self.ranks[chosen], self.size_B[chosen], value) for value in values)
            modelled = {label: self.model.extended_s(ranks, size_B)}
            if self.bound is not None:
                modelled[""] = self.bound(self.model.operation, ranks, size_B)
            dots = Line("", at, *values, style=looks[label], width=0, dots=3.2, order=4)
            times.append(dots)
            rates.append(replace(dots, y=rate, low=slow, high=fast))
            for word, line_s in modelled.items():
                line = Line(word, over, line_s, style=looks[label] if word else GREY, width=1.5 if word else 0.7)
                times.append(line)
                rates.append(replace(line, y=self._rates(ranks, size_B, line_s)))
        ends = np.array([of_rates[of_rates > 0].min(), 2 * of_rates.max()])
        return [
            Panel(times, x, Axis("time in µs", "log", 1e-6, values=self.time_s)),
            Panel(rates, x, Axis(f"whole vector / time ({name})", "log", unit, values=ends)),
        ]

    def _rates(self, ranks: Array, size_B: Array, time_s: Array) -> Array:
        return (size_B * ranks if sizes_are_blocks(self.model.operation) else size_B) / time_s
