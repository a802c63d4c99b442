"""A step of all ranks at once gives what ranks give one by one, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.factories import loggp

from hockney import _core
from hockney._core import CostCurves, Network, Problem
from hockney.predict.costs import TERMS
from hockney.schedule.catalogue import algorithms

RANKS = 32
ALONE = Network(node_of_rank=[])
NEVER_B = 1e12
"""No message is as long. That one could meet its receiver is reason enough to take the ranks one by one."""

SENT_AT_ONCE = ([0.0], [-1.0])
MEETS = ([0.0, NEVER_B, 2 * NEVER_B], [-1.0, -1.0, 1.0])
of_alike = pytest.mark.parametrize(
    "one",
    [one for one in algorithms() if _core.symmetric_classes((one.collective, one.name, Problem(ranks=RANKS)))],
    ids=lambda one: f"{one.collective}-{one.name}",
)


def three_levels(*, by_one: bool) -> CostCurves:
    """Each term of each of three localities another line in the size."""
    message = []
    for locality in (1.0, 2.0, 3.0):
        lines = {
            term: ([0.0, 1e6], [locality * (1 + i) / 7, locality * (1 + i) / 7 + 1000.0 * locality])
            for i, term in enumerate(("send", "receive", "gap", "drain", "transfer"))
        }
        lines["handshake"] = MEETS if by_one else SENT_AT_ONCE
        message.append([lines.get(term, ([], [])) for term in TERMS])
    return CostCurves(message, ([], []), ([0.0, 1e6], [0.3, 300.0]))


def finish_s(one: _core.Algorithm, noise_s: list[float], *, by_one: bool) -> NDArray[np.float64]:
    problem = Problem(ranks=RANKS, bytes=0 if one.collective == "barrier" else 4 * 32 * RANKS)
    of_two_and_eight = np.array([np.arange(RANKS) // 2, np.arange(RANKS) // 8], np.int32)
    # A tree before, so that ranks do not begin together, and the same again behind.
    phases = [("bcast", "binomial", Problem(ranks=RANKS, bytes=64)), *2 * [(one.collective, one.name, problem)]]
    costs = three_levels(by_one=by_one)
    return _core.simulate(phases, costs, levels=of_two_and_eight, network=ALONE, noise_s=noise_s, seed=4).finish_s


@of_alike
@pytest.mark.parametrize("noise_s", [[], [0.5]], ids=["quiet", "noisy"])
def test_rounds_are_what_ranks_do_one_by_one(one: _core.Algorithm, noise_s: list[float]) -> None:
    np.testing.assert_array_equal(finish_s(one, noise_s, by_one=False), finish_s(one, noise_s, by_one=True))


@pytest.mark.parametrize("one", algorithms(), ids=lambda one: f"{one.collective}-{one.name}")
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("ranks", [1, 6, 16])
def test_steps_are_taken_as_their_schedule_says(one: _core.Algorithm, in_place: bool, ranks: int) -> None:
    """The simulator never sees the schedule that is proved, drawn and run; this one does."""
    problem = Problem(ranks=ranks, bytes=0 if one.collective == "barrier" else 960, in_place=in_place)
    if _core.refusal(one.collective, one.name, problem):
        pytest.skip(f"not for {ranks} ranks")
    costs = loggp(
        latency_s=5.0, overhead_s=1.0, gap_s=3.0, gap_s_per_B=0.01, copy_s_per_B=0.003, rendezvous_above_B=100.0
    )
    simulated = _core.simulate(
        [(one.collective, one.name, problem)], costs, levels=np.zeros((0, 0), np.int32), network=ALONE
    )
    written = _core.timeline(_core.generate(one.collective, one.name, problem), costs)
    assert simulated.finish_s.tolist() == written.finish_s


def test_a_rank_with_many_messages_finds_each() -> None:
    """The root of a linear gather hears of 999 ranks, the last one first, and takes them from the first on."""
    latency_s, gap_s, ranks = 5.0, 3.0, 1000
    costs = loggp(latency_s=latency_s, overhead_s=1.0, gap_s=gap_s, gap_s_per_B=0.0)
    phase = ("gather", "linear", Problem(ranks=ranks, bytes=8))
    outcome = _core.simulate([phase], costs, levels=np.zeros((0, 0), np.int32), network=ALONE)
    # All arrive at o + L; the port lets one in each g, the processor adds o to the last.
    assert outcome.messages == ranks - 1
    assert outcome.finish_s[0] == pytest.approx(1.0 + latency_s + (ranks - 2) * gap_s + 1.0, rel=1e-12)
