"""Which algorithm a library takes by itself, by watching: of which of its algorithms are the messages?

At a size the default is called once, and each algorithm of the library once. Those that send as many messages of
as many bytes from each rank to each other one as the default did may be the one that ran. Counts do not depend on
time. Between two sizes whose sets have no algorithm in common the library switches: sizes in between are watched
until the two are one element apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from hockney.predict.identify.candidates import DefaultCandidate, of_name
from hockney.predict.identify.naming import MOST_NAMES
from hockney.records.answers import Candidate as Offered
from hockney.units import counted

_NO_CHOICE = re.compile(r"ch4:.*|posix:.*|mpir:smp")
"""Ways over nodes, which call other algorithms, and those that send no message to be watched."""


@dataclass(frozen=True)
class WatchedCall:
    """An algorithm as it is called; `default` is the library's own choice."""

    algorithm: str
    segment_B: int = 0
    radix: int = 0


@dataclass(frozen=True)
class Sent:
    """What one call sent, [from][to]: `messages` None where the kernel counts, bytes alone and with headers."""

    bytes: NDArray[np.int64]
    messages: NDArray[np.int64] | None = None

    def is_like(self, other: Sent) -> bool:
        """Whether both may be of the same algorithm."""
        if self.messages is not None and other.messages is not None:
            return np.array_equal(self.messages, other.messages) and np.array_equal(self.bytes, other.bytes)
        return np.array_equal(self.bytes, other.bytes)

    @property
    def is_nothing(self) -> bool:
        """Whether no message was counted."""
        return not (self.bytes if self.messages is None else self.messages).any()

    def segments_B(self) -> list[int]:
        """Powers of two that cut what the busiest pair exchanged into as many messages as it did."""
        if self.messages is None or self.messages.max(initial=0) < 2:
            return []
        at = np.unravel_index(int(self.messages.argmax()), self.messages.shape)
        count, total_B = int(self.messages[at]), int(self.bytes[at])
        return [size_B for power in range(40) if -(-total_B // (size_B := 1 << power)) == count]


class Unsteady(Exception):
    """Counts of one call that do not repeat, so that they say nothing of it."""


Count = Callable[[WatchedCall, int], Sent | None]
"""What a call of so many bytes sends; None where the algorithm does not do it. Raises `Unsteady`."""


@dataclass(frozen=True)
class WatchedSize:
    """What the default may be at a size, with the library's names of each; None: it cannot be told, and `why`.

    `fits_none`: all that can be named send something else.
    """

    size_B: int
    names: dict[DefaultCandidate, list[str]] | None
    why: str = ""
    fits_none: bool = False


@dataclass
class Watch:
    """The watching of one operation on one number of ranks; `element_B` is the least step between sizes."""

    operation: str
    mpi: str
    ranks: int
    offered: Sequence[Offered]
    count: Count
    element_B: int = 1
    found: dict[int, WatchedSize] = field(default_factory=dict)

    def over(self, sizes_B: Sequence[int]) -> Iterator[WatchedSize]:
        """Each of these sizes, then those by which switches between them are found."""
        sizes_B = sorted(set(sizes_B))
        for size_B in sizes_B:
            yield self.at(size_B)
        for first_B, last_B in pairwise(sizes_B):
            yield from self._between(first_B, last_B)

    def _between(self, first_B: int, last_B: int) -> Iterator[WatchedSize]:
        """The sizes that close in on switches between these two."""
        middle_B = (first_B + last_B) // 2 // self.element_B * self.element_B
        if middle_B <= first_B or not _are_apart(self.at(first_B), self.at(last_B)):
            return
        yield self.at(middle_B)
        yield from self._between(first_B, middle_B)
        yield from self._between(middle_B, last_B)

    def at(self, size_B: int) -> WatchedSize:
        """What the default may be at this size."""
        if size_B not in self.found:
            try:
                self.found[size_B] = self._look(size_B)
            except Unsteady as error:
                self.found[size_B] = WatchedSize(size_B, None, str(error))
        return self.found[size_B]

    def _look(self, size_B: int) -> WatchedSize:
        default = self.count(WatchedCall("default"), size_B)
        if default is None:
            return WatchedSize(size_B, None, "the default itself failed")
        if default.is_nothing:
            return WatchedSize(size_B, None, "the default sends no message that is counted")
        for segments_B in ([0], default.segments_B()):
            # The component of the highest priority serves, unless it has no algorithm for this case.
            left = list(self._by_priority(segments_B))
            while left:
                alike, ran = self._alike(default, left.pop(0), size_B)
                if not alike:
                    continue
                if len(alike) == len(ran) and self._all_are(default, alike, left, size_B):
                    return WatchedSize(size_B, None, "all algorithms send the same messages")
                return _judged(size_B, alike)
        why = "no algorithm that can be named sends what the default sends"
        return WatchedSize(size_B, None, why, fits_none=True)

    def _all_are(
        self,
        default: Sent,
        alike: Mapping[DefaultCandidate, list[str]],
        left: Sequence[list[WatchedCall]],
        size_B: int,
    ) -> bool:
        """Whether all of the other components, too, send what all of this one send: messages tell nothing."""
        try:
            also_alike, others = self._alike(default, chain.from_iterable(left), size_B)
        except Unsteady:
            return False
        return 1 < len(alike.keys() | others) == len(alike.keys() | also_alike.keys())

    def _by_priority(self, segments_B: Sequence[int]) -> Iterator[list[WatchedCall]]:
        known = sorted(self.offered, key=lambda one: -one.priority)
        for _, group in groupby(known, key=lambda one: one.priority):
            yield [
                WatchedCall(one.algorithm, segment_B, radix)
                for one in group
                for segment_B in dict.fromkeys([*segments_B, one.segment_B])
                if one.segmented or not segment_B
                for radix in self._radices(one)
            ]

    @staticmethod
    def _radices(one: Offered) -> list[int]:
        # The decisions of Open MPI pass on a fan-out of 0, which makes one chain.
        return [one.radix, 1] if one.radix > 1 and one.algorithm.endswith(":chain") else [one.radix]

    def _alike(
        self, default: Sent, asked: Iterable[WatchedCall], size_B: int
    ) -> tuple[dict[DefaultCandidate, list[str]], set[DefaultCandidate]]:
        """The candidates that send what the default sent, and all that ran."""
        alike: dict[DefaultCandidate, list[str]] = {}
        ran = set()
        for one in asked:
            candidate = self._candidate(one, size_B)
            if candidate is None or (sent := self.count(one, size_B)) is None:
                continue
            ran.add(candidate)
            if sent.is_like(default):
                by_name = alike.setdefault(candidate, [])
                by_name += [one.algorithm] if one.algorithm not in by_name else []
        return alike, ran

    def _candidate(self, one: WatchedCall, size_B: int) -> DefaultCandidate | None:
        if _NO_CHOICE.fullmatch(one.algorithm):
            return None
        return of_name(
            self.operation,
            one.algorithm,
            self.mpi,
            ranks=self.ranks,
            size_B=size_B,
            segment_B=one.segment_B,
            radix=one.radix,
        )


def _are_apart(one: WatchedSize, other: WatchedSize) -> bool:
    """Whether the library surely switches between the two."""
    return bool(one.names and other.names) and not set(one.names or ()) & set(other.names or ())


def _judged(size_B: int, alike: dict[DefaultCandidate, list[str]]) -> WatchedSize:
    if len(alike) > MOST_NAMES:
        return WatchedSize(size_B, None, f"{counted(len(alike), 'algorithm')} send the same messages")
    return WatchedSize(size_B, alike)


@dataclass(frozen=True)
class Turn:
    """The library switches above `last` and at most at `first`."""

    last: WatchedSize
    first: WatchedSize


def turns(found: Sequence[WatchedSize]) -> list[Turn]:
    """The fewest switches along the sizes by which one algorithm of its set can run at each of them.

    Sizes that cannot be told say nothing; a switch reaches over sizes whose sets fit both sides.
    """
    switches, before, run = [], list[WatchedSize](), set[DefaultCandidate]()
    for one in sorted(found, key=lambda each: each.size_B):
        if one.names is None:
            continue
        if before and not run & set(one.names):
            last = [each for each in before if not set(each.names or ()) & set(one.names)]
            switches.append(Turn((last or before)[-1], one))
            before, run = [], set()
        run = run & set(one.names) if before else set(one.names)
        before.append(one)
    return switches
