"""Events of a running campaign; the command line draws them, tests collect them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from hockney.records.record import Record


@dataclass(frozen=True)
class Progress:
    """`done` of about `expected` points; `remaining_s` is an estimate from the pace so far."""

    done: int
    expected: int
    remaining_s: float
    doing: str


class Watcher(Protocol):
    """Receives the events of a campaign as they happen."""

    def progress(self, progress: Progress) -> None:
        """A point is about to be measured."""

    def measured(self, record: Record) -> None:
        """A point has been measured and is on disk."""

    def warning(self, text: str) -> None:
        """Something the user should know; also kept in the campaign."""


Watching = Callable[[], AbstractContextManager[Watcher]]
"""Begins to watch a campaign; what is drawn of it ends with the block."""
