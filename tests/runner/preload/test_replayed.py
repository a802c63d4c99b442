"""What the layer writes of a real program is replayed to its end: each message has both of its ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import command_line
from tests.runner.preload.test_trace import recorded

from hockney.runner.mpi import Mpi


@pytest.mark.parametrize(
    "part",
    [
        "messages",
        "later",
        "failing",
        "persistent",
        "probes",
        "polls",
        "non_blocking",
        "neighbours",
        "communicators",
        "others",
    ],
)
def test_a_program_is_replayed_to_its_end(mpi: Mpi, tmp_path: Path, part: str) -> None:
    traces, _ = recorded(mpi, tmp_path, part)
    said = command_line.answer("predict", tmp_path / "p.json", "--machine", "bluegene_p")
    assert not [text for text in said["warnings"] if "nobody" in text or "MPI_Finalize" in text]
    assert said["run_s"] > 0
    assert said["events"] == sum(len(one.events) for one in traces)


@pytest.mark.parametrize("part", ["messages", "probes", "polls"])
def test_each_message_is_sent_once(mpi: Mpi, tmp_path: Path, part: str) -> None:
    traces, _ = recorded(mpi, tmp_path, part)
    said = command_line.answer("predict", tmp_path / "p.json", "--machine", "bluegene_p")
    events = [event for one in traces for event in one.events]
    # Of MPI_Sendrecv the partner is -1 where nothing is sent.
    exchanged = sum(event.kind == "sendrecv" and event.said[1] != -1 for event in events)
    assert said["messages"] == exchanged + sum(event.kind in ("send", "isend") for event in events)


def test_collectives_take_the_librarys_algorithms(mpi: Mpi, tmp_path: Path) -> None:
    traces, _ = recorded(mpi, tmp_path, "collectives")
    said = command_line.answer("predict", tmp_path / "p.json", "--machine", "bluegene_p")
    assert {"bcast", "allreduce", "barrier", "alltoall", "allgather"} <= set(said["algorithms"])
    calls = [event.said[0] for one in traces for event in one.events if event.kind == "collective"]
    # Communicators that are made take some, too.
    assert all(sum(served.values()) >= calls.count(name) for name, served in said["algorithms"].items())
