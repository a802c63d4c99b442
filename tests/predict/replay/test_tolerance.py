"""How far latency and bandwidth may go, where that is calculated by hand: L is 10 µs, a byte takes 1 ns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.predict.replay.encoding import RankTrace, traces, write

from hockney._core import Recording, Replay
from hockney.predict.costs import LoggopsParameters
from hockney.predict.place import NETWORK
from hockney.predict.replay.run import Played, ReplaySetting
from hockney.predict.replay.tolerance import Tolerance, tolerances

US = 1e-6


def tolerated(folder: Path, ranks: list[RankTrace], **more: Any) -> tuple[float, Tolerance]:
    trace = Recording(str(write(folder / "run.trace", ranks)))
    source: Any = LoggopsParameters(10 * US, 0.0, 0.0, 1e-9, **more)
    around, curves, replay = ReplaySetting(source, None, (NETWORK,), 1), source.at([NETWORK]), Replay(trace, [])
    first = Played.of(around.play(replay, curves), curves)
    (row,) = tolerances(around, replay, curves, first, 10)
    return first.run_s, row


def test_messages_one_after_another_are_a_line(tmp_path: Path) -> None:
    a, b = traces(2)
    for _ in range(5):
        a.compute(100 * US)
        a.send(1, 1001)
        a.recv(1, 1001)
        b.recv(0, 1001)
        b.send(0, 1001)
    run_s, row = tolerated(tmp_path, [a, b])
    assert run_s == pytest.approx(610 * US)
    assert (row.per_latency, row.per_overhead) == (10, 20)
    assert row.per_gap_per_B == pytest.approx(10 * 1001)
    assert [limit.added_latency_s for limit in row.latency_limits] == pytest.approx(
        [share * run_s / 10 for share in (0.01, 0.02, 0.05)]
    )
    # Bytes take 10 µs of it.
    assert [limit.narrower for limit in row.bandwidth_limits] == pytest.approx(
        [1 + share * run_s / (10 * US) for share in (0.01, 0.02, 0.05)]
    )


def test_what_is_hidden_behind_work_has_a_slope_of_zero_up_to_there(tmp_path: Path) -> None:
    a, b = traces(2)
    a.send(1, 1001)
    request = b.irecv(0, 1001)
    b.compute(100 * US)
    b.wait(request)
    run_s, row = tolerated(tmp_path, [a, b])
    assert run_s == pytest.approx(100 * US)
    assert row.per_latency == 0
    # max(100, 10 + added + 1).
    assert [limit.added_latency_s for limit in row.latency_limits] == pytest.approx(
        [90 * US, 91 * US, 94 * US], rel=1e-4
    )
    assert [limit.narrower for limit in row.bandwidth_limits] == pytest.approx([91, 92, 95], rel=1e-4)
    times_s = [time_s for _, time_s in row.latency_curve]
    assert times_s == sorted(times_s)


def test_a_run_without_messages_on_its_path_never_takes_longer(tmp_path: Path) -> None:
    a, b = traces(2)
    a.compute(50 * US)
    a.send(1, 1)
    a.compute(10 * US)
    b.recv(0, 1)
    _, row = tolerated(tmp_path, [a, b])
    # No bytes but the first, which is the latency's.
    assert [limit.narrower for limit in row.bandwidth_limits] == [None] * 3


def test_a_handshake_has_latencies_too(tmp_path: Path) -> None:
    a, b = traces(2)
    a.send(1, 1001)
    b.recv(0, 1001)
    run_s, row = tolerated(tmp_path, [a, b], rendezvous_above_B=10)
    assert run_s == pytest.approx(31 * US)
    assert row.per_latency == 3
    assert row.latency_limits[0].added_latency_s == pytest.approx(0.01 * run_s / 3)
