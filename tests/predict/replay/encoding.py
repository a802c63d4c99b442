"""Writes traces as `hockney profile` does, from what ranks call: the format once more, by itself; plays them."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hockney import _core
from hockney._core import Network, Recording, Replay, Simulated
from hockney.predict.costs import TERMS, Costs, LoggopsParameters, per_byte
from hockney.predict.replay.algorithms import Algorithms
from hockney.predict.replay.recorded import RecordedRun

WORLD, ITSELF = 0, 1
ANY = None
OPERATIONS = [
    *("bcast", "scatter", "gather", "reduce", "allreduce", "allgather", "reduce_scatter", "alltoall", "barrier"),
    *("scan", "exscan", "allgatherv", "gatherv", "scatterv", "alltoallv"),
    *("neighbor_allgather", "neighbor_alltoall"),
]


def varint(value: int) -> bytes:
    assert value >= 0
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    written.append(value)
    return bytes(written)


def signed(value: int) -> bytes:
    return varint(2 * value if value >= 0 else -2 * value - 1)


def runs(members: Sequence[int]) -> bytes:
    grouped: list[list[int]] = []
    for member in members:
        if grouped and member == grouped[-1][0] + grouped[-1][1]:
            grouped[-1][1] += 1
        else:
            grouped.append([member, 1])
    written, end = varint(len(grouped)), 0
    for first, length in grouped:
        written += signed(first - end) + varint(length)
        end = first + length
    return written


class RankTrace:
    """What one rank called. `compute_s` before a call is the time since the last one."""

    def __init__(self, rank: int, ranks: int, *, has_cpu: bool = False) -> None:
        self.rank, self.ranks, self.has_cpu = rank, ranks, has_cpu
        self.events, self.requests, self.communicators = b"", 0, 0
        self.sites: list[str] = []
        self.overhead = 0, 0
        self.compute_s = self.cpu_s = 0.0
        self.persistent = self.vectors = 0
        self.communicator(range(ranks))
        self.communicator([rank])

    def communicator(
        self,
        members: Sequence[int],
        ordinal: int = 0,
        *,
        sources: Sequence[int] | None = None,
        destinations: Sequence[int] = (),
    ) -> int:
        written = (
            varint(2)[:1] + varint(self.communicators) + varint(list(members).index(self.rank)) + varint(ordinal)
        )
        written += bytes([2 if sources is not None else 0]) + runs(list(members))
        if sources is not None:
            for ends in (sources, destinations):
                written += varint(len(ends)) + b"".join(map(varint, ends))
        self.events += written
        self.communicators += 1
        return self.communicators - 1

    def vector(self, sizes_B: Sequence[int]) -> int:
        self.events += b"\x04" + varint(self.vectors) + varint(len(sizes_B)) + b"".join(map(varint, sizes_B))
        self.vectors += 1
        return self.vectors - 1

    def compute(self, time_s: float, cpu_s: float | None = None) -> None:
        self.compute_s += time_s
        self.cpu_s += time_s if cpu_s is None else cpu_s

    def event(self, kind: int, body: bytes = b"", *, site: str = "app.c:1 (main)", inside_s: float = 0.0) -> None:
        if site not in self.sites:
            text = site.encode(errors="surrogateescape")
            self.events += b"\x01" + varint(len(self.sites)) + varint(len(text)) + text
            self.sites.append(site)
        self.events += bytes([kind]) + varint(round(1e9 * self.compute_s) + self.overhead[0])
        if self.has_cpu:
            self.events += varint(round(1e9 * self.cpu_s) + self.overhead[1])
        self.events += varint(round(1e9 * inside_s)) + varint(self.sites.index(site)) + body
        self.compute_s = self.cpu_s = 0.0

    def _new(self) -> int:
        self.requests += 1
        return self.requests - 1

    def send(self, to: int, size_B: int, tag: int = 0, comm: int = WORLD, mode: int = 0, **more: Any) -> None:
        self.event(16, varint(comm) + varint(to) + signed(tag) + varint(size_B) + bytes([mode]), **more)

    def isend(self, to: int, size_B: int, tag: int = 0, comm: int = WORLD, mode: int = 0, **more: Any) -> int:
        self.event(17, varint(comm) + varint(to) + signed(tag) + varint(size_B) + bytes([mode]), **more)
        return self._new()

    def recv(self, source: int, size_B: int, tag: int = 0, comm: int = WORLD, **more: Any) -> None:
        self.event(18, varint(comm) + varint(source) + signed(tag) + varint(size_B), **more)

    @staticmethod
    def _receive(source: int | None, size_B: int, tag: int | None, comm: int) -> bytes:
        wild = bytes([(source is ANY) + 2 * (tag is ANY)])
        whom = (b"" if source is None else varint(source)) + (b"" if tag is None else signed(tag))
        return varint(comm) + wild + whom + varint(size_B)

    def irecv(self, source: int | None, size_B: int, tag: int | None = 0, comm: int = WORLD) -> int:
        self.event(19, self._receive(source, size_B, tag, comm))
        return self._new()

    def sendrecv(
        self, to: int, sent_B: int, source: int, received_B: int, tag: int = 0, comm: int = WORLD
    ) -> None:
        body = varint(comm) + signed(to) + signed(tag) + varint(sent_B)
        self.event(20, body + signed(source) + signed(tag) + varint(received_B))

    def wait(self, *requests: int | tuple[int, int, int], **more: Any) -> None:
        """Of each its number; of one with a wildcard also its source and tag."""
        body = varint(len(requests))
        for request in requests:
            number, *ends = request if isinstance(request, tuple) else (request,)
            body += varint(self.requests - 1 - number)
            if ends:
                body += varint(ends[0]) + signed(ends[1])
        self.event(21, body, **more)

    def send_init(self, to: int, size_B: int, tag: int = 0, mode: int = 0) -> int:
        self.event(23, varint(WORLD) + varint(to) + signed(tag) + varint(size_B) + bytes([mode]))
        self.persistent += 1
        return self.persistent - 1

    def recv_init(self, source: int | None, size_B: int, tag: int | None = 0) -> int:
        self.event(24, self._receive(source, size_B, tag, WORLD))
        self.persistent += 1
        return self.persistent - 1

    def start(self, *persistent: int) -> list[int]:
        self.event(22, varint(len(persistent)) + b"".join(map(varint, persistent)))
        return [self._new() for _ in persistent]

    def probe(self, source: int, tag: int = 0, *, takes: bool = False) -> None:
        self.event(26 if takes else 25, varint(WORLD) + varint(source) + signed(tag))

    def collective(
        self,
        operation: str,
        size_B: int,
        *,
        root: int = 0,
        comm: int = WORLD,
        element_B: int = 1,
        returns: bool = False,
        is_commutative: bool = True,
        vectors: Sequence[int] = (),
        site: str = "app.c:1 (main)",
    ) -> int:
        flags = (1 if returns else 0) + (0 if is_commutative else 4) + (8 if vectors else 0)
        body = bytes([OPERATIONS.index(operation), flags]) + varint(comm) + varint(root) + varint(size_B)
        body += varint(element_B)
        if vectors:
            body += varint(len(vectors)) + b"".join(map(varint, vectors))
        self.event(29, body, site=site)
        return self._new() if returns else -1

    def made(self, parent: int, how: int, comm: int) -> None:
        self.event(30, varint(parent) + bytes([how]) + varint(comm + 1))

    def dropped(self, request: int, how: int) -> None:
        self.event(32, varint(self.requests - 1 - request) + bytes([how]))

    def header(self, version: int = 1) -> bytes:
        numbers = struct.pack(
            "<8s4I3Q", b"HKTRACE1", version, self.rank, self.ranks, int(self.has_cpu), *self.overhead, 0
        )
        names = b"host".ljust(64, b"\0") + b"Open MPI 4.1.4".ljust(128, b"\0")
        return (numbers + names).ljust(256, b"\0")


def traces(ranks: int, *, has_cpu: bool = False) -> list[RankTrace]:
    return [RankTrace(rank, ranks, has_cpu=has_cpu) for rank in range(ranks)]


def write(folder: Path, ranks: Sequence[RankTrace], *, ended: bool = True) -> Path:
    folder.mkdir(exist_ok=True)
    for one in ranks:
        if ended:
            one.event(40)
        (folder / f"{one.rank}.events").write_bytes(one.header() + one.events + bytes(64))
    return folder


US = 1e-6
KB = 1001
"""Bytes that take 11 µs."""


def costs(
    waits_above_B: float | None = None,
    overhead_s: float = 0.0,
    behind_s: float | None = None,
    copy_s_per_B: float = 0.0,
) -> Costs:
    """Of a message of n B: 10 + (n − 1)/1000 µs."""
    message = LoggopsParameters(
        10 * US, overhead_s, 0.0, 1e-9, rendezvous_above_B=waits_above_B, copy_s_per_B=copy_s_per_B
    )
    of_all = message.at([0])
    if behind_s is not None:
        of_all.messages[0][TERMS.index("behind")] = ([0.0], [behind_s])
        of_all.messages[0][TERMS.index("node_link")] = per_byte(1e-9)
    return of_all


def played(
    folder: Path,
    ranks: list[RankTrace],
    *,
    waits_above_B: float | None = None,
    asked: Mapping[str, str] | None = None,
    overhead_s: float = 0.0,
    behind_s: float | None = None,
    copy_s_per_B: float = 0.0,
) -> Simulated:
    trace = Recording(str(write(folder / "run.trace", ranks)))
    chosen = Algorithms("", 1, asked or {}, lambda *_: None)
    replay = Replay(
        trace, [chosen.served(call).parts for call in RecordedRun(folder, trace).calls], uses_cpu=trace.has_cpu
    )
    curves = costs(waits_above_B, overhead_s, behind_s, copy_s_per_B).curves()
    levels = np.zeros((0, 0), np.int32)
    network = Network(node_of_rank=[] if behind_s is None else range(len(ranks)))
    return _core.simulate([replay], curves, levels=levels, network=network, trace=True)


def finish_us(*args: object, **more: object) -> list[float]:
    return [time_s / US for time_s in played(*args, **more).finish_s]  # type: ignore[arg-type]
