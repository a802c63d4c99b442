"""Slurm: sbatch(1), squeue(1), sinfo(1), and the variables of a job as sbatch(1) lists them."""

from __future__ import annotations

import re
import time

from hockney.batch.base import (
    GLANCE_LIMIT_S,
    BatchSystem,
    Environment,
    JobAllocation,
    Partition,
    batch_systems,
    clock_s,
    hms,
    rows,
    told,
)
from hockney.runner.launchers.base import JOBS
from hockney.units import host_list


def _counts(text: str) -> list[int]:
    """`2(x3),1` is 2, 2, 2 and 1."""
    return [
        int(count) for count, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", text) for _ in range(int(times or 1))
    ]


def _allocated(environment: Environment) -> JobAllocation:
    job = environment["SLURM_JOB_ID"]
    # The limit may have been changed since the job began; only the controller knows.
    left_s = clock_s(told("squeue", "--noheader", "--jobs", job, "--format", "%L"))
    if left_s is None and environment.get("SLURM_JOB_END_TIME", "").isdigit():
        left_s = max(0.0, int(environment["SLURM_JOB_END_TIME"]) - time.time())
    tasks = environment.get("SLURM_NTASKS", "")
    return JobAllocation(
        system="slurm",
        job=job,
        hosts=tuple(host_list(environment.get("SLURM_JOB_NODELIST", ""))),
        cpus=tuple(_counts(environment.get("SLURM_JOB_CPUS_PER_NODE", ""))),
        tasks=int(tasks) if tasks.isdigit() else None,
        left_s=left_s,
    )


def _count(text: str) -> int | None:
    found = re.fullmatch(r"(\d+)(K?)", text)
    return int(found[1]) * (1024 if found[2] else 1) if found else None


def _partitions() -> list[Partition]:
    # A line for each partition; "+" where its nodes differ, "*" behind the default one, 4K for 4096.
    said = told("sinfo", "--noheader", "--format", "%P|%a|%l|%D|%c", limit_s=GLANCE_LIMIT_S)
    return [
        Partition(
            system="slurm",
            name=name.removesuffix("*"),
            is_default=name.endswith("*"),
            takes_jobs=state == "up",
            nodes=_count(nodes),
            cpus=_count(cpus.removesuffix("+")),
            limit_s=clock_s(limit),
        )
        for name, state, limit, nodes, cpus in rows(said, 5)
    ]


batch_systems.register("slurm")(
    BatchSystem(
        variable=JOBS["slurm"],
        allocated=_allocated,
        submit=("sbatch",),
        after=("--dependency=afterany:{job}",),
        job_id=re.compile(r"Submitted batch job (\d+)"),
        state=lambda job: (
            told("squeue", "--noheader", "--jobs", job, "--states", "all", "--format", "%T")
            .partition("\n")[0]
            .strip()
        ),
        waiting=frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SUSPENDED", "SPECIAL_EXIT"}),
        running=frozenset({"RUNNING", "COMPLETING", "SIGNALING", "STAGE_OUT", "STOPPED", "RESIZING"}),
        time=hms,
        partitions=_partitions,
    )
)
