"""A trace as the format says it (cpp/preload/format.hpp), read without any code of ours."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

_EVENTS = (
    "send isend recv irecv sendrecv wait start send_init recv_init probe mprobe mrecv imrecv collective made "
    "freed dropped other"
)
KINDS = dict(enumerate(_EVENTS.split(), 16)) | {40: "finalize", 41: "limit", 42: "refused"}
_OPERATIONS = (
    "bcast scatter gather reduce allreduce allgather reduce_scatter alltoall barrier scan exscan allgatherv "
    "gatherv scatterv alltoallv neighbor_allgather neighbor_alltoall"
)
OPERATIONS = _OPERATIONS.split()


@dataclass
class Event:
    kind: str
    gap_ns: int
    cpu_ns: int
    inside_ns: int
    site: str
    said: tuple[object, ...]


@dataclass
class Comm:
    rank: int
    ordinal: int
    flags: int
    members: list[int]
    others: list[int] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)


class RankTrace:
    """One rank's file, all of it."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        magic, self.version, self.rank, self.ranks, self.flags = struct.unpack_from("<8sIIII", data)
        self.overhead_wall_ns, self.overhead_cpu_ns, self.start_ns = struct.unpack_from("<QQQ", data, 24)
        self.mpi = data[112:240].rstrip(b"\0").decode()
        self.counted, self.state, self.text_B = struct.unpack_from("<QII", data, 240)
        assert magic == b"HKTRACE1"
        self.size_B = len(data)
        self._data, self._at = data + b"\0", 256
        self.sites: dict[int, str] = {}
        self.comms: dict[int, Comm] = {}
        self.names: dict[int, str] = {}
        self.vectors: dict[int, list[int]] = {}
        self.events: list[Event] = []
        self._wild: list[int] = []
        """Of each request, and of each persistent one."""
        self._persistent: list[int] = []
        while kind := self._data[self._at]:
            self._at += 1
            self._event(kind) if kind >= 16 else self._definition(kind)
        self.used_B = self._at

    def of(self, *kinds: str) -> list[tuple[object, ...]]:
        """What events of these kinds say."""
        return [event.said for event in self.events if event.kind in kinds]

    def _u(self) -> int:
        value = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def _s(self) -> int:
        value = self._u()
        return (value >> 1) ^ -(value & 1)

    def _text(self) -> str:
        length = self._u()
        self._at += length
        return self._data[self._at - length : self._at].decode()

    def _runs(self) -> list[int]:
        ranks: list[int] = []
        end = 0
        for _ in range(self._u()):
            first, length = self._s() + end, self._u()
            end = first + length
            ranks += range(first, end)
        return ranks

    def _definition(self, kind: int) -> None:
        number = self._u()
        if kind in (1, 3):
            names = self.sites if kind == 1 else self.names
            assert number not in names
            names[number] = self._text()
        elif kind == 2:
            assert number not in self.comms
            self.comms[number] = comm = Comm(self._u(), self._u(), self._u(), self._runs())
            if comm.flags & 1:
                comm.others = self._runs()
            if comm.flags & 2:
                comm.sources = [self._u() for _ in range(self._u())]
                comm.targets = [self._u() for _ in range(self._u())]
        else:
            assert kind == 4
            self.vectors[number] = [self._u() for _ in range(self._u())]

    def _request(self) -> tuple[object, ...]:
        number = len(self._wild) - 1 - self._u()
        wild = self._wild[number]
        return (number, self._u(), self._s()) if wild else (number,)

    def _event(self, number: int) -> None:
        kind = KINDS[number]
        gap_ns = self._u()
        cpu_ns = self._u() if self.flags & 1 else 0
        inside_ns, site = self._u(), self.sites[self._u()]
        said: tuple[object, ...] = ()
        if kind in ("send", "isend", "send_init"):
            said = (self._u(), self._u(), self._s(), self._u(), self._u())
        elif kind in ("recv", "probe", "mprobe"):
            said = (self._u(), self._u(), self._s(), *([self._u()] if kind == "recv" else []))
        elif kind in ("irecv", "recv_init"):
            comm, wild = self._u(), self._u()
            source, tag = None if wild & 1 else self._u(), None if wild & 2 else self._s()
            said = (comm, source, tag, self._u())
            (self._wild if kind == "irecv" else self._persistent).append(wild)
        elif kind == "sendrecv":
            said = (self._u(), self._s(), self._s(), self._u(), self._s(), self._s(), self._u())
        elif kind == "wait":
            said = tuple(self._request() for _ in range(self._u()))
        elif kind == "start":
            said = tuple(self._u() for _ in range(self._u()))
            self._wild += [self._persistent[number] for number in said if isinstance(number, int)]
        elif kind == "collective":
            operation, flags = OPERATIONS[self._u()], self._u()
            said = (operation, flags, *(self._u() for _ in range(4)))
            if flags & 8:
                said += tuple(tuple(self.vectors[self._u()]) for _ in range(self._u()))
            self._wild += [0] if flags & 1 else []
        elif kind == "made":
            said = (self._u(), self._u(), self._u() - 1)
        elif kind == "freed":
            said = (self._u(),)
        elif kind == "dropped":
            said = (len(self._wild) - 1 - self._u(), self._u())
        elif kind == "other":
            said = (self.names[self._u()],)
        elif kind == "refused":
            said = (self._text(),)
        self._wild += [0] if kind in ("isend", "imrecv") else []
        self._persistent += [0] if kind == "send_init" else []
        self.events.append(Event(kind, gap_ns, cpu_ns, inside_ns, site, said))


def traces(folder: Path) -> list[RankTrace]:
    """Those of all ranks, in their order."""
    files = sorted(folder.glob("*.events"), key=lambda path: int(path.stem))
    return [RankTrace(path) for path in files]
