"""Processes that a test starts, directly or through others, known by a mark in their environment."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

MARK = "HOCKNEY_TEST_MARK"
POLL_S = 0.005


def captured(
    argv: Sequence[str | Path], *, check: bool = False, **settings: Any
) -> subprocess.CompletedProcess[str]:
    """A program that has ended, with all that it wrote as text."""
    done: subprocess.CompletedProcess[str] = subprocess.run(
        argv, capture_output=True, text=True, check=check, **settings
    )
    return done


def holding(mark: str) -> set[int]:
    """Living processes that carry the mark in the environment they were started with."""
    pids: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0]
            if mark.encode() in (folder / "environ").read_bytes() and state not in (b"Z", b"X"):
                pids.add(int(folder.name))
        except OSError:
            continue
    return pids


def left_after(mark: str, limit_s: float) -> dict[int, str]:
    """The marked processes that still live after `limit_s` seconds, with their command lines."""
    end = time.monotonic() + limit_s
    while (pids := holding(mark)) and time.monotonic() < end:
        time.sleep(0.05)
    return {pid: command_line(pid) for pid in pids}


def began(pid: int) -> str:
    """When a process that lives began, in ticks since the machine did; "" where none lives."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in (b"Z", b"X") else fields[19].decode()


def outliving(known: Mapping[int, str], limit_s: float) -> dict[int, str]:
    """Command lines of those known processes, with when each `began`, that still live after `limit_s` seconds."""
    end = time.monotonic() + limit_s
    while (
        left := [pid for pid, when in known.items() if when and began(pid) == when]
    ) and time.monotonic() < end:
        time.sleep(0.05)
    return {pid: command_line(pid) for pid in left}


def command_line(pid: int) -> str:
    """A process's command line; empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


@pytest.fixture
def mark() -> Iterator[str]:
    """A mark for the environment of a launch; the test fails if a process that carries it outlives the test."""
    text = f"{MARK}_{os.getpid()}_{time.monotonic_ns()}"
    yield text
    left = left_after(text, 5)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, "processes left behind"
