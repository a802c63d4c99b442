"""What the explorer of a page explores: measured points, as data with its script and its style sheet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from hockney import reading
from hockney.models.over_ranks.bandwidth import blocks
from hockney.models.over_ranks.choice import DEFAULT, AlgorithmChoice, choices
from hockney.models.over_ranks.points import PLACED, Configuration, Visits, points, telling_placed
from hockney.records.journal import LaunchLine
from hockney.records.keys import COLLECTIVES
from hockney.records.statistic import BY_NAME
from hockney.report.curves import MessageCurve, by_operation, telling
from hockney.report.explorer.chart import (
    DIMENSIONS,
    ONLY,
    PENALTIES,
    VIEWS,
    Explored,
    Selection,
    most_ranks,
)
from hockney.report.style import COLOURS, Looks, Style

LIBRARY, PLACEMENT = ("source", "mpi"), ("locality", "mapping", "nodes", "ppn", "pair")
"""Columns behind two of the dimensions; all others that were held fixed are the variant."""
_COMPARED = ("campaign", "system", "algorithm", "placement", "variant", "library")
"""What the lines of an operation are at first: the first of these of which it has several."""


@dataclass(frozen=True)
class Explorable:
    """A campaign or table of which messages and collectives are looked at.

    `statistics`: of each collective that is shown its statistic; `campaign`: its name where there are several;
    `visits`: of each collective those of its points.
    """

    name: str
    frame: pd.DataFrame
    curves: Sequence[MessageCurve]
    statistics: Mapping[str, str]
    launches: Sequence[LaunchLine] = ()
    campaign: str = ""
    visits: Mapping[str, Visits] = field(default_factory=dict)

    @cached_property
    def points(self) -> dict[str, pd.DataFrame]:
        """The points of each of the collectives."""
        return {name: points(self.frame, name, statistic) for name, statistic in self.statistics.items()}

    @cached_property
    def choices(self) -> dict[str, list[AlgorithmChoice]]:
        """What is fastest at them, of each; also where nothing is compared, `candidates` being 1."""
        return {name: choices(measured, self.visits.get(name)) for name, measured in self.points.items()}


def explored(sources: Sequence[Explorable], about: Sequence[str] = ()) -> Explored | None:
    """All points of messages and collectives together; None where there are none.

    What tells points of one source apart is a dimension; beside, placements are one where sources differ in them.
    A library that differs from source to source alone is not: it is what is compared. The reader begins with the
    first of the operations `about`, otherwise with the first that there is.
    """
    parts = [*_messages(sources), *_collectives(sources)]
    if not parts:
        return None
    joined, cells = (pd.concat(each, ignore_index=True) for each in zip(*map(_loosened, parts), strict=True))
    first = {
        str(name): _first(str(name), rows, cells[cells["operation"] == name])
        for name, rows in joined.groupby("operation", sort=False)
    }
    ordered = sorted(first, key=lambda name: about.index(name) if name in about else len(about))
    return Explored(joined, cells, {name: first[name] for name in ordered})


NAMED = 6
"""Algorithms of an operation with a colour, beside the default; all others are grey."""


def leading(seen: Explored, operation: str) -> list[str]:
    """The default, and the algorithms that are the fastest at most points, then those that come next."""
    rows = seen.points[seen.points["operation"] == operation]
    wins = seen.cells.loc[seen.cells["operation"] == operation, "best"].value_counts()
    held = [name for name in DIMENSIONS if name != "algorithm"]
    behind = rows["time_s"] / rows.groupby([*held, "ranks", "bytes"])["time_s"].transform("min")
    medians = behind.groupby(rows["algorithm"]).median()
    order = sorted(map(str, medians.index), key=lambda name: (-int(wins.get(name, 0)), medians[name], name))
    default = [DEFAULT] if DEFAULT in order else []
    return [*default, *[name for name in order if name != DEFAULT][:NAMED]]


def by_dimension(names: Sequence[str]) -> dict[str, list[str]]:
    """The columns that system, library, placement and variant are made of."""
    return {
        "system": [name for name in names if name == "system"],
        "library": [name for name in names if name in LIBRARY],
        "placement": [name for name in names if name in PLACEMENT],
        "variant": [name for name in names if name not in ("system", *LIBRARY, *PLACEMENT)],
    }


Part: TypeAlias = "tuple[pd.DataFrame, pd.DataFrame]"
"""Points and cells of an operation, as in `Explored`."""


def _loosened(part: Part) -> Part:
    """What only distinguishes a system from others is no choice to make: systems stand beside each other."""
    points = part[0]
    if points["system"].nunique() < 2:
        return part
    for name in ("library", "placement", "variant"):
        counts = points.groupby("system")[name].nunique()
        single = set(counts.index[counts == 1])
        word = ONLY if len(single) < len(counts) else ""
        for rows in part:
            if len(rows):
                rows.loc[rows["system"].isin(single), name] = word
    return part


def _messages(sources: Sequence[Explorable]) -> Iterator[Part]:
    of_source = [by_operation(source.curves) for source in sources]
    for operation in dict.fromkeys(name for groups in of_source for name in groups):
        groups = [groups.get(operation, []) for groups in of_source]
        names = {name for group in groups for name in telling([curve.words for curve in group])}
        if len(groups) > 1:
            between = telling([curve.words for group in groups for curve in group])
            names |= {name for name in between if name in PLACEMENT}
        rows = []
        for source, group in zip(sources, groups, strict=True):
            for curve in group:
                held = {name: text for name, text in curve.words.items() if name in names}
                where = _where(source, curve, held)
                rows.append(curve.points.assign(**where, repeats=0, origin=_origin(source, curve)))
        yield pd.concat(rows, ignore_index=True), _cells(operation, "", [], {})


def _where(source: Explorable, curve: MessageCurve, held: Mapping[str, str]) -> dict[str, Any]:
    """The dimensions and the ranks of a curve."""
    ranks = curve.entry.other.get("ranks", "")
    dimensions = by_dimension([name for name in held if name != "ranks"])
    return {
        "campaign": source.campaign,
        **{
            name: ", ".join(held[column] for column in columns if column in held)
            for name, columns in dimensions.items()
        },
        "algorithm": "",
        "ranks": int(ranks) if ranks.isdigit() else 2 * curve.pairs,
    }


def _origin(source: Explorable, curve: MessageCurve) -> str:
    index_of = {launch.id: "" if launch.index is None else str(launch.index) for launch in source.launches}
    launches = [index_of.get(name, "") or name for name in curve.entry.measurements.launches]
    return source.name + (f", launches {', '.join(launches)}" if any(launches) else "")


def _collectives(sources: Sequence[Explorable]) -> Iterator[Part]:
    for operation in dict.fromkeys(name for source in sources for name in source.statistics):
        measured = [(source, source.points[operation]) for source in sources if operation in source.statistics]
        together = pd.concat([rows for _, rows in measured], ignore_index=True)
        names = {name for _, rows in measured for name in telling_placed(rows)}
        names |= {name for name in telling_placed(together) if name in PLACEMENT}
        dimensions = by_dimension([name for name in PLACED if name in names])
        for source, rows in measured:
            chosen = source.choices[operation] if COLLECTIVES[operation].has_size else []
            yield (
                _points_at(source, operation, rows, dimensions),
                _cells(operation, source.campaign, chosen, dimensions),
            )


def _points_at(
    source: Explorable, operation: str, measured: pd.DataFrame, dimensions: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    statistic = source.statistics[operation]
    repeated = source.frame.loc[source.frame["operation"] == operation, "repetition"].nunique()
    of_launches = f", {repeated} {'launches' if source.launches else 'repetitions'}" if repeated > 1 else ""
    return pd.DataFrame(
        {
            "operation": operation,
            "campaign": source.campaign,
            **{name: _joined(measured, columns) for name, columns in dimensions.items()},
            "algorithm": measured["label"].astype(object),
            "ranks": measured["ranks"].fillna(0).astype(np.int64),
            "bytes": measured["bytes"].astype(np.int64),
            **{name: measured[name].astype(np.float64) for name in ("time_s", "low_s", "high_s")},
            "repeats": measured["repeats"].astype(np.int64),
            "streams": [blocks(operation, int(count)) for count in measured["ranks"].fillna(0)],
            "origin": f"{source.name}, {BY_NAME[statistic].axis}{of_launches}",
        }
    )


def _joined(measured: pd.DataFrame, names: Sequence[str]) -> Any:
    """The known values of columns as words, one text for each row."""
    if not names:
        return ""
    keys = measured[list(names)].astype(object)
    keys = keys.where(keys.notna(), "").astype(str).astype(object)
    unique = keys.drop_duplicates()
    words = {
        row: _words(Configuration(tuple(zip(names, row, strict=True))), names)
        for row in unique.itertuples(index=False, name=None)
    }
    return [words[row] for row in keys.itertuples(index=False, name=None)]


def _words(configuration: Configuration, names: Sequence[str]) -> str:
    """The words of a dimension; of a system its name alone."""
    return configuration["system"] if list(names) == ["system"] else configuration.words(names)


def _cells(
    operation: str, campaign: str, chosen: Sequence[AlgorithmChoice], dimensions: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    rows = [
        (
            operation,
            campaign,
            *(_words(choice.configuration, names) for names in dimensions.values()),
            choice.bytes,
            choice.ranks,
            choice.best,
            choice.best_s,
            len(choice.ties),
            np.nan if choice.penalty is None else choice.penalty,
            choice.best == choice.default,
        )
        for choice in chosen
        if choice.ranks and choice.candidates > 1
    ]
    names = ["operation", *DIMENSIONS[:-1], "bytes", "ranks", "best", "best_s", "ties", "penalty", "is_default"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.astype({"penalty": np.float64, "best_s": np.float64, "is_default": np.bool_})


def _first(operation: str, rows: pd.DataFrame, cells: pd.DataFrame) -> Selection:
    """What tells most: on most ranks, where the default costs most, unless few points tell so."""
    several = [name for name in DIMENSIONS if len(rows[name].unique()) > 1]
    by = next((name for name in _COMPARED if name in several), "algorithm")
    others = [name for name in DIMENSIONS if name != by]
    counts = rows.groupby(others, sort=False).size()
    full = [dict(zip(others, key, strict=True)) for key in counts.index[counts >= counts.max() / 4]]
    full.sort(key=lambda held: (ONLY in held.values(), held.get("algorithm") != DEFAULT))
    costs = [float(_matching(cells, held)["penalty"].mean()) for held in full]
    held = full[int(np.argmax(np.nan_to_num(costs)))]
    matching = _matching(rows, held)
    ranks = most_ranks(matching, by)
    there = matching[matching["ranks"] == ranks]
    sizes = sorted(there.loc[there["bytes"] > 0, "bytes"].unique()) or [0]
    at_B = int(sizes[len(sizes) // 2])
    told = _matching(cells, held)
    told = told[(told["ranks"] == ranks) & (told["penalty"] > 1)]
    if len(told):
        at_B = int(told["bytes"].to_numpy()[int(told["penalty"].argmax())])
    is_default = by == "algorithm" and DEFAULT in set(there["algorithm"])
    held[by] = DEFAULT if is_default else there[by].iloc[0]
    return Selection(operation, by, ranks, at_B, {name: str(held[name]) for name in DIMENSIONS})


def _matching(rows: pd.DataFrame, held: Mapping[str, Any]) -> pd.DataFrame:
    for name, value in held.items():
        if name in rows.columns:
            rows = rows[rows[name].isin([value, ONLY])]
    return rows


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
