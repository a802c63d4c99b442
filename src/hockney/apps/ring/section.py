"""The ring: time of a cycle, the lines between breaks, and the latency of a message that they give."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from hockney.apps.ring.answer import RingAnswer
from hockney.apps.ring.app import APP
from hockney.apps.ring.lines import (
    LatencyLine,
    RingComparison,
    compared,
    signed,
    unbroken,
)
from hockney.apps.ring.model import MachineLinks, around, predict_ring
from hockney.apps.ring.picture import ring as drawing
from hockney.apps.ring.rings import RingSeries, around_of, of_records
from hockney.errors import RequestError
from hockney.models.over_ranks.boundaries import begins
from hockney.records.app_record import AppRecord
from hockney.report import runs_section
from hockney.report.app_sections import Basis, Contribution, Runs, is_readable, page_id
from hockney.report.findings import Finding, certainty
from hockney.report.run_tables import Column, ReportedRun, interval, table
from hockney.report.tables import Table
from hockney.units import format_time

ANCHOR = page_id("ring")
MOST_CURVES = 6
"""In one figure."""


def reported(record: AppRecord) -> ReportedRun:
    """A cycle."""
    asked = record.parameters
    words = [asked.get("exchange", asked.get("algorithm", "")), asked.get("topology", "world")]
    return ReportedRun(
        record,
        problem="",
        way=", ".join(str(word) for word in words if word not in ("", "world")),
        rate=record.ranks / record.time_s if record.time_s else None,
    )


def predicted_s(record: AppRecord, basis: Basis) -> tuple[float | None, list[str]]:
    """By the slowest link around the ring as it was placed."""
    links = MachineLinks(basis.of(record))
    localities = around(basis.placement(record), around_of(record) or None)
    prediction = predict_ring(localities, links, record.parameters["exchange"])
    return None if prediction is None else prediction.time_s, links.notes


def section(runs: Runs) -> Contribution:
    """Runs, and where a curve has a line (five numbers of processes), lines, breaks, latencies."""
    contribution = runs_section.section(APP, runs, reported, predicted_s)
    (page,) = contribution.sections
    known = [run for run in runs.records if run.time_s > 0 and is_readable(run, RingAnswer)]
    series = of_records(known, runs.place_of)
    every = [_compared(curve, runs.basis) for curve in series]
    comparisons = [comparison for comparison in every if any(line.latency_s for line in comparison.segments)]
    if not comparisons:
        contribution.findings += without_lines([comparison.curve for comparison in every])
        return contribution
    curves = [comparison.curve for comparison in comparisons]
    named = {comparison.curve.title_among(curves): comparison for comparison in comparisons}
    for number, start in enumerate(range(0, len(named), MOST_CURVES)):
        name = f"app-ring-lines-{number + 1}" if number else "app-ring-lines"
        page.figures.insert(number, drawing(dict([*named.items()][start : start + MOST_CURVES]), name))
    page.tables.insert(0, _lines(named))
    without = [f"{name}: {place}." for name, each in named.items() for place in unbroken(each)]
    page.note = " ".join(filter(None, [page.note, *without]))
    contribution.findings += findings(named)
    return contribution


def _compared(curve: RingSeries, basis: Basis | None) -> RingComparison:
    """The lines of a curve, beside ping-pongs of its own library and variant."""
    first, links = curve.runs[0].record, None
    with suppress(RequestError):
        links = MachineLinks(basis.of(first)) if basis is not None and not basis.refused(first) else None
    return compared([curve], links.pingpong if links else None)[0]


def findings(curves: dict[str, RingComparison]) -> list[Finding]:
    """The latency of a message on each line, beside the ping-pong's, and where time breaks."""
    said = []
    for name, comparison in curves.items():
        whose = f" ({name})" if len(curves) > 1 else ""
        for line in comparison.segments:
            if line.latency_s is None:
                continue
            what = "half a hop takes" if line.is_of_both_ways else "a message takes"
            ratio = f", {ratio} a ping-pong of that distance" if (ratio := line.ratio(" times ")) else ""
            text = f"In the ring{whose} of {line.first} to {line.last} processes {what} {line.latency}{ratio}."
            said.append(Finding(text, ANCHOR, 0.6 if ratio else 0.5))
        for jump in comparison.fitted.breaks if comparison.fitted else []:
            why = f"where {begins(jump.boundary)} begins" if jump.boundary else "where no boundary is known"
            text = (
                f"The ring{whose} breaks from {jump.before} to {jump.after} processes, {why}: × "
                f"{jump.level_ratio:.2f} (p = {jump.p_value:.1g})."
            )
            said.append(Finding(text, ANCHOR, 0.7))
    return said


