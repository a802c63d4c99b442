"""Shared links by hand: the head of a message goes on as soon as a link is free, which stays taken for m/B."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.factories import on_nodes

from hockney import _core
from hockney._core import CostCurves, Network, Problem
from hockney.predict.costs import NOTHING, TERMS, LoggopsParameters, per_byte, protocols, terms_of
from hockney.predict.place import Place
from hockney.predict.simulation import simulate
from hockney.schedule.catalogue import ask

LATENCY_S, OVERHEAD_S, RECEIVE_S = 5.0, 1.0, 0.0
PLAIN = LoggopsParameters(LATENCY_S, OVERHEAD_S, 0.0, 0.0, receive_overhead_s=RECEIVE_S)
SIZE_B, LINK_S_PER_B = 100, 0.25
TAKEN_S = SIZE_B * LINK_S_PER_B
NODE_LINKS, LINKS = replace(PLAIN, node_s_per_B=LINK_S_PER_B), replace(PLAIN, link_s_per_B=LINK_S_PER_B)


@pytest.mark.parametrize("node_size", [1, 2, 8])
def test_the_ranks_of_a_node_send_one_after_another(node_size: int) -> None:
    """The second node's k ranks send to rank 0 at once: the last is through after k messages of m/B."""
    place = on_nodes(2 * node_size, node_size)
    outcome = simulate(ask("gather", "linear", ranks=2 * node_size, size_B=SIZE_B), NODE_LINKS, place=place)
    assert outcome.finish_s[0] == pytest.approx(node_size * TAKEN_S + OVERHEAD_S + LATENCY_S)


@pytest.mark.parametrize("node_size", [1, 2, 8])
def test_the_root_takes_what_a_node_sends_through_its_own_port(node_size: int) -> None:
    """With G as slow as the link, the port that takes all 2k − 1 messages is later than the link with its k."""
    per_byte, place = replace(NODE_LINKS, gap_s_per_B=LINK_S_PER_B), on_nodes(2 * node_size, node_size)
    outcome = simulate(ask("gather", "linear", ranks=2 * node_size, size_B=SIZE_B), per_byte, place=place)
    # The link takes m of a message, the port m − 1.
    port_s = (2 * node_size - 1) * (SIZE_B - 1) * LINK_S_PER_B
    assert outcome.finish_s[0] == pytest.approx(OVERHEAD_S + LATENCY_S + max(port_s, node_size * TAKEN_S))


@pytest.mark.parametrize(
    ("collective", "costs", "place", "rank", "expected_s"),
    [
        # Messages inside a node take nothing of its links.
        ("bcast", NODE_LINKS, on_nodes(8, 8), 7, 7 * OVERHEAD_S),
        # Seven nodes send to rank 0 over links of their own, but into one.
        ("gather", NODE_LINKS, on_nodes(8), 0, OVERHEAD_S + 7 * TAKEN_S),
        # On a ring of 8 nodes three of the seven come from above, 5, 6 and 7 → 0, and share a link; 1 to 4 come
        # from below (of equal ways the forward one).
        ("gather", LINKS, on_nodes(8, torus=(8,)), 0, OVERHEAD_S + 4 * TAKEN_S),
    ],
)
def test_links_are_shared_by_those_that_pass_them(
    collective: str, costs: LoggopsParameters, place: Place, rank: int, expected_s: float
) -> None:
    outcome = simulate(ask(collective, "linear", ranks=8, size_B=SIZE_B), costs, place=place)
    assert outcome.finish_s[rank] == pytest.approx(expected_s + LATENCY_S)


def test_what_a_rank_sends_over_one_link_goes_one_after_another() -> None:
    """Others share links fairly. On a ring of nodes 0 → 1 and 0 → 2 leave by the same link."""
    size_B = 8192
    place, taken_s = on_nodes(3, torus=(8,)), size_B * LINK_S_PER_B
    outcome = simulate(ask("bcast", "linear", ranks=3, size_B=size_B), LINKS, place=place)
    first_s = OVERHEAD_S + taken_s + LATENCY_S
    assert outcome.finish_s[1:] == pytest.approx([first_s, first_s + taken_s])


def test_the_network_does_not_wait_for_readers_on_the_node() -> None:
    """Readers on the root's node take its port one after another; what takes nothing of that goes out beside."""
    nodes, gap_s = np.array([0, 0, 0, 1], np.int32), 10.0
    plain = {"send": ([0.0], [OVERHEAD_S]), "transfer": ([0.0], [LATENCY_S])}
    near = terms_of(**plain, gap=([0.0], [gap_s]), handshake=protocols())
    far = terms_of(**plain, handshake=protocols())
    phase = ("bcast", "linear", Problem(ranks=4, bytes=SIZE_B))
    costs = CostCurves([near, far], NOTHING, NOTHING)
    finish_s = _core.simulate([phase], costs, levels=nodes[None, :], network=Network(node_of_rank=[])).finish_s
    own_s = [OVERHEAD_S + LATENCY_S, OVERHEAD_S + gap_s + LATENCY_S, 3 * OVERHEAD_S + LATENCY_S]
    assert finish_s.tolist() == pytest.approx([3 * OVERHEAD_S, *own_s])


