"""One page of several campaigns or tables: what they all measured shares a figure, and how much they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pandas as pd

from hockney.errors import RequestError
from hockney.machine.locality import read
from hockney.models.over_ranks.choice import CRITERION
from hockney.records.statistic import RATES
from hockney.records.table import collectives_in
from hockney.report import provenance
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import (
    AGAINST_RANKS,
    AGAINST_SIZE,
    DIMENSIONS,
    Explored,
    Selection,
    View,
    figure,
    panel,
)
from hockney.report.explorer.explored import explored, in_order
from hockney.report.findings import Finding, faster_in_words, ratios, weightiest
from hockney.report.make import not_shown
from hockney.report.page import Contribution, Report, Row, Section
from hockney.report.reading import PLAIN, Progress, Reading, statistics_of, unsaid
from hockney.report.style import Looks, drawing_style
from hockney.report.tables import NONE, Table
from hockney.units import counted, format_bytes

MOST_PANELS = 3
MOST_ROWS = 60
_SAME = ("operation", *DIMENSIONS[1:], "ranks", "bytes")
"""Points of two campaigns that agree in these measure the same."""


def compare(paths: Sequence[Path], statistic: str = "", progress: Progress = unsaid) -> Report:
    """The page that compares campaign folders and tidy tables; each after the first is set against the first.

    A collective is compared in one statistic: `statistic` where all that measured it have that, otherwise what
    says most of those that all have; without any it is left out, with a warning. RequestError where a campaign
    cannot be read, where no collective has the statistic, and where the first has no point that another has.
    """
    names = _names(paths)
    every = []
    for path in paths:
        progress(f"reading {path.name}")
        every.append(read(path))
    shared, caveats = _in_common(names, [contents.frame for contents in every], statistic)
    unshared, readings = [*caveats], []
    for name, contents in zip(names, every, strict=True):
        held = set(collectives_in(contents.frame))
        statistics = {operation: chosen for operation, chosen in shared.items() if operation in held}
        readings.append(reading := Reading.of(contents, PLAIN, progress, statistics=statistics, campaign=name))
        caveats += [f"{name}: {line}" for line in [*reading.warnings, *not_shown(contents.frame)]]
    seen = explored([reading.source for reading in readings])
    both = pd.DataFrame() if seen is None else differences(seen, names)
    if seen is None or both.empty:
        hint = "what is compared agrees in operation, statistic, placement, algorithm, ranks and size"
        if any(contents.apps for contents in every):
            hint = "`hockney merge` them: a report of one campaign has the runs of applications in one figure"
        raise RequestError(
            " ".join([f"{names[0]} and {', '.join(names[1:])} have no point in common.", *unshared]), hint
        )
    looks = Looks()
    looks.of(names)
    looks.of(in_order(seen))
    with drawing_style():
        content = Contribution()
        for operation, rows in both.groupby("operation", sort=False):
            progress(f"drawing {operation}")
            content.sections.append(_section(str(operation), rows, seen, looks, names))
        tables = [
            replace(table, caption=f"{reading.campaign}: {table.caption}")
            for reading in readings
            for table in provenance.tables(reading.launches)
        ]
        libraries = [
            ", ".join(sorted(set(map(str, contents.frame["mpi"].unique())) - {""})) for contents in every
        ]
        return Report(
            title=f"{names[0]} and {', '.join(names[1:])} compared",
            lead=[" · ".join(filter(None, pair)) for pair in zip(names, libraries, strict=True)],
            content=content,
            findings=weightiest([finding for section in content.sections for finding in section.findings]),
            warnings=caveats,
            provenance=tables,
            origin=f"Ratios are times of the named campaign over those of {names[0]}. {CRITERION}",
            explored=seen,
            looks=looks,
        )


def _names(paths: Sequence[Path]) -> list[str]:
    """The names of the files or folders, or whole paths where names are alike."""
    short = [path.resolve().name for path in paths]
    names = short if len(set(short)) == len(short) else [str(path) for path in paths]
    if len(set(names)) < len(names):
        raise RequestError(f"{names[0]} is named twice", "name each campaign once")
    return names


def _in_common(
    names: Sequence[str], frames: Sequence[pd.DataFrame], statistic: str
) -> tuple[dict[str, str], list[str]]:
    """`statistics_of` what all who measured a collective have; a warning for each without one."""
    every = dict.fromkeys(operation for frame in frames for operation in collectives_in(frame))
    shared, warnings = [], []
    for operation in every:
        held = {
            name: set(rows["statistic"]) - set(RATES)
            for name, frame in zip(names, frames, strict=True)
            if len(rows := frame[frame["operation"] == operation])
        }
        common = set.intersection(*held.values())
        shared += [{"operation": operation, "statistic": name} for name in sorted(common)]
        if not common:
            measured = "; ".join(f"{name} has {', '.join(sorted(own)) or 'none'}" for name, own in held.items())
            warnings.append(f"{operation} is left out, because no statistic is common to all: {measured}.")
    frame = pd.DataFrame(shared, columns=["operation", "statistic"])
    statistics, unmet = statistics_of(frame, statistic if shared else "")
    return statistics, [*warnings, *unmet]


def differences(seen: Explored, names: Sequence[str]) -> pd.DataFrame:
    """Each point of a campaign that the first has too: the columns they share, `campaign`, `ratio`, `is_told`.

    `ratio` and `is_told` are those of `report.findings.ratios`.
    """
    is_first = seen.points["campaign"] == names[0]
    columns = [*_SAME, "campaign", "time_s", "low_s", "high_s"]
    return ratios(seen.points[is_first], seen.points[~is_first][columns], _SAME)


def _section(operation: str, rows: pd.DataFrame, seen: Explored, looks: Looks, names: Sequence[str]) -> Section:
    section = Section(operation, operation.capitalize(), f"Times of each campaign beside those of {names[0]}.")
    section.figures = _drawings(operation, rows, seen, looks)
    section.tables = [_table(operation, rows, names[0])]
    anchor = f"figure-{section.figures[0].name}" if section.figures else operation
    for name, group in rows.groupby("campaign", sort=False):
        section.findings.append(_finding(operation, str(name), group, names[0], anchor))
    plain = [*_SAME, "campaign", "time_s_first", "time_s", "ratio", "is_told"]
    section.rows = {"ratios": cast(list[Row], rows[plain].to_dict("records"))}
    return section


def _finding(operation: str, name: str, group: pd.DataFrame, first: str, anchor: str) -> Finding:
    weight = min(0.95, 0.5 + 0.45 * group["is_told"].mean())
    return Finding(f"{operation}: {faster_in_words(name, first, group)}.", anchor, weight)


def _drawings(operation: str, rows: pd.DataFrame, seen: Explored, looks: Looks) -> list[Drawing]:
    """Time against size at the places with most common points, and against ranks where there are several."""
    first = replace(seen.first[operation], by="campaign")
    names = [*DIMENSIONS[1:], "ranks"]
    counts = rows.groupby(names, sort=False).size().sort_values(ascending=False, kind="stable")
    # One panel for each placement: of its algorithms and ranks the one with most points.
    keys = [dict(zip(names, key, strict=True)) for key in counts.index]
    fullest: dict[tuple[str, str], Selection] = {}
    for key in keys:
        held = {**first.held, **{name: str(key[name]) for name in DIMENSIONS[1:]}}
        fullest.setdefault(
            (held["placement"], held["variant"]), replace(first, ranks=int(key["ranks"]), held=held)
        )
    chosen = [*fullest.values()][:MOST_PANELS]
    left = len(fullest) - len(chosen)
    note = f"{left} more placements are in the table. " if left else ""
    note += "Vertical bars are intervals, or ranges of repeats."
    by_size = _described(operation, AGAINST_SIZE, {_words(choice): choice for choice in chosen}, seen, looks)
    sizes = sorted(rows["bytes"].unique())
    some = [replace(chosen[0], bytes=int(size)) for size in sizes[:: max(1, len(sizes) // 2)]][:MOST_PANELS]
    by_ranks = _described(
        operation, AGAINST_RANKS, {format_bytes(choice.bytes): choice for choice in some}, seen, looks
    )
    return [
        *([replace(by_size, caption=note)] if by_size else []),
        *([replace(by_ranks, name=f"{by_ranks.name}-against-ranks")] if by_ranks else []),
    ]


def _described(
    operation: str, view: View, choices: Mapping[str, Selection], seen: Explored, looks: Looks
) -> Drawing | None:
    """A figure with a panel for each choice; None where no line has two points."""
    panels = {title: panel(view, choice, seen) for title, choice in choices.items()}
    panels = {title: one for title, one in panels.items() if any(len(line.x) > 1 for line in one.lines)}
    first = next(iter(choices.values()))
    against = "size" if view is AGAINST_SIZE else f"the number of ranks{_of(first)}"
    return (
        Drawing(
            f"{operation}-compared",
            f"{operation}: time against {against}.",
            f"{operation}: time against {against}, a line for each campaign; {', '.join(panels)}",
            "",
            figure(view, panels, looks),
            choice=first,
        )
        if panels
        else None
    )


def _of(choice: Selection) -> str:
    words = ", ".join(filter(None, (choice.held[name] for name in DIMENSIONS[1:])))
    return f", {words}" if words else ""


def _words(choice: Selection) -> str:
    words = [choice.held[name] for name in DIMENSIONS[1:]]
    return ", ".join(filter(None, [*words, counted(choice.ranks, "rank") if choice.ranks else ""]))


def _table(operation: str, rows: pd.DataFrame, first: str) -> Table:
    held = [name for name in DIMENSIONS[1:] if len(rows[name].unique()) > 1]
    lines = []
    for key, group in rows.groupby(["campaign", *held], sort=False):
        told = group.loc[group["is_told"], "ratio"]
        lines.append(
            [
                *(str(name) or NONE for name in key),
                str(len(group)),
                *(f"× {group['ratio'].quantile(level):.2f}" for level in (0.0, 0.5, 1.0)),
                str(int((told > 1).sum())),
                str(int((told < 1).sum())),
                str(len(group) - len(told)),
            ]
        )
    columns = ["points", "least ratio", "median", "largest", "slower", "faster", "as fast"]
    cut = f" ({MOST_ROWS} of {len(lines)})" if len(lines) > MOST_ROWS else ""
    return Table(
        f"{operation}: times over those of {first}{cut}",
        ["campaign", *held, *columns],
        lines[:MOST_ROWS],
        frozenset(range(len(held) + 1)),
    )
