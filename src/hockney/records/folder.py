"""The campaign folder: plan, launches, append-only records and one tidy table.

    plan.json        what was asked for
    launches.jsonl   provenance, one line per launch (or per imported file)
    records.jsonl    one measurement a line, written and synced as it completes
    apps.jsonl       one run of an application a line
    effects.jsonl    one answer about an effect a line
    failures.jsonl   points that could not be measured, with the reason
    defaults.json    what was watched of the library's default (`hockney.records.defaults`)
    records.parquet  many imported measurements, column by column, in place of lines (`hockney.records.columns`)
    samples.csv      the tidy table, made anew from the records; samples.parquet beside records.parquet
    ended.json       how the last run of `hockney measure` ended
    jobs/            scripts of jobs, and which were submitted (`hockney.batch.jobs`)
    parts/JOB/       the same files again, written by one job of a batch system, with its copy of the plan
    .hockney-unfinished   there while an import or a merge writes the folder: the verb and its sources

Only whole lines are appended, so a process killed at any instant loses at most the line in flight. A damaged
line is reported and left where it is; all others are read. A job writes into its own part alone, and every reader
joins the parts, so that jobs of one campaign share no file and need no lock.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from hockney import reading, writing
from hockney.errors import RequestError
from hockney.records.answers import first_problem
from hockney.records.app_record import AppRecord
from hockney.records.effect_record import EffectRecord
from hockney.records.journal import Ended, FailureLine, LaunchLine, StoredPlan
from hockney.records.record import Record

if TYPE_CHECKING:
    from hockney.records.columns import RecordColumns

PLAN = "plan.json"
LAUNCHES = "launches.jsonl"
RECORDS = "records.jsonl"
COLUMNS = "records.parquet"
APPS = "apps.jsonl"
EFFECTS = "effects.jsonl"
FAILURES = "failures.jsonl"
TABLE = "samples.csv"
TABLE_OF_COLUMNS = "samples.parquet"
PARTS = "parts"
JOBS = "jobs"
ENDED = "ended.json"
LOCK = ".lock"
UNFINISHED = ".hockney-unfinished"
MEASURED = (RECORDS, COLUMNS, APPS, EFFECTS)
JOURNALS = (*MEASURED, LAUNCHES)
CONTENT = (*JOURNALS, FAILURES, TABLE, TABLE_OF_COLUMNS, PLAN)

Stored = Record | AppRecord | EffectRecord | LaunchLine | FailureLine
FILES: dict[type[Stored], str] = {
    Record: RECORDS,
    AppRecord: APPS,
    EffectRecord: EFFECTS,
    LaunchLine: LAUNCHES,
    FailureLine: FAILURES,
}
Dated = TypeVar("Dated", Record, AppRecord, EffectRecord, LaunchLine, FailureLine)


def beside(measured: Path, name: str) -> Path:
    """Where a file about a campaign or table lies: in the folder, or beside the table by the table's own name."""
    return measured / name if measured.is_dir() else measured.with_name(f"{measured.name.split('.')[0]}-{name}")


class Unfinished(BaseModel, extra="forbid", frozen=True):
    """What the mark of a folder that is being written says: by which verb, and from what."""

    verb: Literal["import", "merge"]
    sources: list[str]


_IN_PLAN = {"import": "imported", "merge": "merged"}
"""What a plan has that the verb wrote, and no other plan."""


