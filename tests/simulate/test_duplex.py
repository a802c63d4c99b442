"""What both directions of a rank share: times of exchanges, by hand. A byte takes a microsecond."""

from __future__ import annotations

import numpy as np
import pytest

from hockney import _core
from hockney._core import Network, Problem
from hockney.predict.costs import TERMS, Costs, CriticalTerms, LoggopsParameters

LATENCY_S, SIZE_B = 10.0, 101


def costs(share: float, **parameters: float) -> Costs:
    """`share` 0: both ways at once take no longer than one; 1: twice as long."""
    made = LoggopsParameters(LATENCY_S, 0.0, 0.0, 1.0, **parameters).at([0])
    # Between two messages: 100 s.
    if share:
        made.messages[0][TERMS.index("duplex")] = [0.0, SIZE_B], [0.0, (1 + share) / 2 * 100]
    return made


def exchange(share: float, ranks: int = 2, **parameters: float) -> tuple[float, float]:
    """Seconds of a ring where each rank sends to the next and hears from the one before; and of its path."""
    problem = Problem(ranks=ranks, bytes=SIZE_B)
    of_it = costs(share, **parameters)
    result = _core.simulate(
        [("allgather", "ring", problem)],
        of_it.curves(),
        levels=np.zeros((0, 0), np.int32),
        network=Network(node_of_rank=()),
        trace=True,
    )
    path = CriticalTerms.of(result, of_it)
    return float(result.finish_s.max()), sum(path.empty_s.values()) + sum(path.bytes_s.values())


@pytest.mark.parametrize(("share", "seconds"), [(0.0, 110.0), (0.5, 160.0), (1.0, 210.0)])
@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_an_exchange_takes_longer_as_its_directions_share(share: float, seconds: float, ranks: int) -> None:
    """In a ring, too, where the two partners differ."""
    time_s, path_s = exchange(share, ranks)
    assert time_s == pytest.approx((ranks - 1) * seconds)
    assert path_s == pytest.approx(time_s)


def test_messages_that_meet_their_receivers_share_too() -> None:
    time_s, path_s = exchange(0.6, rendezvous_above_B=0)
    # Request and answer are empty messages.
    assert time_s == pytest.approx(2 * LATENCY_S + 170)
    assert path_s == pytest.approx(time_s)


def test_one_way_alone_takes_what_it_took() -> None:
    problem = Problem(ranks=6, bytes=SIZE_B)
    levels, network = np.zeros((0, 0), np.int32), Network(node_of_rank=())
    alone, shared = (
        _core.simulate(
            [("bcast", "chain", problem)], costs(share).curves(), levels=levels, network=network
        ).finish_s
        for share in (0.0, 1.0)
    )
    assert shared == pytest.approx(alone)


def test_many_at_once_take_turns_over_both_directions() -> None:
    """Four ranks send to all: three messages leave each and three come, each of 75 s of what is shared."""
    problem = Problem(ranks=4, bytes=SIZE_B)
    levels, network = np.zeros((0, 0), np.int32), Network(node_of_rank=())
    finish_s = _core.simulate(
        [("alltoall", "linear", problem)], costs(0.5).curves(), levels=levels, network=network
    ).finish_s
    assert finish_s.max() == pytest.approx(6 * 75 + LATENCY_S)
