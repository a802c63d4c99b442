"""Figures of the card: messages over sizes, collectives over ranks, and intervals of the parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator
from numpy.typing import NDArray

from hockney.machine.file import Entry, Machine
from hockney.machine.formula import MESSAGES
from hockney.machine.select import collective_title
from hockney.models.base import Parameter, predict
from hockney.models.collectives.base import CollectiveModel
from hockney.records.keys import COLLECTIVES, sizes_are_blocks
from hockney.report.axes import SizeAxis, log_axis, plain, rate_unit
from hockney.report.card.content import fit_of, label
from hockney.report.style import drawing_style, styles
from hockney.units import format_bytes

Array = NDArray[np.float64]

WIDTH_IN = 7.3
"""Width of the printed area of A4 and letter paper."""
_LARGEST_B = 2.0**24
"""The largest size drawn for a model that was published without sizes."""
_RANKS = [2**exponent for exponent in range(1, 17)]
TWO_PANELS = 1.4
"""Height of two panels over that of one: they share an axis and a legend."""
_SMALL_B, _LARGE_B = 8.0, 2.0**30
_MOST_MODELS = 5
"""Models of collectives in a figure."""
_MOST_PARAMETERS, _MOST_OF_AN_EFFECT = 14, 3


def messages(entries: Sequence[Entry], height_in: float) -> Figure | None:
    """Time and throughput against size: fits as lines, measured points with intervals.

    None without a fit that gives a time.
    """
    drawn = [(entry, fit) for entry in entries if (fit := fit_of(entry)) is not None]
    if not drawn:
        return None
    sizes = {
        id(entry): np.array([point.size_B for point in entry.measurements.points], dtype=np.float64)
        for entry, _ in drawn
    }
    measured = [size_B for size_B in sizes.values() if size_B.size]
    everything = [*measured] if measured else [np.array([1.0, _LARGEST_B])]
    axis = SizeAxis.of(everything)
    grid = 2.0 ** np.linspace(math.log2(axis.smallest_B), math.log2(max(axis.largest_B, 2.0)), 400)
    curves = [np.asarray(predict(fit, grid)) for _, fit in drawn]
    curves = [np.where(time_s > 0, time_s, np.nan) for time_s in curves]
    if np.isnan(curves).all():
        return None
    looks = styles([str(index) for index in range(len(drawn))])
    with drawing_style():
        figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
        times, rates = figure.subplots(1, 2)
        entries = [entry for entry, _ in drawn]
        speeds = [_rate(entry, grid, time_s) for entry, time_s in zip(entries, curves, strict=True)]
        scale, unit = rate_unit(float(np.nanmax(speeds)))
        at = axis.position(grid)
        for entry, time_s, speed, look in zip(entries, curves, speeds, looks.values(), strict=True):
            times.plot(at, time_s * 1e6, **look.line, label=label(entry, entries) or entry.operation)
            rates.plot(at, speed / scale, **look.line)
            _points(times, rates, entry, axis, scale, look.colour, look.marker)
        log_axis(times, float(np.nanmin(curves)) * 1e6, float(np.nanmax(curves)) * 1e6)
        for axes in (times, rates):
            axis.apply(axes, labels=6)
        times.set_ylabel("time of a message (µs)")
        rates.set_ylabel(f"throughput ({unit})")
        rates.set_ylim(bottom=0)
        figure.legend(loc="outside lower center", ncols=2 if len(drawn) > 1 else 1, handlelength=3.4)
    return figure


def _points(
    times: Axes, rates: Axes, entry: Entry, axis: SizeAxis, scale: float, colour: str, marker: str
) -> None:
    points = entry.measurements.points
    if not points:
        return
    size_B = np.array([point.size_B for point in points], dtype=np.float64)
    time_s = np.array([point.time_s for point in points])
    low_s = np.array([point.time_s if point.low_s is None else point.low_s for point in points])
    high_s = np.array([point.time_s if point.high_s is None else point.high_s for point in points])
    look: Any = {"fmt": marker, "color": colour, "markersize": 3.0, "elinewidth": 0.8, "zorder": 4}
    errors = np.maximum(np.vstack([time_s - low_s, high_s - time_s]), 0.0)
    times.errorbar(axis.position(size_B), time_s * 1e6, yerr=errors * 1e6, **look)
    rate = _rate(entry, size_B, time_s)
    errors = np.maximum(np.vstack([rate - _rate(entry, size_B, high_s), _rate(entry, size_B, low_s) - rate]), 0.0)
    rates.errorbar(axis.position(size_B), rate / scale, yerr=errors / scale, **look)


def _rate(entry: Entry, size_B: Array, time_s: Array) -> Array:
    """Bytes per second; no number, which is not drawn, where the end of an interval is 0 s."""
    rate = np.full(len(size_B), np.nan)
    np.divide(MESSAGES.get(entry.operation, 1) * size_B, time_s, out=rate, where=time_s > 0)
    return rate


Curves = dict[str, tuple[list[int], list[float]]]
"""Ranks and values by name."""


def collectives(models: Sequence[CollectiveModel], height_in: float, width_in: float) -> Figure | None:
    """Time against ranks at 8 B, and vector / time of large vectors below it, as far as models can be evaluated.

    `height_in` is that of one panel; two share their axis. The library's own choices come first; of fitted models
    the measured points at 8 B are drawn, too. None where no model can be evaluated on two numbers of ranks.
    """
    models = sorted(models, key=lambda model: bool(model.algorithm))[:_MOST_MODELS]
    points = {_name(model, models): spots for model in models if (spots := _points_at(model))}
    panels = [
        (curves, title)
        for curves, title in (
            (_times(models), f"time of {format_bytes(int(_SMALL_B))} (µs)"),
            (_rates(models), "large vector / time (MB/s)"),
        )
        if curves
    ]
    if not panels:
        return None
    looks = styles(list(dict.fromkeys(name for curves, _ in panels for name in curves)))
    with drawing_style():
        height_in *= 1.0 if len(panels) == 1 else TWO_PANELS
        figure = Figure(figsize=(width_in, height_in), layout="constrained")
        for (curves, title), axes in zip(
            panels, figure.subplots(len(panels), 1, squeeze=False).flat, strict=True
        ):
            measured = points if axes is figure.axes[0] else {}
            for name, (at, values) in curves.items():
                marker: Any = {} if name in points else {"marker": looks[name].marker, "markersize": 3}
                axes.plot(at, values, label=name, **marker, **looks[name].line)
                dots: Any = {"marker": looks[name].marker, "color": looks[name].colour, "markersize": 3}
                for spot in measured.get(name, []):
                    axes.plot(*spot, linestyle="", **dots)
            axes.set_xscale("log", base=2)
            most = math.log2(max(max(at) for at, _ in curves.values()))
            axes.set_xticks([2**exponent for exponent in range(1, int(most) + 1, 3 if most > 8 else 1)])
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
            axes.xaxis.set_minor_locator(NullLocator())
            everything = [value for _, values in curves.values() for value in values]
            everything += [value for several in measured.values() for _, value in several]
            log_axis(axes, min(everything), max(everything))
            axes.set_ylabel(title, fontsize=6.5 if points else None)
        axes.set_xlabel("ranks P")
        if points:
            # Points leave no free corner.
            entries = figure.axes[0].get_legend_handles_labels()
            figure.legend(*entries, loc="outside lower center", handlelength=3, ncols=2, fontsize=6.5)
        else:
            figure.axes[0].legend(loc="upper left", handlelength=3)
    return figure


def _points_at(model: CollectiveModel) -> list[tuple[float, float]]:
    """Ranks and µs of the measured points of 8 B."""
    return [
        (float(row["ranks"] or 0), float(row["time_s"] or 0) * 1e6)
        for row in (model.points if model.is_fitted else [])
        if row["bytes"] == _SMALL_B
    ]


def _ranks_of(model: CollectiveModel) -> list[int]:
    """Where a model is evaluated: powers of two, and the ends of its ranges."""
    ends = {count for regime in model.regimes for count in (regime.min_ranks, regime.max_ranks)}
    return sorted({*_RANKS, *(count for count in ends if count and _RANKS[0] <= count <= _RANKS[-1])})


def _times(models: Sequence[CollectiveModel]) -> Curves:
    """Time in µs at 8 B, by the models that can be evaluated there."""
    curves: Curves = {}
    for model in models:
        times = {
            count: time_s for count in _ranks_of(model) if (time_s := model.time_s(count, _SMALL_B)) is not None
        }
        if len(times) > 1:
            curves[_name(model, models)] = list(times), [time_s * 1e6 for time_s in times.values()]
    return curves


def _rates(models: Sequence[CollectiveModel]) -> Curves:
    """Vector / time in MB/s, by models with a term in bytes.

    The vector is 1 GiB, or the largest that the model holds for (Hoefler et al. 2010, figure 3(b)). Where a model
    is a lower bound on time, its rate is the most there can be.
    """
    curves: Curves = {}
    for model in models:
        is_of_blocks = model.operation in COLLECTIVES and sizes_are_blocks(model.operation)
        ends = [math.inf if regime.max_B is None else regime.max_B for regime in model.regimes]
        vector_B = min(_LARGE_B, _LARGE_B if is_of_blocks else max(ends, default=0.0))
        rates: dict[int, float] = {}
        for count in _ranks_of(model):
            size_B = vector_B / count if is_of_blocks else vector_B
            regime, time_s = model.regime(count, size_B), model.time_s(count, size_B)
            if (
                regime is not None
                and time_s
                and any(term.per_byte or term.counts == "bytes" for term in regime.terms)
            ):
                rates[count] = vector_B / time_s / 1e6
        if len(rates) > 1:
            curves[_name(model, models)] = list(rates), list(rates.values())
    return curves


def _name(model: CollectiveModel, among: Sequence[CollectiveModel]) -> str:
    return collective_title(model, among).replace(" — the library", "").replace(" — ", ", ")


def known(machine: Machine, height_in: float, width_in: float) -> Figure | None:
    """The interval of each parameter relative to its value; None where no parameter has an interval."""
    widths = _relative(machine)
    if not widths:
        return None
    with drawing_style():
        figure = Figure(figsize=(width_in, height_in), layout="constrained")
        axes = figure.subplots()
        for place, (low, high) in enumerate(widths.values()):
            axes.plot([low, high], [place, place], color="#000000", linewidth=2.2, solid_capstyle="butt")
            axes.plot([1], [place], marker="o", color="#000000", markersize=3.2)
        axes.axvline(1, color="#6b6b6b", linewidth=0.7, dashes=(2, 2))
        axes.set_yticks(range(len(widths)), list(widths))
        axes.set_ylim(len(widths) - 0.5, -0.5)
        ends = [end for pair in widths.values() for end in pair]
        axes.set_xlim(max(0.0, min(ends) - 0.02), min(max(ends) + 0.02, 3.0))
        axes.locator_params(axis="x", nbins=5)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("95 % interval / value")
    return figure


def _relative(machine: Machine) -> Mapping[str, tuple[float, float]]:
    widths: dict[str, tuple[float, float]] = {}

    def add(name: str, parameter: Parameter | None) -> None:
        if parameter is None or parameter.low is None or parameter.high is None or parameter.value <= 0:
            return
        widths.setdefault(name, (parameter.low / parameter.value, parameter.high / parameter.value))

    for entry in machine.point_to_point:
        fit = fit_of(entry)
        if fit is not None and entry.operation == "pingpong" and entry.variant in ("", "default"):
            add(f"latency, {entry.locality}", fit.regimes[0].alpha_s)
            add(f"1/bandwidth, {entry.locality}", fit.regimes[-1].beta_s_per_B)
    for effect in machine.effects:
        for name, parameter in list(effect.parameters.items())[:_MOST_OF_AN_EFFECT]:
            add(f"{effect.effect}: {name}", parameter)
    return dict(list(widths.items())[:_MOST_PARAMETERS])
