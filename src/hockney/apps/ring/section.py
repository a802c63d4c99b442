"""The ring: time of a cycle, the lines between breaks, and the latency of a message that they give."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.apps.ring.answer import RingAnswer
from hockney.apps.ring.lines import LatencyLine, largest_error_s, latency_s, pingpong_of
from hockney.apps.ring.model import MachineLinks, around, predict
from hockney.apps.ring.picture import ring as drawing
from hockney.apps.ring.predicted import RingComparison, compared, signed
from hockney.apps.ring.study import RingSeries, around_of, of_records
from hockney.apps.ring.ways import OURS
from hockney.models.base import Parameter
from hockney.models.over_ranks.jumps import SIGNIFICANCE
from hockney.records.app_record import AppRecord
from hockney.report.app_sections import Basis, Contribution, Runs, app_sections, page_id
from hockney.report.findings import Finding
from hockney.report.marks import percent
from hockney.report.run_tables import ReportedRun, table
from hockney.report.runs_section import Program, section
from hockney.report.tables import Table, value_and_interval
from hockney.units import format_time

MOST_CURVES = 6
"""In one figure."""
MOST_SPREADS = 60
"""Rows of the table of spreads; the data of `--json` and the CSV files have all."""


class Ring(Program):
    """Its processes wait for nothing but messages."""

    name = "ring"
    title = "Ring"
    meaning = (
        "In each of as many hops as there are processes, every process sends a message of 4 B to either "
        "neighbour and waits for one from either. A cycle ends when all have their own two messages back."
    )
    unit = "a cycle"
    rate = "hops/s"
    about = (
        "A process more is two messages more: on a line T(P) = a + 2 T_l P, the latency of a message is T_l = "
        "slope/2; where both messages of a hop travel at once, that is half a hop. e = (t_max − t_min)/2 over "
        "the repetitions."
    )
    about_prediction = (
        "twice the slowest link between neighbours in each hop where messages are exchanged in turns, once and "
        "what sending and receiving keep a processor busy where both travel at once."
    )

    def reported(self, record: AppRecord) -> ReportedRun:
        """A cycle."""
        parameters = record.parameters
        words = [parameters.get("exchange", parameters.get("algorithm", "")), parameters.get("topology", "world")]
        return ReportedRun(
            record,
            problem="",
            way=", ".join(str(word) for word in words if word not in ("", "world")),
            rate=record.ranks / record.time_s if record.time_s else None,
        )

    def predicted_s(self, record: AppRecord, basis: Basis) -> tuple[float | None, list[str]]:
        """By the slowest link around the ring as it was placed."""
        links = MachineLinks(basis.of(record))
        around_it = around(basis.placement(record), around_of(record) or None)
        prediction = predict(around_it, links, record.parameters["exchange"])
        return None if prediction is None else prediction.time_s, links.notes


@app_sections.register("ring")
def ring(runs: Runs) -> Contribution:
    """Its section: runs, and where a curve has a line (five numbers of processes), lines, breaks, latencies."""
    contribution = section(Ring(), runs)
    (page,) = contribution.sections
    for data, run in zip(contribution.runs, contribution.timed, strict=False):
        data["largest_error_s"] = largest_error_s(run.samples_s)
    known = [run for run in runs.records if run.time_s > 0 and _is_readable(run)]
    every = [_compared(curve, runs.basis) for curve in of_records(known, runs.place_of)]
    comparisons = [one for one in every if any(line.segment.fit for line in one.lines)]
    if comparisons:
        curves = [one.curve for one in comparisons]
        named = {one.curve.title_among(curves): one for one in comparisons}
        drawn = {name: one.drawn() for name, one in named.items()}
        for number, start in enumerate(range(0, len(drawn), MOST_CURVES)):
            name = f"app-ring-lines-{number + 1}" if number else "app-ring-lines"
            page.figures.insert(number, drawing(dict([*drawn.items()][start : start + MOST_CURVES]), OURS, name))
        page.tables[:0] = [one for one in (_lines(named), _breaks(named), _spreads(named)) if one.rows]
        contribution.findings += findings(named)
    else:
        contribution.findings += without_lines([one.curve for one in every])
    return contribution


def _is_readable(run: AppRecord) -> bool:
    try:
        run.answer.read_as(RingAnswer)
    except ValueError:
        return False
    return True


def _compared(curve: RingSeries, basis: Basis | None) -> RingComparison:
    """The lines of a curve, beside ping-pongs of its own library and variant."""
    first = curve.runs[0].record
    fits = basis is not None and not basis.refused(first)
    (made,) = compared(
        [curve], None, OURS, [], pingpong_of(basis.of(first) if basis is not None and fits else None)
    )
    return made


def findings(curves: dict[str, RingComparison]) -> list[Finding]:
    """The latency of a message on each line, beside the ping-pong's, and where time breaks."""
    made = []
    for name, one in curves.items():
        whose = f" ({name})" if len(curves) > 1 else ""
        told = [line for line in one.lines if line.latency_s is not None]
        for line in told:
            value, low, high = line.latency_s or (0.0, 0.0, 0.0)
            what = "half a hop takes" if line.is_of_both_ways else "a message takes"
            text = (
                f"In the ring{whose} of {line.segment.first} to {line.segment.last} processes {what} "
                f"{signed(value)} (95 %: {signed(low)} to {signed(high)})"
            )
            if line.ratio is not None:
                ratio, least, most = line.ratio
                text += f", {ratio:.3g} times ({least:.3g} to {most:.3g}) a ping-pong of that distance"
            made.append(Finding(f"{text}.", page_id("ring"), 0.6 if line.ratio else 0.5))
        for jump in one.fitted.breaks if one.fitted else []:
            why = f"where another {jump.boundary} begins" if jump.boundary else "where no boundary is known"
            made.append(
                Finding(
                    f"The ring{whose} breaks from {jump.before} to {jump.after} processes, {why}: × "
                    f"{jump.level_ratio:.2f} (p = {jump.p_value:.1g}).",
                    page_id("ring"),
                    0.7,
                )
            )
    return made


