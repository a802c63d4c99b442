"""Sections on collectives: the fastest algorithm at each point, and the growth of times with ranks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from hockney.machine.locality import Places
from hockney.models.over_ranks.bandwidth import (
    algorithm_bandwidth_B_per_s,
    bus_bandwidth_B_per_s,
    network_bandwidth_B_per_s,
)
from hockney.models.over_ranks.choice import (
    CRITERION,
    AlgorithmChoice,
    Penalty,
    fastest,
    penalty,
    timed,
)
from hockney.models.over_ranks.points import (
    CONFIGURATION,
    HEADINGS,
    HELD,
    PLACED,
    Configuration,
    Visits,
    curves,
    groups,
    positions,
    telling,
    telling_placed,
)
from hockney.models.over_ranks.regression import Regression, regressions
from hockney.models.over_ranks.search import FEWEST
from hockney.records.keys import COLLECTIVES
from hockney.records.statistic import BY_NAME, OVER_RANKS
from hockney.report import maps
from hockney.report.collective_analysis import Key, analyse
from hockney.report.collective_figures import against_ranks, against_size
from hockney.report.collective_findings import CAUSES, crossover_table, of_choices, of_steps, step_table
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import Explored, most_ranks
from hockney.report.explorer.explored import Explorable, leading
from hockney.report.page import Section, SectionPart
from hockney.report.style import Looks
from hockney.report.tables import NONE, Column, Table, held, table
from hockney.units import format_bytes, format_rate, format_time, percent

MOST_ROWS = 400
"""Most rows of the table of points on the page; the CSV files hold all points."""
MOST_CHOICES = 60
MOST_DRAWN = 4
"""Most configurations that are drawn against size."""
MOST_COMPARED = 8
"""Most configurations of one algorithm in a figure against size."""
FEWEST_RANK_COUNTS = 4


def section(
    source: Explorable,
    operation: str,
    places: Places,
    sizes_B: Sequence[int],
    looks: Looks,
    seen: Explored,
) -> Section:
    """Figures and tables of one of the collectives of a campaign or table.

    `sizes_B` are drawn and fitted against ranks as far as they were measured, otherwise a small, a middle and a
    large size. `looks` are the styles of the page. What can be explored, `seen`, begins
    with a map of the fastest.
    """
    frame, statistic = source.frame, source.statistics[operation]
    words = BY_NAME[statistic].axis
    measured, every_choice = source.points[operation], source.choices[operation]
    compared = [choice for choice in every_choice if choice.candidates > 1]
    result = Section(operation, operation.capitalize(), BY_NAME[statistic].sentence)
    result.more = "Models, steps, rates, all figures and points"
    leaders, leading_map = leading(seen, operation), maps.drawing(operation, seen, looks)
    result.figures += [leading_map] if leading_map else []
    if len(set(measured["bytes"])) > 1:
        result.figures += _against_size(operation, measured, looks, words, leaders)
    grown = measured[measured["ranks"].notna()]
    counts = grown.groupby([*CONFIGURATION, "label", "bytes"], dropna=False)["ranks"].nunique()
    chosen_tables = _choice_tables(measured, operation, compared)
    parts, notes = [], []
    result.tables += chosen_tables
    if len(counts) and counts.max() >= FEWEST_RANK_COUNTS:
        names = telling_placed(grown)
        sizes = [size for size in sizes_B if size in set(grown["bytes"])] or representative_sizes(grown)
        lines = {size: curves(grown, size) for size in sizes}
        analysis = analyse(frame, measured, operation, statistic, lines, places)
        for size in sizes:
            algorithms = [algorithm for algorithm in analysis.algorithms if algorithm.size_B == size]
            result.figures += against_ranks(operation, algorithms, leaders, names, looks, words)
        result.findings += of_steps(operation, analysis)
        result.rows = analysis.as_rows()
        notes = [CAUSES, *(f"Not simulated: {note}." for note in analysis.notes)]
        if not all(algorithm.is_searched for algorithm in analysis.algorithms):
            notes.append(f"Steps are looked for from {FEWEST} numbers of ranks on.")
        tables = [
            step_table(operation, analysis, names),
            crossover_table(operation, analysis, telling_placed(measured)),
        ]
        result.tables += [table for table in tables if table.rows]
        parts.append(SectionPart(f"{operation}-regressions", "Regressions", _regressions(lines, names)))
    anchor = f"figure-{leading_map.name}" if leading_map else operation
    result.findings += of_choices(operation, compared, telling_placed(measured), anchor)
    result.note = " ".join([*notes, *([CRITERION] if chosen_tables else [])])
    result.tables += [
        *_segment_table(measured, source.visits.get(operation)),
        *_statistics_table(frame, operation),
        *_fastest_rates(every_choice, telling_placed(measured), operation),
    ]
    listed = measured.head(MOST_ROWS)
    title = f"Measured points ({len(listed)} of {len(measured)})"
    parts.append(SectionPart(f"{operation}-points", title, _points_table(listed, telling_placed(measured))))
    result.parts = [part for part in parts if part.points.rows]
    return result


def _against_size(
    operation: str, measured: pd.DataFrame, looks: Looks, words: str, leaders: Sequence[str]
) -> list[Drawing]:
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
    systems = {configuration["system"] for configuration, _ in candidates}
    of_systems = _of_systems(operation, candidates, looks, words, leaders) if len(systems) > 1 else []
    every = {(c["ranks"], label) for c, rows in candidates for label in rows["label"]}
    if len(candidates) > 1 and len(every) == 1:
        # Each has the one algorithm that the others have: what differs is what is to be compared.
        differing = [name for name in names if len({c[name] for c, _ in candidates}) > 1]
        same = [name for name in names if name not in differing]
        shown = candidates[:MOST_COMPARED]
        together = pd.concat([rows.assign(label=c.words(differing) or NONE) for c, rows in shown])
        left = len(candidates) - len(shown)
        each = against_size(operation, together, candidates[0][0], same, 0, left, looks, words)
        return of_systems if len(of_systems) and len(candidates) == len(systems) else [*of_systems, each]
    left = len(candidates) - MOST_DRAWN
    return of_systems + [
        against_size(operation, rows, configuration, names, number, left, looks, words, leaders)
        for number, (configuration, rows) in enumerate(candidates[:MOST_DRAWN])
    ]


def _of_systems(
    operation: str,
    candidates: Sequence[tuple[Configuration, pd.DataFrame]],
    looks: Looks,
    words: str,
    leaders: Sequence[str],
) -> list[Drawing]:
    """A curve for each of several systems, of an algorithm that all of them have; nothing where there is none."""
    first: dict[str, tuple[Configuration, pd.DataFrame]] = {}
    for configuration, rows in candidates:
        first.setdefault(configuration["system"], (configuration, rows))
    algorithms = (name for name in leaders if all(name in set(rows["label"]) for _, rows in first.values()))
    shared = next(algorithms, None)
    if shared is None:
        return []
    ranks = {configuration["ranks"] for configuration, _ in first.values()}
    together = pd.concat(
        rows[rows["label"] == shared].assign(
            label=name if len(ranks) == 1 else f"{name}, {configuration['ranks']} ranks"
        )
        for name, (configuration, rows) in first.items()
    )
    drawn = against_size(operation, together, next(iter(first.values()))[0], [], 0, 0, looks, words)
    title = f"{operation}, a curve for each system: {shared}"
    return [replace(drawn, name=f"{operation}-systems", title=f"{title}.", alt=f"{title}, time against size")]


def representative_sizes(measured: pd.DataFrame) -> list[int]:
    """A small, a middle and a large size, of the sizes measured at most numbers of ranks."""
    width = measured.groupby("bytes")["ranks"].nunique()
    common = sorted(int(size) for size in width.index[width >= 0.8 * width.max()])
    small = next((size for size in common if size >= 8), common[0])
    return sorted({small, common[len(common) // 2], common[-1]})


def _regressions(lines: Mapping[int, Mapping[Key, pd.DataFrame]], names: Sequence[str]) -> Table:
    columns: list[Column[tuple[Key, int, Regression]]] = [
        Column("algorithm", lambda row: row[0][1], is_text=True),
        *held(names, lambda row: row[0][0]),
        Column("size", lambda row: format_bytes(row[1])),
        Column(
            "fit", lambda row: f"{('linear', 'quadratic')[row[2].degree - 1]}, {row[2].weights}", is_text=True
        ),
        Column("T in µs, P = ranks (± standard error)", lambda row: _formula(row[2]), is_text=True),
        Column("adjusted R²", lambda row: f"{row[2].adjusted_r2:.4f}"),
        Column("P (points)", lambda row: f"{row[2].first} … {row[2].last} ({row[2].points})"),
        Column("remarks", lambda row: "; ".join(row[2].notes), is_text=True),
    ]
    rows = [
        (key, size, fit)
        for size, of_size in lines.items()
        for key, curve in of_size.items()
        for fit in regressions(curve["ranks"].to_numpy(np.float64), curve["time_s"].to_numpy(np.float64))
    ]
    return table("Regressions in the number of ranks", rows, columns)


def _formula(fit: Regression) -> str:
    powers = ("", "·P", "·P²")
    return " + ".join(
        f"({value * 1e6:.4g} ± {error * 1e6:.2g}){power}"
        for value, error, power in zip(fit.coefficients, fit.standard_errors, powers, strict=False)
    )


def _choice_tables(measured: pd.DataFrame, operation: str, choices: Sequence[AlgorithmChoice]) -> list[Table]:
    """The fastest on the most ranks of each configuration, and the penalty of the default over all points."""
    if not choices:
        return []
    of_configuration: dict[tuple[str, ...], list[AlgorithmChoice]] = {}
    for choice in choices:
        key = tuple(choice.configuration[name] for name in CONFIGURATION)
        of_configuration.setdefault(key, []).append(choice)
    most = {key: max(choice.ranks for choice in group) for key, group in of_configuration.items()}
    last = [choice for key, group in of_configuration.items() for choice in group if choice.ranks == most[key]]
    listed = last[:MOST_CHOICES]
    columns: list[Column[AlgorithmChoice]] = [
        *held(telling_placed(measured), lambda choice: choice.configuration),
        Column("ranks", lambda choice: str(choice.ranks or "")),
        Column("size", lambda choice: format_bytes(choice.bytes)),
        Column("fastest", lambda choice: choice.best, is_text=True),
        Column("time", lambda choice: format_time(choice.best_s)),
        Column("as fast", _ties, is_text=True),
        Column("candidates", lambda choice: str(choice.candidates)),
        Column("default", lambda choice: "" if choice.default_s is None else format_time(choice.default_s)),
        Column("penalty", _penalty, is_text=True),
    ]
    of_penalty: list[Column[tuple[Configuration, Penalty]]] = [
        *held(telling(measured), lambda row: row[0]),
        Column("points", lambda row: str(row[1].points)),
        Column("median", lambda row: f"× {row[1].median:.2f}"),
        Column("P90", lambda row: f"× {row[1].p90:.2f}"),
        Column("worst", lambda row: f"× {row[1].worst:.2f}"),
        Column("within 10 % of the fastest", lambda row: percent(row[1].within_10_percent)),
    ]
    totals = [
        (group[0].configuration, total)
        for group in of_configuration.values()
        if (total := penalty(group)) is not None
    ]
    cut = f" ({len(listed)} of {len(last)})" if len(listed) < len(last) else ""
    title = "What the library's own choice costs: its time over that of the fastest (1: as fast)"
    return [
        table(f"Fastest {operation} on the most ranks measured{cut}", listed, columns),
        *([table(title, totals, of_penalty)] if totals else []),
    ]


def _ties(choice: AlgorithmChoice) -> str:
    return ", ".join(choice.ties) if len(choice.ties) <= 4 else f"{len(choice.ties)} others"


def _penalty(choice: AlgorithmChoice) -> str:
    """The penalty of the default, as a cell."""
    if choice.penalty is None:
        return ""
    if choice.is_default_slower:
        return f"× {choice.penalty:.2f}"
    return "as fast" if choice.ties else "the default is fastest"


def _segment_table(measured: pd.DataFrame, visits: Visits | None) -> list[Table]:
    """The best segment size at each point, of algorithms that were measured with several."""
    names = telling_placed(measured)
    of_algorithm = measured.groupby(["algorithm", "radix"], dropna=False)["segment_bytes"]
    measured = measured[of_algorithm.transform("nunique", dropna=False) > 1]
    times = timed(measured, visits)
    time_s = np.array([time.time_s for time in times])
    segment_B = measured["segment_bytes"].fillna(-1).to_numpy(np.int64)
    rows: list[tuple[Configuration, int, int]] = []
    for point, members in positions(measured, (*PLACED, "algorithm", "radix", "ranks", "bytes")):
        if np.unique(segment_B[members]).size > 1:
            best = fastest({int(row): times[row] for row in members}).best
            rows.append((point, best, int(members[time_s[members].argmax()])))
    columns: list[Column[tuple[Configuration, int, int]]] = [
        Column("algorithm", lambda row: row[0]["algorithm"], is_text=True),
        *held(["radix", *names], lambda row: row[0]),
        Column("ranks", lambda row: row[0]["ranks"]),
        Column("size", lambda row: format_bytes(float(row[0]["bytes"]))),
        Column("best segment", lambda row: _segment(segment_B[row[1]])),
        Column("time", lambda row: format_time(float(time_s[row[1]]))),
        Column("worst segment", lambda row: _segment(segment_B[row[2]])),
        Column("its time over the best", lambda row: f"× {time_s[row[2]] / time_s[row[1]]:.2f}"),
    ]
    return [table("Choice of the segment size", rows, columns)] if rows else []


def _segment(size_B: int) -> str:
    return "none" if size_B < 0 else format_bytes(int(size_B))


def _statistics_table(frame: pd.DataFrame, operation: str) -> list[Table]:
    """OSU's mean, least and largest time over ranks over the completion time, if the same samples gave all."""
    rows = frame[frame["operation"] == operation]
    if not {"completion", "mean_over_ranks"} <= set(rows["statistic"]):
        return []
    keys = [name for name in (*HELD, "repetition") if name in rows.columns]
    # A pivot drops rows with unknown keys, which are the same for all statistics of a point.
    rows = rows.assign(**{name: rows[name].astype(object).where(rows[name].notna(), "") for name in keys})
    wide = rows.pivot_table(index=keys, columns="statistic", values="time_s", aggfunc="median").dropna(how="any")
    ratios = {name: wide[name] / wide["completion"] for name in OVER_RANKS if name in wide.columns and len(wide)}
    lines = [
        [name, str(len(ratio)), *(f"{ratio.quantile(level):.3f}" for level in (0.05, 0.5, 0.95))]
        for name, ratio in ratios.items()
    ]
    title = "Statistics over ranks as OSU defines them, relative to the completion time"
    return [Table(title, ["statistic", "points", "5 %", "median", "95 %"], lines)] if lines else []


