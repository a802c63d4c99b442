"""Sends of MPI's other modes, calculated by hand as in test_times.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.predict.replay.encoding import KB, US, finish_us, played, traces

from hockney._core import TraceFault
from hockney.predict.costs import CriticalTerms, LoggopsParameters

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


@pytest.mark.parametrize("how", ["send", "isend", "send_init"])
@pytest.mark.parametrize("waits_above_B", [None, 100])
def test_a_synchronous_send_waits_for_its_receiver(tmp_path: Path, how: str, waits_above_B: float | None) -> None:
    """However short: request and answer are messages without data, of 10 us less a byte's time."""
    size_B = KB if waits_above_B is None else 51
    takes_us = 10 + (size_B - 1) / 1000
    a, b = traces(2)
    if how == "send":
        a.send(1, size_B, mode=SYNCHRONOUS)
    elif how == "isend":
        a.wait(a.isend(1, size_B, mode=SYNCHRONOUS))
    else:
        a.wait(*a.start(a.send_init(1, size_B, mode=SYNCHRONOUS)))
    a.send(1, size_B)
    b.compute(30 * US)
    b.recv(0, size_B)
    b.recv(0, size_B)
    # The answer goes back at 30. A standard send behind it waits for nobody.
    met_us = 30 + 10 + takes_us
    done = played(tmp_path, [a, b], waits_above_B=waits_above_B)
    assert done.finish_s / US == pytest.approx([met_us, met_us + takes_us], rel=1e-3)
    costs = LoggopsParameters(10 * US, 0.0, 0.0, 1e-9, rendezvous_above_B=waits_above_B).at([0])
    path = CriticalTerms.of(done, costs)
    in_messages_s = sum(path.empty_s.values()) + sum(path.bytes_s.values())
    assert path.ticks * 1e-9 + in_messages_s == pytest.approx(float(done.finish_s.max()))


def test_a_run_that_relies_on_buffers_has_none_of_synchronous_sends(tmp_path: Path) -> None:
    ranks = traces(2)
    for one in ranks:
        one.send(1 - one.rank, KB, mode=SYNCHRONOUS)
        one.recv(1 - one.rank, KB)
    with pytest.raises(TraceFault, match="waits for ever"):
        finish_us(tmp_path, ranks)
