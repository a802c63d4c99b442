"""No schedule of the catalogue costs the engine more than its messages: work is counted, not timed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hockney import _core
from hockney._core import CostCurves, Network, Problem
from hockney.predict.costs import TERMS, LoggopsParameters, per_byte
from hockney.records.keys import COLLECTIVES

NODE = 8
RANKS = [2**k for k in range(4, 11)]
MANY_MESSAGES = 2**15
"""The last number of ranks is the first with so many: what does not grow for ever has come to its end there."""
ROUNDING = 1.05
ELEMENT_B, BLOCK_B, SEGMENT_B = 4, 8192, 1024
"""A vector of as many elements as ranks is at most a packet, blocks of 8 KiB flow."""

OF_STEPS = {("alltoall", "bruck")}
"""A message carries P / 2 blocks, each copied by itself: the schedule's own steps are counted in its place."""
EXCEPTIONS = {
    (
        "gather",
        "linear_sync",
        True,
        True,
    ): "messages that come to the root's link change the pace of all others there",
    ("gather", "linear_sync", False, True): "the same",
    (
        "bcast",
        "circulant",
        True,
        False,
    ): "a message that is heard of late looks for a gap at a port taken long since",
}
"""With whether messages meet, and share links."""


def costs(*, meets: bool, shares: bool, hops: bool = False) -> CostCurves:
    of_all = LoggopsParameters(
        5.0, 1.0, 3.0, 0.01, receive_overhead_s=0.7, reduce_s_per_B=0.002, rendezvous_above_B=0 if meets else None
    ).at([0, 1] if shares else [0])
    if shares:
        of_all.messages[1][TERMS.index("node_link")] = per_byte(0.008)
    if hops:
        of_all.messages[1][TERMS.index("network_link")] = per_byte(0.008)
    return of_all.curves()


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("longer", ["two", "third", "half", "all but one"])
def test_blocks_that_differ_keep_what_symmetry_gives(ranks: int, longer: str) -> None:
    """At most three times the work of one rank for all, however many blocks are longer by an element."""
    of_longer = {"two": 2, "third": ranks // 3, "half": ranks // 2, "all but one": ranks - 1}[longer]
    work = []
    for elements in (1000 * ranks, 1000 * ranks + of_longer):
        phase = ("allreduce", "rabenseifner", Problem(ranks=ranks, bytes=4 * elements, element_B=4))
        alone, no_levels = Network(node_of_rank=[]), np.zeros((0, 0), np.int32)
        costs_of = costs(meets=False, shares=False)
        work.append(_core.simulate([phase], costs_of, levels=no_levels, network=alone, by_class=True).work)
    assert work[1] <= 3 * work[0]


def work_of_a_message(one: _core.Algorithm, problem: Problem, *, meets: bool, shares: bool) -> tuple[float, int]:
    """And the messages."""
    nodes = np.arange(problem.ranks, dtype=np.int32) // NODE if shares else np.zeros(0, np.int32)
    levels = nodes[None, :] if shares else np.zeros((0, 0), np.int32)
    phase = (one.collective, one.name, problem)
    network = Network(node_of_rank=nodes.tolist())
    result = _core.simulate([phase], costs(meets=meets, shares=shares), levels=levels, network=network)
    parts = result.messages
    if (one.collective, one.name) in OF_STEPS:
        parts = problem.ranks * len(_core.generate_rank(one.collective, one.name, problem, 0).steps)
    return result.work / parts, result.messages


@pytest.mark.parametrize("shares", [False, True], ids=["alone", "shared"])
@pytest.mark.parametrize("meets", [False, True], ids=["eager", "rendezvous"])
@pytest.mark.parametrize("one", _core.algorithms(), ids=lambda one: f"{one.collective}-{one.name}")
def test_work_grows_as_messages_do(one: _core.Algorithm, meets: bool, shares: bool) -> None:
    """A doubling of the ranks makes a message dearer by the logarithm of those under way, at most."""
    of_each, worst = COLLECTIVES[one.collective].sizes_are_blocks, 0.0
    for block_B, more_B in ((ELEMENT_B, 0), (BLOCK_B, 2 * ELEMENT_B)):
        growth, before = 0.0, 0.0
        for ranks in RANKS:
            problem = Problem(
                ranks=ranks,
                bytes=(block_B if of_each else ranks * block_B + more_B) if one.collective != "barrier" else 0,
                element_B=ELEMENT_B,
                segment_B=SEGMENT_B if one.is_segmented and block_B > SEGMENT_B else 0,
            )
            assert not _core.refusal(one.collective, one.name, problem)
            now, messages = work_of_a_message(one, problem, meets=meets, shares=shares)
            growth, before = now / (before or now), now
            if messages >= MANY_MESSAGES:
                break
        worst = max(worst, growth * math.log2(ranks / 2) / math.log2(ranks))
    assert (worst > ROUNDING) == ((one.collective, one.name, meets, shares) in EXCEPTIONS), worst


def test_who_comes_at_a_time_of_its_own_looks_at_no_whole_way() -> None:
    """Over a torus with noise a link's flows double with the nodes; few of them change their narrowest link."""
    work = []
    for nodes in (16, 32):
        ranks = NODE * nodes
        node_of_rank = np.arange(ranks, dtype=np.int32) // NODE
        network = Network(node_of_rank=node_of_rank.tolist(), torus=[2, nodes // 8, 4])
        phase = ("alltoall", "linear", Problem(ranks=ranks, bytes=BLOCK_B))
        levels, of_each = node_of_rank[None, :], costs(meets=False, shares=True, hops=True)
        result = _core.simulate([phase], of_each, levels=levels, network=network, noise_s=[0.2], seed=1)
        work.append(result.work / result.messages)
    assert work[1] <= 2 * work[0]
