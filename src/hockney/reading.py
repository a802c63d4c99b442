"""The one reader of files: whatever a file holds, reading it ends, with its content or with a RequestError.

Only regular files are opened, so that nothing waits for a pipe or reads a device without end. A file may be as
large as `MOST_B`, packed data grow by `MOST_GROWTH` at most, and JSON is bounded in its depth and its numbers.
Other modules open no file to read; `tests/test_house.py` holds them to it.
"""

from __future__ import annotations

import io
import math
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO

from hockney.errors import RequestError
from hockney.units import format_bytes

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    import pandas as pd

MOST_B = 4 * 2**30
"""Of a table or a journal."""
MOST_DOCUMENT_B = 256 * 2**20
"""Of a file that one JSON value or one XML element fills."""
MOST_GROWTH = 100
"""Packed text grows by 10 to 40; the bombs of gzip and zlib by a thousand."""
LEAST_UNPACKED_B = 64 * 2**20
"""Small files may grow more."""
MOST_CELLS = 100_000_000
AT_ONCE = 10_000
"""Rows of a Parquet file that are unpacked together."""
MOST_MEMBERS = 200_000
MOST_WHOLE = 2**63
"""Whole numbers beyond it fit no column and no counter."""

GZIP_MAGIC = b"\x1f\x8b"
ARCHIVES = (".tar.gz", ".tgz", ".tar")
_CHUNK_B = 2**20
_HINT = "check the name and its rights"


class Absent(RequestError):
    """There is no such file."""


def printable(name: str | os.PathLike[str]) -> str:
    """A file's name as text that can be shown and stored: bytes that are no UTF-8 become `\\xNN`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def is_utf8(name: str | os.PathLike[str]) -> bool:
    """Whether a file's name can be stored as text."""
    return not re.search("[\udc80-\udcff]", os.fspath(name))


def content(path: Path, hint: str = _HINT, *, most_B: int = MOST_B, within: Path | None = None) -> bytes:
    """All bytes of a regular file, or of one inside an archive: `results.tar.gz/job/1.csv`.

    `within`: a link that leads out of this folder is refused. Absent where there is no such file; RequestError
    where it cannot be read, is no regular file, or is larger than `most_B`.
    """
    if (archive := _archive_of(path)) is not None:
        name = path.relative_to(archive).as_posix()
        if name not in (data_of := _members(archive, *_state(archive))):
            raise Absent(f"{printable(archive)} holds no file {name}", hint)
        return data_of[name]
    with _opened(path, hint, most_B, within) as file:
        try:
            data: bytes = file.read(os.fstat(file.fileno()).st_size + 1) or b""
            # The files of /proc and /sys say that they are empty.
            while len(data) <= most_B and (more := file.read(_CHUNK_B)):
                data += more
        except OSError as error:
            # Drivers refuse what their device does not have: the speed of a link that is down.
            raise RequestError(f"cannot read {_short(printable(path))}: {reason(error)}", hint) from error
    if len(data) > most_B:
        raise _too_large(path, most_B, hint)
    return data


def beginning(path: Path, size_B: int, hint: str = _HINT) -> bytes:
    """The first bytes of a file; errors as of `content`."""
    if _archive_of(path) is not None:
        return content(path, hint)[:size_B]
    with _opened(path, hint, sys.maxsize, None) as file:
        return file.read(size_B) or b""


def unlinked(path: Path, expect: Callable[[os.stat_result], None]) -> bytes:
    """All of a file that is no link, once `expect` has seen whose it is; OSError where it cannot be read."""
    # A pipe without a writer would keep a plain open() waiting.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags), "rb") as file:
        expect(os.fstat(file.fileno()))
        return file.read() or b""


