"""Applications on a launch: their requests, and the records that are kept of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from hockney.batch.base import allocation
from hockney.campaign.events import Progress
from hockney.campaign.launch import Launch, utc_now
from hockney.campaign.loop import Asking, Loop, Request, Running, Subject
from hockney.campaign.plan import Launching
from hockney.errors import EnvironmentLack, Incomplete, RequestError
from hockney.fields import Option
from hockney.records.answers import RankPlace, Timed
from hockney.records.app_record import AppRecord
from hockney.records.folder import Campaign
from hockney.records.record import Record
from hockney.runner.session import Session
from hockney.writing import NotWritten

TIMES = ("time_s", "low_s", "high_s", "samples_s")
"""Of an answer, what the record holds itself."""
LEAST_SAMPLES = 6
BUDGET_S = 2.0
TOLERANCE = 0.01


Repetitions = Annotated[
    int | None,
    Option("Time so many repetitions. [default: until the interval is ±1 %, for 2 s at most]"),
    Field(ge=1),
]


def repetitions(count: int | None) -> dict[str, float]:
    """The keys that every timed application takes: a fixed number, or as many as the interval asks for."""
    return {
        "repetitions": count or 0,
        "least_samples": LEAST_SAMPLES,
        "budget_s": BUDGET_S,
        "tolerance": TOLERANCE,
    }


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

    def request(
        self, operation: str, parameters: Mapping[str, object], ranks: int | None = None
    ) -> Request[AppRecord]:
        """One run on the first `ranks` ranks, all without.

        Refused, Limitation: it cannot be done here; the next may. LaunchFailed: the launch is over.
        """
        count = ranks or self._plan.ranks
        if operation not in self._running.hello.apps:
            raise EnvironmentLack(f"the runner has no application {operation!r}", "reinstall hockney")
        variant = self._running.launch.variant
        doing = f"{operation} on {count} ranks" + (f", {variant}" if variant != "default" else "")
        return Request(
            partial(self._run, operation, dict(parameters), count),
            Subject(name=operation),
            Progress(0, 0, 0.0, doing),
        )

    def _run(self, operation: str, parameters: dict[str, Any], count: int, session: Session) -> list[AppRecord]:
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


def opened(path: Path | None, plan: Mapping[str, Any]) -> Campaign | None:
    """The folder that runs are added to, made where it is new; in a job, its part of it. None without one."""
    if path is None:
        return None
    if path.exists() and not path.is_dir():
        raise RequestError(f"{path} is a file, not a folder", "choose another name for --output")
    given = allocation()
    part = "" if given is None else given.part
    is_there = path.exists() and any(path.iterdir())
    return Campaign.open(path, part) if is_there else Campaign.create(path, plan, part)


class _Watcher:
    """A watcher of runs: hears of warnings, and what begins, without an estimate."""

    def __init__(self, warn: Callable[[str], None], doing: Callable[[str], None]) -> None:
        self.warning = warn
        self._doing = doing

    def progress(self, progress: Progress) -> None:
        """A run begins."""
        self._doing(progress.doing)

    def measured(self, record: Record) -> None:
        """An application measures no points."""


def each(
    launches: list[Launch],
    plan: Launching,
    folder: Campaign | None,
    warn: Callable[[str], None],
    doing: Callable[[str], None],
    asker: Callable[[Launched], Asking[AppRecord]],
) -> list[AppRecord]:
    """What is asked on each launch, one after another, on disk as it completes where there is a folder.

    `doing` hears which run begins. Warnings are told once. RequestError where another process measures into the
    folder; failures of the runner as of `Launched.request`.
    """
    loop = Loop(folder, plan, _Watcher(warn, doing))
    with folder.locked() if folder else nullcontext():
        try:
            return [
                record
                for launch in launches
                for record in loop.once(launch, 0, lambda running: asker(Launched(plan, running)))
            ]
        except NotWritten as error:
            raise Incomplete(
                f"{error.message}; the runs before are kept", "make room, and run it again"
            ) from error
