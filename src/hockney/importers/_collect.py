"""One campaign from files and folders: find, recognise and read them, keep configurations apart."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import ValidationError

from hockney import reading
from hockney.errors import RequestError
from hockney.importers._copies import copied, unlike
from hockney.importers._fill import SAID, against, fill
from hockney.importers._labels import names_apart, places, settings_apart
from hockney.importers.base import (
    NOTHING,
    AroundTable,
    Given,
    Imported,
    Importer,
    Overriding,
    importers,
    load_text,
)
from hockney.records import table
from hockney.records.answers import first_problem
from hockney.records.app_record import AppRecord
from hockney.records.app_rows import joined
from hockney.records.columns import RECORD, STATED, RecordColumns, codes, prefixed, words
from hockney.records.folder import COLUMNS, PLAN, RECORDS, Campaign, Unfinished
from hockney.records.journal import LaunchLine, StoredPlan

MANY = 100_000
"""Records that stand as columns in a campaign: as lines they take four times the room of their table."""


@dataclass
class ImportedFile:
    """A file and what was read from it by the importer of that name."""

    path: Path
    format: str
    content: Imported
    digest: str


@dataclass
class Collection:
    """What the given files hold: `files` have records, `skipped` are (file, reason) of all others.

    `records` are those of all files, one file after the other, `file` the index of each one's file, and `table`
    that of what is said around its table in `around`.
    """

    files: list[ImportedFile] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    records: RecordColumns = field(default_factory=lambda: RecordColumns.of([]))
    file: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    table: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    around: list[AroundTable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def by_file(self) -> Iterator[tuple[ImportedFile, RecordColumns]]:
        """Each file with its records."""
        ends = np.cumsum(np.bincount(self.file, minlength=len(self.files))).tolist()
        for file, bounds in zip(self.files, pairwise([0, *ends]), strict=True):
            yield file, self.records.where(slice(*bounds))

    def apps(self) -> list[AppRecord]:
        """Runs of applications of all files; those that differ in nothing but their times are one."""
        return joined(
            [app.model_copy(update={"launch": file.digest}) for file in self.files for app in file.content.apps]
        )

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Leave out all records but these, and files that have neither any nor a run."""
        with_runs = [number for number, file in enumerate(self.files) if file.content.apps]
        left = np.union1d(self.file[kept], np.array(with_runs, dtype=np.intp))
        self.file, self.records = np.searchsorted(left, self.file[kept]), self.records.where(kept)
        self.table = self.table[kept]
        self.files = [self.files[number] for number in left]


def collect(
    paths: Sequence[Path],
    given: Given,
    format_name: str | None = None,
    *,
    located: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame,
) -> Collection:
    """Read all files, and those in folders; `format_name` forces one importer.

    `located` says of records between two ranks how far these are apart, where that is unknown.
    RequestError where no file could be read; a single file's error is raised as it is.
    An option overrides what every table's text says alike; where texts differ, it can only mean the others.
    """
    only = None if format_name is None else (format_name, importers.get(format_name))
    collection = Collection()
    seen: dict[str, Path] = {}
    todo = [*_walk(paths, collection.skipped)][::-1]
    while todo:
        path = todo.pop()
        try:
            if reading.is_archive(path):
                todo += reading.members(path)[::-1]
            else:
                collection.files += _read(path, given, only, seen)
        except RequestError as error:
            if [path] == list(paths):
                raise
            message = error.message.removeprefix(str(path)).lstrip(" ,:").removeprefix("is ")
            collection.skipped.append((str(path), f"{message}; {error.hint}"))
    if not collection.files:
        raise _nothing_at_all(paths, collection.skipped)
    _join(collection)
    subject = collection.records, collection.table, collection.around
    overriding, notes = against(*subject, given)
    if overriding and not isinstance(given, Overriding):
        return collect(
            paths, Overriding(**given.model_dump(), overriding=overriding), format_name, located=located
        )
    collection.notes += notes
    fill(*subject, given)
    _fill_apps(collection.files, given)
    frame = located(collection.records.frame)
    collection.records.frame = frame.assign(locality=frame["locality"].astype("category"))
    if idle := _idle(collection, given):
        collection.notes.append(
            f"{', '.join(idle)}: no record has it: all say something else, or it is of others"
        )
    if empty := int(table.does_nothing(collection.records.frame).sum()):
        collection.notes.append(f"{empty} rows of 0 bytes are calls that do nothing: kept, and never fitted")
    _leave_out_copies(collection)
    _distinguish(collection, given)
    return collection


