"""Schedules that no generator makes, in the simulator."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hockney import _core
from hockney._core import Kind, Network, Problem, Schedule
from hockney.predict.costs import Costs, LoggopsParameters

L, O, G = 5e-6, 1e-6, 1e-9  # noqa: E741 - the model's letters
PS = 1e-12


def column(*values: int) -> NDArray[np.int32]:
    return np.array(values, dtype=np.int32)


def write(ranks: int, *steps: tuple[int, int, Kind, int, int]) -> Schedule:
    """(rank, stage, kind, peer, length), in the order given."""
    rank, stage, kind, peer, length = zip(*steps, strict=True)
    return _core.write_schedule(
        ranks,
        column(*rank),
        column(*stage),
        column(*(one.value for one in kind)),
        column(*peer),
        np.array(length, dtype=np.int64),
    )


def finish(*phases: tuple[str, str, Problem] | Schedule) -> NDArray[np.float64]:
    """Seconds by phase and rank; work takes 1 ps for each of its length."""
    made = LoggopsParameters(L, O, O, G).at([0])
    costs = Costs(made.messages, made.copy, ([0.0, 1.0], [0.0, PS]))
    ranks = len(phases[0]) if isinstance(phases[0], Schedule) else phases[0][2].ranks
    found = _core.simulate(
        phases, costs.curves(), levels=np.zeros((0, 0), np.int32), network=Network(node_of_rank=())
    )
    return found.finish_s.reshape(len(phases), ranks)


SEND, RECEIVE, WORK = Kind.send, Kind.receive, Kind.reduce


def test_a_message_between_two() -> None:
    one = write(2, (0, 0, SEND, 1, 1001), (1, 0, RECEIVE, 0, 1001))
    # o + L + (m − 1) G + o; the sender is through after its overhead.
    assert finish(one)[0] == pytest.approx([O, L + 2 * O + 1000 * G])


def test_a_stage_waits_for_the_one_before() -> None:
    work = 3_000_000  # 3 µs
    steps = [(0, 0, SEND, 1, 1), (1, 0, RECEIVE, 0, 1)]
    waits = write(2, *steps, (1, 1, WORK, -1, work))
    overlaps = write(2, *steps, (1, 0, WORK, -1, work))
    assert finish(waits)[0, 1] == pytest.approx(L + 2 * O + 3e-6)
    # While the message travels; only taking it remains.
    assert finish(overlaps)[0, 1] == pytest.approx(L + 2 * O)


def test_messages_of_a_pair_match_in_order() -> None:
    two = write(2, (0, 0, SEND, 1, 1), (0, 0, SEND, 1, 5001), (1, 0, RECEIVE, 0, 1), (1, 1, RECEIVE, 0, 5001))
    # The second leaves o later than the first and takes 5 µs longer.
    assert finish(two)[0, 1] == pytest.approx(O + O + L + 5000 * G + O)


def test_phases_of_both_kinds_follow_each_other() -> None:
    work = write(2, (0, 0, WORK, -1, 1_000_000), (1, 0, WORK, -1, 2_000_000))
    barrier = ("barrier", "dissemination", Problem(ranks=2))
    alone = finish(barrier)[0].max()
    times = finish(work, barrier)
    assert times[0] == pytest.approx([1e-6, 2e-6])
    assert times[1].max() == pytest.approx(2e-6 + alone)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([(1, 0, WORK, -1, 1), (0, 0, WORK, -1, 1), (1, 0, WORK, -1, 1)], "sorted"),
        ([(0, 1, WORK, -1, 1), (0, 0, WORK, -1, 1)], "sorted"),
        ([(2, 0, WORK, -1, 1)], "sorted"),
        ([(0, 0, SEND, 0, 1)], "no other rank"),
        ([(0, 0, SEND, 2, 1)], "no other rank"),
        ([(0, 0, WORK, -1, -1)], "outside its memory"),
    ],
)
def test_what_is_no_schedule_is_refused(steps: list[tuple[int, int, Kind, int, int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write(2, *steps)


def test_phases_of_different_numbers_of_ranks_are_refused() -> None:
    with pytest.raises(ValueError, match="same number of ranks"):
        finish(write(2, (0, 0, WORK, -1, 1)), write(3, (0, 0, WORK, -1, 1)))
