"""The trace beside a profile: a folder where each rank keeps its events in order (cpp/preload/format.hpp)."""

from __future__ import annotations

import re
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hockney import reading, writing
from hockney.errors import RequestError
from hockney.units import counted, format_bytes

HEADER = struct.Struct("<8sIIIIQQQ64s128sQII")
MAGIC, HEADER_B = b"HKTRACE1", 256
ENDING = ".trace"
_ENDED, _LIMITED, _REFUSED = 1, 2, 3
_FEW = 5
"""Ranks that a line names."""


@dataclass(frozen=True)
class Trace:
    """What the ranks of a run kept in `folder`: `ranks` of them wrote a file."""

    folder: str
    bytes: int
    events: int
    ranks: int


@dataclass(frozen=True)
class _RankFile:
    rank: int
    of_ranks: int
    events: int
    state: int
    size_B: int
    refusal: str


def folder_of(profile: Path) -> Path | None:
    """`heat.trace` for `heat.json`; None where the profile goes to a device or a pipe.

    RequestError for a profile that is called as its trace.
    """
    if profile.suffix == ENDING:
        raise RequestError(
            f"{profile} would be the name of its trace", f"write -o {profile.with_suffix('.json')}"
        )
    return None if profile.exists() and not profile.is_file() else _beside(profile)


def _beside(profile: Path) -> Path:
    return profile.with_name(profile.name.removesuffix(".json") + ENDING)


def trace_of(path: Path) -> Path | None:
    """The folder with the trace of a profile, or the path itself where it is one; None where there is none."""
    folder = path if path.is_dir() else _beside(path)
    return folder if _files(folder) else None


def clear(folder: Path) -> None:
    """Remove a former trace, and the folder unless something else is in it."""
    if folder.is_symlink():
        return
    for path in _files(folder):
        with suppress(OSError, RequestError):
            if reading.beginning(path, len(MAGIC)) in (b"", MAGIC):
                path.unlink()
    with suppress(OSError):
        folder.rmdir()


def prepare(folder: Path, limit_B: int, clock: str | None, mpi: str) -> dict[str, str]:
    """Make the folder anew, and the variables that tell the layer; NotWritten where it cannot be made."""
    clear(folder)
    if not limit_B:
        return {}
    writing.make_folder(folder)
    return {
        "HOCKNEY_PRELOAD_TRACE": str(folder.absolute()),
        "HOCKNEY_PRELOAD_TRACE_LIMIT": str(limit_B),
        "HOCKNEY_PRELOAD_CLOCK": clock or "",
        "HOCKNEY_PRELOAD_MPI": mpi,
    }


def found(folder: Path, limit_B: int, said: list[str]) -> Trace | None:
    """What is there after the run; what it lacks is added to `said`. None, and no folder, where nothing is."""
    files = [file for path in _files(folder) if (file := _read(path)) is not None]
    if not files:
        clear(folder)
        return None
    ranks = max(file.of_ranks for file in files)
    there = {file.rank for file in files}
    if missing := [rank for rank in range(ranks) if rank not in there]:
        said.append(f"the trace lacks {_ranks(missing)}: their nodes do not have {folder}, or cannot write there")
    if limited := [file.rank for file in files if file.state == _LIMITED]:
        said.append(
            f"the trace of {_ranks(limited)} ends early: at the limit of {format_bytes(limit_B)} for all "
            "(--trace-limit), or where the disk was full"
        )
    if killed := [file.rank for file in files if not file.state]:
        said.append(f"the trace of {_ranks(killed)} ends where the process did, before MPI_Finalize")
    if refused := [file for file in files if file.state == _REFUSED]:
        said.append(
            f"the trace of {_ranks([file.rank for file in refused])} ends early: {refused[0].refusal}; "
            "a trace is of one thread in MPI at a time"
        )
    return Trace(str(folder), sum(file.size_B for file in files), sum(file.events for file in files), len(files))


def _files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if re.fullmatch(r"\d+\.events", path.name)]
    except OSError:
        return []


def _read(path: Path) -> _RankFile | None:
    """None for what no layer wrote."""
    with suppress(OSError, RequestError):
        head = reading.beginning(path, HEADER_B)
        if len(head) < HEADER_B or not head.startswith(MAGIC):
            return None
        _, _, rank, of_ranks, *_, events, state, text_B = HEADER.unpack(head)
        size_B = path.stat().st_size
        refusal = ""
        if state == _REFUSED and 0 < text_B < size_B - HEADER_B:
            refusal = reading.content(path)[-text_B:].decode("utf-8", "replace")
        return _RankFile(rank, of_ranks, events, state, size_B, refusal)
    return None


def _ranks(ranks: list[int]) -> str:
    named = ", ".join(map(str, sorted(ranks)[:_FEW]))
    return f"{counted(len(ranks), 'rank')} ({named}{', …' if len(ranks) > _FEW else ''})"