def _join(collection: Collection) -> None:
    """The records of all files in one table, out of their own lists."""
    parts, counts = [], []
    lengths: list[int] = []
    for is_table, files in groupby(collection.files, key=lambda file: file.content.columns is not None):
        contents = [file.content for file in files]
        counts += [content.count() - len(content.apps) for content in contents]
        if is_table:
            parts += [content.columns for content in contents if content.columns is not None]
        elif records := [record for content in contents for record in content.records]:
            parts.append(RecordColumns.of(records))
        for content in contents:
            tables = content.around or [(0, NOTHING)]
            ends = [*(start for start, _ in tables[1:]), content.count() - len(content.apps)]
            collection.around += [around for _, around in tables]
            lengths += [end - start for (start, _), end in zip(tables, ends, strict=True)]
            content.records, content.columns = [], None
    collection.table = np.repeat(np.arange(len(lengths)), lengths)
    collection.records = RecordColumns.joined(parts or [RecordColumns.of([])])
    collection.file = np.repeat(np.arange(len(counts)), counts)


def _leave_out_copies(collection: Collection) -> None:
    """Leave out of each tidy table the records of other given files from which it was made."""
    is_table = np.array([file.format == "tidy" for file in collection.files])
    if len(is_table) == 1 or not is_table.any():
        return
    frame, kept = collection.records.frame, ~is_table[collection.file]
    # The program that measured is not compared, because a table need not name it.
    point, value = codes(frame, [name for name in RECORD if name != "source"]), frame["value"].to_numpy()
    for number in np.flatnonzero(is_table):
        file, own = collection.files[number], collection.file == number
        copies = copied(point, value, own, kept)
        if copies:
            share = f"{len(copies)} of {np.count_nonzero(own)}"
            reason = f"{share} points are in other files too, with the same values"
            own[copies] = False
            if own.any():
                file.content.warnings.append(f"{file.path}: {reason}; left out, for a copy is no repetition")
            else:
                collection.skipped.append((str(file.path), f"all {reason}; a copy is no repetition"))
        kept |= own
    collection.keep(kept)


def _read(
    path: Path, given: Given, only: tuple[str, Importer] | None, seen: dict[str, Path]
) -> list[ImportedFile]:
    """The records that each fitting importer reads: a text may hold the output of several programs."""
    text = load_text(path)
    fitting = [only] if only else [unit for unit in importers if unit[1].recognises(path, text)]
    if len(fitting) > 1:
        # Any csv may be a tidy table; the header of another program's is certain.
        fitting = [unit for unit in fitting if unit[0] != "tidy"]
    if not fitting:
        raise RequestError(f"{path} is no benchmark result", f"formats known: {', '.join(importers.names())}")
    digest = hashlib.sha256(text.encode() or reading.content(path)).hexdigest()[:16]
    if digest in seen:
        raise RequestError(f"{path} has the same content as {seen[digest]}", "a copy is no repetition")
    seen[digest] = path
    if [name for name, _ in fitting] == ["tidy"]:
        text = ""  # It reads the file again, row by row; a large text need not be held beside its rows.
    try:
        read = [ImportedFile(path, name, unit.read(path, text, given), digest) for name, unit in fitting]
    except ValidationError as error:
        problem = first_problem(error)
        raise RequestError(f"{path}: {problem}", "correct the file, or leave it out") from error
    files = [file for file in read if file.content.count()]
    without = [reason for file in read if file not in files for reason in file.content.left_out()]
    if not files:
        because = f": {without[0]}" if without else ""
        raise RequestError(
            f"{path} holds no result{because}", "leave the file out; run the benchmark again if it did not finish"
        )
    files[0].content.warnings += without
    return files


