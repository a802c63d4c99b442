"""The page of a recorded run: what limits it and what would help, then when, where and for whom it waits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from hockney import reading
from hockney.predict.replay.answer import PredictedRun
from hockney.predict.replay.gains import Gain
from hockney.predict.replay.picture import KINDS, IdlePair, Timeline
from hockney.predict.replay.tolerance import Tolerance
from hockney.report.drawing import Drawing
from hockney.report.explorer.chart import WIDTH_IN, Axis, Chart, Line, Panel, Tiles
from hockney.report.findings import Finding, Verdict, weightiest
from hockney.report.page import Contribution, Report, Section
from hockney.report.replay_tables import path_tables, run_time, shares, tolerance_tables
from hockney.report.style import COLOURS, Looks, drawing_style
from hockney.report.tables import Table
from hockney.units import counted, format_interval, format_time, percent

EXPLAINED, MISSED = 0.05, 0.15
"""Shares of the recorded time by which a model that explains the run may be off, and beyond which it does not."""
OF_KINDS = (COLOURS[2], COLOURS[1], COLOURS[4])
MOST_ROWS, MOST_GAINS, MOST_SQUARES = 40, 3, 32
ROW_IN, LEAST_IN, MOST_IN = 0.18, 1.2, 7.0

_HERE = Path(str(files("hockney.report")))


def page(run: PredictedRun, gains: Sequence[Gain], timeline: Timeline, waiting: Sequence[IdlePair]) -> Report:
    """All of it. `gains`: the largest first."""
    with drawing_style():
        sections = [
            _path(run),
            *([_helps(run, gains)] if gains else []),
            _timeline(timeline),
            *_tolerances(run),
            *([_waiting(run, waiting)] if waiting else []),
        ]
        content = Contribution(sections, findings=_answers(run, gains))
        return Report(
            title="A run, replayed",
            lead=[
                f"{counted(run.ranks, 'rank')}, {counted(run.events, 'call')}, "
                f"{counted(run.messages, 'message')} · recorded with {run.mpi or 'an unknown MPI'}",
                f"on {run.machine or run.system}"
                + (f", mapped by {run.mapping}" if run.mapping else "")
                + (f", rules of {run.rules}" if run.rules else ""),
            ],
            content=content,
            findings=weightiest(content.findings),
            warnings=list(run.warnings),
            provenance=[],
            origin="Computing is as it was recorded; no duration of a call enters the prediction.",
            explored=None,
            looks=Looks(),
            about_messages=False,
            css=reading.text(_HERE / "timeline.css") + _colours(),
            script=reading.text(_HERE / "timeline.js"),
            data=_data(timeline),
            calm="the trace is whole, and the costs of all its messages are known.",
        )


def _colours() -> str:
    return "".join(f".timeline .k{kind} {{ fill: {colour}; }}\n" for kind, colour in enumerate(OF_KINDS))


def _answers(run: PredictedRun, gains: Sequence[Gain]) -> list[Finding]:
    parts = sorted(shares(run), key=lambda part: -part[1])
    name, time_s = parts[0]
    said = [
        Finding(
            f"What limits the run is {name}: {percent(time_s / run.run_s)} of the {run_time(run)} that it takes.",
            "critical-path",
            0.95,
        )
    ]
    if run.is_its_own:
        off = abs(run.off)
        verdict: Verdict = "good" if off <= EXPLAINED else "look" if off <= MISSED else "bad"
        comparison = "longer" if run.off > 0 else "shorter"
        said.append(
            Finding(
                f"The model {'does not explain' if off > MISSED else 'explains'} the recorded run: "
                f"{percent(off)} {comparison} than the {format_time(run.measured_s)} that it took.",
                "critical-path",
                0.9,
                verdict=verdict,
            )
        )
    for place, gain in enumerate(gains[:MOST_GAINS]):
        said.append(
            Finding(
                f"{gain.what[0].upper()}{gain.what[1:]} would save {_saved(gain)}, "
                f"{percent(gain.saved_s / run.run_s)} of the run.",
                "helps",
                0.8 - 0.05 * place,
                verdict="look",
            )
        )
    if not gains:
        said.append(Finding("None of the changes that were tried would help.", "critical-path", 0.8))
    if run.waiting_s:
        share = percent(run.late_s / run.waiting_s)
        said.append(
            Finding(
                f"A rank waits {format_time(run.waiting_s)} of the run, {share} of it for ranks that are late.",
                "waiting",
                0.6,
            )
        )
    return said


def _saved(gain: Gain) -> str:
    if gain.low_s is None or gain.high_s is None:
        return format_time(gain.saved_s)
    return f"{format_time(gain.saved_s)} ({format_interval(gain.low_s, gain.high_s)})"


def _path(run: PredictedRun) -> Section:
    section = Section(
        "critical-path",
        "Critical path",
        "The chain of computing and messages that ends last: what is shorter on it makes the run shorter.",
        tables=path_tables(run, MOST_ROWS),
        more="By call site and communicator",
    )
    shown = run.by_site[:8]
    names = [row.name for row in shown]
    place = np.arange(len(shown), dtype=float)
    lines = [
        Line(
            label, np.array([getattr(row, f"{name}_s") for row in shown]), place, dots=7.0, width=0.0, style=style
        )
        for (label, name), style in zip(
            (("computing before it", "computing"), ("communication in it", "communication")),
            Looks().of(["computing before it", "communication in it"]).values(),
            strict=True,
        )
    ]
    panel = Panel(
        lines,
        Axis("time on the critical path (ms)", "from_0", 1e-3),
        Axis("", "names", names=names, values=place),
    )
    height_in = 1.0 + 0.3 * len(shown)
    caption = "Call sites that take most of the path."
    section.figures = [
        Drawing("path-by-site", "Critical path by call site", caption, caption, Chart([[panel]], height_in))
    ]
    return section


def _helps(run: PredictedRun, gains: Sequence[Gain]) -> Section:
    rows = [[gain.kind, gain.what, _saved(gain), percent(gain.saved_s / run.run_s)] for gain in gains]
    return Section(
        "helps",
        "What would help",
        "The run played again with one change; an interval has messages at both ends of theirs.",
        tables=[
            Table(
                "Changes, the largest gain first", ["kind", "change", "saved", "share"], rows, frozenset({0, 1})
            )
        ],
    )


def _timeline(timeline: Timeline) -> Section:
    height_in = min(MOST_IN, max(LEAST_IN, 0.7 + ROW_IN * len(timeline.ranks)))
    figure = Figure(figsize=(WIDTH_IN, height_in))
    axes = figure.subplots()
    row_of = {rank: row for row, rank in enumerate(timeline.ranks)}
    for kind, colour in enumerate(OF_KINDS):
        for rank, row in row_of.items():
            bars = [
                (moment.start_s * 1e3, (moment.end_s - moment.start_s) * 1e3)
                for moment in timeline.moments
                if moment.rank == rank and moment.kind == kind
            ]
            if bars:
                axes.broken_barh(bars, (row - 0.45, 0.9), color=colour, linewidth=0, rasterized=True)
    axes.set_xlim(timeline.from_s * 1e3, timeline.until_s * 1e3)
    axes.set_ylim(len(row_of) - 0.5, -0.5)
    step = max(1, len(row_of) // 16)
    axes.set_yticks(range(0, len(row_of), step), [str(rank) for rank in [*row_of][::step]])
    axes.set_xlabel("time (ms)")
    axes.set_ylabel("rank")
    axes.grid(visible=False)
    keys = [Patch(color=colour, label=kind) for kind, colour in zip(KINDS, OF_KINDS, strict=True)]
    figure.subplots_adjust(0.07, 0.5 / height_in, 0.995, 1 - 0.3 / height_in)
    figure.legend(handles=keys, loc="upper left", ncols=3, bbox_to_anchor=(0.06, 1.0))
    window = f"{format_time(timeline.from_s)} to {format_time(timeline.until_s)} of the run"
    caption = f"{window}. Empty: inside MPI. Green: computing. Red and blue: waiting."
    drawing = Drawing("timeline", "What each rank does when", caption, caption, figure)
    meaning = "Each rank's computing, and its waiting for ranks that are late and for messages on their way."
    return Section("timeline", "Timeline", meaning, figures=[drawing])


def _data(timeline: Timeline) -> str:
    """For the script of the page."""
    moments = sorted(timeline.moments, key=lambda moment: moment.start_s)
    sites = [*dict.fromkeys(moment.site for moment in moments)]
    number = {site: place for place, site in enumerate(sites)}
    data = {
        "from_s": timeline.from_s,
        "until_s": timeline.until_s,
        "ranks": list(timeline.ranks),
        "kinds": KINDS,
        "sites": [timeline.sites[site] if site < len(timeline.sites) else "" for site in sites],
        "rank": [moment.rank for moment in moments],
        "kind": [moment.kind for moment in moments],
        "site": [number[moment.site] for moment in moments],
        "start_s": [round(moment.start_s, 10) for moment in moments],
        "end_s": [round(moment.end_s, 10) for moment in moments],
    }
    # No text of a program ends the element that it stands in.
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _tolerances(run: PredictedRun) -> list[Section]:
    if not run.tolerance:
        return []
    panels = []
    looks = Looks().of([row.locality for row in run.tolerance])
    for title, name in (("added latency", "latency"), ("times narrower bandwidth", "bandwidth")):
        lines = [_curve(row, name, run.run_s, looks[row.locality]) for row in run.tolerance]
        lines = [line for line in lines if line.x.size > 1]
        axis = Axis(f"{title} (µs)", "from_0", 1e-6) if name == "latency" else Axis(title, "linear")
        if lines:
            panels.append(Panel(lines, axis, Axis("longer run (%)", "from_0", 0.01), title))
    caption = "How much longer the run takes, by the messages of each locality."
    chart = Chart([panels], 3.4, shared="row")
    drawing = Drawing("tolerance", "What the run tolerates", caption, caption, chart)
    section = Section(
        "tolerance",
        "Tolerance",
        "How much longer the latency, or narrower the bandwidth, may become until the run takes longer.",
        figures=[drawing] if panels else [],
        tables=tolerance_tables(run),
        more="Slopes",
    )
    return [section]


def _curve(row: Tolerance, name: str, run_s: float, style: object) -> Line:
    points = np.array(getattr(row, f"{name}_curve")).reshape(-1, 2)
    return Line(row.locality, points[:, 0], points[:, 1] / run_s - 1, style=style)  # type: ignore[arg-type]


def _waiting(run: PredictedRun, waiting: Sequence[IdlePair]) -> Section:
    group = -(-run.ranks // MOST_SQUARES)
    size = -(-run.ranks // group)
    sums = np.zeros((size, size))
    for pair in waiting:
        sums[pair.rank // group, pair.other // group] += pair.idle_s
    depth = sums / max(sums.max(), 1e-300)
    light, dark = np.array([1.0, 1.0, 1.0]), np.array([0xD5, 0x5E, 0x00]) / 255
    colours = light + depth[..., None] * (dark - light)
    names = [str(first) if group == 1 else f"{first}–{min(first + group, run.ranks) - 1}" for first in
             range(0, run.ranks, group)]  # fmt: skip
    words = {}
    if size <= 16:
        words = {(i, j): format_time(sums[i, j]) for i in range(size) for j in range(size) if depth[i, j] > 0.02}
    tiles = Tiles(colours, names, names, words)
    panel = Panel(x=Axis("rank that is waited for", "names"), y=Axis("rank that waits", "names"), tiles=tiles)
    caption = f"The darkest square is {format_time(sums.max())}."
    height_in = min(6.0, 1.3 + 0.3 * size)
    chart = Chart([[panel]], height_in, width_in=min(WIDTH_IN, 2.2 + 0.62 * size), legend="none")
    drawing = Drawing("waits", "Who waits for whom", caption, caption, chart)
    longest = sorted(waiting, key=lambda pair: -pair.idle_s)[:MOST_ROWS]
    rows = [[str(pair.rank), str(pair.other), format_time(pair.idle_s)] for pair in longest]
    return Section(
        "waiting",
        "Waiting",
        "Seconds that a rank spends waiting for messages of another, whether that is late or the message is.",
        figures=[drawing],
        tables=[Table("Pairs that wait longest", ["rank", "waits for", "time"], rows, frozenset())],
    )
