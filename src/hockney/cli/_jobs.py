"""What `measure` and `study` have in common where they write job scripts in place of the work."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from hockney.batch.options import Submission
from hockney.campaign.plan import Plan
from hockney.errors import HockneyError, Incomplete, RequestError
from hockney.terminal import say
from hockney.terminal.loading import later

with later():
    from hockney.batch import jobs as batch
    from hockney.batch.base import Allocation
    from hockney.batch.jobs import Job
    from hockney.batch.site import Site
    from hockney.runner.transports import ALL

RANKS = "say how many: --ranks, or cores_per_node in a site file"


def told(given: Allocation) -> str:
    """What the job was given, in a line."""
    left = "no time limit is known" if given.left_s is None else f"{given.left_s / 60:.1f} min left"
    return f"{given.described()}, {left}"


def planned(plan: Plan, site: Site, given: Collection[str]) -> Plan:
    """The plan of a campaign for jobs at a site; `given` are the options that were written.

    RequestError where something would have to be known of the nodes that only a job knows.
    """
    if ALL in plan.variants:
        raise RequestError(
            f"--variant {ALL} tries transports where it runs, which is not here",
            "run `hockney doctor --variants` in a job, and name each by --variant",
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
    what = f"{plan.ranks} ranks on {plan.nodes} node{'s' * (plan.nodes != 1)}: hockney {command[0]}"
    return Job(name=name, what=what, nodes=plan.nodes, per_node=plan.per_node, command=[*batch.here(), *command])


def tell_jobs(jobs: Sequence[Job], submission: Submission, site: Site, folder: Path, as_json: bool) -> None:
    """Write the scripts, submit them where that is asked for, and say so.

    Incomplete where some were submitted before one was refused: those run.
    """
    paths = batch.write(jobs, submission.submit, site, folder)
    done = []
    for job, path in zip(jobs, paths, strict=True) if submission.now else ():
        try:
            done.append(batch.submit(path, job.name, submission.submit, folder))
        except HockneyError as error:
            if not done:
                raise
            before = ", ".join(f"{one.name} (job {one.job})" for one in done)
            raise Incomplete(f"{error.message}; submitted before: {before}", error.hint) from error
    if as_json:
        ids = {one.name: one.job for one in done}
        say.json(
            {
                "folder": str(folder),
                "batch_system": submission.submit,
                "jobs": [
                    {
                        "name": job.name,
                        "script": str(path),
                        "nodes": job.nodes,
                        "ranks": job.nodes * job.per_node,
                        "walltime_s": site.walltime_s,
                        "submit": batch.command_of(submission.submit, path),
                        "job": ids.get(job.name),
                    }
                    for job, path in zip(jobs, paths, strict=True)
                ],
            }
        )
        return
    for number, (job, path) in enumerate(zip(jobs, paths, strict=True)):
        asks = f"{job.nodes * job.per_node} ranks on {job.nodes} node{'s' * (job.nodes != 1)}"
        if done:
            say.line(f"{job.name}: {asks}, submitted as job {done[number].job} ({path})")
        else:
            say.line(f"{job.name}: {asks}; `{batch.command_of(submission.submit, path)}` submits it")
    say.line(f"`hockney status {folder}` says how far they are")