def _walk(paths: Iterable[Path], skipped: list[tuple[str, str]]) -> Iterable[Path]:
    """The files to read, each once, also where a link leads to it."""
    done: set[str] = set()
    for given in paths:
        for path in _in_folder(given, skipped) if given.is_dir() else [given]:
            if (target := os.path.realpath(path)) not in done:
                done.add(target)
                yield path


def _in_folder(given: Path, skipped: list[tuple[str, str]]) -> list[Path]:
    files: list[Path] = []
    before = len(skipped)
    for folder, subfolders, names in os.walk(given):
        if {RECORDS, PLAN} & set(names):
            subfolders.clear()
            skipped.append((folder, "a campaign already (join campaigns with `hockney merge`)"))
            continue
        reasons = {name: _why_skipped(Path(folder, name), given) for name in (*subfolders, *names)}
        skipped += [(reading.printable(Path(folder, name)), why) for name, why in reasons.items() if why]
        subfolders[:] = sorted(name for name in subfolders if not reasons[name])
        files += [Path(folder, name) for name in sorted(names) if not reasons[name]]
    if not files and len(skipped) == before:
        skipped.append((str(given), "a folder without files to import"))
    return files


def _why_skipped(path: Path, given: Path) -> str:
    """Why what a folder holds is left alone; "" where it is not."""
    if path.name[0] == ".":
        return "hidden"
    if not reading.is_utf8(path.name):
        return "its name is not UTF-8"
    if path.is_symlink():
        target = Path(os.path.realpath(path))
        if target.is_dir() or not target.is_relative_to(os.path.realpath(given)):
            return "a link to a folder, or out of this one; give what it leads to by its own name"
    return ""


def _nothing_at_all(paths: Sequence[Path], skipped: Sequence[tuple[str, str]]) -> RequestError:
    # What is missing beside a result says more than that another file is none.
    common = ("hidden", "a binary file", "no benchmark result", "empty")
    telling = sorted(skipped, key=lambda skip: skip[1].startswith(common))
    shown = "; ".join(f"{file}: {reason}" for file, reason in telling[:3])
    more = f"; and {len(skipped) - 3} more" if len(skipped) > 3 else ""
    names = ", ".join(map(str, paths[:3])) + (" …" if len(paths) > 3 else "")
    return RequestError(
        f"nothing to import in {names}: {shown}{more}",
        f"give results in one of the formats {', '.join(f'{name} ({unit.title})' for name, unit in importers)}",
    )


def _distinguish(collection: Collection, given: Given) -> None:
    """Name the variants, number the repetitions."""
    files, frame, table = collection.files, collection.records.frame, collection.table
    # These formats name the configuration themselves; the names of their files add nothing.
    is_text = np.array([file.format not in ("tidy", "pico") for file in files])
    texts, of_texts = [files[number].path for number in np.flatnonzero(is_text)], is_text[collection.file]
    own, prefixes = frame["variant"], np.array([given.variant] * len(files), dtype=object)
    if not given.variant:
        prefixes[is_text] = places(texts)
    frame["variant"] = prefixed(own, collection.file, prefixes.tolist())
    settings = settings_apart(frame, table, collection.around)
    if not given.variant:
        frame["variant"] = prefixed(frame["variant"], table, settings)
        place = np.cumsum(is_text)[collection.file[of_texts]] - 1
        text_rows = frame[of_texts]
        apart = names_apart(
            texts, codes(text_rows, (*RECORD, "repetition")), text_rows["ranks"].isna().to_numpy(), place
        )
        prefixes[is_text] = ["/".join(filter(None, both)) for both in zip(prefixes[is_text], apart, strict=True)]
    frame["variant"] = prefixed(own, table, settings)
    frame["variant"] = prefixed(frame["variant"], collection.file, prefixes.tolist())
    frame["launch"] = words(collection.file, [file.digest for file in files])
    repetition = _numbered(codes(frame, RECORD), frame["repetition"].to_numpy())
    renumbered = np.bincount(collection.file[repetition != frame["repetition"]], minlength=len(files))
    frame["repetition"] = repetition
    for place, question in unlike(frame, table, of_texts):
        files[collection.file[place]].content.warnings.append(question)
    for file, count in zip(files, renumbered.tolist(), strict=True):
        if count and file.format == "tidy":
            file.content.warnings.append(
                f"{file.path}: {count} rows repeat an earlier point; kept as further repetitions"
            )


