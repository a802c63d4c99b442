"""How `hockney predict` shows a recorded run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from hockney import api
from hockney.terminal import say
from hockney.terminal.say import Column
from hockney.units import counted, format_interval, format_time, percent

FEW = 12
"""Rows that the terminal shows; --json has all."""


def show_runs(answer: api.PredictedRuns) -> None:
    """A row for each machine, system, mapping and rules."""
    words = ("machine", "system", "mapping", "rules")
    said = [Column(name, name) for name in words if any(getattr(run, name) for run in answer.runs)]
    waiting = Column("waiting", "waiting_s", format_time, is_number=True)
    say.rows("", answer.runs, [*said, Column("run", _time, is_number=True), *PARTS, waiting])
    say.warnings([*dict.fromkeys(warning for run in answer.runs for warning in run.warnings)])


def show_run(answer: api.PredictedRun) -> None:
    """One: the time beside the measured one, where it goes, and what it tolerates."""
    say.line((f"The run takes {_time(answer)} on {counted(answer.ranks, 'rank')}.", "bold"))
    off = f": predicted {percent(abs(answer.off))} {'longer' if answer.off > 0 else 'shorter'}"
    unknown = "; nothing is said of the model's error where ranks shared cores, or the machine is another one"
    measured = format_time(answer.measured_s)
    say.line(f"It took {measured} when it was recorded{off if answer.is_its_own else unknown}")
    say.line(
        f"A rank computes {format_time(answer.computing_s)} and waits {format_time(answer.waiting_s)}, "
        f"{format_time(answer.late_s)} of it for ranks that are late (mean)."
    )
    parts = vars(answer.critical_path).items()
    shares = [(name.removesuffix("_s").replace("_", " "), time_s) for name, time_s in parts if time_s]
    of_path = (
        Column("critical path", lambda part: part[0]),
        Column("time", lambda part: format_time(part[1]), is_number=True),
        Column("share", lambda part: percent(part[1] / answer.run_s), is_number=True),
    )
    say.rows("", shares, of_path)
    said = "seconds on the critical path, and a rank's waiting (mean)"
    say.rows(said, answer.by_site[:FEW], _of_spots("call site"))
    say.rows("", answer.by_communicator[:FEW], _of_spots("communicator"))
    for row in answer.tolerance:
        for line in _tolerated(row):
            say.line(line)
    if answer.exported:
        say.line(f"wrote {answer.exported}")
    say.warnings(answer.warnings)


def _of_spots(what: str) -> tuple[Column, ...]:
    parts = ("computing", "communication", "waiting", "late")
    return (
        Column(what, "name"),
        *(Column(name, f"{name}_s", format_time, is_number=True) for name in parts),
    )


def _tolerated(row: api.Tolerance) -> Iterator[str]:
    counts = f"{row.per_latency:g} L + {row.per_overhead:g} o + {row.per_gap_per_B:.4g} B·G"
    yield f"messages of locality {row.locality}: {counts} are on the critical path"
    if row.is_reordered:
        yield "  messages that share a link or a processor change their order on the way there"
    for by_latency, by_rate in zip(row.latency_limits, row.bandwidth_limits, strict=True):
        reached = []
        if by_latency.added_latency_s is not None:
            reached.append(f"with {format_time(by_latency.added_latency_s)} more latency")
        if by_rate.narrower is not None:
            reached.append(f"with a bandwidth {by_rate.narrower:.3g} times narrower")
        yield f"  {percent(by_latency.longer)} longer {' or '.join(reached) or 'neither way'}"


def _time(run: api.PredictedRun) -> str:
    if run.interval is None:
        return format_time(run.run_s)
    return f"{format_time(run.run_s)} ({format_interval(run.interval.low_s, run.interval.high_s)})"


def _part_of(name: str, run: Any) -> str:
    return format_time(getattr(run.critical_path, name))


def _part(name: str) -> Column:
    return Column(name.replace("_", " "), partial(_part_of, f"{name}_s"), is_number=True)


PARTS = tuple(map(_part, ("computing", "latency", "bandwidth", "overhead", "rendezvous", "shared_links")))
"""Of the critical path."""
