"""`hockney status`: say what of a campaign or a study is done, running or missing."""

from __future__ import annotations

from rich.table import Table

from hockney import api
from hockney.options.status import StatusOptions
from hockney.terminal import JsonOption, say, verb
from hockney.units import counted


@verb("status", examples="hockney status campaign\nhockney status nodes --json")
def status(options: StatusOptions, json: JsonOption = False) -> None:
    """Show what of a campaign or a study is done, running or missing, and the state of its jobs.

    Nothing is measured and nothing written; batch systems are asked for the jobs that were submitted.
    """
    found = api.status(options.folder)
    if json:
        say.json(found.model_dump())
        return
    _tell(found)


def _tell(found: api.Status) -> None:
    if found.campaign is not None:
        one = found.campaign
        say.line(
            f"{found.folder}: {found.state}, {counted(one.records, 'record')}"
            + (f"; missing: {one.missing}" * bool(one.missing))
        )
        if any(part.job for part in one.parts):
            parts = Table("part", "records", "now", "ended", box=None)
            for part in one.parts:
                now = "running" if part.running else ""
                parts.add_row(part.job or "(no job)", str(part.records), now, part.ended or "did not say")
            say.table(parts)
    else:
        done = sum(step.state == "done" for step in found.steps)
        say.line(f"{found.folder}: {found.state}, {done} of {counted(len(found.steps), 'step')} done")
        of_steps = Table("step", "state", "records", "last job", "missing", box=None)
        for step in found.steps:
            of_steps.add_row(step.name, step.state, str(step.records), step.job, step.missing)
        say.table(of_steps)
    if found.jobs:
        jobs = Table("job", "name", "batch system", "submitted", "state", box=None)
        for job in found.jobs:
            jobs.add_row(job.job, job.name, job.batch_system, job.submitted, job.state)
        say.table(jobs)
