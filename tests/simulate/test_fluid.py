"""Messages of more than a packet share their links by turns, worked out by hand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.factories import on_nodes

from hockney import _core
from hockney._core import CostCurves, Kind, Network, Problem, RecordedTrace
from hockney.predict.costs import BUFFERED, HELD, NOTHING, TERMS, LoggopsParameters
from hockney.predict.simulation import simulate
from hockney.schedule.catalogue import algorithms, ask

LATENCY_S, LINK_S_PER_B = 5.0, 0.25
NODE_LINKS = LoggopsParameters(LATENCY_S, 0.0, 0.0, 0.0, receive_overhead_s=0.0, node_s_per_B=LINK_S_PER_B)
SIZE_B = 8192
TAKEN_S = SIZE_B * LINK_S_PER_B
NO_LEVELS = np.zeros((0, 0), np.int32)


def costs(**of_term: float) -> CostCurves:
    """Constant terms, seconds; `link_s_per_B`, `network_s_per_B` and `own_s_per_B` for each byte."""
    link, own = of_term.pop("link_s_per_B", 0.0), of_term.pop("own_s_per_B", 0.0)
    between = of_term.pop("network_s_per_B", 0.0)
    known: dict[str, Any] = {term: ([0.0], [of_term.get(term, 0.0)]) for term in TERMS}
    known["node_link"], known["network_link"] = ([0.0, 1.0], [0.0, link]), ([0.0, 1.0], [0.0, between])
    known["transfer"] = ([0.0, 1.0], [LATENCY_S, LATENCY_S + own])
    known["handshake"] = ([0.0], [of_term.get("handshake", BUFFERED)])
    return CostCurves([[known[term] for term in TERMS]], NOTHING, ([0.0, 1.0], [0.0, 1.0]))


def in_memory(
    ranks: int, domains: list[int], collective: str = "bcast", size_B: int = SIZE_B, **of_term: float
) -> np.ndarray:
    """When the ranks of one node finish a linear algorithm."""
    network = Network(node_of_rank=[0] * ranks, memory_of_rank=domains)
    phase = (collective, "linear", Problem(ranks=ranks, bytes=size_B))
    made = costs(link_s_per_B=LINK_S_PER_B, **of_term)
    return _core.simulate([phase], made, levels=NO_LEVELS, network=network).finish_s


@pytest.mark.parametrize("ranks", [1, 2, 8])
def test_messages_that_start_together_arrive_together(ranks: int) -> None:
    """The k ranks of the second node send to rank 0: each has a kth of the link."""
    place = on_nodes(2 * ranks, ranks)
    outcome = simulate(ask("gather", "linear", ranks=2 * ranks, size_B=SIZE_B), NODE_LINKS, place=place)
    assert outcome.finish_s[0] == pytest.approx(LATENCY_S + ranks * TAKEN_S)
    small = simulate(ask("gather", "linear", ranks=2 * ranks, size_B=4096), NODE_LINKS, place=place)
    # Packets pass one after another, which takes the last as long.
    assert small.finish_s[0] == pytest.approx(LATENCY_S + ranks * TAKEN_S / 2)


def test_the_smaller_one_leaves_the_rest_to_the_others() -> None:
    """Rank 0 scatters 4, 2 and 1 blocks at once: a third each, then halves, then all."""
    asked = ask("scatter", "binomial", ranks=8, size_B=SIZE_B)
    finish_s = simulate(asked, NODE_LINKS, place=on_nodes(8)).finish_s
    to_1, to_2, to_4 = LATENCY_S + 3 * TAKEN_S, LATENCY_S + 5 * TAKEN_S, LATENCY_S + 7 * TAKEN_S
    assert finish_s[[1, 2, 4]] == pytest.approx([to_1, to_2, to_4])
    assert finish_s[3] == pytest.approx(to_2 + LATENCY_S + TAKEN_S)
    assert finish_s[[5, 6]] == pytest.approx([to_4 + LATENCY_S + 2 * TAKEN_S, to_4 + LATENCY_S + 3 * TAKEN_S])


@pytest.mark.parametrize(("own", "pace"), [(0.5, 4.0), (4.0, 4.0), (9.0, 9.0)])
def test_who_is_slower_than_a_share_is_not_slowed(own: float, pace: float) -> None:
    """Four copies out of one memory, each at the pace of its ends or at a quarter of the memory's."""
    finish_s = in_memory(5, [0] * 5, own_s_per_B=own * LINK_S_PER_B)
    assert finish_s[1:] == pytest.approx(np.full(4, LATENCY_S + pace * TAKEN_S))


