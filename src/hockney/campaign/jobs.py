"""Job scripts in place of the work: what `measure` and `study` have in common where they write them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney.batch import jobs as batch
from hockney.batch.base import JobAllocation
from hockney.batch.jobs import Job
from hockney.batch.options import Submission
from hockney.batch.site import Site
from hockney.campaign.plan import Plan
from hockney.errors import HockneyError, Incomplete, RequestError
from hockney.runner.transports import ALL
from hockney.units import counted

RANKS = "say how many: --ranks, or cores_per_node in a site file"


BEFORE = "JOB"
"""In a command that submits a job: the id of the job that it waits for."""


@dataclass(frozen=True)
class WrittenJob:
    """The script of a job, and the command that submits it; `job` is its id where it was submitted."""

    name: str
    script: str
    nodes: int
    ranks: int
    walltime_s: float | None
    submit: str
    job: str | None


@dataclass(frozen=True)
class WrittenJobs:
    """Scripts for a batch system, in `folder`."""

    folder: str
    batch_system: str
    jobs: list[WrittenJob]

    @property
    def lines(self) -> Iterator[str]:
        """What was written and submitted, in words."""
        for job in self.jobs:
            size = f"{job.name}: {counted(job.ranks, 'rank')} on {job.nodes} node{'s' * (job.nodes != 1)}"
            if job.job is None:
                yield f"{size}; `{job.submit}` submits it"
            else:
                yield f"{size}, submitted as job {job.job} ({job.script})"
        yield f"`hockney status {self.folder}` says how far they are"


def job_text(allocation: JobAllocation) -> str:
    """What the job was given, in a line."""
    left = "no time limit is known" if allocation.left_s is None else f"{allocation.left_s / 60:.1f} min left"
    return f"{allocation.described()}, {left}"


def planned(plan: Plan, site: Site, given: Collection[str]) -> Plan:
    """The plan of a campaign for jobs at a site; `given` are the options that were written.

    RequestError where something would have to be known of the nodes that only a job knows.
    """
    if ALL in plan.variants:
        raise RequestError(
            f"--variant {ALL} tries transports where it runs, which is not here",
            "run `hockney doctor --transports` in a job, and name each by --variant",
        )
    nodes = plan.nodes or 1
    ranks = plan.ranks
    if "--ranks" not in given:
        if site.cores_per_node is None:
            raise RequestError("the cores of the nodes are not known here", RANKS)
        ranks = max(2, nodes * site.cores_per_node)
    of_here = {name: value for name, value in of_site(site).items() if f"--{name}" not in given}
    changed = {"nodes": nodes, "ranks": ranks, **of_here, "variants": with_options(plan.variants, site)}
    return Plan.model_validate({**plan.model_dump(), **changed})


def of_site(site: Site) -> dict[str, str]:
    """What a site says of how ranks are launched."""
    said = {"mpi": site.mpi, "launcher": site.launcher, "system": site.system}
    return {name: value for name, value in said.items() if value}


def with_options(variants: Sequence[str], site: Site) -> list[str]:
    """The variants with the launcher options of a site."""
    if not site.launcher_options:
        return list(variants)
    return [f"{text} {' '.join(site.launcher_options)}" for text in variants or ["default:"]]


def job_of(plan: Plan, name: str, command: Sequence[str]) -> Job:
    """A job for the ranks of a plan."""
    assert plan.per_node is not None
    assert plan.nodes is not None
    what = f"{counted(plan.ranks, 'rank')} on {plan.nodes} node{'s' * (plan.nodes != 1)}: hockney {command[0]}"
    return Job(name=name, what=what, nodes=plan.nodes, per_node=plan.per_node, command=[*batch.here(), *command])


def write_jobs(
    jobs: Sequence[Job], submission: Submission, site: Site, folder: Path, *, is_chain: bool = False
) -> WrittenJobs:
    """Write the scripts, and submit them where that is asked for; of a chain each waits for the one before.

    Incomplete where some were submitted before one was refused: those run.
    """
    paths = batch.write(jobs, submission.submit, site, folder)
    ids: dict[str, str] = {}
    for job, path in zip(jobs, paths, strict=True) if submission.now else ():
        try:
            last = [*ids.values()][-1:] if is_chain else []
            ids[job.name] = batch.submit(path, job.name, submission.submit, folder, *last).job
        except HockneyError as error:
            if not ids:
                raise
            before = ", ".join(f"{name} (job {number})" for name, number in ids.items())
            raise Incomplete(f"{error.message}; submitted before: {before}", error.hint) from error
    written = [
        WrittenJob(
            name=job.name,
            script=str(path),
            nodes=job.nodes,
            ranks=job.nodes * job.per_node,
            walltime_s=site.walltime_s,
            submit=batch.command_of(submission.submit, path, BEFORE if is_chain and path != paths[0] else ""),
            job=ids.get(job.name),
        )
        for job, path in zip(jobs, paths, strict=True)
    ]
    return WrittenJobs(str(folder), submission.submit, written)
