"""How `hockney predict` shows a recorded run."""

from __future__ import annotations

from operator import attrgetter

from hockney import api
from hockney.terminal import say
from hockney.terminal.say import Column
from hockney.units import counted, format_time, percent

FEW = 12
"""Rows that the terminal shows; --json has all."""


def show_runs(answer: api.PredictedRuns) -> None:
    """A row for each machine, system, mapping and rules."""
    words = ("machine", "system", "mapping", "rules")
    said = [Column(name, name) for name in words if any(getattr(run, name) for run in answer.runs)]
    waiting = Column("waiting", "waiting_s", format_time, is_number=True)
    say.rows("", answer.runs, [*said, Column("run", api.run_time, is_number=True), *PARTS, waiting])
    say.warnings([*dict.fromkeys(warning for run in answer.runs for warning in run.warnings)])


def show_run(answer: api.PredictedRun) -> None:
    """One: the time beside the measured one, where it goes, and what it tolerates."""
    say.line((f"The run takes {api.run_time(answer)} on {counted(answer.ranks, 'rank')}.", "bold"))
    off = f": predicted {percent(abs(answer.off))} {'longer' if answer.off > 0 else 'shorter'}"
    unknown = "; nothing is said of the model's error where ranks shared cores, or the machine is another one"
    measured = format_time(answer.measured_s)
    say.line(f"It took {measured} when it was recorded{off if answer.is_its_own else unknown}")
    say.line(
        f"A rank computes {format_time(answer.computing_s)} and waits {format_time(answer.waiting_s)}, "
        f"{format_time(answer.late_s)} of it for ranks that are late (mean)."
    )
    for table in [*api.path_tables(answer, FEW), *api.tolerance_tables(answer)]:
        if table.rows:
            say.texts(table.caption, table.columns, table.rows, table.text)
    if answer.exported:
        say.line(f"wrote {answer.exported}")
    say.warnings(answer.warnings)


PARTS = tuple(
    Column(name.replace("_", " "), attrgetter(f"critical_path.{name}_s"), format_time, is_number=True)
    for name in ("computing", "latency", "bandwidth", "overhead", "rendezvous", "shared_links")
)
"""Of the critical path."""
