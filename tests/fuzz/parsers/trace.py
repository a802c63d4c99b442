"""Traces of runs: what rank 0 of two recorded; rank 1 is whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from tests.fuzz.mutation import Text, damaged
from tests.fuzz.parser import Parser, parsers
from tests.predict.replay.encoding import ANY, RankTrace, traces, write

from hockney.predict.replay.recorded import read as load


class Records(Text):
    """Bytes, of which any may be another."""

    def changed(self, data: bytes, chance: Random, gentle: bool) -> bytes:  # noqa: ARG002 - one change is gentle
        for _ in range(chance.choice((1, 1, 2, 4))):
            data = damaged(data, chance)
        return data


def _run() -> list[RankTrace]:
    ranks = traces(2)
    for one in ranks:
        other = 1 - one.rank
        one.compute(1e-5)
        got, sent = one.irecv(ANY, 100, ANY), one.isend(other, 50, 3)
        one.wait((got, other, 3), sent)
        one.sendrecv(other, 9, other, 9)
        place = one.communicator([1, 0], sources=[0, 1], destinations=[0, 1])
        one.made(0, 1, place)
        one.collective("allreduce", 64, element_B=8, comm=place)
        one.wait(one.collective("bcast", 8, root=1, returns=True))
        one.collective("neighbor_alltoall", 8, comm=place)
        one.collective("alltoallv", 0, vectors=[one.vector([1, 2]), one.vector([1 + one.rank, 1 + one.rank])])
        one.wait(*one.start(one.recv_init(other, 9, 8), one.send_init(other, 9, 8)))
        one.dropped(one.irecv(other, 5, 77), 1)
        one.isend(other, 5, 6)
        one.probe(other, 6)
        one.recv(other, 5, 6)
    return ranks


def seeds() -> Sequence[bytes]:
    """Most kinds of events."""
    first, _ = _run()
    first.event(40)
    return [first.header() + first.events + bytes(4)]


def read(data: bytes, folder: Path) -> str:
    """The trace, looked through."""
    place = write(folder / "t.trace", _run())
    (place / "0.events").write_bytes(data)
    load(place)
    return place.name


parsers.register("trace")(
    Parser(seeds, Records(), read, ("predict FILE --machine orfeo_thin --json",), each=4, turn=5)
)