def without_lines(curves: Sequence[RingSeries]) -> list[Finding]:
    """The time of a cycle on the most processes, where they are too few numbers for a line."""
    found = []
    for curve in curves:
        most = max((run.record for run in curve.runs), key=lambda record: record.ranks)
        if most.ranks > 1:  # else its messages go nowhere
            whose = f" ({curve.title_among(curves)})" if len(curves) > 1 else ""
            reach = f"95 %: {bounds}" if (bounds := interval(most.low_s, most.high_s)) else "no interval"
            text = f"Ring of {most.ranks} processes{whose}: a cycle takes {format_time(most.time_s)} ({reach})."
            found.append(Finding(text, ANCHOR, 0.6, verdict=certainty(most.time_s, most.low_s, most.high_s)))
    return found


def _lines(curves: dict[str, RingComparison]) -> Table:
    jumps = {
        id(line): jump
        for comparison in curves.values()
        for line in comparison.segments
        for jump in (comparison.fitted.breaks if comparison.fitted else [])
        if jump.after == line.first
    }

    def step(line: LatencyLine, name: str) -> str:
        ratio = getattr(jumps.get(id(line)), name, None)
        return "" if ratio is None else f"× {ratio:.2f}"

    rows = [(name, line) for name, comparison in curves.items() for line in comparison.segments]
    few = sum(line.slope_s is None for _, line in rows)
    note = f"; {few} of {len(rows)} have fewer than five numbers of processes, and no line" if few else ""
    columns: list[Column[tuple[str, LatencyLine]]] = [
        Column("rings", lambda row: row[0], is_text=True),
        Column("processes", lambda row: f"{row[1].first} to {row[1].last}"),
        Column("from there", lambda row: begins(row[1].begins) if row[1].begins else "", is_text=True),
        Column("level", lambda row: step(row[1], "level_ratio")),
        Column("cost of a process more", lambda row: step(row[1], "slope_ratio")),
        Column("a", lambda row: signed(row[1].intercept_s)),
        Column("T_l", lambda row: signed(row[1].latency_s)),
        Column("95 % interval", lambda row: _between(row[1].latency_low_s, row[1].latency_high_s)),
        Column("adjusted R²", lambda row: "" if row[1].adjusted_r2 is None else f"{row[1].adjusted_r2:.5f}"),
        Column("T_l, absolute fit", lambda row: signed(row[1].absolute_latency_s)),
        Column(
            "its interval",
            lambda row: _between(row[1].absolute_latency_low_s, row[1].absolute_latency_high_s),
        ),
        Column("farthest neighbours", lambda row: row[1].locality or "", is_text=True),
        Column("ping-pong", lambda row: "" if row[1].pingpong_s is None else format_time(row[1].pingpong_s)),
        Column("T_l / ping-pong", lambda row: _ratio(row[1])),
    ]
    return table(f"Lines T(P) = a + 2 T_l P between breaks{note}", rows, columns)


def _between(low_s: float | None, high_s: float | None) -> str:
    return "" if low_s is None else f"{signed(low_s)} to {signed(high_s)}"


def _ratio(line: LatencyLine) -> str:
    if line.latency_over_pingpong is None and line.latency_s is not None and line.pingpong_s:
        return f"{line.latency_s / line.pingpong_s:.3g} (no interval)"
    return line.ratio(" ")
