"""What the layer writes of a real program is replayed to its end: each message has both of its ends."""

from __future__ import annotations

import pytest
from tests import command_line
from tests.capabilities import lacking
from tests.runner.preload.conftest import Kept
from tests.runner.preload.test_profile import sums

from hockney.records.profile import load
from hockney.runner.mpi import Mpi

ALL_ARRIVE = "messages exchanges probes polls passes"
"""Nothing is cancelled or fails."""
PARTS = f"{ALL_ARRIVE} later failing persistent non_blocking neighbours communicators others"


@pytest.mark.parametrize("part", PARTS.split())
def test_a_program_is_replayed_to_its_end(kept: Kept, part: str) -> None:
    traces, profile = kept(part)
    said = command_line.answer("predict", profile, "--machine", "bluegene_p")
    alone = [text for text in said["warnings"] if "nobody" in text or "MPI_Finalize" in text]
    # MPICH's status does not say whose message one from any source got: that is left out, and named.
    is_lost = ("MPI_Isendrecv",) in traces[0].of("other")
    assert alone == ["rank 2, event 3: a message of tag 4 to rank 0 that nobody receives"] * is_lost
    assert said["run_s"] > 0
    events = [event for one in traces for event in one.events]
    assert said["events"] == len(events)
    if part in ALL_ARRIVE.split():
        # Of MPI_Sendrecv the partner is -1 where nothing is sent.
        exchanged = sum(event.kind == "sendrecv" and event.said[1] != -1 for event in events)
        assert said["messages"] == exchanged + sum(event.kind in ("send", "isend") for event in events)


def test_tests_that_a_program_passes_are_its_computing(kept: Kept) -> None:
    """A loop that goes on though its tests find nothing waits for nothing, though they find something later."""
    for one in kept("passes")[0][1:]:
        assert [event.kind for event in one.events] == ["irecv", "isend", "wait", "send", "wait", "finalize"]
        assert min(event.gap_ns for event in one.events[1:3]) > 0.9e6


def test_collectives_take_the_librarys_algorithms(kept: Kept) -> None:
    traces, profile = kept("collectives")
    said = command_line.answer("predict", profile, "--machine", "bluegene_p")
    assert {"bcast", "allreduce", "barrier", "alltoall", "allgather"} <= set(said["algorithms"])
    calls = [event.said[0] for one in traces for event in one.events if event.kind == "collective"]
    # Communicators that are made take some, too.
    assert all(sum(served.values()) >= calls.count(name) for name, served in said["algorithms"].items())


def test_exchanges_that_do_not_block(mpi: Mpi, kept: Kept) -> None:
    """A receive and a send, which one request completes; as many bytes as are sent count."""
    if mpi.standard < "4" and (mpi.kind, mpi.version) < ("openmpi", "5"):
        pytest.skip(lacking("MPI_Isendrecv", f"{mpi.describe()} does not have it"))
    (first, *_), path = kept("exchanges")
    # As above; and Open MPI frees no such request.
    is_said = mpi.kind == "openmpi"
    assert first.of("irecv") == [(0, 2, 1, 20), (0, 2, 3, 20), *[(0, None, 4, 20)] * is_said, (0, 2, 5, 20)]
    assert first.of("isend") == [(0, 1, tag, 9 + tag, 0) for tag in (1, 2, 4, 5)]
    assert first.of("other") == [("MPI_Isendrecv",)] * (not is_said)
    wild, *last = [((4, 2, 4), (5,)), ((6,), (7,))] if is_said else [((4,),), (5, 0), (6, 0)]
    assert first.of("wait", "dropped") == [((0,), (1,), (2,), (3,), *wild), *last]
    assert sums(load(path), "isendrecv") == (4, 10 + 12 + 13 + 14)
