"""One campaign from files and folders: find, recognise and read them, keep configurations apart."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hockney import reading
from hockney.errors import RequestError
from hockney.importers._copies import copied
from hockney.importers._labels import identity, labels
from hockney.importers.base import IDLE, Given, Imported, Importer, importers, load_text
from hockney.records import table
from hockney.records.answers import first_problem
from hockney.records.folder import LAUNCHES, PLAN, RECORDS, TABLE, Campaign
from hockney.records.record import Record


@dataclass
class ImportedFile:
    """A file and what was read from it by the importer of that name."""

    path: Path
    format: str
    content: Imported
    digest: str


@dataclass
class Collection:
    """What the given files hold: `files` have records, `skipped` are (file, reason) of all others."""

    files: list[ImportedFile] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)


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
    for file in collection.files:
        for record in file.content.records:
            _fill(record, given)
    _leave_out_copies(collection)
    _distinguish(collection.files, given)
    return collection


def _leave_out_copies(collection: Collection) -> None:
    """Leave out of each tidy table the records of other given files from which it was made."""
    kept = [file for file in collection.files if file.format != "tidy"]
    for file in [file for file in collection.files if file.format == "tidy"]:
        others = (record for other in kept for record in other.content.records)
        copies = {id(record) for record in copied(file.content.records, others)}
        if copies:
            share = f"{len(copies)} of {len(file.content.records)}"
            reason = f"{share} points are in other files too, with the same values"
            file.content.records = [record for record in file.content.records if id(record) not in copies]
            if not file.content.records:
                collection.skipped.append((str(file.path), f"all {reason}; a copy is no repetition"))
                continue
            file.content.warnings.append(f"{file.path}: {reason}; left out, for a copy is no repetition")
        kept.append(file)
    collection.files = [file for file in collection.files if file in kept]


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
    files = [file for file in read if file.content.records]
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


def _distinguish(files: Sequence[ImportedFile], given: Given) -> None:
    """Name the variants, number the repetitions."""
    # These formats name the configuration themselves; the names of their files add nothing.
    texts = [file for file in files if file.format not in ("tidy", "pico")]
    file_labels = labels([file.path for file in texts], [file.content.records for file in texts])
    variants = {} if given.variant else {id(file): label for file, label in zip(texts, file_labels, strict=True)}
    taken: set[tuple[object, ...]] = set()
    following: dict[tuple[object, ...], int] = {}
    for file in files:
        variant = variants.get(id(file), given.variant)
        renumbered = 0
        for record in file.content.records:
            record.variant = ", ".join(filter(None, [variant, record.variant]))
            record.launch = file.digest
            point = identity(record)
            if (*point, record.repetition) in taken:
                record.repetition = following[point]
                renumbered += 1
            taken.add((*point, record.repetition))
            following[point] = max(following.get(point, 0), record.repetition + 1)
        if renumbered and file.format == "tidy":
            file.content.warnings.append(
                f"{file.path}: {renumbered} rows repeat an earlier point; kept as further repetitions"
            )


def _fill(record: Record, given: Given) -> None:
    """Fill empty fields with what the user gave; where ranks idle, the nodes of the others are unknown.

    Without a forced algorithm, the library's own choice was measured.
    """
    for name in ("system", "mpi", "mapping", "ranks"):
        if getattr(record, name) in ("", None):
            setattr(record, name, getattr(given, name))
    record.algorithm = record.algorithm or given.algorithm or "default"
    some_idle = IDLE.search(record.variant) is not None
    if record.nodes is None and (not some_idle or given.nodes == 1):
        record.nodes = given.nodes
    if record.ppn is None and not some_idle:
        record.ppn = given.ppn
    if record.locality is None and record.ranks == 2:
        record.locality = "network" if record.nodes == 2 else given.locality


def write(collection: Collection, folder: Path, given: Given) -> Campaign:
    """The campaign: plan, one launch per file, records, tidy table; nothing is left behind if it fails.

    RequestError where a campaign is there already, or the folder cannot be written.
    """
    there_before = folder.exists()
    plan = {
        "imported": [str(file.path) for file in collection.files],
        "given": {name: value for name, value in given.model_dump().items() if value},
    }
    campaign = Campaign.create(folder, plan)
    try:
        launches = [_launch(file) for file in collection.files]
        for launch in launches:
            campaign.append_launch(launch)
        records = [record for file in collection.files for record in file.content.records]
        campaign.append_all(records)
        table.write(table.from_records(records, launches), folder / TABLE)
    except BaseException:
        for name in (PLAN, LAUNCHES, RECORDS, TABLE):
            with suppress(OSError):
                (folder / name).unlink()
        if not there_before:
            with suppress(OSError):
                folder.rmdir()
        raise
    return campaign


def _launch(file: ImportedFile) -> dict[str, Any]:
    metadata = dict(file.content.metadata)
    limits = metadata.pop("eager_limit_B", None)
    launch = {
        "id": file.digest,
        "time": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "imported": str(file.path),
        "tool": file.content.tool,
        "records": len(file.content.records),
        "metadata": metadata,
    }
    return launch | ({"eager_limit_B": limits} if limits else {})


def summary(collection: Collection, folder: Path) -> dict[str, Any]:
    """What `--json` prints: counts per file and operation, everything that was left out with its reason."""
    return {
        "campaign": str(folder),
        "records": sum(len(file.content.records) for file in collection.files),
        "files": [
            {
                "file": str(file.path),
                "format": file.format,
                "records": len(file.content.records),
                "operations": dict(sorted(Counter(r.operation for r in file.content.records).items())),
                "variants": sorted({record.variant for record in file.content.records}),
                "warnings": file.content.left_out(),
            }
            for file in collection.files
        ],
        "skipped": [{"file": file, "reason": reason} for file, reason in collection.skipped],
    }
