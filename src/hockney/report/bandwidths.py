"""Rates of a collective: figures over size and over ranks, and a table of the fastest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import to_hex

from hockney.models.over_ranks.bandwidth import (
    algorithm_bandwidth_B_per_s,
    bus_bandwidth_B_per_s,
    network_bandwidth_B_per_s,
)
from hockney.models.over_ranks.choice import DEFAULT
from hockney.models.over_ranks.points import (
    CONFIGURATION,
    PLACED,
    Configuration,
    groups,
    positions,
    telling_placed,
)
from hockney.records.keys import COLLECTIVES, sizes_are_blocks
from hockney.report.axes import rate_unit
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import NETWORK, RATE, Axis, Chart, Line, Panel, lines_of
from hockney.report.explorer.chart import along as axis_along
from hockney.report.explorer.explored import by_bytes
from hockney.report.style import Style
from hockney.report.tables import Column, Table, held, table
from hockney.report.views.collective_bounds import least_time_s
from hockney.report.views.collective_costs import CollectiveCosts
from hockney.units import format_bytes, format_rate

RATES = {"size / time": RATE, "collective network bandwidth": NETWORK}
"""A row of panels each."""
MOST_ALGORITHMS = 4
MOST_LINES = 6
LIMIT = "bound: one message of a rank at a time"
_MARKERS = ("o", "s", "^", "D", "v", "P")
_NOTE = (
    "Above: size (of the whole vector) / time; below: all bytes that must move, summed over the ranks, / time. "
    "A column of panels for each algorithm: the default and those that are fastest most often. Shades mean "
)


def drawings(
    operation: str, measured: pd.DataFrame, names: Sequence[str], costs: CollectiveCosts | None
) -> list[Drawing]:
    """Both figures of the configuration with most points, as far as sizes and ranks differ.

    `measured` are `models.over_ranks.points.points` of one statistic, `names` the columns that name the
    configuration. With `costs` of messages, broken lines are the rates that no algorithm exceeds that has one
    message of a rank under way at a time (`models.collectives`: the optimum).
    """
    if not COLLECTIVES[operation].has_size:
        return []
    grown = measured[(measured["ranks"].fillna(0) >= 2) & (measured["bytes"] > 0)]
    if grown.empty:
        return []
    configuration, rows = max(groups(grown, CONFIGURATION), key=lambda group: len(group[1]))
    # Of ranks on several numbers of nodes: on the fewest.
    rows = rows.sort_values("nodes").drop_duplicates(["label", "ranks", "bytes"])
    labels = _labels(rows)
    rows = rows[rows["label"].isin(labels)]
    figures = []
    pairs: tuple[tuple[str, Literal["bytes", "ranks"]], ...] = (("ranks", "bytes"), ("bytes", "ranks"))
    for lines, along in pairs:
        if rows[along].nunique() >= (2 if along == "bytes" else 3):
            figures.append(_drawing(operation, rows, labels, lines, along, configuration.words(names), costs))
    return figures


def _labels(rows: pd.DataFrame) -> list[str]:
    """The default, and the algorithms that are fastest at most points."""
    others = rows[rows["label"] != DEFAULT]
    wins = others.loc[others.groupby(["ranks", "bytes"])["time_s"].idxmin(), "label"].value_counts()
    default = [DEFAULT] if (rows["label"] == DEFAULT).any() else []
    return [*default, *map(str, wins.index)][:MOST_ALGORITHMS]


def _spread(values: Sequence[int]) -> list[int]:
    """At most `MOST_LINES` of the values, the first and the last among them, evenly on a logarithmic axis."""
    if len(values) <= MOST_LINES:
        return list(values)
    wanted = np.geomspace(values[0], values[-1], MOST_LINES)
    return sorted({values[int(np.argmin(np.abs(np.log(np.array(values) / at))))] for at in wanted})


def _drawing(
    operation: str,
    rows: pd.DataFrame,
    labels: Sequence[str],
    lines: str,
    along: Literal["bytes", "ranks"],
    where: str,
    costs: CollectiveCosts | None,
) -> Drawing:
    """A figure with a line for each value of the column `lines` over the column `along`."""
    width = rows.groupby(lines)["label"].nunique()
    # Of the values that all algorithms have, or as many as have any: one may have been measured at many more.
    chosen = _spread(sorted(int(value) for value in width.index[width == width.max()]))
    is_size = along == "bytes"
    words = {str(value): f"{value} ranks" if is_size else format_bytes(value) for value in chosen}
    shades = map(to_hex, colormaps["viridis"](np.linspace(0.0, 0.88, len(chosen))))
    looks = {name: Style(shade, (), marker) for name, shade, marker in zip(words, shades, _MARKERS, strict=False)}
    shown = rows[rows[lines].isin(chosen)]
    shown = shown.assign(**by_bytes(operation, shown["ranks"]))
    limits = None if costs is None else shown.assign(time_s=_least_s(operation, shown, costs))
    title = "block of a rank" if sizes_are_blocks(operation) else "vector"
    spanned = rows["bytes"] if is_size else np.array(_spread(sorted(map(int, rows["ranks"].unique()))))
    panels = []
    for row, (name, view) in enumerate(RATES.items()):
        view = replace(view, x=along)
        drawn = [
            [replace(one, low=None, high=None) for one in lines_of(own, view, lines)]
            for own in _each(shown, labels)
        ]
        rates = np.concatenate([line.y for of_label in drawn for line in of_label])
        # The unit of the middle: a logarithmic axis of rates spans many.
        scale, unit = rate_unit(float(np.median(rates)))
        x = replace(axis_along(view, title, ticks=4), values=np.asarray(spanned, np.float64))
        x = replace(x, title=x.title if row else "")
        bounds = [lines_of(own, view, lines) for own in _each(limits, labels)] if limits is not None else []
        panels.append(
            [
                Panel(
                    [
                        *(
                            replace(one, label=words[one.label], style=looks[one.label], dots=3.0)
                            for one in of_label
                        ),
                        *(
                            Line(LIMIT, one.x, one.y, style=replace(looks[one.label], dashes=(2, 2)), width=0.8)
                            for one in (bounds[place] if bounds else ())
                        ),
                    ],
                    x,
                    Axis(f"{name} ({unit})", "log", scale, values=rates),
                    "" if row else labels[place],
                )
                for place, of_label in enumerate(drawn)
            ]
        )
    against = "message size" if is_size else "number of ranks"
    return Drawing(
        f"{operation}-bandwidth-against-{'size' if is_size else 'ranks'}",
        f"{operation}: bandwidth against {against}{f', {where}' if where else ''}.",
        f"{operation}: size over time and collective network bandwidth against {against} for "
        f"{', '.join(labels)}, a line each for {', '.join(words.values())}",
        f"{_NOTE}{'numbers of ranks' if is_size else 'sizes'}, not algorithms.",
        Chart(panels, 5.6, shared="row", columns=7),
    )


def _each(rows: pd.DataFrame, labels: Sequence[str]) -> list[pd.DataFrame]:
    return [rows[rows["label"] == label] for label in labels]


def _least_s(operation: str, rows: pd.DataFrame, costs: CollectiveCosts) -> list[float]:
    """What bounds the time of each row from below."""
    return [
        least_time_s(operation, int(P), int(size_B), costs)
        for P, size_B in rows[["ranks", "bytes"]].itertuples(index=False)
    ]


def fastest_rates(measured: pd.DataFrame, operation: str, most: int) -> list[Table]:
    """Rates of the fastest algorithm at the largest size of each configuration and rank count, `most` rows."""
    if not COLLECTIVES[operation].has_size:
        return []
    grown = measured[(measured["ranks"].fillna(0) >= 2) & (measured["bytes"] > 0)]
    size_B, time_s = grown["bytes"].to_numpy(np.int64), grown["time_s"].to_numpy(np.float64)
    labels = grown["label"].tolist()
    rows: list[tuple[Configuration, int]] = []
    for point, members in positions(grown, (*PLACED, "ranks")):
        largest = members[size_B[members] == size_B[members].max()]
        rows.append((point, int(largest[np.argmin(time_s[largest])])))

    def rate(heading: str, of: Callable[[str, int, int, float], float]) -> Column[tuple[Configuration, int]]:
        return Column(
            heading,
            lambda row: format_rate(
                of(operation, int(row[0]["ranks"]), int(size_B[row[1]]), float(time_s[row[1]]))
            ),
        )

    columns: list[Column[tuple[Configuration, int]]] = [
        *held(telling_placed(measured), lambda row: row[0]),
        Column("ranks", lambda row: row[0]["ranks"]),
        Column("size", lambda row: format_bytes(int(size_B[row[1]]))),
        Column("fastest", lambda row: labels[row[1]], is_text=True),
        rate("size / time", algorithm_bandwidth_B_per_s),
        rate("bus bandwidth", bus_bandwidth_B_per_s),
        rate("collective network bandwidth", network_bandwidth_B_per_s),
    ]
    cut = f" ({most} of {len(rows)})" if len(rows) > most else ""
    return [table(f"Collective bandwidth{cut}", rows[:most], columns)] if rows else []