def test_a_torus_goes_the_shorter_way_dimension_by_dimension() -> None:
    network = Network(node_of_rank=list(range(12)), torus=[3, 4])
    assert network.route(5, 5) == []
    assert len(network.route(0, 3)) == 1, "round the end"
    assert len(network.route(0, 2)) == 2
    assert len(network.route(0, 10)) == 3, "one down round the end, two across"
    # There and back are different links.
    assert not set(network.route(0, 10)) & set(network.route(10, 0))
    assert all(0 <= link < network.links for link in network.route(0, 10))


def test_a_tree_goes_up_to_the_first_common_switch() -> None:
    network = Network(node_of_rank=list(range(16)), below=[4, 4], uplinks=[2, 1])
    # One link up and down for each level below the common switch; the last level's switch has all below it.
    assert network.route(0, 1) == []
    assert len(network.route(0, 5)) == 2
    up_5, up_6 = network.route(0, 5)[0], network.route(0, 6)[0]
    assert up_5 != up_6, "two uplinks, chosen by the destination"
    assert network.route(1, 5)[0] == up_5
    assert all(0 <= link < network.links for link in network.route(3, 14))


@pytest.mark.parametrize(("uplinks", "passing"), [(4, 1), (2, 2), (1, 4)])
def test_fewer_uplinks_make_messages_wait(uplinks: int, passing: int) -> None:
    """Four nodes of one switch exchange with the four of the other, each with one: alltoall's last round."""
    place = on_nodes(8, tree=((4, uplinks), (2, 1)))
    outcome = simulate(ask("allreduce", "recursive_doubling", ranks=8, size_B=SIZE_B), LINKS, place=place)
    assert outcome.finish_s.max() == pytest.approx(3 * (OVERHEAD_S + LATENCY_S) + passing * TAKEN_S)


def test_a_head_takes_time_from_link_to_link() -> None:
    """From 0 to 5 of a torus of 4 × 4 it is two links, one in each dimension; inside a node there is none."""
    of_term = {"send": OVERHEAD_S, "transfer": LATENCY_S, "hop": 3.0, "handshake": -1.0}
    costs = CostCurves([[([0.0], [of_term.get(term, 0.0)]) for term in TERMS]], NOTHING, NOTHING)
    phase = ("bcast", "linear", Problem(ranks=6, bytes=SIZE_B))

    def last_s(torus: Sequence[int] = (), below: Sequence[int] = (), uplinks: Sequence[int] = ()) -> float:
        network = Network(node_of_rank=list(range(6)), torus=torus, below=below, uplinks=uplinks)
        result = _core.simulate([phase], costs, levels=np.zeros((0, 0), np.int32), network=network)
        return float(result.finish_s.max())

    # Rank 5 is the last to be sent to, the fifth; 2, sent to as the second, is two links away as well.
    assert last_s(torus=[4, 4]) == pytest.approx(5 * OVERHEAD_S + 2 * 3.0 + LATENCY_S)
    assert last_s() == pytest.approx(5 * OVERHEAD_S + LATENCY_S)
    assert last_s(below=[2], uplinks=[1]) == pytest.approx(5 * OVERHEAD_S + 2 * 3.0 + LATENCY_S)


def test_a_message_waits_for_none_that_comes_to_the_link_after_it() -> None:
    """On a ring of 8 all send to all, up to four links far; a link passes 10 of them, each in a hundredth."""
    send_s, hop_s, link_s = 1.0, 10.0, 0.01
    of_term = {"send": send_s, "transfer": LATENCY_S, "hop": hop_s, "network_link": link_s, "handshake": -1.0}
    costs = CostCurves([[([0.0], [of_term.get(term, 0.0)]) for term in TERMS]], NOTHING, NOTHING)
    network = Network(node_of_rank=list(range(8)), torus=[8])
    phase = ("alltoall", "linear", Problem(ranks=8, bytes=SIZE_B))
    finish_s = _core.simulate([phase], costs, levels=np.zeros((0, 0), np.int32), network=network).finish_s
    at_least_s = 4 * send_s + 4 * hop_s + LATENCY_S
    assert ((finish_s >= at_least_s) & (finish_s <= at_least_s + 3 * send_s + 10 * link_s)).all()


@pytest.mark.parametrize("name", ["dissemination", "linear", "recursive_doubling"])
@pytest.mark.parametrize("ranks", [9, 13])
def test_what_takes_nothing_of_a_link_waits_for_nobody(name: str, ranks: int) -> None:
    """Empty messages over links that are shared are as fast as over links that are not."""
    of_term = {"send": 0.2, "receive": 0.26, "transfer": 1.0}
    message = [([0.0], [of_term.get(term, 0.0)]) for term in TERMS]
    message[TERMS.index("handshake")] = protocols()
    message[TERMS.index("network_link")] = per_byte(1.0)
    near = [([0.0], [curve[1][0] / 3]) if curve[1][0] > 0 else curve for curve in message]
    nodes = np.arange(ranks, dtype=np.int32) // 4
    phases = [("barrier", name, Problem(ranks=ranks))] * 2
    finish_s = [
        _core.simulate(
            phases,
            CostCurves([near, message], NOTHING, NOTHING),
            levels=nodes[None, :],
            network=Network(node_of_rank=nodes.tolist(), torus=torus),
        ).finish_s
        for torus in ([], [2, 2])
    ]
    assert finish_s[1] == pytest.approx(finish_s[0])
