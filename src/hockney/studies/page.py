"""What a study's folder ends with: one campaign of all steps, the machine file, the page and the findings."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from hockney import writing
from hockney.campaign.loop import ANOTHER_LEVEL
from hockney.errors import RequestError
from hockney.importers import _collect
from hockney.importers.base import Given
from hockney.machine.build import fitted
from hockney.machine.file import Machine, save
from hockney.machine.locality import read
from hockney.machine.system import System
from hockney.records.contents import Contents
from hockney.records.folder import MEASURED, PARTS, PLAN, UNFINISHED, Campaign
from hockney.records.merge import merge
from hockney.report.make import card, make, write_html
from hockney.report.marks import Peak
from hockney.report.page import Report
from hockney.report.reading import Subject, Wish, statistics_of
from hockney.studies.files import Study
from hockney.studies.perform import Done, Folder
from hockney.studies.steps import StudyStep
from hockney.units import counted, first_of

MOST_NAMED = 3
"""Files of a kind in one sentence."""
Skipped = Sequence[tuple[str, str]]
"""Files that were not read, each with why, and what to do about it."""
CAMPAIGN, MACHINE, PAGE, FINDINGS, CARD = "campaign", "machine.json", "report.html", "findings.json", "card.html"


def joined(folder: Folder, steps: Sequence[StudyStep]) -> Path:
    """One campaign of what all steps measured, made anew; RequestError where nothing was."""
    campaigns = folder.campaigns(steps)
    target = folder.path / CAMPAIGN
    if not campaigns:
        raise RequestError(f"{folder.path} holds no record yet", "add --resume to measure")
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    merge(campaigns, target)
    return target


@contextmanager
def imported(
    source: Path, folder: Path, given: Given, systems: Sequence[System] = ()
) -> Iterator[tuple[Contents, Skipped]]:
    """What a campaign holds, that of a study's folder, or one made of benchmark results and tables.

    Beside it the files that were left alone.

    The last is in `folder` once the block has ended, in place of one that was imported there before; a block that
    fails leaves `folder` as it was. RequestError where nothing of `source` can be read, and where `folder` has a
    campaign of another origin.
    """
    for place in (source, source / CAMPAIGN):
        # Jobs leave parts in the folders of campaigns and of studies.
        is_of_jobs = (place / PARTS).is_dir() and (place / PLAN).is_file()
        if is_of_jobs or any((place / name).is_file() for name in (*MEASURED, UNFINISHED)):
            yield read(place, systems), []
            return
    target = folder / CAMPAIGN
    if target.exists() and not _is_imported(target):
        raise RequestError(f"{target} is there, and no --from made it", "choose another folder with -o")
    with tempfile.TemporaryDirectory(prefix="hockney-study-") as beside:
        made = Path(beside, CAMPAIGN)
        collection = _collect.collect([source], given)
        _collect.write(collection, made, given)
        contents = read(made, systems)
        # What the page and the machine file say of it holds where it will be.
        warnings = [*_not_read(source, collection), *contents.warnings]
        yield replace(contents, path=target, warnings=warnings), collection.skipped
        if target.exists():
            shutil.rmtree(target)
        _collect.write(collection, target, given)


def _not_read(source: Path, collection: _collect.Collection) -> list[str]:
    """A sentence on the files of a folder that were left alone, by their kind; none where there are none."""
    skipped = collection.skipped
    if not skipped:
        return []
    by_reason: dict[str, list[str]] = {}
    for file, reason in skipped:
        # Particulars, and what to do about each file, are for a reader of the whole list.
        kind = reason.partition(";")[0].partition(":")[0]
        by_reason.setdefault(kind, []).append(Path(file).name)
    kinds = [
        f"{first_of(names, MOST_NAMED)} ({reason})"
        for reason, names in sorted(by_reason.items(), key=lambda kind: -len(kind[1]))
    ]
    others = f"; {len(kinds) - MOST_NAMED} further reasons" if len(kinds) > MOST_NAMED else ""
    count = f"{len(skipped)} of {counted(len(skipped) + len(collection.files), 'file')}"
    return [f"Of {source.resolve().name}, {count} were not read: {'; '.join(kinds[:MOST_NAMED])}{others}."]


def _is_imported(campaign: Path) -> bool:
    """Whether `imported` made it: with a page beside it."""
    try:
        plan = Campaign.open(campaign).plan()
        return "imported" in plan.model_fields_set and (campaign.parent / PAGE).is_file()
    except RequestError:
        return False


def check_needs(study: Study, contents: Contents, source: Path, measured: Collection[str]) -> list[str]:
    """Sentences on what a folder measured elsewhere lacks; RequestError where that is all the study needs.

    It is half a study only without what the steps of the study would have `measured`.
    """
    operations = operations_in(contents)
    lacking = [name for name in study.file.needs if name not in operations]
    if len(lacking) == len(study.file.needs):
        raise RequestError(
            f"{source} holds nothing that the study {study.name} is about ({', '.join(lacking)}); "
            f"it holds {', '.join(sorted(operations)) or 'no operation'}",
            "a tidy table has them in its column `operation`, with `ranks`, `bytes` and `time_us` beside it. "
            "`hockney import --help` lists the formats of other programs",
        )
    halves = [name for name in lacking if name in measured]
    others = [name for name in lacking if name not in measured]
    folder = source.resolve().name
    said = [f"Half a study: {folder} holds no {', '.join(halves)}."] if halves else []
    return said + ([f"The page would also show {', '.join(others)}; {folder} holds none."] if others else [])


def operations_in(contents: Contents) -> Collection[str]:
    """Names of the operations, applications and effects of a campaign or table."""
    return {
        *map(str, contents.frame["operation"].unique()),
        *(record.operation for record in contents.apps),
        *(record.effect for record in contents.effects),
    }


def unfinished(steps: Sequence[StudyStep], done: dict[str, Done]) -> list[str]:
    """Sentences on the steps that were not done, or not wholly."""
    said = []
    for name, one in done.items():
        if one.left_out:
            visits = f"about {one.left_out} visits of points were left out"
            said.append(f"The time of {name} was spent; {visits}; --resume continues.")
    for step in steps:
        of_step = done.get(step.name)
        if of_step is None:
            said.append(f"Half a study: {step.name} is not done; --resume does it.")
        # Points of another level are measured points: marked on the page, and no half of a study.
        elif of_step.state != "done" and not (of_step.had_its_time or ANOTHER_LEVEL in of_step.why):
            state = "failed" if of_step.state == "failed" else "is not whole"
            hint = f"; {of_step.hint}" if of_step.hint else ""
            said.append(f"Half a study: {step.name} {state}: {of_step.why}{hint}.")
    return said


def write(
    study: Study,
    folder: Path,
    contents: Contents,
    remarks: Sequence[str],
    progress: Callable[[str], None],
    *,
    statistic: str = "",
    sizes_B: Sequence[int] = (),
    peaks: Sequence[Peak] = (),
    systems: Sequence[System] = (),
    parts: Sequence[str] = (),
) -> Report:
    """The machine file where there is something to fit, the page, the findings, and the card of a study of it.

    `statistic` and `sizes_B` as of `Wish`, whose errors are those of what was asked for and is not there.
    """
    machine = _machine(contents, progress, statistics_of(contents.frame, statistic, sizes_B)[0])
    about = f"{study.file.compares} {study.file.shows}"
    of_parts = tuple(tuple(part.file.needs) for part in study.parts(parts)) if study.file.parts else ()
    subject = Subject(study.file.question, tuple(study.file.needs), about, tuple(remarks), of_parts)
    wish = Wish(machine, peaks, systems, statistic, sizes_B, subject=subject)
    page = make(contents, wish, progress)
    writing.make_folder(folder, "choose another folder")
    if machine is not None:
        save(machine, folder / MACHINE)
    write_html(page, folder / PAGE)
    findings = [asdict(finding) for finding in page.findings]
    writing.replace(folder / FINDINGS, json.dumps(findings, indent=2, ensure_ascii=False) + "\n")
    if study.file.card and machine is not None and machine.point_to_point:
        write_html(card(machine), folder / CARD)
    return page


def _machine(
    contents: Contents, progress: Callable[[str], None], statistics: Mapping[str, str]
) -> Machine | None:
    try:
        return fitted(contents, progress, statistics)
    except RequestError:
        # Applications and collectives alone have nothing that is fitted.
        return None
