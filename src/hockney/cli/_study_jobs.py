"""A study in jobs: one for each number of nodes, and what a job says of a study that others have still to end."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from hockney.batch.options import Submission
from hockney.campaign.plan import AppLaunching
from hockney.cli._jobs import RANKS, tell_jobs
from hockney.errors import Incomplete, RequestError
from hockney.terminal import say
from hockney.terminal.loading import later

with later():
    from hockney.batch import jobs as batch
    from hockney.batch.base import Allocation
    from hockney.batch.jobs import Job
    from hockney.batch.site import Site
    from hockney.campaign.prepare import default_ranks
    from hockney.studies.page import unfinished
    from hockney.studies.perform import Folder, as_data
    from hockney.studies.steps import Step


def ranks_of(nodes: Sequence[int], launching: AppLaunching, submission: Submission, site: Site) -> int:
    """Ranks on the most nodes, where nobody said how many."""
    if not submission.submit:
        return default_ranks(launching.hosts)
    if site.cores_per_node is None:
        raise RequestError("the cores of the nodes are not known here", RANKS)
    return site.cores_per_node * max(nodes, default=1)


def of_nodes(made: Sequence[Step], nodes: Sequence[int]) -> list[Step]:
    """The steps on these numbers of nodes, all without; RequestError for one that the study does not have."""
    known = sorted({step.nodes for step in made if step.nodes is not None})
    for count in nodes:
        if count not in known:
            raise RequestError(
                f"the study has no steps on {count} nodes", f"known: {', '.join(map(str, known)) or 'none'}"
            )
    return [step for step in made if not nodes or step.nodes in nodes]


def submit(
    folder: Folder,
    left: Sequence[Step],
    submission: Submission,
    site: Site,
    as_json: bool,
) -> None:
    """A job for each number of nodes that has steps left."""
    asked = folder.state.asked
    jobs = []
    for nodes, ranks in asked.on():
        if nodes is None or not any(step.nodes == nodes for step in left):
            continue
        command = ["study", asked.name, "-o", str(folder.path.absolute()), "--resume", "--nodes", str(nodes)]
        what = f"{ranks} ranks on {nodes} node{'s' * (nodes != 1)}: the study {asked.name}"
        name = f"{asked.name}-{nodes}n"
        jobs.append(
            Job(name=name, what=what, nodes=nodes, per_node=ranks // nodes, command=[*batch.here(), *command])
        )
    if not jobs:
        raise RequestError(
            f"{folder.path} has no step left for a job",
            f"{_resume(folder)} makes the page",
        )
    tell_jobs(jobs, submission, site, folder.path, as_json)


def leave(
    folder: Folder,
    made: Sequence[Step],
    whole_study: Sequence[Step],
    given: Allocation,
    as_json: bool,
) -> None:
    """Say what a job did of a study that others have still to end; Incomplete where its own are not done."""
    mine = sum(map(folder.is_over, made))
    every = sum(map(folder.is_over, whole_study))
    if as_json:
        say.json(
            {
                "study": folder.study.name,
                "folder": str(folder.path),
                "job": given.job,
                "steps": as_data(folder, whole_study),
            }
        )
    else:
        say.line(f"{every} of {len(whole_study)} steps are done; `hockney status {folder.path}` says the rest")
    if mine == len(made):
        return
    if as_json:
        raise typer.Exit(Incomplete.exit_code)
    why = next((text for text in unfinished(made, folder.state.steps) if text.startswith("Half")), "")
    raise Incomplete(
        f"{mine} of the {len(made)} steps of this job are done. {why}",
        f"submit it again, or {_resume(folder)} in the next job",
    )


def _resume(folder: Folder) -> str:
    return f"`hockney study {folder.study.name} -o {folder.path} --resume`"
