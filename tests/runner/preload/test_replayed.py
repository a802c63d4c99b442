"""What the layer writes of a real program is replayed to its end: each message has both of its ends."""

from __future__ import annotations

import pytest
from tests import command_line
from tests.capabilities import lacking
from tests.runner.preload.conftest import Kept
from tests.runner.preload.test_profile import sums

from hockney.records.profile import load

PARTS = (
    "messages later failing exchanges persistent probes polls passes non_blocking neighbours communicators others"
)
ALL_ARRIVE = {"messages", "exchanges", "probes", "polls", "passes"}
"""Nothing is cancelled or fails."""


@pytest.mark.parametrize("part", PARTS.split())
def test_a_program_is_replayed_to_its_end(kept: Kept, part: str) -> None:
    traces, profile = kept(part)
    said = command_line.answer("predict", profile, "--machine", "bluegene_p")
    assert not [text for text in said["warnings"] if "nobody" in text or "MPI_Finalize" in text]
    assert said["run_s"] > 0
    events = [event for one in traces for event in one.events]
    assert said["events"] == len(events)
    if part in ALL_ARRIVE:
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


def test_exchanges_that_do_not_block(kept: Kept) -> None:
    """A receive and a send, which one request completes; as many bytes as are sent count."""
    (first, *_), path = kept("exchanges")
    if len(first.events) == 1:
        pytest.skip(lacking("MPI_Isendrecv", f"{first.mpi} does not have it"))
    assert [(event.kind, event.said) for event in first.events[:-1]] == [
        ("irecv", (0, 2, 1, 10)),
        ("isend", (0, 1, 1, 10, 0)),
        ("isend", (0, 1, 2, 11, 0)),
        ("irecv", (0, 2, 3, 12)),
        ("wait", ((0,), (1,), (2,), (3,))),
    ]
    assert sums(load(path), "isendrecv") == (2, 10 + 12)