def test_a_copy_takes_of_both_memories() -> None:
    """Three read from rank 0's memory, two of them write into one, the third has one to itself."""
    finish_s = in_memory(4, [0, 1, 1, 2])
    assert finish_s[1:] == pytest.approx(np.full(3, LATENCY_S + 3 * TAKEN_S)), "rank 0's memory has three"
    # The other way round, each reads from its own and all write into one; packets as well, one after another.
    assert in_memory(4, [0, 1, 2, 3], "gather")[0] == pytest.approx(LATENCY_S + 3 * TAKEN_S)
    assert in_memory(4, [0, 1, 2, 3], "gather", SIZE_B // 2)[0] == pytest.approx(LATENCY_S + 1.5 * TAKEN_S)


def test_a_sender_that_holds_its_messages_is_through_when_they_are_out() -> None:
    assert in_memory(5, [0] * 5, handshake=BUFFERED)[0] == 0
    assert in_memory(5, [0] * 5, handshake=HELD)[0] == pytest.approx(4 * TAKEN_S)
    rendezvous = in_memory(5, [0] * 5, handshake=1.0)
    # Request and answer, then the data; the sender hears when it has arrived.
    assert rendezvous == pytest.approx(np.full(5, 2.0 + LATENCY_S + 4 * TAKEN_S))


@pytest.mark.parametrize("handshake", [BUFFERED, HELD, 1.0], ids=["buffered", "held", "rendezvous"])
@pytest.mark.parametrize("one", algorithms(), ids=lambda one: f"{one.collective}-{one.name}")
def test_terms_times_costs_are_the_time(one: _core.Algorithm, handshake: float) -> None:
    """Twice all costs is twice the time (Euler): what the trace counts adds up, also where messages share."""
    ranks = 6 if one.name not in ("recursive_doubling", "recursive_halving") else 8
    phase = (one.collective, one.name, Problem(ranks=ranks, bytes=30000))
    if _core.refusal(*phase):
        pytest.skip(f"not for {ranks} ranks")
    network = Network(
        node_of_rank=[r // 2 for r in range(ranks)], memory_of_rank=[r // 2 for r in range(ranks)], torus=[2, 2]
    )
    made = costs(send=1.0, receive=0.5, handshake=handshake, link_s_per_B=0.01, own_s_per_B=0.015)
    trace = RecordedTrace([phase], made, levels=NO_LEVELS, network=network)
    rng = np.random.default_rng(3)
    table = np.array(
        [[curve_at(term, size, handshake, rng) for term in TERMS] + [0.0, 0.0] for size in trace.size_B]
    )
    finish_s = trace.finish_s(table)
    counts = trace.gradient(table, lambda times_s: np.eye(times_s.size)[times_s.argmax()])
    signless = np.where(table < 0, 0.0, table)
    assert (counts * signless).sum() == pytest.approx(finish_s.max())
    assert finish_s.max() >= LATENCY_S


def curve_at(term: str, size_B: int, handshake: float, rng: np.random.Generator) -> float:
    """Some cost, more for more bytes."""
    if term == "handshake":
        return handshake
    per_B = {"node_link": 0.01, "network_link": 0.01, "transfer": 0.015}.get(term, 0.0)
    fixed = {"send": 1.0, "receive": 0.5, "transfer": LATENCY_S, "hop": 0.2}.get(term, 0.0)
    return fixed + per_B * size_B * float(rng.uniform(0.9, 1.1))


@pytest.mark.parametrize("own", [0.5, 0.999, 1.001, 2.0])
def test_the_latency_is_not_the_senders(own: float) -> None:
    """Whether the link or its ends hold a message up, its sender is through when the last byte is on its way."""
    finish_s = in_memory(2, [0, 0], handshake=HELD, own_s_per_B=own * LINK_S_PER_B)
    out_s = max(own, 1.0) * TAKEN_S
    assert finish_s == pytest.approx([out_s, out_s + LATENCY_S])


@pytest.mark.parametrize("recorded", [0.0, 1.0], ids=["alone", "shared"])
def test_a_tape_refuses_costs_under_which_other_messages_share(recorded: float) -> None:
    phase = ("bcast", "linear", Problem(ranks=3, bytes=SIZE_B))
    network = Network(node_of_rank=[0, 1, 2])
    trace = RecordedTrace([phase], costs(link_s_per_B=recorded), levels=NO_LEVELS, network=network)
    table = np.zeros((len(trace.size_B), len(TERMS) + 2))
    table[:, TERMS.index("handshake")] = BUFFERED
    table[:, TERMS.index("node_link")] = 1.0 - recorded
    with pytest.raises(ValueError, match="must stay so"):
        trace.finish_s(table)
    table[:, TERMS.index("node_link")] = recorded
    assert trace.finish_s(table).max() == 2 * recorded
    table[:, TERMS.index("handshake")] = 1.0
    with pytest.raises(ValueError, match="must stay so"):
        trace.finish_s(table)


def step_by_step(start_s: np.ndarray, own_s: np.ndarray, ways: list[dict[object, float]]) -> np.ndarray:
    """When each message is through: all of them looked at whenever one comes or goes."""
    left, end_s, now_s = np.ones(len(ways)), np.full(len(ways), np.inf), 0.0
    while np.isinf(end_s).any():
        under_way = [i for i in range(len(ways)) if start_s[i] <= now_s and left[i] > 0]
        on_link = Counter(link for i in under_way for link in ways[i])
        whole_s = {
            i: max(own_s[i], *(cost_s * on_link[link] for link, cost_s in ways[i].items())) for i in under_way
        }
        events_s = [now_s + left[i] * whole_s[i] for i in under_way]
        then_s = min([*events_s, *start_s[start_s > now_s]])
        for i in under_way:
            left[i] -= (then_s - now_s) / whole_s[i]
            if left[i] < 1e-9:  # far less than a step, far more than rounding
                left[i], end_s[i] = 0.0, then_s
        now_s = then_s
    return end_s


@pytest.mark.parametrize("seed", range(12))
def test_messages_pass_as_step_by_step(seed: int) -> None:
    """Each from a rank of its own to one of its own, many at the same instants, over the same links."""
    rng = np.random.default_rng(seed)
    messages, nodes = 80, 6
    node_of_rank = rng.integers(0, nodes, 2 * messages)
    memory_of_rank = 2 * node_of_rank + rng.integers(0, 2, 2 * messages)
    torus = [[], [nodes], [2, 3]][seed % 3]
    network = Network(node_of_rank=node_of_rank.tolist(), memory_of_rank=memory_of_rank.tolist(), torus=torus)
    size_B = rng.choice([5000, 8192, 20000], messages)
    start_s = rng.integers(1, 12, messages) * (1000 if seed % 2 else 977)
    own, link, hop = rng.choice([0.2, 1.0, 2.5], 3)
    ways: list[dict[object, float]] = []
    steps: list[tuple[int, int, int, int, int]] = []  # rank, stage, kind, peer, length
    for i, B in enumerate(size_B):
        ends = [2 * i, 2 * i + 1]
        here, there = node_of_rank[ends]
        near = [("memory", memory) for memory in memory_of_rank[ends]]
        of_ends = near if here == there else [("out", here), ("in", there)]
        between = network.route(here, there)
        ways.append(dict.fromkeys(of_ends, link * B) | dict.fromkeys(between, hop * B))
        steps += [(ends[0], 0, Kind.reduce.value, -1, start_s[i]), (ends[0], 1, Kind.send.value, ends[1], B)]
        steps += [(ends[1], 0, Kind.receive.value, ends[0], B)]
    rank, stage, kind, peer, length = np.array(steps).T
    narrow = [column.astype(np.int32) for column in (rank, stage, kind, peer)]
    schedule = _core.write_schedule(
        2 * messages, narrow[0], narrow[1], narrow[2], narrow[3], length.astype(np.int64)
    )
    made = costs(own_s_per_B=own, link_s_per_B=link, network_s_per_B=hop)
    finish_s = _core.simulate([schedule], made, levels=NO_LEVELS, network=network).finish_s
    assert finish_s[1::2] == pytest.approx(LATENCY_S + step_by_step(start_s, own * size_B, ways), rel=1e-9)


def test_nodes_that_do_the_same_stay_together_in_any_unit_of_time() -> None:
    """What differs by rounding is one instant: else the first to send would gain with each round."""
    asked = ask("alltoall", "pairwise", ranks=256, size_B=65536)
    finish_s = [
        simulate(
            asked,
            LoggopsParameters(2e-6 * unit, 0.5e-6 * unit, 0.0, 1e-10 * unit, node_s_per_B=8e-11 * unit),
            place=on_nodes(256, 8),
        ).finish_s
        / unit
        for unit in (1.0, 3.0)
    ]
    of_node = finish_s[0].reshape(32, 8)
    assert of_node == pytest.approx(np.tile(of_node[0], (32, 1)), rel=1e-9)
    assert finish_s[1] == pytest.approx(finish_s[0], rel=1e-9)
