"""What was imported: counts per file and operation, and everything that was left out with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney.importers._collect import Collection, ImportedFile
from hockney.importers.base import Given
from hockney.records.app_record import AppRecord
from hockney.records.columnar import RecordColumns
from hockney.records.next_step import next_step


@dataclass(frozen=True)
class ReadFile:
    """A file that was read."""

    file: str
    format: str
    records: int
    runs: int
    operations: dict[str, int]
    variants: list[str]
    warnings: list[str]


@dataclass(frozen=True)
class SkippedFile:
    """A file that is no result."""

    file: str
    reason: str


@dataclass(frozen=True)
class ImportAnswer:
    """What was read into the campaign."""

    campaign: str
    records: int
    runs: int
    files: list[ReadFile]
    skipped: list[SkippedFile]
    notes: list[str]

    @property
    def next_step(self) -> str:
        """The verb that goes on from it."""
        return next_step(Path(self.campaign), (name for file in self.files for name in file.operations))


def summary(collection: Collection, folder: Path, given: Given) -> ImportAnswer:
    """What a collection brought into a campaign's folder."""
    return ImportAnswer(
        campaign=str(folder),
        records=len(collection.records),
        runs=len(collection.apps()),
        files=[
            ReadFile(
                file=str(file.path),
                format=file.format,
                records=len(records),
                runs=len(file.content.apps),
                operations=_counted(records, file.content.apps),
                variants=sorted({*records.frame["variant"], *(run.variant for run in file.content.apps)}),
                warnings=file.content.left_out(),
            )
            for file, records in collection.by_file()
        ],
        skipped=[SkippedFile(file, reason) for file, reason in collection.skipped],
        notes=_unused(collection.files, given),
    )


def _counted(records: RecordColumns, apps: Sequence[AppRecord]) -> dict[str, int]:
    return dict(sorted(Counter([*records.frame["operation"].tolist(), *(run.operation for run in apps)]).items()))


def _unused(files: Sequence[ImportedFile], given: Given) -> list[str]:
    """What the user gave that files had no use for, because they say it themselves."""
    own = [str(file.path) for file in files if not file.content.is_of_given_statistic]
    if not given.statistic or not own:
        return []
    shown = ", ".join(own[:3]) + (" …" if len(own) > 3 else "")
    return [
        f"--statistic {given.statistic} was not used for {len(own)} of {len(files)} files, "
        f"which say themselves which times they hold: {shown}"
    ]
