"""Answers that wait behind their rank's own data, worked out by hand as in `test_times.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.predict.replay.encoding import KB, US, RankTrace, costs, finish_us, played, traces

from hockney.predict.replay.run import Played


@pytest.mark.parametrize(
    ("behind_us", "is_posted", "expected_us"),
    [(None, True, [180, 180]), (3, True, [280, 270]), (3, False, [180, 170])],
)
def test_an_answer_waits_for_the_data_of_its_rank(
    tmp_path: Path, behind_us: float | None, expected_us: list[float], *, is_posted: bool
) -> None:
    """Two send 100 KB to each other, the second 50 us later: its answer is at rank 0 at 60, whose data leave
    until 160. Its own answer goes before them, or comes at 170."""
    a, b = traces(2)
    b.compute(50 * US)
    for mine, theirs in ((a, 1), (b, 0)):
        if is_posted:
            received = mine.irecv(theirs, 100 * KB)
            mine.wait(received, mine.isend(theirs, 100 * KB))
        else:
            sent = mine.isend(theirs, 100 * KB)
            mine.recv(theirs, 100 * KB)
            mine.wait(sent)
    behind_s = None if behind_us is None else behind_us * US
    assert finish_us(tmp_path, [a, b], waits_above_B=1, behind_s=behind_s) == pytest.approx(expected_us, rel=2e-3)


def three() -> list[RankTrace]:
    """Rank 0 sends 100 KB to rank 1 from 20 to 120; rank 2 asks it at 50, and sends when it has the answer."""
    a, b, c = traces(3)
    received = a.irecv(2, 100 * KB)
    a.wait(received, a.isend(1, 100 * KB))
    b.recv(0, 100 * KB)
    c.compute(40 * US)
    c.send(0, 100 * KB)
    return [a, b, c]


@pytest.mark.parametrize(("behind_us", "expected_us"), [(30, 200), (100, 240)])
def test_other_streams_keep_an_answer_for_a_while(tmp_path: Path, behind_us: float, expected_us: float) -> None:
    run = played(tmp_path, three(), waits_above_B=1, behind_s=behind_us * US)
    finished_us = [time_s / US for time_s in run.finish_s]
    assert finished_us == pytest.approx([expected_us, 130, expected_us - 110], rel=2e-3)
    of_all = costs(1, behind_s=behind_us * US)
    parts_s = vars(Played.of(run, of_all).parts(of_all))
    assert sum(parts_s.values()) / US == pytest.approx(expected_us, rel=2e-3)


def test_a_stream_holds_short_messages(tmp_path: Path) -> None:
    """Of 48 us: with 100 us the sender goes on when they are out, with 40 us when it has the answer."""
    for size_KB, expected_us in ((100, [150, 130]), (40, [50, 70])):
        a, b = traces(2)
        a.send(1, size_KB * KB)
        a.compute(30 * US)
        b.recv(0, size_KB * KB)
        finished_us = finish_us(tmp_path, [a, b], waits_above_B=1, behind_s=3 * US)
        assert finished_us == pytest.approx(expected_us, rel=2e-3)


def test_streams_of_a_rank_pass_its_link_together_and_each_keeps_its_order(tmp_path: Path) -> None:
    """Three messages of 100 us, each asked for before any leaves: two to rank 1, one after the other, beside one
    to rank 2. At 220 two are through, then the third has the link to itself; the second time all are eager."""
    for waits_above_B, began_us in ((1, 20), (None, 0)):
        a, b, c = traces(3)
        a.wait(a.isend(1, 100 * KB), a.isend(1, 100 * KB), a.isend(2, 100 * KB))
        b.wait(b.irecv(0, 100 * KB), b.irecv(0, 100 * KB))
        c.recv(0, 100 * KB)
        finished_us = finish_us(tmp_path, [a, b, c], waits_above_B=waits_above_B, behind_s=100 * US)
        assert finished_us[1:] == pytest.approx([began_us + 310, began_us + 210], rel=2e-3)


@pytest.mark.parametrize("size_B", [0, 1])
def test_what_is_sent_later_to_the_same_rank_comes_later(tmp_path: Path, size_B: int) -> None:
    """After 100 eager KB, which are out at 101: a message of its own tag follows them, whatever its size."""
    a, b = traces(2)
    a.wait(a.isend(1, 100 * KB, 1))
    a.send(1, size_B, 2)
    b.recv(0, size_B, 2)
    assert finish_us(tmp_path, [a, b], overhead_s=US, behind_s=100 * US)[1] == pytest.approx(112, rel=2e-3)


def test_messages_of_a_stream_take_as_much_work_each(tmp_path: Path) -> None:
    def work(messages: int) -> float:
        a, b = traces(2)
        for _ in range(messages):
            a.send(1, KB)
            b.recv(0, KB)
        return played(tmp_path, [a, b], behind_s=100 * US).work / messages

    assert work(4000) < 1.1 * work(500), "each is looked at once more, not with all that are kept"
