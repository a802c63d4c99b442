"""IBM Spectrum LSF: the command reference of bsub, bjobs and bqueues. Not tried on an LSF."""

from __future__ import annotations

import re

from hockney.batch.base import (
    GLANCE_LIMIT_S,
    BatchSystem,
    Environment,
    JobAllocation,
    Partition,
    batch_systems,
    rows,
    told,
)
from hockney.runner.launchers.base import JOBS


def _left_s(said: str) -> float | None:
    """`0:25 L`: hours and minutes until the run limit; of an estimate (E), or beyond it (X), nothing is known."""
    found = re.fullmatch(r"(\d+):(\d+)(?: L)?", said)
    return None if found is None else 60.0 * (60 * int(found[1]) + int(found[2]))


def _allocated(environment: Environment) -> JobAllocation:
    job = environment["LSB_JOBID"]
    # `hostA 2 hostB 2`: slots of each host.
    words = environment.get("LSB_MCPU_HOSTS", "").split()
    slots = [int(word) for word in words[1::2]]
    return JobAllocation(
        system="lsf",
        job=job,
        hosts=tuple(words[::2]),
        cpus=tuple(slots),
        tasks=sum(slots) or None,
        left_s=_left_s(told("bjobs", "-noheader", "-o", "time_left", job)),
    )


def _hours_and_minutes(seconds: float) -> str:
    minutes = max(1, -int(-seconds // 60))
    return f"{minutes // 60}:{minutes % 60:02d}"


def _partitions() -> list[Partition]:
    # Under QUEUE_NAME, PRIO and STATUS: `fast 30 Open:Active …`.
    return [
        Partition(system="lsf", name=name, takes_jobs=state == "Open:Active")
        for name, _, state in rows(told("bqueues", "-w", limit_s=GLANCE_LIMIT_S), 3, None)[1:]
    ]


batch_systems.register("lsf")(
    BatchSystem(
        variable=JOBS["lsf"],
        allocated=_allocated,
        submit=("bsub",),
        after=("-w", "ended({job})"),
        job_id=re.compile(r"Job <(\d+)> is submitted"),
        state=lambda job: told("bjobs", "-noheader", "-o", "stat", job),
        waiting=frozenset({"PEND", "PSUSP", "WAIT", "PROV"}),
        running=frozenset({"RUN", "USUSP", "SSUSP"}),
        time=_hours_and_minutes,
        partitions=_partitions,
        reads_input=True,
    )
)