def without_lines(curves: Sequence[RingSeries]) -> list[Finding]:
    """The time of a cycle on the most processes, where they are too few numbers for a line."""
    said = []
    for curve in curves:
        most = max((run.record for run in curve.runs), key=lambda record: record.ranks)
        if most.ranks < 2:  # its messages go nowhere
            continue
        time = Parameter(value=most.time_s, low=most.low_s, high=most.high_s, unit="s")
        value, interval = value_and_interval(time)
        bounds = f"95 %: {interval}" if interval else "no interval"
        whose = f" ({curve.title_among(curves)})" if len(curves) > 1 else ""
        said.append(f"on {most.ranks} processes{whose} a cycle takes {value} ({bounds})")
    if not said:
        return []
    untold = "what a further process costs needs a line, of at least five numbers of processes"
    return [Finding(f"Ring: {', '.join(said)}; {untold}.", page_id("ring"), 0.6)]


def _lines(curves: dict[str, RingComparison]) -> Table:
    lines = [(name, line) for name, one in curves.items() for line in one.lines]
    columns: dict[str, list[str]] = {
        "rings": [name for name, _ in lines],
        "processes": [f"{line.segment.first} to {line.segment.last}" for _, line in lines],
        "from there": [f"another {line.segment.begins}" if line.segment.begins else "" for _, line in lines],
        "a": [signed(line.segment.fit.coefficients[0]) if line.segment.fit else "" for _, line in lines],
        "T_l": [_estimate(line.latency_s)[0] for _, line in lines],
        "95 % interval": [_estimate(line.latency_s)[1] for _, line in lines],
        "adjusted R²": [f"{line.segment.fit.adjusted_r2:.5f}" if line.segment.fit else "" for _, line in lines],
        "T_l, absolute fit": [_estimate(latency_s(line.segment, absolute=True))[0] for _, line in lines],
        "its interval": [_estimate(latency_s(line.segment, absolute=True))[1] for _, line in lines],
        "farthest neighbours": [line.locality or "" for _, line in lines],
        "ping-pong": ["" if line.pingpong is None else format_time(line.pingpong.time_s) for _, line in lines],
        "T_l / ping-pong": [_ratio(line) for _, line in lines],
    }
    few = sum(line.segment.fit is None for _, line in lines)
    note = f"; {few} of {len(lines)} have fewer than five numbers of processes, and no line" if few else ""
    return table(
        f"Lines T(P) = a + 2 T_l P between breaks{note}", columns, {"rings", "from there", "farthest neighbours"}
    )


def _ratio(line: LatencyLine) -> str:
    if line.ratio is not None:
        value, low, high = line.ratio
        return f"{value:.3g} ({low:.3g} to {high:.3g})"
    if line.latency_s is not None and line.pingpong is not None and line.pingpong.time_s > 0:
        return f"{line.latency_s[0] / line.pingpong.time_s:.3g} (no interval)"
    return ""


def _breaks(curves: dict[str, RingComparison]) -> Table:
    """Each break, and each boundary of the placement without one."""
    rows: list[tuple[str, ...]] = []
    for name, one in curves.items():
        if one.fitted is None:
            continue
        for jump in one.fitted.breaks:
            slope = "" if jump.slope_ratio is None else f"× {jump.slope_ratio:.2f}"
            level = f"another {jump.boundary}" if jump.boundary else "no boundary is known there"
            rows.append(
                (name, f"{jump.before} to {jump.after}", level, f"× {jump.level_ratio:.2f}", slope, "yes")
            )
        for tested in one.fitted.examined:
            if tested.jump is None:
                place = tested.boundary
                says = "no" if tested.possible else "too few points to tell"
                rows.append((name, f"{place.before} to {place.after}", f"another {place.level}", "", "", says))
    names = ("rings", "processes", "begins", "level", "cost of a process more", "break")
    columns = {heading: [row[at] for row in rows] for at, heading in enumerate(names)}
    return table(f"Breaks (F-test, p < {SIGNIFICANCE})", columns, {"rings", "begins", "break"})


def _spreads(curves: dict[str, RingComparison]) -> Table:
    """e of each run that was repeated."""
    known = [
        (name, run.record, error_s)
        for name, one in curves.items()
        for run in one.curve.runs
        if (error_s := largest_error_s(run.record.samples_s)) is not None
    ]
    shown = known[:MOST_SPREADS]
    columns = {
        "rings": [name for name, _, _ in shown],
        "processes": [str(record.ranks) for _, record, _ in shown],
        "runs": [str(len(record.samples_s)) for _, record, _ in shown],
        "mean": [format_time(sum(record.samples_s) / len(record.samples_s)) for _, record, _ in shown],
        "e": [format_time(error_s) for _, _, error_s in shown],
        "e / median": [percent(error_s / record.time_s) if record.time_s else "" for _, record, error_s in shown],
    }
    more = f"; the first {MOST_SPREADS} of {len(known)}" if len(known) > MOST_SPREADS else ""
    return table(f"Spread of the runs: e = (t_max − t_min)/2{more}", columns, {"rings"})


def _estimate(values: tuple[float, float, float] | None) -> tuple[str, str]:
    if values is None:
        return "", ""
    return signed(values[0]), f"{signed(values[1])} to {signed(values[2])}"
