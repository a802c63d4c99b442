"""The model of a measured collective: its formula as a table, time and rate over bytes and ranks as a figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hockney.machine.file import Machine
from hockney.machine.select import collective_title
from hockney.models.collectives.base import CollectiveModel
from hockney.models.collectives.closed_form import collective_models
from hockney.models.collectives.expression import Call
from hockney.models.collectives.statements import domain, formula_text
from hockney.records.keys import sizes_are_blocks
from hockney.records.statistic import BY_NAME
from hockney.report.axes import SizeAxis, count_axis, log_axis, rate_unit
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.findings import Finding
from hockney.report.style import QUIET, Style, styles
from hockney.report.tables import Table
from hockney.report.views.collective_bounds import least_message
from hockney.report.views.collective_costs import costs_of
from hockney.statistics import Array
from hockney.units import format_bytes

MOST_DRAWN = 2
"""Models of one operation that have a figure."""
MOST_CURVES = 4
"""Curves of a panel, from the fewest ranks or bytes to the most."""


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
                    formula_text(model, regime),
                    f"{quality.median_relative_error:.1%}" if first and quality else "",
                    _factor(quality.model_factor if first and quality else None),
                    _factor(quality.prediction_factor if first and quality else None),
                ]
            )
    columns = [
        "algorithm",
        "where",
        "T(P, n)",
        "median error",
        "formula, left out",
        "with points around, left out",
    ]
    named = " or ".join(dict.fromkeys(map(_words, models)))
    title = f"Models of the {named} in ranks P and bytes n (95 % of what was left out lies within the factor)"
    return [Table(title, columns, rows, frozenset({0, 1, 2}))] if rows else []


def _words(model: CollectiveModel) -> str:
    """Which time it gives."""
    return BY_NAME[model.statistic].axis if model.statistic in BY_NAME else "time"


def _factor(factor: float | None) -> str:
    return "" if factor is None else f"× {factor:.3g}"


def findings(models: Sequence[CollectiveModel]) -> list[Finding]:
    """A sentence on the model of each of the library's own choices: its last range and how far off it is."""
    found = []
    for model in models:
        quality = model.quality
        if model.algorithm or not model.is_fitted or quality is None or quality.model_factor is None:
            continue
        last = model.regimes[-1]
        found.append(
            Finding(
                f"{collective_title(model, models)} takes T(P, n) = {formula_text(model, last)} "
                f"({domain(last)}): "
                f"95 % of what was left out lies within a factor {quality.model_factor:.3g}, "
                f"{quality.prediction_factor:.3g} with the measured points around.",
                model.operation,
                0.4,
            )
        )
    return found


def drawings(models: Sequence[CollectiveModel], machine: Machine | None) -> list[Drawing]:
    """Figures of the library's own choice, of other algorithms where that was not measured."""
    drawn = [model for model in models if model.is_fitted and len({row["bytes"] for row in model.points}) > 1]
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
    costs = None if machine is None else costs_of(machine)
    if costs is None:
        return None
    alpha_s, beta_s_per_B = least_message(costs.every)

    def bound(operation: str, ranks: Array, size_B: Array) -> Array:
        counts = collective_models.get(operation).optimum.counts(Call(np.maximum(ranks, 2), size_B))
        return np.maximum(np.asarray(counts.alpha) * alpha_s, np.asarray(counts.bytes) * beta_s_per_B)

    return bound


def _drawing(model: CollectiveModel, title: str, bound: Bound | None, number: int) -> Drawing:
    ranks, size_B, time_s, low_s, high_s = (
        np.array([np.nan if row.get(name) is None else float(row[name] or 0) for row in model.points])
        for name in ("ranks", "bytes", "time_s", "low_s", "high_s")
    )
    counts, sizes = np.unique(ranks), np.unique(size_B[size_B > 0])
    has_ranks = counts.size > 1
    figure = Figure(figsize=(WIDTH_IN, 7.4 if has_ranks else 4.0), layout="constrained")
    panels = np.asarray(figure.subplots(2 if has_ranks else 1, 2, squeeze=False))
    measured = time_s, np.where(np.isnan(low_s), time_s, low_s), np.where(np.isnan(high_s), time_s, high_s)
    axis = SizeAxis.of([size_B])
    over_bytes = _Panel(model, bound, ranks, size_B, measured, size_B, axis.position)
    grid_B = 2.0 ** np.linspace(np.log2(sizes[0]), np.log2(sizes[-1]), 200)
    looks = styles([f"P = {count:.0f}" for count in _spread(counts)])
    for count, (name, look) in zip(_spread(counts), looks.items(), strict=True):
        over_bytes.draw(panels[0], ranks == count, np.full(grid_B.shape, count), grid_B, name, look)
    for panel in panels[0]:
        axis.apply(panel, labels=6, title="bytes n")
    over_bytes.finish(panels[0])
    if has_ranks:
        over_ranks = _Panel(model, bound, ranks, size_B, measured, ranks, lambda count: count)
        grid = 2.0 ** np.linspace(np.log2(counts[0]), np.log2(counts[-1]), 200)
        looks = styles([f"n = {format_bytes(size)}" for size in _spread(sizes)])
        for size, (name, look) in zip(_spread(sizes), looks.items(), strict=True):
            over_ranks.draw(panels[1], size_B == size, grid, np.full(grid.shape, size), name, look)
        for panel in panels[1]:
            count_axis(panel, counts, "ranks P")
        over_ranks.finish(panels[1])
    thin = " Thin grey: what no algorithm beats, by the ping-pongs of this campaign." if bound is not None else ""
    return Drawing(
        f"{model.operation}-model" + (f"-{number + 1}" if number else ""),
        f"{title}: {_words(model)}, measured and the model.",
        f"{title}: time and whole vector over time, against bytes and against ranks, measured and modelled",
        "Symbols: measured, with 95 % intervals where there are any. Lines: the formula of the table, where it "
        f"holds.{thin}",
        figure,
    )


