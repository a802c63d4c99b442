"""The explorer as parts of a page: its data as JSON, its script and its style sheet."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hockney import reading
from hockney.models.over_ranks.choice import DEFAULT
from hockney.report.explorer.chart import (
    DIMENSIONS,
    ONLY,
    PENALTIES,
    VIEWS,
    Explored,
)
from hockney.report.explorer.explored import leading
from hockney.report.style import COLOURS, Looks, Style

DIGITS = 4
"""Significant digits of a time: an interval of a median is seldom below a thousandth of it."""
MOST_POINTS = 150_000
"""Points that a page carries; of more, those on numbers of ranks spread evenly."""
_SERIES = ("operation", *DIMENSIONS, "ranks", "origin", "streams")

_HERE = Path(str(files("hockney.report.explorer")))


def script() -> str:
    """The script that draws the views."""
    return reading.text(_HERE / "explorer.js")


def style() -> str:
    """The style sheet of the views."""
    return reading.text(_HERE / "explorer.css")


def thinned(explored: Explored) -> tuple[Explored, str]:
    """What a page can carry, and a sentence on what it leaves out; empty where it leaves out nothing."""
    points, cells = explored.points, explored.cells
    if len(points) <= MOST_POINTS:
        return explored, ""
    chosen = {choice.ranks for choice in explored.first.values()}
    counts = sorted(set(points["ranks"]))
    step = -(-len(points) // MOST_POINTS)
    while len(points[points["ranks"].isin(kept := {*counts[::step], counts[-1], *chosen})]) > MOST_POINTS:
        if step > len(counts):
            break
        step *= 2
    left = replace(explored, points=points[points["ranks"].isin(kept)], cells=cells[cells["ranks"].isin(kept)])
    return left, (
        f"Of {len(points)} points the figures to explore hold {len(left.points)}, those on {len(kept)} of "
        f"{len(counts)} numbers of ranks; the files of --csv hold all."
    )


def data(explored: Explored, looks: Looks) -> str:
    """The points as JSON that may stand inside a script element: no text can end it.

    Words stand once and are numbers elsewhere; times are microseconds. A series is
    [words and numbers of `_SERIES`, sizes, times, lows, highs, repeats]. `looks` are the styles of the page.
    """
    words: dict[str, dict[str, int]] = {name: {} for name in ("operation", *DIMENSIONS, "origin")}
    words["algorithm"] = {name: i for i, name in enumerate(in_order(explored))}
    sizes: dict[tuple[int, ...], int] = {}
    series = []
    points = explored.points.sort_values([*_SERIES, "bytes"], kind="stable")
    columns = {name: points[name].tolist() for name in (*_SERIES, "bytes")}
    times = {name: _us(points[name]) for name in ("time_s", "low_s", "high_s")}
    repeats = points["repeats"].tolist()
    keys = list(zip(*(columns[name] for name in _SERIES), strict=True))
    starts = [i for i in range(len(keys)) if i == 0 or keys[i] != keys[i - 1]]
    for start, end in zip(starts, [*starts[1:], len(keys)], strict=True):
        of = [_number(words, name, value) for name, value in zip(_SERIES, keys[start], strict=True)]
        at = tuple(columns["bytes"][start:end])
        low, high = times["low_s"][start:end], times["high_s"][start:end]
        bounds = [low, high] if any(value is not None for value in low) else [0, 0]
        repeated = set(repeats[start:end])
        count: Any = repeated.pop() if len(repeated) == 1 else repeats[start:end]
        series.append([*of, sizes.setdefault(at, len(sizes)), times["time_s"][start:end], *bounds, count])
    cells = explored.cells
    names = ("operation", *DIMENSIONS[:-1], "bytes", "ranks", "ties", "is_default")
    held: dict[str, list[Any]] = {n: [_number(words, n, value) for value in cells[n].tolist()] for n in names}
    held["best"] = [_number(words, "algorithm", value) for value in cells["best"].tolist()]
    held |= {"best_us": _us(cells["best_s"]), "penalty": _rounded(cells["penalty"])}
    looked = {name: looks.of(list(words[name])) for name in DIMENSIONS}
    whole = {
        "views": [asdict(view) for view in VIEWS],
        "dimensions": DIMENSIONS,
        "penalties": PENALTIES,
        "only": ONLY,
        "words": {name: list(known) for name, known in words.items()},
        "styles": {name: _styles(list(words[name]), of_it) for name, of_it in looked.items()},
        "sizes": [list(size) for size in sizes],
        "series": series,
        "cells": held,
        "first": [asdict(choice) for choice in explored.first.values()],
        "leading": {
            words["operation"][operation]: [words["algorithm"][name] for name in leading(explored, operation)]
            for operation in explored.first
        },
    }
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def in_order(explored: Explored) -> list[str]:
    """All algorithms, those that lead an operation first: they get the clearest styles."""
    leaders = [name for operation in explored.first for name in leading(explored, operation)]
    return [*filter(None, dict.fromkeys([*leaders, *sorted(map(str, explored.points["algorithm"].unique()))]))]


def _styles(names: Sequence[str], styles: Mapping[str, Style]) -> list[list[Any]]:
    """Number of the colour (`default`: the ink), dashes and marker of each name."""
    return [
        ["default" if name == DEFAULT else COLOURS.index(look.colour), list(look.dashes), look.marker]
        for name, look in ((name, styles[name]) for name in names)
    ]


def _number(words: dict[str, dict[str, int]], name: str, value: Any) -> int:
    """The number of a word, or the number itself."""
    return words[name].setdefault(str(value), len(words[name])) if name in words else int(value)


def _us(seconds: pd.Series) -> list[float | None]:
    return _rounded(1e6 * seconds)


def _rounded(values: pd.Series) -> list[float | None]:
    """To `DIGITS` significant digits, whole numbers without a point; None for what is unknown."""
    return [_plain(float(f"{value:.{DIGITS}g}")) if np.isfinite(value) else None for value in values.tolist()]


def _plain(value: float) -> float:
    return int(value) if value.is_integer() else value
