"""The cache: compiled runners, computed numbers and other files that can be made again."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import metadata
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

from pydantic import ConfigDict, TypeAdapter

from hockney import _core, reading, writing
from hockney.errors import EnvironmentLack, RequestError

Answer = TypeVar("Answer")

_SUM_B = hashlib.sha256().digest_size
MOST_COMPUTED_B = 256 * 2**20
"""Of computed numbers; the least recently written go first."""
SUMS = "SHA256SUMS"
"""What each file of a finished build holds, as `sha256sum` writes and checks it."""


def cache_root() -> Path:
    """`$HOCKNEY_CACHE`, else `$XDG_CACHE_HOME/hockney`, else `~/.cache/hockney`."""
    if own := os.environ.get("HOCKNEY_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hockney"


def make_private(folder: Path) -> None:
    """Make the folder, for this user alone, unless it exists; refuse it as `expect_private` does.

    OSError where it cannot be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    expect_private(folder)


def expect_private(folder: Path) -> None:
    """EnvironmentLack where anybody but this user and root may change what the folder holds: it will be run."""
    _expect_own(folder.stat(), folder)


def _expect_own(status: os.stat_result, name: Path) -> None:
    if status.st_uid not in (0, os.geteuid()):
        raise EnvironmentLack(
            f"{name} belongs to another user, and programs in it would be run",
            "set HOCKNEY_CACHE to a folder of your own",
        )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise EnvironmentLack(
            f"other users may write to {name}, and programs in it would be run",
            f"remove it, or `chmod go-w {name}` if nobody else has used it",
        )


def kept(
    target: Path, whole: Sequence[str], make: Callable[[Path], object], what: str = "", usually: str = ""
) -> Path:
    """The folder `target` of the cache, filled by `make` unless it has all of these files; whole or not at all.

    A note says `what` is compiled and what that `usually` takes, if it is named. EnvironmentLack where it cannot
    be kept.
    """
    locks, say = cache_root() / "locks", logging.getLogger(__name__).warning
    try:
        for folder in (cache_root(), locks, target.parent):
            make_private(folder)
        if _is_sound(target, whole):
            return target
        with _alone(locks / target.name):
            if _is_sound(target, whole):
                return target
            if target.exists():
                say("note: %s is not as a build leaves it: built again", target)
            if what:
                say("note: compiling %s: once, for %s", what, usually)
            began_s = time.monotonic()
            with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as name:
                scratch = Path(name, "build")
                scratch.mkdir(mode=0o700)
                make(scratch)
                sums = "".join(f"{digest}  {name}\n" for name, digest in _sums(scratch, whole).items())
                writing.replace(scratch / SUMS, sums)
                _settle(scratch, target, whole)
            if what:
                say("note: compiled %s in %.0f s; it is kept", what, time.monotonic() - began_s)
    except (OSError, writing.NotWritten) as error:
        why = error.strerror if isinstance(error, OSError) else error.message
        raise EnvironmentLack(
            f"cannot keep the compiled runner in {target.parent}: {why}", "set HOCKNEY_CACHE to a writable folder"
        ) from error
    return target


def kept_text(kind: str, text: str, suffix: str) -> Path:
    """A file of the cache that holds this text, named by its digest; EnvironmentLack where it cannot be kept."""
    path = cache_root() / kind / f"{hashlib.sha256(text.encode()).hexdigest()[:20]}{suffix}"
    try:
        writing.make_folder(path.parent)
        writing.replace(path, text)
    except writing.NotWritten as error:
        raise EnvironmentLack(error.message, "set HOCKNEY_CACHE to a writable folder") from error
    return path


def computed(digest: str, make: Callable[[], bytes]) -> bytes:
    """What `make` computes, kept under this digest of all that it depends on where it can be kept."""
    data = recalled(digest)
    if data is None:
        data = make()
        keep(digest, data)
    return data


