"""Join campaigns into a new one: every record is kept, repeats of a point become further repetitions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter
from pathlib import Path

from hockney.errors import RequestError
from hockney.reading import printable
from hockney.records import table
from hockney.records.columns import POINT
from hockney.records.contents import Contents, contents_of
from hockney.records.folder import Campaign, Unfinished
from hockney.records.journal import StoredPlan
from hockney.records.record import Record

_point = attrgetter(*POINT)


def merge(sources: Sequence[Path], target: Path, at_end: Callable[[], object] = lambda: None) -> Contents:
    """A new campaign with everything that the sources hold, and its table; the sources stay unchanged.

    A record that two sources share (one was made from the other) is taken once, whatever its repetition. Where
    two sources measured the same point or the same effect, the later source's repetitions continue the numbering
    of the earlier one's. `at_end` is called when all is written, before it counts.
    RequestError for a source that is no campaign or is empty, and for a target that is not empty.
    """
    opened = [Campaign.open(path) for path in sources]
    if len({path.resolve() for path in sources}) < len(sources):
        raise RequestError("a campaign is named twice", "name each source once")
    records_of = [(campaign, campaign.records()) for campaign in opened]
    for campaign, records in records_of:
        if not records and not campaign.apps() and not campaign.effects():
            raise RequestError(f"{campaign.path} holds no records", "leave it out")
    plan = StoredPlan(merged=[{"from": str(c.path), "plan": c.plan().as_said()} for c in opened])
    mark = Unfinished(verb="merge", sources=[printable(path) for path in sources])
    with Campaign.whole(target, mark, plan) as target_campaign:
        if merged := _merged(records_of):
            target_campaign.append_all(merged)
        _merge_launches(opened, target_campaign)
        _merge_runs(opened, target_campaign)
        # Some files of the sources were read twice.
        target_campaign.warnings += dict.fromkeys(text for campaign in opened for text in campaign.warnings)
        contents = contents_of(target_campaign)
        table.write(contents.frame, target_campaign.table)
        at_end()
    return contents


def _merged(records_of: Sequence[tuple[Campaign, Sequence[Record]]]) -> list[Record]:
    """The records of all sources, numbered on."""
    taken: set[str] = set()
    highest: dict[Hashable, int] = {}
    merged: list[Record] = []
    for _, records in records_of:
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
    return merged


def _merge_launches(sources: Sequence[Campaign], target: Campaign) -> None:
    """Provenance, and what could not be measured."""
    launches: set[str] = set()
    for campaign in sources:
        for launch in campaign.launches():
            if launch.id not in launches:
                launches.add(launch.id)
                target.append(launch)
        target.append_all(campaign.failures())


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
