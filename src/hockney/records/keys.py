"""Keys of the series that one launch measures: between a pair of ranks, or of a collective.

A key has the columns (`hockney.records.columns`) that vary within a launch; the launch fixes the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hockney import _core
from hockney.records.record import Cache, Locality, Record, Start
from hockney.units import counted

TRANSFERS = ("pingpong", "pingping", "bandwidth", "bidirectional")
"""Operations between two ranks that time messages, the most informative first."""
OVERHEADS = ("send_overhead", "receive_overhead")
"""Operations between two ranks that time the processor's part; a `pingpong` entry holds their results."""
WRITTEN = "pingpong_written"
"""The operation that times messages whose bytes were just written, as those of programs are."""
LATE = "pingping_late"
"""The operation that times messages that meet where one rank begins when it hears of the other's."""
REDUCTION = "reduce_local"
"""The operation that times a reduction without messages, on two ranks at once; its entry is as of transfers."""
MESSAGES = (*TRANSFERS, *OVERHEADS)
"""What is measured between two ranks where nothing is named."""
ENTRIES = (*TRANSFERS, WRITTEN, LATE, REDUCTION)
POINT_TO_POINT = (*MESSAGES, WRITTEN, LATE, REDUCTION)
DIRECTIONS: Mapping[str, int] = {"bandwidth": 1, "bidirectional": 2}
"""Windowed operations, with the messages that pass in one slot of the window; others pass one."""
COLLECTIVES = {collective.name: collective for collective in _core.collectives()}
"""What each collective is, by name, in the usual order; cpp/schedule/collective.cpp declares it."""
ELEMENT_B = 4
"""Reductions add single-precision numbers."""


def caches_of(operation: str, asked: Sequence[Cache]) -> Sequence[Cache]:
    """How the caches may be for an operation between two ranks: what was just written or is added is there."""
    return ["warm"] if operation in (WRITTEN, REDUCTION) else asked


def sizes_are_blocks(operation: str) -> bool:
    """Whether `bytes` is one rank's block; False where it is the whole vector, and between two ranks."""
    return operation in COLLECTIVES and COLLECTIVES[operation].sizes_are_blocks


@dataclass(frozen=True)
class PairKey:
    """A point-to-point operation between two ranks."""

    operation: str
    locality: Locality
    leader: int
    follower: int
    cache: Cache

    @property
    def pair(self) -> str:
        """The pair as `Record.pair` has it: `0-1`."""
        return f"{self.leader}-{self.follower}"

    @property
    def where(self) -> str:
        """The series in words, for messages."""
        return f"{self.operation} {self.locality}"

    def sizes(self, given_B: list[int]) -> list[int]:
        """The sizes that this operation can be measured at, in bytes."""
        return given_B


@dataclass(frozen=True)
class CollectiveKey:
    """A collective on the first `ranks` ranks. `root` None: it moves with each repetition, or there is none."""

    operation: str
    algorithm: str
    ranks: int
    segment_B: int
    radix: int
    root: int | None
    cache: Cache
    start: Start

    @property
    def where(self) -> str:
        """The series in words, for messages."""
        segment = f", segment {self.segment_B} B" if self.segment_B else ""
        return f"{self.operation} {self.algorithm} on {counted(self.ranks, 'rank')}{segment}"

    def sizes(self, given_B: list[int]) -> list[int]:
        """The sizes that this operation can be measured at: 0 for a barrier, whole elements for a reduction."""
        collective = COLLECTIVES[self.operation]
        if not collective.has_size:
            return [0]
        unit = ELEMENT_B if collective.reduces else 1
        return sorted({-(-size // unit) * unit for size in given_B if size > 0})


Key = PairKey | CollectiveKey


def key_of(record: Record) -> Key:
    """The series that a record of Hockney's own belongs to; ValueError for a record from elsewhere."""
    if not record.cache:
        raise ValueError(f"no record of ours: {record.origin or record.operation}")
    if record.locality is not None:
        leader, _, follower = record.pair.partition("-")
        return PairKey(record.operation, record.locality, int(leader), int(follower), record.cache)
    if record.ranks is None or not record.start:
        raise ValueError(f"no record of ours: {record.origin or record.operation}")
    return CollectiveKey(
        record.operation,
        record.algorithm,
        record.ranks,
        record.segment_bytes or 0,
        record.radix or 0,
        record.root,
        record.cache,
        record.start,
    )
