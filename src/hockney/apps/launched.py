"""Applications on a launch: their requests, and the records that are kept of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

from hockney.batch.base import allocation
from hockney.campaign.events import Progress
from hockney.campaign.launch import utc_now
from hockney.campaign.loop import Asking, Loop, Request, Running, Subject
from hockney.campaign.plan import AppLaunching, Launching
from hockney.campaign.prepare import app_launches
from hockney.errors import EnvironmentLack, Incomplete, RequestError
from hockney.records.answers import RankPlace, Timed
from hockney.records.app_record import AppRecord
from hockney.records.folder import Campaign
from hockney.records.record import Record
from hockney.report.application import AppAnswer, apps
from hockney.report.run_tables import runs_table
from hockney.report.tables import Table
from hockney.runner.mpi import TITLES
from hockney.runner.session import Session
from hockney.units import counted
from hockney.writing import NotWritten

TIMES = ("time_s", "low_s", "high_s", "samples_s")
"""Of an answer, what the record holds itself."""
Parameters = Mapping[str, int | float | str]
"""What is asked of a program, by the keys of its request."""

FREE_CELLS = (
    "on a simulated cluster arithmetic takes no time: times, speed-ups and rates are those of the communication "
    "alone; --cell-time says what a cell takes"
)


class Launched:
    """A launch that runs, as the askers of applications see it."""

    def __init__(self, plan: Launching, running: Running) -> None:
        self._plan = plan
        self._running = running
        running.recorded()

    @property
    def placement(self) -> list[RankPlace]:
        """Where each rank is, by rank."""
        return self._running.hello.ranks

    def request(self, operation: str, parameters: Parameters, ranks: int | None = None) -> Request[AppRecord]:
        """One run on the first `ranks` ranks, all without.

        Refused, Limitation: it cannot be done here; the next may. LaunchFailed: the launch is over.
        """
        count = ranks or self._plan.ranks
        if operation not in self._running.hello.apps:
            raise EnvironmentLack(f"the runner has no application {operation!r}", "reinstall hockney")
        variant = self._running.launch.variant
        doing = f"{operation} on {counted(count, 'rank')}" + (f", {variant}" if variant != "default" else "")
        return Request(
            partial(self._run, operation, parameters, count),
            Subject(name=operation),
            Progress(0, 0, 0.0, doing),
        )

    def _run(self, operation: str, parameters: Parameters, count: int, session: Session) -> list[AppRecord]:
        answer = session.app(self._plan.time_limit_s, Timed, operation=operation, ranks=count, **parameters)
        running, described = self._running, self._running.described
        said = answer.as_said()
        return [
            AppRecord.model_validate(
                {
                    "operation": operation,
                    "ranks": count,
                    "parameters": parameters,
                    **{name: said.pop(name) for name in TIMES},
                    "answer": said,
                    "system": self._plan.system,
                    "mpi": running.launch.mpi_name,
                    "mapping": self._plan.map_by,
                    "variant": running.launch.variant,
                    "nodes": len({place.host for place in self.placement[:count]}),
                    "ppn": described.ppn,
                    "oversubscribed": described.oversubscribed,
                    "launch": running.recorded(),
                    "time": utc_now(),
                }
            )
        ]


def opened(launching: AppLaunching) -> Campaign | None:
    """The folder that runs are added to, made where it is new; in a job, its part of it. None without one."""
    path = launching.output
    if path is None:
        return None
    if path.exists() and not path.is_dir():
        raise RequestError(f"{path} is a file, not a folder", "choose another name for --output")
    job = allocation()
    part = "" if job is None else job.part
    is_there = path.exists() and any(path.iterdir())
    return Campaign.open(path, part) if is_there else Campaign.create(path, launching.model_dump(), part)


@dataclass(frozen=True)
class Told:
    """Who hears of warnings, and of what begins; an application measures no points."""

    warning: Callable[[str], None]
    doing: Callable[[str], None]

    def progress(self, progress: Progress) -> None:
        """A run begins."""
        self.doing(progress.doing)

    def measured(self, record: Record) -> None:
        """Nothing."""


def records(
    told: Told,
    ask: Callable[[Launched], Asking[AppRecord]],
    launching: AppLaunching,
    *,
    has_free_cells: bool = False,
) -> list[AppRecord]:
    """Launch as the options say and collect what `ask` asks for on each launch, on disk as it completes.

    `has_free_cells`: nobody says what the arithmetic takes on a simulated cluster. RequestError where another
    process measures into the folder; Incomplete where it ends early; failures of the runner as of
    `Launched.request`.
    """
    # What cannot be launched leaves no folder behind.
    launches = app_launches(launching)
    folder = opened(launching)
    told.doing(f"launching {launches[0].mpi_name}, {counted(launching.ranks, 'rank')}")
    if has_free_cells and launches[0].mpi_name.startswith(TITLES["smpi"]):
        told.warning(FREE_CELLS)
    loop = Loop(folder, launching, told)
    try:
        with folder.locked() if folder else nullcontext():
            return [
                record
                for launch in launches
                for record in loop.once(launch, 0, lambda running: ask(Launched(launching, running)))
            ]
    except NotWritten as error:
        raise Incomplete(f"{error.message}; the runs before are kept", "make room, and run it again") from error
    except KeyboardInterrupt as error:
        kept = f"; {len(folder.apps())} runs are kept in {folder.path}" if folder else ""
        raise Incomplete(f"{error} ended the run{kept}", "give the same command to run it again") from None


@dataclass(frozen=True)
class Runs(AppAnswer):
    """Runs of an application."""

    runs: list[AppRecord]

    def text(self) -> Iterator[str | Table]:
        """The table of its page."""
        app = apps.get(self.runs[0].operation)
        reported = app.part("section").reported
        yield runs_table([reported(run) for run in self.runs], app.unit, app.rate)

    def wrong(self) -> list[tuple[str, str]]:
        """Runs whose result is not what it must be."""
        return [
            ("wrong", f"the result on {counted(run.ranks, 'rank')} is not what it must be")
            for run in self.runs
            if run.answer.verified is False
        ]
