"""Run applications on one launch and keep what they answer."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from hockney.campaign.launch import Described, Launch, launch_line, utc_now
from hockney.campaign.plan import Launching
from hockney.errors import EnvironmentLack, RequestError
from hockney.records.app_record import AppRecord
from hockney.records.folder import Campaign
from hockney.runner.session import Session

TIMES = ("time_s", "low_s", "high_s", "samples_s")
LEAST_SAMPLES = 6
BUDGET_S = 2.0
TOLERANCE = 0.01


def repetitions(count: int | None) -> dict[str, float]:
    """The keys that every timed application takes: a fixed number, or as many as the interval asks for."""
    return {
        "repetitions": count or 0,
        "least_samples": LEAST_SAMPLES,
        "budget_s": BUDGET_S,
        "tolerance": TOLERANCE,
    }


class Launched:
    """A launch that runs. `warnings` are for the user; `placement` is a line of facts for each rank."""

    def __init__(
        self, session: Session, launch: Launch, plan: Launching, described: Described, folder: Campaign | None
    ) -> None:
        self._session = session
        self._launch = launch
        self._plan = plan
        self._described = described
        self._folder = folder
        self._id = uuid.uuid4().hex[:12]
        if folder is not None:
            folder.append_launch(launch_line(self._id, 0, launch, session.hello, described))

    @property
    def warnings(self) -> list[str]:
        """What the user should know of this launch."""
        return self._described.warnings

    @property
    def placement(self) -> list[dict[str, Any]]:
        """Where each rank is, by rank."""
        return list(self._session.hello["ranks"])

    def run(self, operation: str, parameters: Mapping[str, object], ranks: int | None = None) -> AppRecord:
        """One run on the first `ranks` ranks, all without; on disk before returning where there is a folder.

        Refused, Limitation: it cannot be done here; the next may. LaunchFailed: the launch is over.
        """
        count = ranks or self._plan.ranks
        if operation not in self._session.hello["apps"]:
            raise EnvironmentLack(f"the runner has no application {operation!r}", "reinstall hockney")
        answer = self._session.app(self._plan.time_limit_s, operation=operation, ranks=count, **parameters)
        record = AppRecord(
            operation=operation,
            ranks=count,
            parameters=dict(parameters),
            **{name: answer[name] for name in TIMES},
            answer={key: value for key, value in answer.items() if key not in (*TIMES, "type")},
            system=self._plan.system,
            mpi=self._launch.mpi_name,
            mapping=self._plan.map_by,
            variant=self._launch.variant,
            nodes=len({one["host"] for one in self.placement[:count]}),
            ppn=self._described.ppn,
            oversubscribed=self._described.oversubscribed,
            launch=self._id,
            time=utc_now(),
        )
        if self._folder is not None:
            self._folder.append_app(record)
        return record


@contextmanager
def started(launch: Launch, plan: Launching, folder: Campaign | None) -> Iterator[Launched]:
    """Start a launch; LaunchFailed where it does not come up. Left normally, it ends in good order."""
    with Session(launch.argv, launch.environment, plan.time_limit_s) as session:
        yield Launched(session, launch, plan, launch.describe(session.hello), folder)


def opened(path: Path | None, plan: Mapping[str, Any]) -> Campaign | None:
    """The folder that runs are added to, made where it is new; None without one."""
    if path is None:
        return None
    if path.exists() and not path.is_dir():
        raise RequestError(f"{path} is a file, not a folder", "choose another name for --output")
    return Campaign.open(path) if path.exists() and any(path.iterdir()) else Campaign.create(path, plan)


def each(
    launches: list[Launch],
    plan: Launching,
    folder: Campaign | None,
    warn: Callable[[str], None],
    do: Callable[[Launched], list[AppRecord]],
) -> list[AppRecord]:
    """What `do` returns on each launch, one after another; warnings are told once.

    RequestError where another process measures into the folder.
    """
    records: list[AppRecord] = []
    told: set[str] = set()
    with folder.locked() if folder else nullcontext():
        for launch in launches:
            with started(launch, plan, folder) as launched:
                for text in launched.warnings:
                    if text not in told:
                        told.add(text)
                        warn(text)
                records += do(launched)
    return records
