"""What was imported: counts per file and operation, and everything that was left out with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path

import pandas as pd

from hockney.importers._collect import Collection
from hockney.importers._launch import COUNTS
from hockney.records.app_record import AppRecord
from hockney.records.columns import RecordColumns
from hockney.records.keys import POINT_TO_POINT
from hockney.records.next_step import next_step

_first = itemgetter(0)
_SUBJECT = ("system", "mpi", "algorithm", "mapping", "locality", "variant")


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
class SaidOfTables:
    """What the text around tables says: a field and its value, the words, where first, of how many tables."""

    field: str
    value: str | int
    words: str
    where: str
    tables: int


@dataclass(frozen=True)
class FoundSeries:
    """What was found, of what: measurements that differ in ranks and bytes alone.

    `subject` is all else that is known of them, `repetitions` the least and the most of a point, and `unknown`
    the options that say what is not known.
    """

    operation: str
    ranks: list[int]
    nodes: list[int]
    subject: str
    sizes: int
    repetitions: list[int]
    unknown: list[str]


@dataclass(frozen=True)
class ImportAnswer:
    """What was read into the campaign."""

    campaign: str
    records: int
    runs: int
    files: list[ReadFile]
    skipped: list[SkippedFile]
    notes: list[str]
    said: list[SaidOfTables]
    found: list[FoundSeries]

    @property
    def next_step(self) -> str:
        """The verb that goes on from it."""
        return next_step(Path(self.campaign), (name for file in self.files for name in file.operations))


def summary(collection: Collection, folder: Path) -> ImportAnswer:
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
        notes=list(collection.notes),
        said=_said(collection),
        found=_found(collection),
    )


def _said(collection: Collection) -> list[SaidOfTables]:
    facts = [pair for around in collection.around for pair in (*around.facts.items(), *around.forced().items())]
    of_words: dict[tuple[str, str | int, str], SaidOfTables] = {}
    for name, fact in facts:
        if fact.value is not None:
            key = (name, fact.value, fact.words)
            before = of_words.get(key, SaidOfTables(*key, fact.where, 0))
            of_words[key] = replace(before, tables=before.tables + 1)
    return list(of_words.values())


def _found(collection: Collection) -> list[FoundSeries]:
    """Records and runs by operation and subject."""
    columns = ["operation", *_SUBJECT, *COUNTS, "bytes", "statistic"]
    runs = [{name: getattr(run, name, "") for name in columns} | {"bytes": 0} for run in collection.apps()]
    rows = collection.records.frame[columns]
    if runs:
        rows = rows.astype(dict.fromkeys(("operation", *_SUBJECT, "statistic"), str))
        rows = pd.concat([rows, pd.DataFrame(runs, columns=columns).astype(rows.dtypes)])
    series = []
    for (operation, *words), of_it in sorted(rows.groupby(["operation", *_SUBJECT], observed=True), key=_first):
        subject = dict(zip(_SUBJECT, map(str, words), strict=True))
        lacking = {name: not subject[name] for name in ("system", "mpi", "mapping")}
        lacking |= {name: bool(of_it[name].isna().any()) for name in COUNTS}
        if is_pair := operation in POINT_TO_POINT and of_it["ranks"].eq(2).all():
            lacking |= dict.fromkeys(("mapping", "nodes", "ppn"), False)
        lacking |= {"locality": bool(is_pair) and not subject["locality"]}
        points = of_it.groupby([*COUNTS, "bytes", "statistic"], dropna=False, observed=True).size()
        series.append(
            FoundSeries(
                operation=str(operation),
                ranks=sorted(map(int, of_it["ranks"].dropna().unique())),
                nodes=sorted(map(int, of_it["nodes"].dropna().unique())),
                subject=", ".join(filter(None, subject.values())),
                sizes=int(of_it["bytes"].nunique()),
                repetitions=sorted({int(points.min()), int(points.max())}),
                unknown=[f"--{name}" for name, lacks in lacking.items() if lacks],
            )
        )
    return series


def _counted(records: RecordColumns, apps: Sequence[AppRecord]) -> dict[str, int]:
    of_records = records.frame["operation"].value_counts()
    counts = Counter({str(name): int(count) for name, count in of_records[of_records > 0].items()})
    counts.update(run.operation for run in apps)
    return dict(sorted(counts.items()))
