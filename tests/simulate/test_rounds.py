"""A step of all ranks at once gives what ranks give one by one, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from tests.factories import loggp

from hockney import _core
from hockney._core import CostCurves, Network, Problem
from hockney.predict.costs import TERMS
from hockney.schedule.catalogue import algorithms

RANKS = 32
Line = tuple[list[float], list[float]]
ALONE = Network(node_of_rank=[])
NEVER_B = 1e12
"""No message is as long. That one could meet its receiver is reason enough to take the ranks one by one, where a
tree is among the phases."""

EAGER: Line = ([0.0], [-1.0])
NEVER_MEETS: Line = ([0.0, NEVER_B, 2 * NEVER_B], [-1.0, -1.0, 1.0])
MEETING: dict[str, Line] = {
    "all": ([0.0], [1.3]),
    "longer": ([0.0, 20.0, 20.5], [-1.0, -1.0, 1.3]),
    "held": ([0.0], [-2.0]),
    "never": NEVER_MEETS,
}
of_quiet_and_noisy = pytest.mark.parametrize("noise_s", [[], [0.5]], ids=["quiet", "noisy"])
of_alike = pytest.mark.parametrize(
    "one",
    [one for one in algorithms() if _core.symmetric_classes((one.collective, one.name, Problem(ranks=RANKS)))],
    ids=lambda one: f"{one.collective}-{one.name}",
)


def three_levels(handshake: Line) -> CostCurves:
    """Each term of each of three localities another line in the size."""
    message = []
    for locality in (1.0, 2.0, 3.0):
        lines = {
            term: ([0.0, 1e6], [locality * (1 + i) / 7, locality * (1 + i) / 7 + 1000.0 * locality])
            for i, term in enumerate(("send", "receive", "gap", "drain", "transfer"))
        }
        lines["handshake"] = handshake
        message.append([lines.get(term, ([], [])) for term in TERMS])
    return CostCurves(message, ([], []), ([0.0, 1e6], [0.3, 300.0]))


def assert_same(one: _core.Algorithm, problem: Problem, noise_s: list[float]) -> None:
    """Times, and what is on the way to the last one."""
    ranks = problem.ranks
    of_two_and_eight = np.array([np.arange(ranks) // 2, np.arange(ranks) // 8], np.int32)
    # A tree before, so that ranks begin far from together, and the same again behind.
    tree = ("bcast", "binomial", Problem(ranks=ranks, root=ranks - 1, bytes=100_000))
    phases = [tree, *2 * [(one.collective, one.name, problem)]]
    for trace in (False, True):
        together, one_by_one = (
            _core.simulate(
                phases, costs, levels=of_two_and_eight, network=ALONE, noise_s=noise_s, seed=4, trace=trace
            )
            for costs in (three_levels(EAGER), three_levels(NEVER_MEETS))
        )
        assert together.messages == one_by_one.messages
        np.testing.assert_array_equal(together.finish_s, one_by_one.finish_s)
    paths = [
        {size_B: row.tolist() for size_B, row in zip(of.size_B, of.critical, strict=True) if row.any()}
        for of in (together, one_by_one)
    ]
    assert paths[0] == paths[1]


@of_alike
@of_quiet_and_noisy
def test_rounds_are_what_ranks_do_one_by_one(one: _core.Algorithm, noise_s: list[float]) -> None:
    problem = Problem(ranks=RANKS, bytes=0 if one.collective == "barrier" else 4 * 32 * RANKS)
    assert_same(one, problem, noise_s)


@pytest.mark.parametrize("name", ["ring", "segmented_ring", "rabenseifner", "circulant"])
@of_quiet_and_noisy
@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 16, 24, 31, 32])
def test_blocks_that_differ_are_what_ranks_do_one_by_one(name: str, noise_s: list[float], ranks: int) -> None:
    """Some longer by an element, some empty, some with a segment more."""
    one = next(one for one in algorithms() if (one.collective, one.name) == ("allreduce", name))
    for elements in {
        1,
        2,
        ranks // 2,
        ranks - 1,
        ranks + 1,
        2 * ranks - 1,
        2 * ranks + 1,
        5 * ranks + ranks // 3,
    }:
        for segment_B in (0, 4, 8, 12) if one.is_segmented else (0,):
            problem = Problem(ranks=ranks, bytes=4 * elements, element_B=4, segment_B=segment_B)
            assert_same(one, problem, noise_s)


@of_alike
@of_quiet_and_noisy
@pytest.mark.parametrize("handshake", MEETING.values(), ids=MEETING.keys())
@pytest.mark.parametrize("ranks", [3, 4, 7, 16])
def test_rounds_of_messages_that_meet(
    one: _core.Algorithm, noise_s: list[float], handshake: Line, ranks: int
) -> None:
    of_two = np.array([np.arange(ranks) // 2, np.zeros(ranks)], np.int32)
    tree = ("bcast", "binomial", Problem(ranks=ranks, bytes=64))
    for elements in {1, ranks, ranks + 1, 4 * ranks + ranks // 3}:
        size_B, segment_B = 0 if one.collective == "barrier" else 4 * elements, 8 if one.is_segmented else 0
        problem = Problem(ranks=ranks, bytes=size_B, element_B=4, segment_B=segment_B)
        if _core.refusal(one.collective, one.name, problem):
            return
        phases, costs = 2 * [(one.collective, one.name, problem)], three_levels(handshake)
        together, with_tree = (
            _core.simulate(some, costs, levels=of_two, network=ALONE, noise_s=noise_s, seed=4).finish_s
            for some in (phases, [*phases, tree])
        )
        np.testing.assert_array_equal(together, with_tree[: together.shape[0]])


def test_a_ring_with_blocks_that_differ_holds_what_is_under_way() -> None:
    """200 B a rank, where each rank's program alone would take 48,000."""
    ranks = 1000
    phase = ("allreduce", "ring", Problem(ranks=ranks, bytes=4 * (ranks + 1), element_B=4))
    costs = loggp(latency_s=5.0, overhead_s=1.0, gap_s=3.0, gap_s_per_B=0.01)
    levels = np.zeros((0, 0), np.int32)
    outcome = _core.simulate([phase], costs, levels=levels, network=ALONE, most_B=200 * ranks)
    assert outcome.messages == 2 * (ranks - 1) * ranks


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