def lines(path: Path, hint: str = _HINT, *, within: Path | None = None) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not blank, numbered from 1, read one by one; errors as of `content`."""
    with _opened(path, hint, MOST_B, within) as file:
        for number, line in enumerate(file, 1):
            if not line.isspace():
                yield number, line


def unpacked(path: Path, hint: str = _HINT) -> bytes:
    """All bytes of a file, unpacked where it is gzip; RequestError where that is damaged or grows too large."""
    import gzip
    import zlib

    data = content(path, hint)
    if not data.startswith(GZIP_MAGIC):
        return data
    most_B = _most_unpacked_B(len(data))
    parts, size_B = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while part := file.read(_CHUNK_B):
                parts.append(part)
                size_B += len(part)
                if size_B > most_B:
                    raise RequestError(
                        f"{printable(path)} unpacks to more than {most_B // 2**20} MiB",
                        "no results are packed so densely; unpack it yourself if it is right",
                    )
    except (OSError, EOFError, zlib.error) as error:
        raise RequestError(
            f"{printable(path)} is damaged gzip: {error}", "restore the file from a copy"
        ) from error
    return b"".join(parts)


def _most_unpacked_B(packed_B: int) -> int:
    return min(MOST_B, max(LEAST_UNPACKED_B, MOST_GROWTH * packed_B))


def text(path: Path, hint: str = _HINT, *, within: Path | None = None) -> str:
    """The text of a file in UTF-8; RequestError where it is none, otherwise as of `content`."""
    try:
        return content(path, hint, most_B=MOST_DOCUMENT_B, within=within).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequestError(f"{printable(path)} is not text (byte {error.start})", hint) from error


def json_file(path: Path, hint: str = _HINT, *, within: Path | None = None) -> Any:
    """The JSON value that fills a file; RequestError where it is damaged, too deep or holds absurd numbers."""
    return parsed(text(path, hint, within=within), printable(path), hint)


def parsed(text: str | bytes, name: str, hint: str, *, line: int = 1) -> Any:
    """The value of a JSON text that begins on that line of the file `name`. Errors as of `json_file`."""
    # A list of verbs reads no JSON, and does without it.
    from pydantic_core import from_json

    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        what = str(error).replace("recursion limit exceeded", "nested too deeply")
        place = re.fullmatch(r"(.*) at line (\d+) column (\d+)", what)
        if place:
            name, what = f"{name}:{line + int(place[2]) - 1}", f"{place[1]}, column {place[3]}"
        raise RequestError(f"{name}: damaged JSON ({what})", hint) from error
    if has_absurd_number(value):
        raise RequestError(f"{name}: damaged JSON (it holds a number that is too large)", hint)
    return value


def toml(text: str, name: str, hint: str) -> Any:
    """TOML of a text that was read from `name`; RequestError where it is none."""
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise RequestError(f"{printable(name)} is no TOML: {str(error).splitlines()[0][:200]}", hint) from error


def has_absurd_number(value: Any) -> bool:
    """Whether a number of a JSON value is too large, though JSON can write it: 1e999, 10^30 as a whole number."""
    todo = [value]
    while todo:
        match todo.pop():
            case dict() as inner:
                todo += inner.values()
            case list() as inner:
                todo += inner
            case int() as whole if not -MOST_WHOLE <= whole < MOST_WHOLE:
                return True
            case float() as real if not math.isfinite(real):
                return True
    return False


def xml(path: Path, hint: str) -> Element:
    """The root of an XML file; RequestError where it is none, or declares entities: they may grow without end."""
    from xml.etree import ElementTree

    data = content(path, hint, most_B=MOST_DOCUMENT_B)
    # In UTF-16 the word would be hidden, and no platform is written so.
    if b"<!ENTITY" in data or data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        raise RequestError(f"{printable(path)} declares entities, or is not in UTF-8", hint)
    try:
        return ElementTree.fromstring(data)
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise RequestError(f"{printable(path)} is no XML: {error}", hint) from error


def parquet(path: Path, hint: str, *, within: Path | None = None) -> pd.DataFrame:
    """The table of a Parquet file; RequestError where it is damaged or larger than `MOST_CELLS`."""
    from pyarrow import Table  # type: ignore[import-untyped]
    from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]

    data = content(path, hint, within=within)
    try:
        file = ParquetFile(io.BytesIO(data))
        if file.metadata.num_rows * max(1, file.metadata.num_columns) <= MOST_CELLS:
            batches, left_B = [], _most_unpacked_B(len(data))
            for batch in file.iter_batches(batch_size=AT_ONCE):
                batches.append(batch)
                left_B -= batch.nbytes
                if left_B < 0:
                    break
            else:
                rows = Table.from_batches(batches, file.schema_arrow)
                # pandas would find a text that is not UTF-8 only when somebody asks for it.
                rows.validate(full=True)
                frame: pd.DataFrame = rows.to_pandas()
                frame.columns = frame.columns.map(str)
                return frame
    except Exception as error:
        # Damage shows as any kind of error, of the decoder's or of what pandas kept in the file.
        if isinstance(error, MemoryError) and not type(error).__name__.startswith("Arrow"):
            raise
        words = str(error).strip().splitlines() or [type(error).__name__]
        raise RequestError(f"{printable(path)} cannot be read: {words[0][:200]}", hint) from error
    raise RequestError(
        f"{printable(path)} unpacks to more than {MOST_CELLS} values, or {MOST_GROWTH} times its size", hint
    )


def is_archive(path: Path) -> bool:
    """Whether the name is that of a tar archive."""
    return path.name.endswith(ARCHIVES)


def members(archive: Path) -> list[Path]:
    """The regular files of a tar archive as paths below it, sorted; RequestError where it is damaged."""
    return [archive / name for name in _members(archive, *_state(archive))]


def below(folder: Path, pattern: str) -> list[Path]:
    """The files below a folder, or a folder in an archive, that fit a pattern such as `*/*.csv`, sorted."""
    archive = folder if is_archive(folder) and folder.is_file() else _archive_of(folder)
    if archive is None:
        return sorted(folder.glob(pattern))
    prefix = "" if folder == archive else f"{folder.relative_to(archive).as_posix()}/"
    names = (name.removeprefix(prefix) for name in _members(archive, *_state(archive)) if name.startswith(prefix))
    depth = pattern.count("/")
    return [folder / name for name in names if name.count("/") == depth and PurePosixPath(name).match(pattern)]


def is_file(path: Path) -> bool:
    """Whether there is a file, or one in an archive; False for a name that no file can have."""
    if (archive := _archive_of(path)) is not None:
        return path.relative_to(archive).as_posix() in _members(archive, *_state(archive))
    try:
        return path.is_file()
    except OSError:
        return False


def _archive_of(path: Path) -> Path | None:
    return next((above for above in path.parents if is_archive(above) and above.is_file()), None)


def _state(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


@lru_cache(maxsize=1)
def _members(archive: Path, _size_B: int, _changed_ns: int) -> dict[str, bytes]:
    """The regular files of an archive, sorted by name, without links and names that lead out of it."""
    import tarfile

    hint = "restore the archive from a copy"
    data = unpacked(archive, hint)
    data_of: dict[str, bytes] = {}
    held_B = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for member in tar:
                name = PurePosixPath(member.name)
                if not member.isreg() or name.is_absolute() or ".." in name.parts or not is_utf8(member.name):
                    continue
                # Sparse files may be larger than the archive.
                held_B += member.size
                if held_B > len(data) or len(data_of) == MOST_MEMBERS:
                    raise RequestError(f"{printable(archive)} holds too much at {name}", hint)
                file = tar.extractfile(member)
                data_of[name.as_posix()] = b"" if file is None else file.read()
    except (tarfile.TarError, OSError, EOFError, ValueError, OverflowError) as error:
        raise RequestError(f"{printable(archive)} is no whole tar archive: {error}", hint) from error
    return dict(sorted(data_of.items()))


def _opened(path: Path, hint: str, most_B: int, within: Path | None) -> BinaryIO:
    name = printable(path)
    if within is not None and path.is_symlink():
        target, root = os.path.realpath(path), os.path.realpath(within)
        if os.path.commonpath([target, root]) != root:
            raise RequestError(f"{name} is a link out of its folder", "put the file itself there")
    try:
        # A pipe without a writer would keep a plain open() waiting.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise Absent(f"{name} does not exist", hint) from error
    except (OSError, ValueError) as error:
        raise RequestError(f"cannot read {_short(name)}: {reason(error)}", hint) from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > most_B:
        os.close(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise RequestError(f"{name} is a folder, not a file", hint)
        if not stat.S_ISREG(status.st_mode):
            raise RequestError(f"{name} is a pipe or a device, not a file", "copy what it gives into a file")
        raise _too_large(path, most_B, hint)
    return os.fdopen(descriptor, "rb")


def _too_large(path: Path, most_B: int, hint: str) -> RequestError:
    return RequestError(f"{printable(path)} is larger than {format_bytes(most_B)}", hint)


def reason(error: OSError | ValueError) -> str:
    """Why the operating system refused, in its words."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _short(name: str) -> str:
    return name if len(name) <= 200 else f"{name[:200]}…"


def expect_version(version: object, newest: int, path: Path | str) -> None:
    """RequestError for a file of a newer version than this hockney reads; what is no number is told elsewhere."""
    if type(version) is int and version > newest:
        raise RequestError(
            f"{path} has schema version {version}; this hockney reads up to version {newest}",
            "upgrade hockney: `git pull` in its clone, and install it again",
        )
