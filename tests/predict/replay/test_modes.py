"""Sends of MPI's other modes, calculated by hand as in test_times.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.predict.replay.encoding import traces, write
from tests.predict.replay.test_times import KB, US, finish_us

from hockney.predict.replay.recorded import read

SYNCHRONOUS, BUFFERED = 1, 2


@pytest.mark.parametrize("how", ["send", "isend", "send_init"])
def test_a_buffered_send_waits_for_nothing(tmp_path: Path, how: str) -> None:
    """Its message does: it leaves when the receiver answers at 30."""
    a, b = traces(2)
    if how == "send":
        a.send(1, KB, mode=BUFFERED)
    elif how == "isend":
        a.wait(a.isend(1, KB, mode=BUFFERED))
    else:
        a.wait(*a.start(a.send_init(1, KB, mode=BUFFERED)))
    a.compute(4 * US)
    b.compute(30 * US)
    b.recv(0, KB)
    assert finish_us(tmp_path, [a, b], waits_above_B=100) == pytest.approx([4, 51])


def test_a_persistent_receive_of_any_tag_is_no_buffered_send(tmp_path: Path) -> None:
    a, b = traces(2)
    a.compute(30 * US)
    a.send(1, KB, 7)
    (number,) = b.start(b.recv_init(0, KB, None))
    b.wait((number, 0, 7))
    assert finish_us(tmp_path, [a, b]) == pytest.approx([30, 41])


def test_synchronous_sends_are_counted(tmp_path: Path) -> None:
    a, b = traces(2)
    give = a.send_init(1, KB, mode=SYNCHRONOUS)
    for _ in range(2):
        a.wait(*a.start(give))
    a.send(1, KB, mode=SYNCHRONOUS)
    a.wait(a.isend(1, KB, mode=SYNCHRONOUS), a.isend(1, KB))
    for _ in range(5):
        b.recv(0, KB)
    folder = write(tmp_path / "run.trace", [a, b])
    assert read(folder).remarks() == ["4 synchronous sends are played as standard ones"]
