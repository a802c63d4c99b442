"""How far a campaign or a study is: what is done, what runs, what is missing, in which job."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from hockney import reading, writing
from hockney.batch.base import file_name
from hockney.batch.jobs import Submitted, states, submitted
from hockney.campaign.share import parse_share
from hockney.records.folder import APPS, EFFECTS, LOCK, PLAN, RECORDS, Campaign
from hockney.records.journal import Ended
from hockney.studies.perform import STATE, STEPS, Folder
from hockney.studies.steps import steps

How = Literal["done", "running", "waiting", "incomplete", "not begun", "failed"]


class PartStatus(BaseModel):
    """What one job, or what was run without one (`job` is empty), has written of a campaign."""

    job: str
    records: int
    running: bool
    ended: str
    """How it ended; empty where nobody wrote that down: it runs, or was killed."""


class CampaignStatus(BaseModel):
    """A campaign. `missing` says what is, empty where nothing is; `records` counts all that was measured."""

    folder: str
    state: How
    records: int
    missing: str
    parts: list[PartStatus]


class StepStatus(BaseModel):
    """A step of a study and its campaign; `job` is the one that wrote to it last, empty where none did."""

    name: str
    state: How
    nodes: int | None
    records: int
    job: str
    missing: str


class JobStatus(BaseModel):
    """A job that was submitted; `state` is what the batch system says."""

    name: str
    job: str
    batch_system: str
    submitted: str
    state: Literal["waiting", "running", "ended"]


class Status(BaseModel):
    """The answer of `hockney status`: `campaign`, or `steps` of a study."""

    folder: str
    kind: Literal["campaign", "study"]
    state: How
    campaign: CampaignStatus | None = None
    steps: list[StepStatus] = []
    jobs: list[JobStatus] = []


def status(folder: Path) -> Status:
    """How far the campaign or study of a folder is; RequestError where it is neither, or damaged."""
    jobs = _jobs(submitted(folder))
    # By the names of their parts.
    running = {file_name(job.job) for job in jobs if job.state == "running"}
    waiting = any(job.state == "waiting" for job in jobs)
    if (folder / STATE).is_file():
        of_steps = _steps(Folder.open(folder), running)
        together = _together([step.state for step in of_steps], waiting)
        return Status(folder=str(folder), kind="study", state=together, steps=of_steps, jobs=jobs)
    campaign = campaign_status(folder, running)
    state = campaign.state if campaign.state in ("done", "running") or not waiting else "waiting"
    return Status(folder=str(folder), kind="campaign", state=state, campaign=campaign, jobs=jobs)


def campaign_status(folder: Path, running: set[str]) -> CampaignStatus:
    """How far a campaign is; `running` are parts whose jobs the batch system says are."""
    campaign = Campaign.open(folder)
    ends = campaign.ends()
    parts = [
        PartStatus(job=job, records=_count(path), running=is_running, ended=ended)
        for job, path in (("", folder), *((part.name, part) for part in campaign.parts))
        for is_running in [job in running or _is_locked(path)]
        for ended in ["" if job not in ends else "whole" if ends[job].whole else ends[job].why]
    ]
    if len(parts) > 1 and not parts[0].records and not parts[0].running:
        # Nothing was run outside of jobs.
        parts = parts[1:]
    records = sum(part.records for part in parts)
    is_running = any(part.running for part in parts)
    state: How = "running" if is_running else "incomplete"
    missing = ""
    if _is_whole(list(ends.values())) or (records and not campaign.plan().is_measured):
        state = "done"
    elif not records and not is_running:
        state, missing = "not begun", "all of the plan"
    else:
        missing = _missing(list(ends.values()))
    return CampaignStatus(folder=str(folder), state=state, records=records, missing=missing, parts=parts)


def _count(folder: Path) -> int:
    """How much was measured, in this folder alone."""
    count = len(Campaign(folder).columns() or ())
    for name in (RECORDS, EFFECTS, APPS):
        with contextlib.suppress(reading.Absent):
            count += sum(1 for _ in reading.lines(folder / name, within=folder))
    return count


def _is_locked(folder: Path) -> bool:
    if not (folder / LOCK).is_file():
        return False
    with writing.locked(folder / LOCK) as is_free:
        return not is_free


def _is_whole(ends: Sequence[Ended]) -> bool:
    """Whether one run made the campaign whole, or each share of its launches is."""
    whole = [end for end in ends if end.whole]
    if any(not end.share for end in whole):
        return True
    shares = {parse_share(end.share) for end in whole}
    return any(
        {share.number for share in shares if share.of_jobs == jobs} == set(range(1, jobs + 1))
        for jobs in {share.of_jobs for share in shares}
    )


def _missing(ends: Sequence[Ended]) -> str:
    last = max(ends, key=lambda one: one.time, default=None)
    if last is None:
        return "it is not known how it ended: killed, or written by an older version; --resume shows"
    visits = f"about {last.left_out} visits; " if last.left_out else ""
    return visits + (last.why or "shares of other jobs")


def _steps(folder: Folder, running: set[str]) -> list[StepStatus]:
    found = []
    for step in steps(folder.study, folder.state.asked, folder.path / STEPS):
        path = folder.steps / step.name
        begun = campaign_status(path, running) if (path / PLAN).is_file() else None
        done = folder.state.steps.get(step.name)
        state: How = "not begun" if begun is None or begun.state == "not begun" else "incomplete"
        if done is not None:
            state = "incomplete" if done.state == "partly" else done.state
        if state != "done" and begun is not None and begun.state == "running":
            state = "running"
        why = "" if done is None else done.why
        missing = "" if state == "done" else why or ("all of it" if begun is None else begun.missing)
        records, job = (0, "") if begun is None else (begun.records, begun.parts[-1].job)
        found.append(
            StepStatus(name=step.name, state=state, nodes=step.nodes, records=records, job=job, missing=missing)
        )
    return found


def _jobs(found: Sequence[Submitted]) -> list[JobStatus]:
    now = states(found)
    return [
        JobStatus(name=job.name, job=job.job, batch_system=job.system, submitted=job.time, state=now[job.job])
        for job in found
    ]


def _together(of_steps: Sequence[How], waiting: bool) -> How:
    if all(state == "done" for state in of_steps):
        return "done"
    if "running" in of_steps:
        return "running"
    if waiting:
        return "waiting"
    return "not begun" if all(state == "not begun" for state in of_steps) else "incomplete"
