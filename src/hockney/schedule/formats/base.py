"""What an export format is: lines of text, rank by rank, so that many ranks never stand in memory at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hockney.registry import Registry
from hockney.schedule.catalogue import Asked

Format = Callable[[Asked, float], Iterator[str]]
"""(what is asked, nanoseconds to reduce one byte) → lines without their ends."""

formats: Registry[Format] = Registry("format", "hockney.schedule.formats")
