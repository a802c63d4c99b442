"""Tables of a recorded run, for its page and for a terminal: where its time goes, and what it tolerates."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.predict.replay.answer import PredictedRun
from hockney.predict.replay.run import SpotTime
from hockney.report.tables import NONE, Table, if_known
from hockney.units import format_interval, format_time, percent

_PARTS = {
    "computing_s": "computing",
    "latency_s": "latency",
    "bandwidth_s": "bandwidth",
    "overhead_s": "the processors' part of messages",
    "rendezvous_s": "rendezvous",
    "shared_links_s": "links that ranks share",
    "reduction_s": "reductions and copies",
}


def run_time(run: PredictedRun) -> str:
    """What it takes, with its interval."""
    if run.interval is None:
        return format_time(run.run_s)
    return f"{format_time(run.run_s)} ({format_interval(run.interval.low_s, run.interval.high_s)})"


def shares(run: PredictedRun) -> list[tuple[str, float]]:
    """The parts of its critical path and their seconds."""
    return [(_PARTS[name], time_s) for name, time_s in vars(run.critical_path).items() if time_s]


def path_tables(run: PredictedRun, most: int) -> list[Table]:
    """Its parts, and at most so many call sites and communicators."""
    rows = [[name, format_time(time_s), percent(time_s / run.run_s)] for name, time_s in shares(run)]
    return [
        Table("Where the run's time goes", ["part", "time", "share"], rows),
        _spots("By call site", "call site", run.by_site, most),
        _spots("By communicator", "communicator", run.by_communicator, most),
    ]


def _spots(caption: str, what: str, spots: Sequence[SpotTime], most: int) -> Table:
    columns = [what, "computing on the path", "communication on it", "waiting of a rank", "for late ranks"]
    rows = [
        [
            row.name or NONE,
            *map(format_time, (row.computing_s, row.communication_s, row.waiting_s, row.late_s)),
        ]
        for row in spots[:most]
    ]
    cut = f", the first {most} of {len(spots)}" if len(spots) > most else ""
    return Table(f"{caption}{cut}", columns, rows)


def tolerance_tables(run: PredictedRun) -> list[Table]:
    """How far messages of each locality may get worse, and how many of them are on the critical path."""
    rows = [
        [
            *(row.locality, percent(at.longer), if_known(at.added_latency_s, format_time)),
            if_known(by.narrower, "{:.3g} times".format),
        ]
        for row in run.tolerance
        for at, by in zip(row.latency_limits, row.bandwidth_limits, strict=True)
    ]
    counts = [
        [
            *(row.locality, f"{row.per_latency:g}", f"{row.per_overhead:g}", f"{row.per_gap_per_B:.4g}"),
            "changes on the way there" if row.is_reordered else "stays",
        ]
        for row in run.tolerance
    ]
    columns = ["messages", "latencies L", "overheads o", "bytes × G", "order on links and processors"]
    return [
        Table("Limits", ["messages", "longer", "added latency", "bandwidth narrower"], rows),
        Table("On the critical path", columns, counts, frozenset({0, 4})),
    ]
