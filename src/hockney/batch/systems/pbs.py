"""PBS Professional and OpenPBS: qsub(1B), qstat(1B), pbs_resources(7B). Not tried on a PBS."""

from __future__ import annotations

import re
import time
from collections import Counter

from hockney.batch.base import (
    GLANCE_LIMIT_S,
    BatchSystem,
    Environment,
    JobAllocation,
    Partition,
    batch_systems,
    clock_s,
    hms,
    lines_of,
    told,
)
from hockney.runner.launchers.base import JOBS


def _attribute(said: str, name: str) -> str:
    found = re.search(rf"^\s*{re.escape(name)} = (.*)$", said, re.MULTILINE)
    return found[1].strip() if found else ""


def _left_s(said: str) -> float | None:
    limit_s = clock_s(_attribute(said, "Resource_List.walltime"))
    if limit_s is None:
        return None
    try:
        began_s = time.mktime(time.strptime(_attribute(said, "stime"), "%a %b %d %H:%M:%S %Y"))
    except ValueError:
        used_s = clock_s(_attribute(said, "resources_used.walltime")) or 0.0
        return max(0.0, limit_s - used_s)
    return max(0.0, began_s + limit_s - time.time())


def _allocated(environment: Environment) -> JobAllocation:
    job = environment["PBS_JOBID"]
    # A line for each rank (mpiprocs) of each chunk.
    ranks = Counter(filter(None, map(str.strip, lines_of(environment.get("PBS_NODEFILE", "")))))
    cpus = environment.get("NCPUS", "")
    per_host = [max(count, int(cpus) if cpus.isdigit() else 0) for count in ranks.values()]
    return JobAllocation(
        system="pbs",
        job=job,
        hosts=tuple(ranks),
        cpus=tuple(per_host),
        tasks=sum(ranks.values()) or None,
        left_s=_left_s(told("qstat", "-f", job)),
    )


def _partitions() -> list[Partition]:
    # The attributes of a queue follow its name; of its nodes they say nothing.
    _, *queues = re.split(r"^Queue: ", told("qstat", "-Q", "-f", limit_s=GLANCE_LIMIT_S), flags=re.MULTILINE)
    return [
        Partition(
            system="pbs",
            name=said.splitlines()[0].strip(),
            takes_jobs=_attribute(said, "enabled") == _attribute(said, "started") == "True",
            limit_s=clock_s(_attribute(said, "resources_max.walltime")),
        )
        for said in queues
    ]


batch_systems.register("pbs")(
    BatchSystem(
        variable=JOBS["pbs"],
        allocated=_allocated,
        submit=("qsub",),
        after=("-W", "depend=afterany:{job}"),
        job_id=re.compile(r"^(\S+)\s*$", re.MULTILINE),
        state=lambda job: _attribute(told("qstat", "-f", job), "job_state"),
        # Letters of `job_state` (qstat(1B)); F and X have ended.
        waiting=frozenset("QHWTSU"),
        running=frozenset("REBM"),
        time=hms,
        partitions=_partitions,
    )
)