def recalled(digest: str) -> bytes | None:
    """What is kept under this digest, whole; None where nothing is, or where others may have written it."""
    folder = cache_root() / "computed"
    with contextlib.suppress(OSError, EnvironmentLack):
        for each in (cache_root(), folder):
            expect_private(each)
        stored = reading.unlinked(folder / digest, lambda status: _expect_own(status, folder / digest))
        if stored[:_SUM_B] == hashlib.sha256(stored[_SUM_B:]).digest():
            return stored[_SUM_B:]
    return None


def keep(digest: str, data: bytes) -> None:
    """Keep computed bytes under their digest, where they can be kept; the least recently written give way."""
    folder = cache_root() / "computed"
    with contextlib.suppress(OSError, EnvironmentLack, writing.NotWritten):
        for each in (cache_root(), folder):
            make_private(each)
        # With the rights that a umask leaves, others might write to it.
        (folder / digest).unlink(missing_ok=True)
        writing.make_private(folder / digest, hashlib.sha256(data).digest() + data)
        newest_first = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime_ns, reverse=True)
        totals_B = accumulate(file.stat().st_size for file in newest_first)
        for file, total_B in zip(newest_first, totals_B, strict=True):
            if total_B > MOST_COMPUTED_B:
                file.unlink(missing_ok=True)


def contents(path: Path) -> list[tuple[str, str]]:
    """The files of a file or folder, each with the digest of its content; none where one is a pipe, say."""
    files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    if not all(file.is_file() for file in files):
        return []
    return [(str(file), hashlib.sha256(reading.content(file)).hexdigest()) for file in files]


def digest_of(*depends: object) -> str:
    """Of all that something depends on, by its `repr`, and of this version of the code."""
    return hashlib.sha256(f"{code_version()} {depends!r}".encode()).hexdigest()


def answered(digest: str, kind: type[Answer], make: Callable[[], Answer]) -> Answer:
    """What `make` answers, kept under this digest of all that it depends on; never under an empty one."""
    if not digest:
        return make()
    adapter = TypeAdapter(kind, config=ConfigDict(ser_json_inf_nan="constants"))
    return adapter.validate_json(computed(digest, lambda: adapter.dump_json(make())))


@cache
def code_version() -> str:
    """Changes with every change of the package or the extension, sizes and times of their files, and with each
    version of the libraries that compute."""
    package = Path(__file__).parents[1]
    files = [*sorted(package.rglob("*.py")), *sorted(package.rglob("*.json")), Path(_core.__file__)]
    states = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    libraries = [(name, metadata.version(name)) for name in ("numpy", "scipy", "pandas", "pyarrow")]
    return hashlib.sha256(repr((sys.version, states, libraries)).encode()).hexdigest()


def _sums(folder: Path, names: Iterable[str]) -> dict[str, str]:
    return {name: hashlib.sha256(reading.content(folder / name)).hexdigest() for name in names}


def _is_sound(target: Path, whole: Sequence[str]) -> bool:
    """Whether it has these files as they were built; EnvironmentLack where others may have put them there."""
    try:
        expect_private(target)
        lines = reading.text(target / SUMS).splitlines()
        return [f"{digest}  {name}" for name, digest in _sums(target, whole).items()] == lines
    except (FileNotFoundError, NotADirectoryError, RequestError):
        return False


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """One process at a time; where there can be no lock several do the same work, and the first's stays.

    In a cache that is shared another user's lock may not be written; NFS locks only what may be.
    """
    with contextlib.ExitStack() as held:
        with contextlib.suppress(writing.NotWritten):
            held.enter_context(writing.locked(lock, wait=True))
        yield


def _settle(scratch: Path, target: Path, whole: Sequence[str]) -> None:
    """Move a finished build into place as a whole; where another process was first, its build stays."""
    if target.exists() and not _is_sound(target, whole):
        shutil.rmtree(target)
    try:
        writing.move_folder(scratch, target)
    except writing.NotWritten:
        if not _is_sound(target, whole):
            raise
