"""`hockney status`: say what of a campaign or a study is done, running or missing."""

from __future__ import annotations

from hockney import api
from hockney.options.status import StatusOptions
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
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
            say.rows("", one.parts, PARTS)
    else:
        done = sum(step.state == "done" for step in found.steps)
        say.line(f"{found.folder}: {found.state}, {done} of {counted(len(found.steps), 'step')} done")
        say.rows("", found.steps, STEPS)
    if found.jobs:
        say.rows("", found.jobs, JOBS)


STATE, RECORDS = Column("state", "state"), Column("records", "records")
PARTS = (
    Column("part", lambda part: part.job or "(no job)"),
    RECORDS,
    Column("now", lambda part: "running" if part.running else ""),
    Column("ended", lambda part: part.ended or "did not say"),
)
STEPS = (Column("step", "name"), STATE, RECORDS, Column("last job", "job"), Column("missing", "missing"))
JOBS = (
    Column("job", "job"),
    Column("name", "name"),
    Column("batch system", "batch_system"),
    Column("submitted", "submitted"),
    STATE,
)
