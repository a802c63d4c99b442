"""Flux: flux-batch(1), flux-jobs(1), flux-queue(1), flux-environment(7). Not tried on a Flux.

In a batch script `FLUX_JOB_ID` is not set, by intent; the script runs in an instance of its own, which is asked.
"""

from __future__ import annotations

import math
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
from hockney.units import host_list


def _allocated(environment: Environment) -> JobAllocation | None:
    job = environment.get("FLUX_JOB_ID") or told("flux", "getattr", "jobid")
    if not job:
        return None  # the system's own instance, on a login node
    hosts = tuple(host_list(told("flux", "getattr", "hostlist")))
    # A line for each state; what is free, allocated and down is all there is.
    cores = sum(
        int(word) for word in told("flux", "resource", "list", "-n", "-o", "{ncores}").split() if word.isdigit()
    )
    try:
        left_s = float(told("flux", "job", "timeleft"))
    except ValueError:
        left_s = math.inf
    per_host = cores // len(hosts) if hosts else 0
    return JobAllocation(
        system="flux",
        job=job,
        hosts=hosts,
        cpus=(per_host,) * len(hosts) if per_host else (),
        left_s=left_s if math.isfinite(left_s) else None,
    )


_SECONDS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def _limit_s(duration: str) -> float | None:
    """Of a duration of RFC 23, `1.5h`; None without a limit (inf)."""
    found = re.fullmatch(r"([\d.]+)(ms|[smhd]?)", duration)
    return float(found[1]) * _SECONDS[found[2]] if found else None


def _partitions() -> list[Partition]:
    fields = "{queuem}|{submission}|{scheduling}|{limits.timelimit}"
    said = told("flux", "queue", "list", "-n", "-o", fields, limit_s=GLANCE_LIMIT_S)
    return [
        Partition(
            system="flux",
            name=name.removesuffix("*"),
            is_default=name.endswith("*"),
            takes_jobs=(submission, scheduling) == ("enabled", "started"),
            limit_s=_limit_s(limit),
        )
        for name, submission, scheduling, limit in rows(said, 4)
        if name  # the one queue that has no name is no choice
    ]


batch_systems.register("flux")(
    BatchSystem(
        variable=JOBS["flux"],
        allocated=_allocated,
        submit=("flux", "batch"),
        after=("--dependency=afterany:{job}",),
        job_id=re.compile(r"^(\S+)\s*$", re.MULTILINE),
        state=lambda job: told("flux", "jobs", "-n", "-o", "{state}", job),
        waiting=frozenset({"NEW", "DEPEND", "PRIORITY", "SCHED"}),
        running=frozenset({"RUN", "CLEANUP"}),
        is_read_by_launchers=False,
        # Flux Standard Duration, RFC 23.
        time=lambda seconds: f"{max(1, math.ceil(seconds))}s",
        partitions=_partitions,
    )
)