def _numbered(point: NDArray[np.int64], repetition: NDArray[np.int64]) -> NDArray[np.int64]:
    """The repetition of each record, the next free one where an earlier record of its point has the same."""
    numbers = repetition.copy()
    doubled = pd.DataFrame({"point": point, "repetition": repetition}).duplicated()
    taken: set[tuple[int, int]] = set()
    following: dict[int, int] = {}
    for place in np.flatnonzero(np.isin(point, point[doubled])).tolist():
        of, number = int(point[place]), int(repetition[place])
        if (of, number) in taken:
            number = numbers[place] = following[of]
        taken.add((of, number))
        following[of] = max(following.get(of, 0), number + 1)
    return numbers


def _fill_apps(files: Sequence[ImportedFile], given: Given) -> None:
    """As `fill`, for runs; their variant is that of the folders and files that they come from."""
    fields = ("system", "mpi", "mapping", "nodes", "ppn")
    with_runs = [file for file in files if file.content.apps]
    paths = [file.path for file in with_runs]
    folders = places(paths)
    runs = [(place, run) for place, file in enumerate(with_runs) for run in file.content.apps]
    point, _ = pd.factorize(
        np.array([f"{run.operation} {run.ranks} {run.parameters} {folders[place]}" for place, run in runs])
    )
    names = names_apart(paths, point, np.zeros(len(runs), dtype=bool), np.array([place for place, _ in runs]))
    for file, folder, name in zip(with_runs, folders, names, strict=True):
        variant = given.variant or ("" if file.format == "tidy" else "/".join(filter(None, (folder, name))))
        for number, run in enumerate(file.content.apps):
            facts = {name: getattr(run, name) or getattr(given, name) for name in fields}
            facts |= {"variant": run.variant or variant, "launch": file.digest}
            file.content.apps[number] = run.model_copy(update=facts)


def _idle(collection: Collection, given: Given) -> list[str]:
    """The user's options, as they were written, that no record and no run has."""
    runs = [run for file in collection.files for run in file.content.apps]
    idle = []
    for name in (*SAID, "system", "locality", "statistic"):
        have = {*collection.records.frame[name].dropna().unique(), *(getattr(run, name, None) for run in runs)}
        if (word := getattr(given, name)) and word not in have:
            idle.append(f"--{name} {word}")
    return idle


def write(
    collection: Collection, folder: Path, given: Given, at_end: Callable[[], object] = lambda: None
) -> Campaign:
    """The campaign: plan, one launch per file, records, tidy table; nothing is left behind if it fails.

    `at_end` is called when all is written, before it counts.
    RequestError where a campaign is there already, or the folder cannot be written.
    """
    plan = StoredPlan(
        imported=[str(file.path) for file in collection.files],
        given={name: value for name, value in given.model_dump().items() if value},
    )
    mark = Unfinished(verb="import", sources=[reading.printable(file.path) for file in collection.files])
    with Campaign.whole(folder, mark, plan) as campaign:
        launches = [
            _launch(file, len(records) + len(file.content.apps)) for file, records in collection.by_file()
        ]
        campaign.append_all(launches)
        if len(collection.records):
            if len(collection.records) >= MANY and collection.records.is_plain:
                collection.records.write(folder / COLUMNS)
            else:
                campaign.append_lines(collection.records.lines())
            table.write(table.from_imported(collection.records, launches, as_text=False), campaign.table)
        campaign.append_all(collection.apps())
        at_end()
    return campaign


def _launch(file: ImportedFile, records: int) -> LaunchLine:
    metadata = dict(file.content.metadata)
    stated = {name: metadata.pop(name) for name in STATED if name in metadata}
    return LaunchLine(
        id=file.digest,
        time=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        imported=str(file.path),
        tool=file.content.tool,
        records=records,
        metadata=metadata,
        **stated,
    )
