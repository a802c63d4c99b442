"""What the layer writes of a real program is replayed to its end: each message has both of its ends."""

from __future__ import annotations

import pytest
from tests import command_line
from tests.runner.preload.conftest import Kept

PARTS = (
    "messages",
    "later",
    "failing",
    "persistent",
    "probes",
    "polls",
    "passes",
    "non_blocking",
    "neighbours",
    "communicators",
    "others",
)
ALL_ARRIVE = {"messages", "probes", "polls", "passes"}
"""Nothing is cancelled or fails."""


@pytest.mark.parametrize("part", PARTS)
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
