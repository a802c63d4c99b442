"""Traces that are cut off, of another version, of missing ranks, with messages of one end: it is said where."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.command_line import outcome
from tests.predict.replay.encoding import RankTrace, traces, write

MACHINE = ("--machine", "orfeo_thin")


def pair() -> list[RankTrace]:
    a, b = traces(2)
    for _ in range(3):
        a.compute(1e-3)
        a.send(1, 100, 5)
        b.recv(0, 100, 5)
    return [a, b]


def refusal(folder: Path, ranks: list[RankTrace]) -> str:
    code, _, error = outcome("predict", write(folder / "run.trace", ranks), *MACHINE)
    assert code == 2
    return " ".join(error.split())


def test_a_trace_that_is_cut_off_is_replayed_up_to_there(tmp_path: Path) -> None:
    a, b = pair()
    for one in (a, b):
        one.compute(9e-3)
    folder = write(tmp_path / "run.trace", [a, b], ended=False)
    code, said, error = outcome("predict", folder, *MACHINE, "--json")
    assert code == 0, error
    assert "rank 0: it ends after event 3" in said
    # What rank 1 waits for was sent after the end: it waits no more.
    file = folder / "1.events"
    b.recv(0, 100, 5)
    file.write_bytes(b.header() + b.events)
    code, said, _ = outcome("predict", folder, *MACHINE, "--json")
    assert code == 0
    assert "rank 1, event 4: a message of tag 5 from rank 0 that nobody sends" in said
    # In the middle of an event.
    file.write_bytes((b.header() + b.events)[:-1])
    code, said, error = outcome("predict", folder, *MACHINE, "--json")
    assert code == 0, error
    assert "rank 1: it is cut off in event 4" in said
    assert "nobody sends" not in said
    # In the definition before it; a number that does not end is another damage.
    file.write_bytes(b.header() + b.events + b"\3\0\x14MPI")
    assert "rank 1: it is cut off in event 5" in outcome("predict", folder, *MACHINE, "--json")[1]
    file.write_bytes(b.header() + b.events + b"\3" + b"\xff" * 20)
    code, _, error = outcome("predict", folder, *MACHINE)
    assert (code, "rank 1, event 4: a number has more than 64 bits" in error) == (2, True)


def test_files_that_are_no_trace_of_the_run(tmp_path: Path) -> None:
    folder = write(tmp_path / "run.trace", pair())
    second = folder / "1.events"
    whole = second.read_bytes()
    for change, says in (
        (whole[:100], "1.events is no trace of rank 1"),
        (whole[:8] + b"\7" + whole[9:], "1.events is of version 7"),
        (whole[:12] + b"\5" + whole[13:], "1.events is no trace of rank 1"),
        (whole[:16] + b"\3" + whole[17:], "1.events is no trace of rank 1 of 2"),
        (b"", "1.events is empty"),
    ):
        second.write_bytes(change)
        code, _, error = outcome("predict", folder, *MACHINE)
        assert (code, says in " ".join(error.split())) == (2, True), (says, error)
    second.unlink()
    os.mkfifo(second)
    code, _, error = outcome("predict", folder, *MACHINE)
    assert (code, "1.events is no file" in " ".join(error.split())) == (2, True)
    second.unlink()
    code, _, error = outcome("predict", folder, *MACHINE)
    assert code == 2
    assert "1.events is missing: the run had 2 ranks" in " ".join(error.split())


def nobody_receives(a: RankTrace, b: RankTrace) -> None:
    a.send(1, 7, 6)
    b.compute(0)


def unknown_request(a: RankTrace, b: RankTrace) -> None:
    b.irecv(0, 7)
    b.requests = 2
    a.send(1, 7)
    b.wait(0)


def twice_complete(a: RankTrace, b: RankTrace) -> None:
    b.irecv(0, 7)
    a.send(1, 7)
    b.wait(0)
    b.wait(0)


def twice_at_once(a: RankTrace, b: RankTrace) -> None:
    b.irecv(0, 7)
    a.send(1, 7)
    b.wait(0, 0)


def unknown_rank(a: RankTrace, b: RankTrace) -> None:
    a.send(2, 7)
    b.compute(0)


def unknown_kind(a: RankTrace, b: RankTrace) -> None:
    a.event(99)
    b.compute(0)


def threads(a: RankTrace, b: RankTrace) -> None:
    a.event(42, b"\x08MPI_Send")
    b.compute(0)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (unknown_request, "rank 1, event 5: it waits for a request that never was"),
        (twice_complete, "rank 1, event 6: it waits for a request that never was, or that was complete before"),
        (twice_at_once, "rank 1, event 5: it waits for a request that never was, or that was complete before"),
        (unknown_rank, "rank 0, event 4: the other rank 2 is none that it knows"),
        (unknown_kind, "rank 0, event 4: a record of kind 99 is none"),
        (threads, "rank 0, event 4: two threads were in MPI at once: MPI_Send"),
    ],
)
def test_an_event_that_cannot_be(tmp_path: Path, damage: Callable[..., None], says: str) -> None:
    a, b = pair()
    damage(a, b)
    assert says in refusal(tmp_path, [a, b])


def test_a_message_of_one_end(tmp_path: Path) -> None:
    a, b = pair()
    b.recv(0, 7, 6)
    assert "rank 1, event 4: a message of tag 6 from rank 0 that nobody sends" in refusal(tmp_path, [a, b])
    a, b = pair()
    nobody_receives(a, b)
    code, said, _ = outcome("predict", write(tmp_path / "run.trace", [a, b]), *MACHINE, "--json")
    # The rest is replayed.
    assert code == 0
    assert "rank 0, event 4: a message of tag 6 to rank 1 that nobody receives" in said
