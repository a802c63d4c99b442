"""The one writer of files: a file is replaced whole or not at all, a journal only grows by whole lines.

What cannot be written ends as `NotWritten`, which names the file and the reason. Other modules open no file to
write; `tests/test_house.py` holds them to it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shlex
import stat
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from hockney.errors import RequestError
from hockney.reading import printable, reason


class NotWritten(RequestError):
    """A file could not be written: no space, no right, no such folder. What was there before is unchanged."""


@contextlib.contextmanager
def _naming(path: Path, hint: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, UnicodeEncodeError) as error:
        why = "a name in it is no UTF-8" if isinstance(error, UnicodeEncodeError) else reason(error)
        if isinstance(error, FileNotFoundError) and not path.parent.exists():
            folder = printable(path.parent)[:400]
            why, hint = f"there is no folder {folder}", f"make it first: `mkdir -p {shlex.quote(folder)}`"
        raise NotWritten(f"cannot write {printable(path)[:400]}: {why}", hint) from error


_HINT = "choose another place, or make room"


@contextlib.contextmanager
def _beside(path: Path, rights: int) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file in the same folder, removed at the end unless it was moved away."""
    # Not made of the name, which may be as long as names can be.
    temporary = path.with_name(f".hockney-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, rights), "wb") as file:
            yield temporary, file
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


@contextlib.contextmanager
def replacing(path: Path, hint: str = _HINT) -> Iterator[BinaryIO]:
    """A new file in the place of `path`: a reader, or a kill, sees the old one or the whole new one.

    A device or a pipe is written to. NotWritten where that fails.
    """
    with _naming(path, hint):
        try:
            is_special = path.is_relative_to("/proc") or path.parent == Path("/dev")
            is_special = is_special or not stat.S_ISREG(path.stat().st_mode)
        except FileNotFoundError:
            is_special = False
        if is_special:
            with path.open("wb") as file:
                yield file
            return
        with _beside(path, 0o666) as (temporary, file):
            yield file
            file.close()
            temporary.replace(path)


def replace(path: Path, content: str | bytes, hint: str = _HINT) -> None:
    """Write a file whole, as `replacing` does."""
    with replacing(path, hint) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def make_private(path: Path, content: bytes, hint: str = _HINT) -> None:
    """Write a file that only this user may read, unless one is there.

    Of several writers at once the first one's stays, on a file system without links the last one's. NotWritten
    where that fails.
    """
    with _naming(path, hint), _beside(path, 0o600) as (temporary, file):
        file.write(content)
        file.flush()
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            pass
        except OSError:
            temporary.replace(path)


@contextlib.contextmanager
def replacing_text(path: Path, hint: str = _HINT) -> Iterator[TextIOWrapper]:
    """The same as `replacing` for a text that is written piece by piece."""
    with replacing(path, hint) as file:
        text = TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()


AT_ONCE = 10_000
"""Lines of a journal that are written together: an import has millions."""


def append(path: Path, lines: Iterable[str], hint: str = _HINT) -> None:
    """Add lines to a journal, on disk before returning; NotWritten where not all of them could be.

    A part of a line that was written is taken back.
    """
    # A link in a folder that somebody sent could lead to any file of the user's.
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    with _naming(path, hint), os.fdopen(os.open(path, flags, 0o666), "ab+", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        whole: Iterator[bytes] = (line.encode() + b"\n" for line in lines)
        # A line cut short by a kill must not swallow the next one.
        if end > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                whole = chain([b"\n"], whole)
        try:
            while data := b"".join(islice(whole, AT_ONCE)):
                rest = memoryview(data)
                while rest:
                    rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
        except OSError:
            with contextlib.suppress(OSError):
                file.truncate(end)
            raise


def expect_writable(path: Path, hint: str = _HINT) -> None:
    """NotWritten where no file of that name could be written, before anything is done for its sake."""
    with _naming(path, hint):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with _beside(path, 0o600):
            pass


def move_folder(path: Path, to: Path, hint: str = _HINT) -> None:
    """Move a folder as a whole to where there is none, on the same file system; NotWritten where that fails."""
    with _naming(to, hint):
        path.rename(to)


def make_folder(path: Path, hint: str = _HINT) -> None:
    """Make a folder and those above it, unless it is there; NotWritten where that fails."""
    with _naming(path, hint):
        path.mkdir(parents=True, exist_ok=True)


MOST_LOCKS = 100
"""Files of a lock, each removed by who held it, after which the lock counts as held."""


@contextlib.contextmanager
def locked(path: Path, *, wait: bool = False) -> Iterator[bool]:
    """Hold a lock while the block runs: whether it was free, or True where the file system has no locks.

    The block may remove the file of the lock. NotWritten where it cannot be made.
    """
    with contextlib.ExitStack() as held:
        for _ in range(MOST_LOCKS):
            with _naming(path, _HINT):
                try:
                    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
                except PermissionError:
                    # Another user's lock in a cache that is shared.
                    descriptor = os.open(path, os.O_RDONLY)
                held.callback(os.close, descriptor)
            is_free = True
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                is_free = False
            except OSError:
                # A file system without locks keeps nobody apart, and nobody out.
                pass
            # The one before may have removed the file, whose name a third process then locks anew.
            if not is_free or _is_at(descriptor, path):
                break
        else:
            is_free = False
        yield is_free


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether the file that is open is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