class Campaign:
    """A campaign folder that exists. `warnings` collects what was found damaged while reading.

    `part` is the name of a job's part: what is written goes there, and what is read is all that the campaign has.
    """

    def __init__(self, path: Path, part: str = "") -> None:
        self.path = path
        self.own = path / PARTS / part if part else path
        """Where this process writes."""
        self.warnings: list[str] = []

    @property
    def table(self) -> Path:
        """The tidy table of this campaign, as far as this process knows it."""
        return self.own / (TABLE_OF_COLUMNS if (self.own / COLUMNS).exists() else TABLE)

    @property
    def parts(self) -> list[Path]:
        """The parts that jobs have written, by the names of the jobs."""
        folder = self.path / PARTS
        return sorted(part for part in folder.iterdir() if part.is_dir()) if folder.is_dir() else []

    @classmethod
    def create(cls, path: Path, plan: object, part: str = "") -> Campaign:
        """Make the folder and write its plan; RequestError where something measured, or a table, is there.

        A plan without records or launches, left by a request that was refused, is replaced. With `part` a
        campaign of the same plan is joined; RequestError where the folder has another.
        """
        stored = StoredPlan.of(plan)
        if part and (path / PLAN).is_file():
            _expect_finished(path)
        else:
            cls.expect_new(path)
            writing.make_folder(path, "choose another folder")
            cls._begun(path, stored)
        campaign = cls(path, part)
        if part:
            campaign._begin_part(stored)
        return campaign

    @staticmethod
    def expect_new(path: Path) -> None:
        """RequestError where a new campaign would be in the way of what is there."""
        _expect_finished(path)
        _expect_none(path, (*JOURNALS, TABLE, TABLE_OF_COLUMNS, PARTS, JOBS))

    @classmethod
    def _begun(cls, path: Path, plan: StoredPlan) -> Campaign:
        writing.replace(path / PLAN, plan.model_dump_json(indent=2) + "\n")
        return cls(path)

    @classmethod
    @contextlib.contextmanager
    def whole(cls, path: Path, mark: Unfinished, plan: StoredPlan) -> Iterator[Campaign]:
        """A new campaign that the block writes, and that can be opened only once the block has ended.

        Nothing of it is left where the block fails; what a kill leaves is replaced by the next such block.
        RequestError where any file of a campaign's names is already there, or another process writes: what this
        block removes when it fails must be its own.
        """
        if _mark(path) is None:
            _expect_none(path, CONTENT)
        there_before = path.exists()
        writing.make_folder(path, "choose another folder")
        with cls(path).locked():
            # Another process may have ended in between.
            if _mark(path) is not None:
                _remove(path, CONTENT)
            _expect_none(path, CONTENT)
            try:
                writing.replace(path / UNFINISHED, mark.model_dump_json() + "\n")
                yield cls._begun(path, plan)
                (path / UNFINISHED).unlink()
            except BaseException:
                _remove(path, (*CONTENT, UNFINISHED, LOCK))
                if not there_before:
                    with contextlib.suppress(OSError):
                        path.rmdir()
                raise

    @classmethod
    def open(cls, path: Path, part: str = "") -> Campaign:
        """RequestError where `path` is no campaign folder, or not whole, or has parts of different plans."""
        _expect_finished(path)
        if not any((path / name).is_file() for name in (*MEASURED, PLAN)):
            hint = "make one with `hockney measure -o FOLDER` or `hockney import FILE… -o FOLDER`"
            if (path / "campaign" / PLAN).is_file():
                hint = f"the campaign of a study is in its folder: {path / 'campaign'}"
            raise RequestError(f"{path} is not a campaign folder (no {RECORDS})", hint)
        campaign = cls(path, part)
        if part:
            campaign._begin_part(campaign.plan())
        else:
            campaign._expect_one_plan()
        return campaign

    def _begin_part(self, plan: StoredPlan) -> None:
        """Make this process's part, with the plan that it is measured by.

        RequestError where the campaign, or another part, has a different plan. Each job writes its copy before it
        looks at those of others: of two that begin at once with different plans, at least one sees the other's.
        """
        self.expect_plan(plan)
        writing.make_folder(self.own)
        self._expect_one_plan()
        writing.replace(self.own / PLAN, plan.model_dump_json(indent=2) + "\n")
        self._expect_one_plan()

    def expect_plan(self, plan: StoredPlan) -> None:
        """RequestError where the campaign's plan is another."""
        if changed := self.plan().difference(plan):
            raise RequestError(
                f"{self.path} holds a campaign with another plan: {changed}",
                "choose another folder; nothing in it was changed",
            )

    def _expect_one_plan(self) -> None:
        parts = self.parts
        plan = self.plan() if parts else StoredPlan()
        for part in parts:
            # One that was made and never begun has none.
            theirs = Campaign(part).plan()
            if theirs != StoredPlan() and (changed := plan.difference(theirs)):
                raise RequestError(
                    f"{part} was measured by another plan than {self.path / PLAN}: {changed}",
                    f"it is a campaign of its own: `mv {part} ELSEWHERE` keeps both; nothing was changed",
                )

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """While one process writes, no other may; RequestError for the second."""
        with writing.locked(self.own / LOCK) as is_free:
            if not is_free:
                raise RequestError(
                    f"another process is writing into {self.own}", "wait for it, or choose another folder"
                )
            yield

    def plan(self) -> StoredPlan:
        """What was asked for; RequestError where the file is damaged."""
        hint = "restore it from a copy"
        try:
            return StoredPlan.model_validate(reading.json_file(self.path / PLAN, hint, within=self.path))
        except reading.Absent:
            return StoredPlan()
        except ValidationError as error:
            raise RequestError(f"{self.path / PLAN} is damaged: {first_problem(error)}", hint) from error

    def append(self, record: Stored) -> None:
        """Write one line to disk before returning: a record, the provenance of a launch, or why there is none."""
        self.append_all([record])

    def append_all(self, records: Iterable[Stored]) -> None:
        """Write many lines to disk before returning, those of each file synced once (an import, a merge)."""
        lines: dict[str, list[str]] = {}
        for record in records:
            lines.setdefault(FILES[type(record)], []).append(record.model_dump_json(exclude_defaults=True))
        for name, of_file in lines.items():
            self._append(name, of_file)

    def append_lines(self, lines: Iterable[str]) -> None:
        """Write records that stand as lines of the journal (`hockney.records.columns`)."""
        self._append(RECORDS, lines)

    def _append(self, name: str, lines: Iterable[str]) -> None:
        writing.append(self.own / name, lines)

    def end(self, ended: Ended) -> None:
        """Write down how this run of the campaign ended."""
        writing.replace(self.own / ENDED, ended.model_dump_json(indent=2) + "\n")

    def ends(self) -> dict[str, Ended]:
        """How each part was last left, by its job ("" where no job wrote); none of one that never said so."""
        ends = {}
        for folder in (self.path, *self.parts):
            with contextlib.suppress(reading.Absent, ValidationError):
                text = reading.text(folder / ENDED, within=self.path)
                ends["" if folder == self.path else folder.name] = Ended.model_validate_json(text)
        return ends

    def records(self) -> list[Record]:
        """All whole records, those in columns first, others as measured; a damaged line becomes a warning."""
        return [*(self._columns() or ()), *self._models(Record)]

    def columns(self) -> RecordColumns | None:
        """All records as columns; None where some stand as lines, or there are none.

        RequestError where the file is damaged.
        """
        lined = any((folder / RECORDS).exists() for folder in (self.path, *self.parts))
        return None if lined else self._columns()

    def _columns(self) -> RecordColumns | None:
        if not os.path.lexists(self.path / COLUMNS):
            return None
        # pandas takes longer to load than most verbs work.
        from hockney.records.columns import RecordColumns

        return RecordColumns.read(self.path / COLUMNS, within=self.path)

    def apps(self) -> list[AppRecord]:
        """All whole runs of applications in the order made; each damaged line becomes a warning."""
        return self._models(AppRecord)

    def effects(self) -> list[EffectRecord]:
        """All whole answers about effects in the order given; each damaged line becomes a warning."""
        return self._models(EffectRecord)

    def _models(self, kind: type[Dated]) -> list[Dated]:
        models: list[Dated] = []
        folders = [self.path, *self.parts]
        for path in filter(Path.exists, (folder / FILES[kind] for folder in folders)):
            for number, line in reading.lines(path, within=self.path):
                try:
                    models.append(kind.model_validate_json(line))
                except ValidationError as error:
                    self.warnings.append(f"{path}:{number}: damaged line skipped ({first_problem(error)})")
        # Each part is in order by itself.
        return sorted(models, key=lambda model: model.time) if len(folders) > 1 else models

    def launches(self) -> list[LaunchLine]:
        """Provenance of all launches, oldest first; damaged lines as of `records`."""
        return self._models(LaunchLine)

    def failures(self) -> list[FailureLine]:
        """Points and launches that failed, oldest first; damaged lines as of `records`."""
        return self._models(FailureLine)