def _points_table(listed: pd.DataFrame, names: Sequence[str]) -> Table:
    def column(name: str) -> Column[Mapping[Hashable, Any]]:
        is_text = name != "ranks"
        value = listed[name].astype(object).where(listed[name].notna(), "").astype(str)
        return Column(HEADINGS.get(name, name), lambda row: value[row["index"]], is_text)

    columns: list[Column[Mapping[Hashable, Any]]] = [
        Column("algorithm", lambda row: str(row["label"]), is_text=True),
        *map(column, [*names, "ranks"]),
        Column("size", lambda row: format_bytes(float(row["bytes"]))),
        Column("time", lambda row: format_time(float(row["time_s"]))),
        Column("95 % interval, or range of repeats", _bounds),
    ]
    return table("Points", listed.reset_index().to_dict("records"), columns)


def _bounds(row: Mapping[Hashable, Any]) -> str:
    """The interval of a point, or the range of its repeats; there may be neither."""
    if pd.isna(row["low_s"]):
        return NONE
    ends = f"{format_time(float(row['low_s']))} … {format_time(float(row['high_s']))}"
    return f"{ends} ({row['repeats']} repeats)" if row["repeats"] > 1 else ends


def _fastest_rates(choices: Sequence[AlgorithmChoice], names: Sequence[str], operation: str) -> list[Table]:
    """Rates of the fastest algorithm at the largest size of each configuration and rank count."""
    if not COLLECTIVES[operation].has_size:
        return []
    grown = (choice for choice in choices if choice.ranks >= 2 and choice.bytes > 0)
    rows = [[*alike][-1] for _, alike in groupby(grown, key=lambda choice: choice.configuration.held[:-1])]

    def rate(heading: str, of: Callable[[str, int, int, float], float]) -> Column[AlgorithmChoice]:
        return Column(heading, lambda row: format_rate(of(operation, row.ranks, row.bytes, row.best_s)))

    columns: list[Column[AlgorithmChoice]] = [
        *held(names, lambda row: row.configuration),
        Column("ranks", lambda row: str(row.ranks)),
        Column("size", lambda row: format_bytes(row.bytes)),
        Column("fastest", lambda row: row.best, is_text=True),
        rate("size / time", algorithm_bandwidth_B_per_s),
        rate("bus bandwidth", bus_bandwidth_B_per_s),
        rate("collective network bandwidth", network_bandwidth_B_per_s),
    ]
    cut = f" ({MOST_CHOICES} of {len(rows)})" if len(rows) > MOST_CHOICES else ""
    return [table(f"Collective bandwidth{cut}", rows[:MOST_CHOICES], columns)] if rows else []
