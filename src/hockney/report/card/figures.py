"""Figures of the card: messages over sizes, collectives over ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from hockney.machine.file import Entry
from hockney.machine.select import collective_title
from hockney.models.base import predict
from hockney.models.collectives.base import CollectiveModel
from hockney.records.keys import COLLECTIVES, sizes_are_blocks
from hockney.records.table import DIRECTIONS
from hockney.report.axes import rate_unit
from hockney.report.card.content import fit_of, label
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import Array, Axis, Chart, Line, Panel
from hockney.report.style import styles
from hockney.units import format_bytes

WIDTH_IN = 7.4
"""Narrower than on a page: its letters have their size on A4."""
_LARGEST_B = 2.0**24
"""The largest size drawn for a model that was published without sizes."""
_RANKS = [2**exponent for exponent in range(1, 17)]
_SMALL_B, _LARGE_B = 8.0, 2.0**30
_MOST_MODELS = 5
"""Models of collectives in a figure."""


def messages(entries: Sequence[Entry]) -> Drawing | None:
    """Time and throughput against size: fits as lines, measured points with intervals.

    None without a fit that gives a time.
    """
    drawn = [(entry, fit) for entry in entries if (fit := fit_of(entry)) is not None]
    points = [list(entry.measurements.points) for entry, _ in drawn]
    measured_B = np.array([float(point.size_B) for own in points for point in own])
    positive = measured_B[measured_B > 0] if measured_B.size else np.array([1.0, _LARGEST_B])
    if not drawn or not positive.size:
        return None
    grid = np.geomspace(positive.min(), max(positive.max(), 2.0), 400)
    times, rates = [], []
    looks = styles([str(place) for place in range(len(drawn))]).values()
    for (entry, fit), own, look in zip(drawn, points, looks, strict=True):
        time_s = np.asarray(predict(fit, grid))
        line = Line(
            label(entry, entries) or entry.operation, grid, np.where(time_s > 0, time_s, np.nan), style=look
        )
        size_B = np.array([point.size_B for point in own], dtype=np.float64)
        values = [[getattr(point, name) for point in own] for name in ("time_s", "low_s", "high_s")]
        measured_s, low_s, high_s = np.array(values, dtype=np.float64)
        dots = Line("", size_B, measured_s, low_s, high_s, look, 0.0, 3.0, order=4)
        times += [line, dots]
        rates += [replace(line, label="", y=_rate(entry, grid, line.y))]
        fast, slow = (_rate(entry, size_B, end_s) for end_s in (low_s, high_s))
        rates.append(replace(dots, y=_rate(entry, size_B, measured_s), low=slow, high=fast))
    modelled = [line.y for line in times if line.width]
    if np.isnan(np.concatenate(modelled)).all():
        return None
    unit, name = rate_unit(float(np.nanmax(np.concatenate([line.y for line in rates if line.width]))))
    x = Axis("message size", "size", values=np.concatenate([measured_B, grid[[0, -1]]]))
    panels = [
        Panel(times, x, Axis("time of a message (µs)", "log", 1e-6, values=np.concatenate(modelled))),
        Panel(rates, x, Axis(f"throughput ({name})", "from_0", unit)),
    ]
    words = "Time and throughput of a message against its size"
    return Drawing(
        "card-messages",
        f"{words}.",
        words,
        "Symbols are measured, lines the model.",
        Chart([panels], 2.9, WIDTH_IN, columns=2),
    )


def _rate(entry: Entry, size_B: Array, time_s: Array) -> Array:
    """Bytes per second; no number, which is not drawn, where the end of an interval is 0 s."""
    rate = np.full(len(size_B), np.nan)
    np.divide(DIRECTIONS.get(entry.operation, 1) * size_B, time_s, out=rate, where=time_s > 0)
    return rate


def collectives(models: Sequence[CollectiveModel]) -> Drawing | None:
    """Time against ranks at 8 B, and vector / time of large vectors beside it, as far as models can be evaluated.

    The library's own choices come first; of fitted models the measured points at 8 B are drawn, too. None where
    no model can be evaluated on two numbers of ranks.
    """
    models = sorted(models, key=lambda model: bool(model.algorithm))[:_MOST_MODELS]
    times = _curves(models, lambda model, count: model.time_s(count, _SMALL_B))
    drawn = [
        (curves, title, unit)
        for curves, title, unit in (
            (times, f"time of {format_bytes(int(_SMALL_B))} (µs)", 1e-6),
            (_curves(models, _vector_rate), "large vector / time (MB/s)", 1e6),
        )
        if curves
    ]
    if not drawn:
        return None
    looks = styles(list(dict.fromkeys(name for curves, *_ in drawn for name in curves)))
    points = {_name(model, models): _points_at(model) for model in models}
    panels = []
    for place, (curves, title, unit) in enumerate(drawn):
        lines = []
        for name, (at, values) in curves.items():
            own = points[name] if not place else np.zeros((2, 0))
            lines.append(
                Line(
                    name,
                    np.array(at, np.float64),
                    np.array(values),
                    style=looks[name],
                    dots=0.0 if own.size else 3.0,
                )
            )
            if own.size:
                lines.append(Line("", own[0], own[1], style=looks[name], width=0.0, dots=3.0))
        panels.append(Panel(lines, Axis("ranks P", "log"), Axis(title, "log", unit)))
    words = "Collectives over ranks"
    return Drawing("card-collectives", f"{words}.", words, "", Chart([panels], 2.9, WIDTH_IN, columns=3))


def _points_at(model: CollectiveModel) -> Array:
    """Ranks and seconds of the measured points of 8 B, shape (2, n)."""
    rows = [row for row in (model.points if model.is_fitted else []) if row["bytes"] == _SMALL_B]
    return np.array([[float(row[name] or 0) for row in rows] for name in ("ranks", "time_s")])


def _ranks_of(model: CollectiveModel) -> list[int]:
    """Where a model is evaluated: powers of two, and the ends of its ranges."""
    ends = {count for regime in model.regimes for count in (regime.min_ranks, regime.max_ranks)}
    return sorted({*_RANKS, *(count for count in ends if count and _RANKS[0] <= count <= _RANKS[-1])})


Curves = dict[str, tuple[list[int], list[float]]]
"""Ranks and values by name."""


def _curves(models: Sequence[CollectiveModel], value: Callable[[CollectiveModel, int], float | None]) -> Curves:
    """What each model gives at its numbers of ranks, as far as it can be evaluated at two."""
    curves: Curves = {}
    for model in models:
        known = {count: y for count in _ranks_of(model) if (y := value(model, count)) is not None}
        if len(known) > 1:
            curves[_name(model, models)] = list(known), list(known.values())
    return curves


def _vector_rate(model: CollectiveModel, count: int) -> float | None:
    """Vector / time, by a model with a term in bytes.

    The vector is 1 GiB, or the largest that the model holds for (Hoefler et al. 2010, figure 3(b)). Where a model
    is a lower bound on time, its rate is the most there can be.
    """
    is_of_blocks = model.operation in COLLECTIVES and sizes_are_blocks(model.operation)
    ends = [math.inf if regime.max_B is None else regime.max_B for regime in model.regimes]
    vector_B = _LARGE_B if is_of_blocks else min(_LARGE_B, max(ends, default=0.0))
    size_B = vector_B / count if is_of_blocks else vector_B
    regime, time_s = model.regime(count, size_B), model.time_s(count, size_B)
    has_bytes = regime is not None and any(term.per_byte or term.counts == "bytes" for term in regime.terms)
    return vector_B / time_s if has_bytes and time_s else None


def _name(model: CollectiveModel, among: Sequence[CollectiveModel]) -> str:
    return collective_title(model, among).replace(" — the library", "").replace(" — ", ", ")
