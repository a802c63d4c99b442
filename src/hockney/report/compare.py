"""One page of several campaigns or tables: what they all measured shares a figure, and how much they differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.machine.build import fitted
from hockney.machine.reservations import reservations
from hockney.models.base import models
from hockney.models.over_ranks.choice import CRITERION
from hockney.models.over_ranks.points import collectives_in, visits_of
from hockney.records.contents import Contents, read
from hockney.records.keys import POINT_TO_POINT
from hockney.records.table import RATES
from hockney.report import provenance
from hockney.report.answers import weightiest
from hockney.report.asked import Asked, asked
from hockney.report.curves import MessageCurve, curves
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import (
    AGAINST_RANKS,
    AGAINST_SIZE,
    DIMENSIONS,
    Explored,
    Selection,
    figure,
    panel,
)
from hockney.report.explorer.embed import by_wins
from hockney.report.explorer.explored import Source, explored
from hockney.report.facts import not_shown, warnings
from hockney.report.figures import Context
from hockney.report.findings import Finding
from hockney.report.make import Report, not_measured
from hockney.report.page import Section, render
from hockney.report.ratios import in_words, ratios
from hockney.report.style import Looks, drawing_style, model_styles
from hockney.report.tables import NONE, Table
from hockney.units import format_bytes

MOST_PANELS = 3
MOST_ROWS = 60
_SAME = ("operation", *DIMENSIONS[1:], "ranks", "bytes")
"""Points of two campaigns that agree in these measure the same."""


def compare(
    paths: Sequence[Path], statistic: str = "", progress: Callable[[str], None] = lambda _: None
) -> Report:
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
    wish = _in_common(names, [contents.frame for contents in every], statistic)
    sources, caveats = [], [*wish.warnings]
    for name, contents in zip(names, every, strict=True):
        source, said = _source(name, contents, wish.statistics, progress)
        sources.append(source)
        caveats += [f"{name}: {line}" for line in said]
    seen = explored(sources)
    both = pd.DataFrame() if seen is None else differences(seen, names)
    if seen is None or both.empty:
        hint = "what is compared agrees in operation, statistic, placement, algorithm, ranks and size"
        if any(contents.apps for contents in every):
            hint = "`hockney merge` them: a report of one campaign has the runs of applications in one figure"
        raise RequestError(
            " ".join([f"{names[0]} and {', '.join(names[1:])} have no point in common.", *wish.warnings]),
            hint,
        )
    looks = Looks()
    looks.of(names)
    looks.of(by_wins(seen))
    with drawing_style():
        sections = []
        for operation, rows in both.groupby("operation", sort=False):
            progress(f"drawing {operation}")
            sections.append(_section(str(operation), rows, seen, looks, names))
        findings = weightiest([one for section in sections for one in section.findings])
        tables = [
            replace(table, caption=f"{name}: {table.caption}")
            for name, contents in zip(names, every, strict=True)
            for table in provenance.tables(contents.launches)
        ]
        libraries = [", ".join(sorted(set(map(str, source.frame["mpi"].unique())) - {""})) for source in sources]
        html = render(
            title=f"{names[0]} and {', '.join(names[1:])} compared",
            lead=[" · ".join(filter(None, pair)) for pair in zip(names, libraries, strict=True)],
            findings=findings,
            headlines=[],
            omitted="",
            warnings=caveats,
            sections=sections,
            provenance=tables,
            nodes=None,
            origin=f"Ratios are times of the named campaign over those of {names[0]}. {CRITERION}",
            of_messages=True,
            explored=seen,
            looks=looks,
        )
    frame = sources[0].frame.iloc[:0]
    context = Context(model_styles(models.names()))
    return Report(html, [], "", caveats, [], sections, [], context, frame, {}, [], findings)


def _names(paths: Sequence[Path]) -> list[str]:
    """The names of the files or folders, or whole paths where names are alike."""
    short = [path.resolve().name for path in paths]
    names = short if len(set(short)) == len(short) else [str(path) for path in paths]
    if len(set(names)) < len(names):
        raise RequestError(f"{names[0]} is named twice", "name each campaign once")
    return names


def _in_common(names: Sequence[str], frames: Sequence[pd.DataFrame], statistic: str) -> Asked:
    """`asked` of the statistics that all who measured a collective have; a warning for each without one."""
    every = dict.fromkeys(operation for frame in frames for operation in collectives_in(frame))
    shared, warnings = [], []
    for operation in every:
        held = {
            name: set(rows["statistic"]) - set(RATES)
            for name, frame in zip(names, frames, strict=True)
            if len(rows := frame[frame["operation"] == operation])
        }
        common = set.intersection(*held.values())
        shared += [{"operation": operation, "statistic": one} for one in sorted(common)]
        if not common:
            there = "; ".join(f"{name} has {', '.join(sorted(of_it)) or 'none'}" for name, of_it in held.items())
            warnings.append(f"{operation} is left out, because no statistic is common to all: {there}.")
    wish = asked(pd.DataFrame(shared, columns=["operation", "statistic"]), statistic if shared else "", ())
    return Asked(wish.statistics, [*warnings, *wish.warnings])


def _source(
    name: str, contents: Contents, statistics: Mapping[str, str], progress: Callable[[str], None]
) -> tuple[Source, list[str]]:
    """What is looked at of a campaign, and the warnings that a page of its own has."""
    frame, found = contents.frame, list[MessageCurve]()
    if set(frame["operation"].unique()) & set(POINT_TO_POINT):
        machine = fitted(contents, progress)
        found, caveats = curves(machine), machine.provenance.warnings
    else:
        caveats = [*reservations([], contents), *contents.warnings]
    here = set(collectives_in(frame))
    chosen = {operation: one for operation, one in statistics.items() if operation in here}
    said = [
        *warnings(found, contents.launches, caveats),
        *filter(None, [not_measured(contents)]),
        *not_shown(frame),
    ]
    visits = {operation: visits_of(contents, operation, statistic) for operation, statistic in chosen.items()}
    return Source(name, frame, found, chosen, contents.launches, name, visits), said


def differences(seen: Explored, names: Sequence[str]) -> pd.DataFrame:
    """Each point of a campaign that the first has too: the columns they share, `campaign`, `ratio`, `is_told`.

    `ratio` and `is_told` are those of `report.ratios`.
    """
    is_first = seen.points["campaign"] == names[0]
    columns = [*_SAME, "campaign", "time_s", "low_s", "high_s"]
    return ratios(seen.points[is_first], seen.points[~is_first][columns], _SAME)


def _section(operation: str, rows: pd.DataFrame, seen: Explored, looks: Looks, names: Sequence[str]) -> Section:
    section = Section(operation, operation.capitalize(), f"Times of each campaign beside those of {names[0]}.")
    section.figures = _drawings(operation, rows, seen, looks)
    held = [name for name in DIMENSIONS[1:] if len(rows[name].unique()) > 1]
    groups = [
        (dict(zip(("campaign", *held), key, strict=True)), group)
        for key, group in rows.groupby(["campaign", *held], sort=False)
    ]
    section.tables = [_table(operation, groups, held, names[0])]
    anchor = f"figure-{section.figures[0].name}" if section.figures else operation
    for name, group in rows.groupby("campaign", sort=False):
        section.findings.append(_finding(operation, str(name), group, names[0], anchor))
    plain = [*_SAME, "campaign", "time_s_first", "time_s", "ratio", "is_told"]
    listed: list[dict[str, Any]] = [
        {str(key): value for key, value in row.items()} for row in rows[plain].to_dict("records")
    ]
    section.rows = {"ratios": listed}
    return section


def _finding(operation: str, name: str, group: pd.DataFrame, first: str, anchor: str) -> Finding:
    told = group[group["is_told"]]
    text = f"{operation}: {in_words(name, first, group)}"
    if len(told):
        worst = told.loc[np.abs(np.log(told["ratio"])).idxmax()]
        where = ", ".join(filter(None, [str(worst[one]) for one in DIMENSIONS[1:]]))
        ranks = f" on {worst['ranks']} ranks" if worst["ranks"] else ""
        text += f". It differs most, × {worst['ratio']:.2f}, at {format_bytes(worst['bytes'])}{ranks}"
        text += f" ({where})" if where else ""
    return Finding(f"{text}.", anchor, min(0.95, 0.5 + 0.45 * len(told) / len(group)))


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
    made = []
    by_size = {_words(one): panel(AGAINST_SIZE, one, seen) for one in chosen}
    if any(len(line.x) > 1 for one in by_size.values() for line in one.lines):
        left = len(fullest) - len(chosen)
        note = f"{left} more placements are in the table. " if left else ""
        note += "Vertical bars are intervals, or ranges of repeats; the table has what is told apart."
        made.append(
            Drawing(
                f"{operation}-compared",
                f"{operation}: time against size.",
                f"{operation}: time against message size, a line for each campaign; {', '.join(by_size)}",
                note,
                figure(AGAINST_SIZE, by_size, looks),
                choice=chosen[0],
            )
        )
    sizes = sorted(rows["bytes"].unique())
    some = [replace(chosen[0], bytes=int(size)) for size in sizes[:: max(1, len(sizes) // 2)]][:MOST_PANELS]
    by_ranks = {format_bytes(one.bytes): panel(AGAINST_RANKS, one, seen) for one in some}
    by_ranks = {title: one for title, one in by_ranks.items() if any(len(line.x) > 1 for line in one.lines)}
    if by_ranks:
        made.append(
            Drawing(
                f"{operation}-compared-against-ranks",
                f"{operation}: time against the number of ranks{_of(chosen[0])}.",
                f"{operation}: time against ranks, a line for each campaign, at {', '.join(by_ranks)}",
                "",
                figure(AGAINST_RANKS, by_ranks, looks),
                choice=some[0],
            )
        )
    return made


def _of(choice: Selection) -> str:
    words = ", ".join(filter(None, (choice.held[name] for name in DIMENSIONS[1:])))
    return f", {words}" if words else ""


def _words(choice: Selection) -> str:
    words = [choice.held[name] for name in DIMENSIONS[1:]]
    return ", ".join(filter(None, [*words, f"{choice.ranks} ranks" if choice.ranks else ""]))


def _table(
    operation: str, groups: Sequence[tuple[dict[str, Any], pd.DataFrame]], held: Sequence[str], first: str
) -> Table:
    rows = []
    for key, group in groups:
        told = group.loc[group["is_told"], "ratio"]
        rows.append(
            [
                str(key["campaign"]),
                *(str(key[name]) or NONE for name in held),
                str(len(group)),
                *(f"× {group['ratio'].quantile(level):.2f}" for level in (0.0, 0.5, 1.0)),
                str(int((told > 1).sum())),
                str(int((told < 1).sum())),
                str(len(group) - len(told)),
            ]
        )
    columns = ["points", "least ratio", "median", "largest", "slower", "faster", "not told apart"]
    cut = f" ({MOST_ROWS} of {len(rows)})" if len(rows) > MOST_ROWS else ""
    return Table(
        f"{operation}: times over those of {first}{cut}",
        ["campaign", *held, *columns],
        rows[:MOST_ROWS],
        frozenset(range(len(held) + 1)),
    )