def _expect_none(path: Path, names: Iterable[str]) -> None:
    present = [name for name in names if os.path.lexists(path / name)]
    if set(present) & {*JOURNALS, PARTS, JOBS}:
        raise RequestError(
            f"{path} already holds a campaign",
            "add --resume to go on with it, or choose another folder; nothing in it was changed",
        )
    if present:
        raise RequestError(
            f"{path} already holds {', '.join(present)}", "choose another folder; nothing in it was changed"
        )


def _expect_finished(path: Path) -> None:
    if (mark := _mark(path)) is not None:
        sources = ", ".join(mark.sources[:3]) + (" …" if len(mark.sources) > 3 else "")
        raise RequestError(
            f"{path} is not whole: `hockney {mark.verb}` of {sources} is writing it, or was ended in the middle",
            f"if none runs any more, give the same `hockney {mark.verb}` again: it begins anew",
        )


def _mark(path: Path) -> Unfinished | None:
    """What the mark in the folder says, None where there is none.

    RequestError where an import or a merge cannot have left it: what else is there would be taken for its own.
    """
    file = path / UNFINISHED
    if not os.path.lexists(file):
        return None
    try:
        mark = Unfinished.model_validate_json(reading.content(file, within=path))
    except reading.Absent:
        return None  # The import or the merge has ended in between.
    except (ValidationError, RequestError):
        mark = None
    try:
        plan = Campaign(path).plan()
    except RequestError:
        mark = None
    if mark is None or (plan != StoredPlan() and _IN_PLAN[mark.verb] not in plan.model_fields_set):
        raise RequestError(
            f"{file} says that an import or a merge is writing the folder, but none can have left it so",
            f"keep what you need of {path}, and import or merge into another folder; a campaign that was "
            "measured is whole without that file",
        )
    return mark


def _remove(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        with contextlib.suppress(OSError):
            (folder / name).unlink()
