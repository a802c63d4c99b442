"""Join campaigns into a new one: every record is kept, repeats of a point become further repetitions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from hockney.errors import RequestError
from hockney.reading import printable
from hockney.records import table
from hockney.records.columns import POINT
from hockney.records.contents import Contents, contents_of
from hockney.records.effect_record import EffectRecord
from hockney.records.folder import Campaign, Unfinished
from hockney.records.journal import LaunchLine, StoredPlan
from hockney.records.record import Record

_point = attrgetter(*POINT)
Repeated = TypeVar("Repeated", Record, EffectRecord)


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
    records, apps = [c.records() for c in opened], [c.apps() for c in opened]
    effects = [c.effects() for c in opened]
    for campaign, *held in zip(opened, records, apps, effects, strict=True):
        if not any(held):
            raise RequestError(f"{campaign.path} holds no records", "leave it out")
    plan = StoredPlan(merged=[{"from": str(c.path), "plan": c.plan().as_said()} for c in opened])
    mark = Unfinished(verb="merge", sources=[printable(path) for path in sources])
    with Campaign.whole(target, mark, plan) as target_campaign:
        launches: dict[str, LaunchLine] = {}
        for launch in (launch for campaign in opened for launch in campaign.launches()):
            launches.setdefault(launch.id, launch)
        target_campaign.append_all(_numbered_on(records, _point))
        target_campaign.append_all(launches.values())
        target_campaign.append_all(failure for campaign in opened for failure in campaign.failures())
        target_campaign.append_all(
            {run.model_dump_json(): run for of_source in apps for run in of_source}.values()
        )
        target_campaign.append_all(_numbered_on(effects, lambda _: ""))
        # Some files of the sources were read twice.
        target_campaign.warnings += dict.fromkeys(text for campaign in opened for text in campaign.warnings)
        contents = contents_of(target_campaign)
        table.write(contents.frame, target_campaign.table)
        at_end()
    return contents


def _numbered_on(
    of_sources: Iterable[Sequence[Repeated]], point: Callable[[Repeated], Hashable]
) -> list[Repeated]:
    """What all sources hold, each once; repetitions of a point go on from those of earlier sources."""
    taken: set[str] = set()
    highest: dict[Hashable, int] = {}
    merged = []
    for records in of_sources:
        offsets = {of_point: number + 1 for of_point, number in highest.items()}
        texts = [record.model_dump_json(exclude={"repetition"}) for record in records]
        for record, text in zip(records, texts, strict=True):
            if text not in taken:
                repetition = record.repetition + offsets.get(point(record), 0)
                highest[point(record)] = max(highest.get(point(record), -1), repetition)
                merged.append(record.model_copy(update={"repetition": repetition}))
        taken.update(texts)
    return merged
