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
from hockney.importers._copies import copied
from hockney.importers._labels import labels, places
from hockney.importers.base import IDLE, Given, Imported, Importer, importers, load_text
from hockney.records import table
from hockney.records.answers import first_problem
from hockney.records.app_record import AppRecord
from hockney.records.app_rows import joined
from hockney.records.columnar import RecordColumns, codes, prefixed, words
from hockney.records.columns import RECORD
from hockney.records.folder import PLAN, RECORDS, Campaign, Unfinished
from hockney.records.journal import LaunchLine, StoredPlan


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

    `records` are those of all files, one file after the other, and `file` the index of each one's file.
    """

    files: list[ImportedFile] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    records: RecordColumns = field(default_factory=lambda: RecordColumns.of([]))
    file: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

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
        self.files = [self.files[number] for number in left]


def collect(paths: Sequence[Path], given: Given, format_name: str | None = None) -> Collection:
    """Read all files, and those in folders; `format_name` forces one importer.

    RequestError where no file could be read; a single file's error is raised as it is.
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
    _fill(collection.records, given)
    _fill_apps(collection.files, given)
    _leave_out_copies(collection)
    _distinguish(collection, given)
    return collection


def _join(collection: Collection) -> None:
    """The records of all files in one table, out of their own lists."""
    parts, counts = [], []
    for is_table, files in groupby(collection.files, key=lambda file: file.content.columns is not None):
        contents = [file.content for file in files]
        counts += [content.count() - len(content.apps) for content in contents]
        if is_table:
            parts += [content.columns for content in contents if content.columns is not None]
        elif records := [record for content in contents for record in content.records]:
            parts.append(RecordColumns.of(records))
        for content in contents:
            content.records, content.columns = [], None
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
    try:
        read = [ImportedFile(path, name, unit.read(path, text, given), digest) for name, unit in fitting]
    except ValidationError as error:
        problem = first_problem(error)
        raise RequestError(f"{path}: {problem}", "correct the file, or leave it out") from error
    files = [file for file in read if file.content.count()]
    without = [reason for file in read if file not in files for reason in file.content.left_out()]
    if not files:
        because = f": {without[0]}" if without else ""
        raise RequestError(f"{path} holds no result{because}", "run the benchmark again, or leave the file out")
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
    files, frame = collection.files, collection.records.frame
    # These formats name the configuration themselves; the names of their files add nothing.
    is_text = np.array([file.format not in ("tidy", "pico") for file in files])
    prefixes = np.array([given.variant] * len(files), dtype=object)
    if not given.variant:
        of_texts = is_text[collection.file]
        place = np.cumsum(is_text)[collection.file[of_texts]] - 1
        paths = [file.path for file, is_text_file in zip(files, is_text, strict=True) if is_text_file]
        prefixes[is_text] = labels(paths, collection.records.where(of_texts), place)
    frame["variant"] = prefixed(frame["variant"], collection.file, prefixes.tolist())
    frame["launch"] = words(collection.file, [file.digest for file in files])
    repetition = _numbered(codes(frame, RECORD), frame["repetition"].to_numpy())
    renumbered = np.bincount(collection.file[repetition != frame["repetition"]], minlength=len(files))
    frame["repetition"] = repetition
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


def _fill(records: RecordColumns, given: Given) -> None:
    """Fill empty fields with what the user gave; where ranks idle, the nodes of the others are unknown.

    Without a forced algorithm, the library's own choice was measured.
    """
    frame = records.frame
    texts = {"system": given.system, "mpi": given.mpi, "mapping": given.mapping}
    for name, word in (texts | {"algorithm": given.algorithm or "default"}).items():
        column = frame[name].cat
        frame[name] = words(column.codes, [text or word for text in column.categories])
    idle = [IDLE.search(variant) is not None for variant in frame["variant"].cat.categories]
    some_idle = np.array(idle, dtype=bool)[frame["variant"].cat.codes]
    counts = {"ranks": given.ranks, "nodes": given.nodes, "ppn": given.ppn}
    for name, count in counts.items():
        if count is not None:
            unknown = frame[name].isna()
            if name == "ppn" or (name == "nodes" and count != 1):
                unknown &= ~some_idle
            frame[name] = frame[name].mask(unknown, count)
    pairs = (frame["locality"] == "") & (frame["ranks"] == 2).fillna(value=False).astype(bool)
    far = pairs & (frame["nodes"] == 2).fillna(value=False).astype(bool)
    locality = frame["locality"].astype(object).mask(pairs, given.locality or "").mask(far, "network")
    frame["locality"] = locality.astype("category")


def _fill_apps(files: Sequence[ImportedFile], given: Given) -> None:
    """As `_fill`, for runs; their variant is that of the folders that they come from."""
    fields = ("system", "mpi", "mapping", "nodes", "ppn")
    with_runs = [file for file in files if file.content.apps]
    for file, place in zip(with_runs, places([file.path for file in with_runs]), strict=True):
        variant = given.variant or ("" if file.format == "tidy" else place)
        for number, run in enumerate(file.content.apps):
            facts = {name: getattr(run, name) or getattr(given, name) for name in fields}
            facts |= {"variant": run.variant or variant, "launch": file.digest}
            file.content.apps[number] = run.model_copy(update=facts)


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
            campaign.append_lines(collection.records.lines())
            table.write(table.from_imported(collection.records, launches), campaign.table)
        campaign.append_all(collection.apps())
        at_end()
    return campaign


def _launch(file: ImportedFile, records: int) -> LaunchLine:
    metadata = dict(file.content.metadata)
    stated = {name: metadata.pop(name) for name in table.STATED if name in metadata}
    return LaunchLine(
        id=file.digest,
        time=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        imported=str(file.path),
        tool=file.content.tool,
        records=records,
        metadata=metadata,
        **stated,
    )
