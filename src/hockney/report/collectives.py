"""Sections on collectives: the fastest algorithm at each point, and the growth of times with ranks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from hockney.models.over_ranks.choice import CRITERION, DEFAULT, AlgorithmChoice, penalty
from hockney.models.over_ranks.points import (
    CONFIGURATION,
    HELD,
    PLACED,
    Configuration,
    curves,
    groups,
    most_ranks,
    positions,
    telling,
    telling_placed,
)
from hockney.models.over_ranks.regression import Regression, regressions
from hockney.records.statistic import BY_NAME, OVER_RANKS
from hockney.report import bandwidths, maps
from hockney.report.collective_analysis import Key, analyse
from hockney.report.collective_figures import against_ranks, against_size
from hockney.report.collective_findings import CAUSES, crossover_table, of_choices, of_steps, step_table
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import Explored
from hockney.report.explorer.explored import Explorable
from hockney.report.page import Section, SectionPart
from hockney.report.places import Places
from hockney.report.style import Looks
from hockney.report.tables import NONE, Cells, Table, headings, held, table_of
from hockney.report.views.collective_costs import CollectiveCosts
from hockney.units import format_bytes, format_time

MOST_ROWS = 400
"""Most rows of the table of points on the page; the CSV files hold all points."""
MOST_CHOICES = 60
MOST_DRAWN = 4
"""Most configurations that are drawn against size."""
MOST_COMPARED = 8
"""Most configurations of one algorithm in a figure against size."""
FEWEST_RANK_COUNTS = 4
DRAWN_ALGORITHMS = 6
"""Most curves against ranks in one figure, besides the default."""


def section(
    source: Explorable,
    operation: str,
    places: Places,
    sizes_B: Sequence[int],
    looks: Looks,
    costs: CollectiveCosts | None = None,
    seen: Explored | None = None,
) -> Section:
    """Figures and tables of one of the collectives of a campaign or table.

    `sizes_B` are drawn and fitted against ranks as far as they were measured, otherwise a small, a middle and a
    large size. `looks` are the styles of the page; with `costs` of messages, bandwidths have their bound beside
    them. What can be explored, `seen`, begins with a map of the fastest.
    """
    frame, statistic = source.frame, source.statistics[operation]
    words = BY_NAME[statistic].axis
    measured = source.points[operation]
    result = Section(operation, operation.capitalize(), BY_NAME[statistic].sentence, folded=True)
    leading = None if seen is None else maps.drawing(operation, seen, looks)
    result.figures += [leading] if leading else []
    if len(set(measured["bytes"])) > 1:
        result.figures += _against_size(operation, measured, looks, words)
    result.figures += bandwidths.drawings(operation, measured, telling_placed(measured), costs)
    grown = measured[measured["ranks"].notna()]
    counts = grown.groupby([*CONFIGURATION, "label", "bytes"], dropna=False)["ranks"].nunique()
    chosen_tables = _choice_tables(measured, operation, source.choices[operation])
    parts, notes = [], []
    result.tables += chosen_tables
    if len(counts) and counts.max() >= FEWEST_RANK_COUNTS:
        names = telling_placed(grown)
        sizes = [size for size in sizes_B if size in set(grown["bytes"])] or representative_sizes(grown)
        lines = {size: curves(grown, size) for size in sizes}
        analysis = analyse(frame, measured, operation, statistic, lines, places)
        chosen = _drawn(grown, sizes)
        for size in sizes:
            algorithms = [one for one in analysis.algorithms if one.size_B == size]
            result.figures += against_ranks(operation, algorithms, chosen, names, looks, words)
        result.findings += of_steps(operation, analysis)
        result.rows = analysis.as_rows()
        notes = [CAUSES, *(f"Not simulated: {note}." for note in analysis.notes)]
        tables = [
            step_table(operation, analysis, names),
            crossover_table(operation, analysis, telling_placed(measured)),
        ]
        result.tables += [table for table in tables if table.rows]
        parts.append(SectionPart(f"{operation}-regressions", "Regressions", _regressions(lines, names)))
    anchor = f"figure-{leading.name}" if leading else operation
    result.findings += of_choices(operation, source.choices[operation], telling_placed(measured), anchor)
    result.note = " ".join([*notes, *([CRITERION] if chosen_tables else [])])
    result.tables += [
        *_segment_table(measured),
        *_statistics_table(frame, operation),
        *bandwidths.table(measured, operation, MOST_CHOICES),
    ]
    listed = measured.head(MOST_ROWS)
    title = f"Measured points ({len(listed)} of {len(measured)})"
    parts.append(SectionPart(f"{operation}-points", title, _points_table(listed, telling_placed(measured))))
    result.parts = [part for part in parts if part.points.rows]
    return result


def _against_size(operation: str, measured: pd.DataFrame, looks: Looks, words: str) -> list[Drawing]:
    """One figure for each configuration, on the largest number of ranks that has nearly all algorithms."""
    names = telling_placed(measured)
    candidates = []
    for _, rows in groups(measured, CONFIGURATION):
        known = rows.assign(ranks=rows["ranks"].fillna(0).astype(int))
        ranks = most_ranks(known)
        # If that number of ranks ran on several numbers of nodes: the group with the most algorithms and sizes.
        candidates.append(
            max(groups(known[known["ranks"] == ranks], (*PLACED, "ranks")), key=lambda group: len(group[1]))
        )
    candidates.sort(key=lambda group: (-group[1]["label"].nunique(), -len(group[1])))
    every = {(c["ranks"], label) for c, rows in candidates for label in rows["label"]}
    if len(candidates) > 1 and len(every) == 1:
        # Each has the one algorithm that the others have: what differs is what is to be compared.
        differing = [name for name in names if len({c[name] for c, _ in candidates}) > 1]
        same = [name for name in names if name not in differing]
        shown = candidates[:MOST_COMPARED]
        together = pd.concat([rows.assign(label=c.words(differing) or NONE) for c, rows in shown])
        left = len(candidates) - len(shown)
        return [
            against_size(operation, together, candidates[0][0], same, 0, left, looks, words, by="configuration")
        ]
    return [
        against_size(operation, rows, configuration, names, number, len(candidates) - MOST_DRAWN, looks, words)
        for number, (configuration, rows) in enumerate(candidates[:MOST_DRAWN])
    ]


def representative_sizes(measured: pd.DataFrame) -> list[int]:
    """A small, a middle and a large size, of the sizes measured at most numbers of ranks."""
    width = measured.groupby("bytes")["ranks"].nunique()
    common = sorted(int(size) for size in width.index[width >= 0.8 * width.max()])
    small = next((size for size in common if size >= 8), common[0])
    return sorted({small, common[len(common) // 2], common[-1]})


def _drawn(measured: pd.DataFrame, sizes: Sequence[int]) -> list[str]:
    """The default, and the algorithms that are fastest in the median over the drawn points."""
    rows = measured[measured["bytes"].isin(sizes)]
    best = rows.groupby([*PLACED, "ranks", "bytes"], dropna=False)["time_s"].transform("min")
    behind = (rows["time_s"] / best).groupby(rows["label"]).median().sort_values()
    names = [str(name) for name in behind.index if name != DEFAULT][:DRAWN_ALGORITHMS]
    return [*([DEFAULT] if DEFAULT in behind.index else []), *names]


def _cells(configuration: Configuration, names: Sequence[str]) -> list[str]:
    return [configuration[name] or NONE for name in names]


def _regressions(lines: Mapping[int, Mapping[Key, pd.DataFrame]], names: Sequence[str]) -> Table:
    columns: list[Cells[tuple[Key, int, Regression]]] = [
        Cells("algorithm", lambda row: row[0][1], is_text=True),
        *held(names, lambda row: row[0][0]),
        Cells("size", lambda row: format_bytes(row[1])),
        Cells("fit", lambda row: f"{('linear', 'quadratic')[row[2].degree - 1]}, {row[2].weights}", is_text=True),
        Cells("T in µs, P = number of ranks (± standard error)", lambda row: _formula(row[2]), is_text=True),
        Cells("adjusted R²", lambda row: f"{row[2].adjusted_r2:.4f}"),
        Cells("P (points)", lambda row: f"{row[2].first} … {row[2].last} ({row[2].points})"),
        Cells("remarks", lambda row: "; ".join(row[2].notes), is_text=True),
    ]
    rows = [
        (key, size, fit)
        for size, of_size in lines.items()
        for key, curve in of_size.items()
        for fit in regressions(curve["ranks"].to_numpy(np.float64), curve["time_s"].to_numpy(np.float64))
    ]
    return table_of("Regressions in the number of ranks", rows, columns)


def _formula(fit: Regression) -> str:
    powers = ("", "·P", "·P²")
    return " + ".join(
        f"({value * 1e6:.4g} ± {error * 1e6:.2g}){power}"
        for value, error, power in zip(fit.coefficients, fit.standard_errors, powers, strict=False)
    )


def _choice_tables(measured: pd.DataFrame, operation: str, all_choices: Sequence[AlgorithmChoice]) -> list[Table]:
    if not all_choices:
        return []
    names = telling_placed(measured)
    largest: dict[tuple[str, ...], int] = {}
    for choice in all_choices:
        key = tuple(choice.configuration[name] for name in CONFIGURATION)
        largest[key] = max(choice.ranks, largest.get(key, 0))
    last = [
        choice
        for choice in all_choices
        if choice.ranks == largest[tuple(choice.configuration[name] for name in CONFIGURATION)]
    ]
    listed = last[:MOST_CHOICES]
    columns: list[Cells[AlgorithmChoice]] = [
        *held(names, lambda choice: choice.configuration),
        Cells("ranks", lambda choice: str(choice.ranks or NONE)),
        Cells("size", lambda choice: format_bytes(choice.bytes)),
        Cells("fastest", lambda choice: choice.best, is_text=True),
        Cells("time", lambda choice: format_time(choice.best_s)),
        Cells("cannot be told from it", _ties, is_text=True),
        Cells("candidates", lambda choice: str(choice.candidates)),
        Cells("default", lambda choice: NONE if choice.default_s is None else format_time(choice.default_s)),
        Cells("penalty", _penalty, is_text=True),
    ]
    cut = f" ({len(listed)} of {len(last)})" if len(listed) < len(last) else ""
    tables = [table_of(f"Fastest {operation} on the most ranks measured{cut}", listed, columns)]
    costs = _penalty_table(all_choices, telling(measured))
    return [*tables, costs] if costs.rows else tables


def _ties(choice: AlgorithmChoice) -> str:
    return ", ".join(choice.ties) if len(choice.ties) <= 4 else f"{len(choice.ties)} others"


def _penalty(choice: AlgorithmChoice) -> str:
    """The penalty of the default, as a cell."""
    if choice.penalty is None:
        return NONE
    if choice.is_default_slower:
        return f"× {choice.penalty:.2f}"
    return "cannot be told apart" if choice.ties else "the default is fastest"


def _penalty_table(all_choices: Sequence[AlgorithmChoice], names: Sequence[str]) -> Table:
    by_configuration: dict[tuple[str, ...], list[AlgorithmChoice]] = {}
    for choice in all_choices:
        by_configuration.setdefault(tuple(_cells(choice.configuration, names)), []).append(choice)
    rows = [
        [
            *cells,
            str(total.points),
            *(f"× {value:.2f}" for value in (total.median, total.p90, total.worst)),
            f"{100 * total.within_10_percent:.0f} %",
        ]
        for cells, group in by_configuration.items()
        if (total := penalty(group)) is not None
    ]
    return Table(
        "What the library's own choice costs: its time over that of the fastest (1: cannot be told apart)",
        [*headings(names), "points", "median", "P90", "worst", "within 10 % of the fastest"],
        rows,
        frozenset(range(len(names))),
    )


def _segment_table(measured: pd.DataFrame) -> list[Table]:
    """The best segment size at each point, of algorithms that were measured with several."""
    names = telling_placed(measured)
    segments_of = measured.groupby(["algorithm", "radix"], dropna=False)["segment_bytes"]
    several = segments_of.transform("nunique", dropna=False) > 1
    measured, rows = measured[several], []
    segments = measured["segment_bytes"].tolist()
    time_s = measured["time_s"].to_numpy(np.float64)
    known = measured["segment_bytes"].fillna(-1).to_numpy(np.int64)
    for point, members in positions(measured, (*PLACED, "algorithm", "radix", "ranks", "bytes")):
        if np.unique(known[members]).size < 2:
            continue
        ordered = members[np.argsort(time_s[members], kind="stable")]
        best, worst = ordered[0], ordered[-1]
        rows.append(
            [
                point["algorithm"] + (f", radix {point['radix']}" if point["radix"] else ""),
                *_cells(point, names),
                point["ranks"] or NONE,
                format_bytes(float(point["bytes"])),
                _segment(segments[best]),
                format_time(float(time_s[best])),
                _segment(segments[worst]),
                f"× {time_s[worst] / time_s[best]:.2f}",
            ]
        )
    columns = ["ranks", "size", "best segment", "time", "worst segment", "its time over the best"]
    title, text = "Choice of the segment size", frozenset(range(len(names) + 1))
    return [Table(title, ["algorithm", *headings(names), *columns], rows, text)] if rows else []


def _segment(value: Any) -> str:
    return "none" if pd.isna(value) else format_bytes(float(value))


def _statistics_table(frame: pd.DataFrame, operation: str) -> list[Table]:
    """OSU's mean, least and largest time over ranks over the completion time, if the same samples gave all."""
    rows = frame[frame["operation"] == operation]
    if not {"completion", "mean_over_ranks"} <= set(rows["statistic"]):
        return []
    keys = [name for name in (*HELD, "repetition") if name in rows.columns]
    # A pivot drops rows with unknown keys, which are the same for all statistics of a point.
    rows = rows.assign(**{name: rows[name].astype(object).where(rows[name].notna(), "") for name in keys})
    wide = rows.pivot_table(index=keys, columns="statistic", values="time_s", aggfunc="median")
    wide = wide.dropna(how="any")
    if wide.empty:
        return []
    lines = []
    for name in OVER_RANKS:
        if name in wide.columns:
            ratio = wide[name] / wide["completion"]
            lines.append(
                [name, str(len(ratio)), *(f"{ratio.quantile(level):.3f}" for level in (0.05, 0.5, 0.95))]
            )
    columns = ["statistic", "points", "5 %", "median", "95 %"]
    return [Table("Statistics over ranks as OSU defines them, relative to the completion time", columns, lines)]


def _bounds(row: Mapping[Hashable, Any]) -> str:
    """The interval of a point, or the range of its repeats; there may be neither."""
    if pd.isna(row["low_s"]):
        return NONE
    ends = f"{format_time(float(row['low_s']))} … {format_time(float(row['high_s']))}"
    return f"{ends} ({row['repeats']} repeats)" if row["repeats"] > 1 else ends


def _points_table(listed: pd.DataFrame, names: Sequence[str]) -> Table:
    rows = [
        [
            str(row["label"]),
            *("" if pd.isna(row[name]) else str(row[name]) or NONE for name in names),
            NONE if pd.isna(row["ranks"]) else str(row["ranks"]),
            format_bytes(float(row["bytes"])),
            format_time(float(row["time_s"])),
            _bounds(row),
        ]
        for row in listed.to_dict("records")
    ]
    columns = ["ranks", "size", "time", "95 % interval, or range of repeats"]
    return Table("Points", ["algorithm", *headings(names), *columns], rows, frozenset(range(len(names) + 1)))
