"""Join campaigns into a new one: every record is kept, repeats of a point become further repetitions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from operator import attrgetter
from pathlib import Path

from hockney.errors import RequestError
from hockney.records.columns import POINT
from hockney.records.folder import Campaign
from hockney.records.record import Record

_point = attrgetter(*POINT)


def merge(sources: Sequence[Path], target: Path) -> Campaign:
    """A new campaign with everything that the sources hold; the sources stay unchanged.

    A record that two sources share (one was made from the other) is taken once, whatever its repetition. Where
    two sources measured the same point or the same effect, the later source's repetitions continue the numbering
    of the earlier one's.
    RequestError for a source that is no campaign or is empty, and for a target that is not empty.
    """
    opened = [Campaign.open(path) for path in sources]
    if len({path.resolve() for path in sources}) < len(sources):
        raise RequestError("a campaign is named twice", "name each source once")
    contents = [(campaign, campaign.records()) for campaign in opened]
    for campaign, records in contents:
        if not records and not campaign.apps() and not campaign.effects():
            raise RequestError(f"{campaign.path} holds no records", "leave it out")
    target_campaign = Campaign.create(
        target, {"merged": [{"from": str(c.path), "plan": c.plan()} for c in opened]}
    )
    taken: set[str] = set()
    launches: set[str] = set()
    highest: dict[Hashable, int] = {}
    merged: list[Record] = []
    for campaign, records in contents:
        target_campaign.warnings += campaign.warnings
        offsets = dict(highest)
        texts = [record.model_dump_json(exclude={"repetition"}) for record in records]
        for record, text in zip(records, texts, strict=True):
            if text in taken:
                continue
            point = _point(record)
            repetition = record.repetition + offsets.get(point, -1) + 1
            highest[point] = max(highest.get(point, -1), repetition)
            merged.append(record.model_copy(update={"repetition": repetition}))
        taken.update(texts)
        for launch in campaign.launches():
            if str(launch.get("id")) not in launches:
                launches.add(str(launch.get("id")))
                target_campaign.append_launch(launch)
        for failure in campaign.failures():
            target_campaign.append_failure(failure)
    if merged:
        target_campaign.append_all(merged)
    _merge_runs(opened, target_campaign)
    return target_campaign


def _merge_runs(sources: Sequence[Campaign], target: Campaign) -> None:
    """Runs of applications and answers about effects."""
    taken: set[str] = set()
    highest = -1
    for campaign in sources:
        for run in campaign.apps():
            if (text := run.model_dump_json()) not in taken:
                taken.add(text)
                target.append(run)
        offset = highest + 1
        for answer in campaign.effects():
            if (text := answer.model_dump_json(exclude={"repetition"})) not in taken:
                taken.add(text)
                repetition = answer.repetition + offset
                highest = max(highest, repetition)
                target.append(answer.model_copy(update={"repetition": repetition}))