def _spread(values: Array) -> list[float]:
    """At most `MOST_CURVES` of sorted values, the first and the last among them."""
    places = np.unique(np.linspace(0, values.size - 1, min(MOST_CURVES, values.size)).round().astype(int))
    return [float(values[place]) for place in places]


class _Panel:
    """Two axes side by side, time and rate, over bytes or over ranks."""

    def __init__(
        self,
        model: CollectiveModel,
        bound: Bound | None,
        ranks: Array,
        size_B: Array,
        measured: tuple[Array, Array, Array],
        abscissa: Array,
        position: Callable[[Array], Array],
    ) -> None:
        self._model, self._bound = model, bound
        self._ranks, self._size_B, self._measured = ranks, size_B, measured
        self._abscissa, self._position = abscissa, position
        rates = self._rates(ranks, size_B, measured[0])
        self._scale, self._unit = rate_unit(float(rates.max()))

    def _rates(self, ranks: Array, size_B: Array, time_s: Array) -> Array:
        return (size_B * ranks if sizes_are_blocks(self._model.operation) else size_B) / time_s

    def draw(
        self, axes: Sequence[Axes], chosen: Array, ranks: Array, size_B: Array, name: str, look: Style
    ) -> None:
        """The points of a curve, the model's line, and the bound."""
        at = self._position(self._abscissa[chosen])
        time_s, low_s, high_s = (each[chosen] for each in self._measured)
        of = self._ranks[chosen], self._size_B[chosen]
        look_of: Any = {
            "fmt": look.marker,
            "color": look.colour,
            "markersize": 3.2,
            "elinewidth": 0.8,
            "zorder": 4,
        }
        # A table's interval need not hold its time.
        reach_s = np.maximum(np.vstack([time_s - low_s, high_s - time_s]), 0.0)
        axes[0].errorbar(at, time_s * 1e6, yerr=reach_s * 1e6, **look_of)
        rate = self._rates(*of, time_s) / self._scale
        ends = [rate - self._rates(*of, high_s) / self._scale, self._rates(*of, low_s) / self._scale - rate]
        axes[1].errorbar(at, rate, yerr=np.maximum(np.vstack(ends), 0.0), **look_of)
        over = size_B if np.ptp(size_B) > 0 else ranks
        line_s = self._model.extended_s(ranks, size_B)
        axes[0].plot(self._position(over), line_s * 1e6, label=name, **look.line)
        axes[1].plot(self._position(over), self._rates(ranks, size_B, line_s) / self._scale, **look.line)
        if self._bound is not None:
            least_s = self._bound(self._model.operation, ranks, size_B)
            axes[0].plot(self._position(over), least_s * 1e6, color=QUIET, linewidth=0.7)
            bound_rate = self._rates(ranks, size_B, least_s) / self._scale
            axes[1].plot(self._position(over), bound_rate, color=QUIET, linewidth=0.7)

    def finish(self, axes: Sequence[Axes]) -> None:
        """Scales, titles and the legend."""
        time_s, low_s, high_s = self._measured
        log_axis(axes[0], float(low_s[low_s > 0].min()) * 1e6, float(high_s.max()) * 1e6)
        axes[0].set_ylabel("time in µs")
        axes[1].set_ylabel(f"whole vector / time ({self._unit})")
        axes[1].legend(*axes[0].get_legend_handles_labels(), loc="upper left", bbox_to_anchor=(1.0, 1.0))
        rates = self._rates(self._ranks, self._size_B, time_s)
        log_axis(axes[1], float(rates[rates > 0].min()) / self._scale, 2 * float(rates.max()) / self._scale)
