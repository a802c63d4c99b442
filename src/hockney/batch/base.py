"""What a batch system is: how a job is submitted and asked for, and what a process in a job can know of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from hockney import reading
from hockney.errors import EnvironmentLack, RequestError
from hockney.registry import Registry
from hockney.runner.probe import capture, last_complaint

COMMAND_LIMIT_S = 60.0
"""Patience with a command of a batch system."""
GLANCE_LIMIT_S = 5.0
"""With one whose answer is only shown."""

LEAST_MARGIN_S, MARGIN, MOST_MARGIN_S = 10.0, 0.05, 120.0
"""What of a job's time is kept for ending: the point in flight, the launch, the table."""

State = Literal["waiting", "running", "ended"]
Environment = Mapping[str, str]


def file_name(text: str) -> str:
    """A name for a part or a job: without what file names and batch systems should not have."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", text).strip(".") or "job"


class JobAllocation(BaseModel):
    """What a job was given. `cpus` are those of each host; what nobody tells is empty, or None."""

    model_config = ConfigDict(frozen=True)

    system: str
    job: str
    hosts: tuple[str, ...] = ()
    cpus: tuple[int, ...] = ()
    tasks: int | None = None
    """What the job was submitted for, where that is fewer than the CPUs."""
    left_s: float | None = None
    """Seconds until the batch system ends the job, counted from when this was asked."""

    @property
    def work_s(self) -> float | None:
        """Seconds to work in: what is left without what it takes to end well."""
        if self.left_s is None:
            return None
        return max(0.0, self.left_s - min(MOST_MARGIN_S, max(LEAST_MARGIN_S, MARGIN * self.left_s)))

    @property
    def part(self) -> str:
        """The name of this job's part of a campaign: its id, without what a file name should not have."""
        return file_name(self.job)

    @property
    def room(self) -> int | None:
        """Ranks that have a CPU each; None where nobody tells."""
        return sum(self.cpus) or None

    def described(self) -> str:
        """`job 17 of slurm: 2 nodes with 4 CPUs`."""
        nodes = f": {len(self.hosts)} node{'s' * (len(self.hosts) != 1)}" if self.hosts else ""
        return f"job {self.job} of {self.system}{nodes}" + (f" with {self.room} CPUs" if self.room else "")


class Partition(BaseModel):
    """A partition of a batch system, or a queue, by the name that a site has; what nobody tells is None.

    `takes_jobs`: it accepts them and starts them. `cpus` are those of a node, the fewest where nodes differ.
    """

    model_config = ConfigDict(frozen=True)

    system: str
    name: str
    is_default: bool = False
    takes_jobs: bool | None = None
    nodes: int | None = None
    cpus: int | None = None
    limit_s: float | None = None

    def described(self) -> str:
        """`fast (default): 4 nodes of 128 CPUs, up to 24 h`."""
        nodes = "" if self.nodes is None else f"{self.nodes} node{'s' * (self.nodes != 1)}"
        cpus = f" of {self.cpus} CPUs" if nodes and self.cpus else ""
        limit = "" if self.limit_s is None else f"up to {hms(self.limit_s)}"
        closed = "takes no jobs now" if self.takes_jobs is False else ""
        said = ", ".join(filter(None, [nodes + cpus, limit, closed]))
        return self.name + " (default)" * self.is_default + (f": {said}" if said else "")


@dataclass(frozen=True)
class BatchSystem:
    """A batch system.

    `variable` is set in jobs alone, or nearly so; `allocated` tells what the job was given, None where this is no
    job after all. `submit` is the command before the script, which is read from standard input where
    `reads_input`; `job_id` finds the job's id in what that prints. `state` asks in which state a job is: words
    that are neither of those `waiting` nor `running` are of jobs that ended, or are not known any more. `time`
    writes a time limit, given in seconds. `after` has the options by which a job waits until another has ended,
    whose id is `{job}` in them. `partitions` are those that its commands list; none where they are not here.
    """

    variable: str
    allocated: Callable[[Environment], JobAllocation | None]
    submit: tuple[str, ...]
    after: tuple[str, ...]
    job_id: re.Pattern[str]
    state: Callable[[str], str]
    waiting: frozenset[str]
    running: frozenset[str]
    time: Callable[[float], str]
    partitions: Callable[[], list[Partition]]
    reads_input: bool = False
    is_read_by_launchers: bool = True
    """Whether the launchers of MPIs take the nodes of a job from it."""

    def state_of(self, job: str) -> State:
        """What a job does."""
        word = self.state(job)
        return "waiting" if word in self.waiting else "running" if word in self.running else "ended"


batch_systems: Registry[BatchSystem] = Registry("batch system", "hockney.batch.systems", "how-to/batch.md")


def allocation(environment: Environment = os.environ) -> JobAllocation | None:
    """What the job was given that this process runs in; None outside of jobs."""
    for _, system in batch_systems:
        if environment.get(system.variable) and (found := system.allocated(environment)) is not None:
            return found
    return None


def partitions() -> list[Partition]:
    """Those of all batch systems whose commands are here."""
    return [partition for _, system in batch_systems for partition in system.partitions()]


def asked(*words: str, limit_s: float = COMMAND_LIMIT_S) -> str:
    """What a command of a batch system prints; EnvironmentLack where it is not there, or fails."""
    done = capture(list(words), os.environ, limit_s)
    if done.returncode != 0:
        why = last_complaint(done.stderr) or f"exit code {done.returncode}"
        raise EnvironmentLack(f"`{' '.join(words[:3])} …` failed: {why}", "is this a host of the batch system?")
    return done.stdout


def told(*words: str, limit_s: float = COMMAND_LIMIT_S) -> str:
    """The same; empty where the command tells nothing, for what one can do without."""
    try:
        return asked(*words, limit_s=limit_s).strip()
    except EnvironmentLack:
        return ""


def rows(said: str, columns: int, between: str | None = "|") -> list[list[str]]:
    """The columns of each line; without lines that have fewer, which are remarks."""
    split = [[word.strip() for word in line.split(between)] for line in said.splitlines()]
    return [row[:columns] for row in split if len(row) >= columns]


def clock_s(text: str) -> float | None:
    """Seconds of `D-HH:MM:SS`, `HH:MM:SS`, `MM:SS`; None for anything else (UNLIMITED)."""
    found = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", text.strip())
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def hms(seconds: float) -> str:
    """`HH:MM:SS`, rounded up."""
    whole = max(1, -int(-seconds // 1))
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def lines_of(path: str) -> list[str]:
    """Lines of a file that the batch system made for the job; none where it cannot be read."""
    try:
        return reading.text(Path(path), "").splitlines()
    except RequestError:
        return []
