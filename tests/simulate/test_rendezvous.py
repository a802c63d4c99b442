"""Rendezvous by hand: a request (L), an answer (L) once the receive is posted, then the message."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hockney import _core
from hockney._core import CostCurves, Network, Problem
from hockney.predict.costs import HELD, NOTHING, TERMS, Curve, LoggopsParameters, per_byte, protocols
from hockney.predict.simulation import read_goal, simulate, simulate_graph
from hockney.schedule.catalogue import algorithms, ask

LATENCY_S, OVERHEAD_S, RECEIVE_S, PER_B = 5.0, 1.0, 0.5, 0.01
LIMIT_B = 1000
NO_LEVELS = np.zeros((0, 0), np.int32)
WITH = LoggopsParameters(
    LATENCY_S, OVERHEAD_S, 0.25, PER_B, receive_overhead_s=RECEIVE_S, rendezvous_above_B=LIMIT_B
)


def eager_s(size_B: int) -> float:
    return OVERHEAD_S + LATENCY_S + (size_B - 1) * PER_B + RECEIVE_S


def test_only_above_the_limit() -> None:
    at = simulate(ask("bcast", "linear", ranks=2, size_B=LIMIT_B), WITH)
    above = simulate(ask("bcast", "linear", ranks=2, size_B=LIMIT_B + 1), WITH)
    assert at.finish_s.tolist() == pytest.approx([OVERHEAD_S, eager_s(LIMIT_B)])
    # The sender is through when the data has left its hands: when it is there.
    assert above.finish_s.tolist() == pytest.approx(
        [eager_s(LIMIT_B + 1) + 2 * LATENCY_S - RECEIVE_S, eager_s(1001) + 2 * LATENCY_S]
    )


def test_a_late_receive_is_waited_for() -> None:
    """Rank 1 posts the second message's receive when it has the first: 0.5 after it would be answered."""
    first = Problem(ranks=2, bytes=1000)
    second = Problem(ranks=2, bytes=2000)
    result = _core.simulate(
        [("bcast", "linear", first), ("bcast", "linear", second)],
        WITH.at([0]).curves(),
        levels=NO_LEVELS,
        network=Network(node_of_rank=[]),
    )
    posted_s = eager_s(1000)
    assert posted_s > 2 * OVERHEAD_S + LATENCY_S, "the request is there first"
    arrived_s = posted_s + LATENCY_S + LATENCY_S + 1999 * PER_B
    assert result.finish_s.tolist() == pytest.approx([OVERHEAD_S, posted_s, arrived_s, arrived_s + RECEIVE_S])


def test_a_message_that_is_heard_of_late_waits_for_what_left_before(tmp_path: Path) -> None:
    """Rank 2 posts at 13. Its message is ready at 22, behind 16 B that leave from 12 to 27."""
    text = """num_ranks 4
        rank 0 { a: send 16b to 1  b: send 2b to 2  c: send 2b to 1 tag 1  d: send 2b to 1 tag 2
                 b irequires a  c irequires b  d irequires c }
        rank 1 { a: recv 16b from 0  b: recv 2b from 0 tag 1  c: recv 2b from 0 tag 2 }
        rank 2 { a: recv 1b from 3  b: recv 2b from 0  b requires a }
        rank 3 { a: send 1b to 2 }"""
    (tmp_path / "late.goal").write_text(text, encoding="utf-8")
    p = LoggopsParameters(1.0, 10.0, 0.0, 1.0, receive_overhead_s=0.0, rendezvous_above_B=0)
    finish_s = simulate_graph(read_goal(tmp_path / "late.goal"), p, 1.0).finish_s
    assert finish_s.tolist() == pytest.approx([44.0, 44.0, 29.0, 13.0])


@pytest.mark.parametrize("levels", [1, 3, 7])
def test_a_tree_of_messages_that_meet(levels: int) -> None:
    outcome = simulate(ask("bcast", "binomial", ranks=2**levels, size_B=5000), WITH)
    assert outcome.finish_s.max() == pytest.approx(levels * (eager_s(5000) + 2 * LATENCY_S))


def test_sizes_below_and_above_the_limit_in_one_schedule() -> None:
    # Blocks of 48 B, subtrees of 1 to 64 of them: 1536 and 3072 B are above the limit. The larger goes first,
    # whichever of the two receivers has the lower number.
    outcome = simulate(ask("scatter", "binomial", ranks=128, size_B=48), WITH)
    sizes_B = [48 * 2**level for level in range(7)]
    assert outcome.finish_s.max() == pytest.approx(
        sum(eager_s(s) + (2 * LATENCY_S if s > LIMIT_B else 0) for s in sizes_B)
    )


@pytest.mark.parametrize("one", algorithms(), ids=lambda one: f"{one.collective}-{one.name}")
@pytest.mark.parametrize("ranks", [1, 2, 6, 8, 16])
def test_every_algorithm_ends_and_a_handshake_never_hastens_it(one: _core.Algorithm, ranks: int) -> None:
    """Sizes on both sides of the limit; no algorithm may rely on messages that are buffered."""
    if _core.refusal(one.collective, one.name, Problem(ranks=ranks, bytes=4000, element_B=4)):
        pytest.skip(f"not for {ranks} ranks")
    asked = ask(one.collective, one.name, ranks=ranks, size_B=4000)
    meeting = simulate(asked, WITH, by_class=False)
    buffered = simulate(asked, replace(WITH, rendezvous_above_B=None), by_class=False)
    assert meeting.messages == buffered.messages
    assert meeting.finish_s.max() >= buffered.finish_s.max() * (1 - 1e-12)


@pytest.mark.parametrize("ranks", [16, 64])
def test_rounding_does_not_push_a_message_behind_another(ranks: int) -> None:
    # Without latency messages fit exactly one behind another; in decimal numbers they miss by a rounding error.
    asked = ask("allgather", "bruck", ranks=ranks, size_B=100_000)
    finish_s = []
    for latency_s in (0.0, 1e-6):
        p = LoggopsParameters(latency_s, 1e-7, 2e-7, 1e-10, receive_overhead_s=1e-7, rendezvous_above_B=1000)
        finish_s.append(simulate(asked, p, by_class=False).finish_s.max())
    assert finish_s[0] < finish_s[1]


@pytest.mark.parametrize("is_shared", [False, True], ids=["alone", "node"])
def test_a_held_message_is_the_senders_until_its_port_is_free(is_shared: bool) -> None:
    held = replace(WITH, rendezvous_above_B=None).at([0])
    held.messages[0][TERMS.index("handshake")] = ([0.0], [HELD])
    network = Network(node_of_rank=[0, 0] if is_shared else [])
    phase = ("bcast", "linear", Problem(ranks=2, bytes=2000))
    finish_s = _core.simulate([phase], held.curves(), levels=NO_LEVELS, network=network).finish_s
    assert finish_s[0] == pytest.approx(OVERHEAD_S + WITH.gap_s + 1999 * PER_B)


NAMES = [("alltoall", "pairwise"), ("reduce_scatter", "pairwise"), ("barrier", "dissemination")]


@pytest.mark.parametrize("ranks", [6, 9])
@pytest.mark.parametrize("shape", [{}, {"torus": [2, 2]}, {"below": [2, 3], "uplinks": [1, 2]}])
@pytest.mark.parametrize(("collective", "name"), NAMES)
def test_a_limit_that_no_message_reaches_changes_nothing(
    collective: str, name: str, shape: dict[str, list[int]], ranks: int
) -> None:
    """Messages come to what they share in the order of time, whatever it is that their sender might wait for."""
    of_term: dict[str, Curve] = {
        "send": ([0.0], [0.2]),
        "transfer": ([0.0, 1.0], [1.0, 1.0002]),
        "receive": ([0.0], [0.26]),
        "node_link": per_byte(3e-4),
        "network_link": per_byte(2e-4),
        "hop": ([0.0], [0.2]),
    }
    nodes = np.arange(ranks, dtype=np.int32) // 4
    network = Network(node_of_rank=nodes.tolist(), memory_of_rank=[rank // 2 for rank in range(ranks)], **shape)
    size_B = 0 if collective == "barrier" else 5000
    phases = [
        ("barrier", "dissemination", Problem(ranks=ranks)),
        (collective, name, Problem(ranks=ranks, bytes=size_B)),
    ]
    finish_s = []
    for handshake in (protocols(), protocols(held_above_B=1e9), protocols(rendezvous_above_B=1e9)):
        message = [{**of_term, "handshake": handshake}.get(term, NOTHING) for term in TERMS]
        near = [NOTHING if term in ("network_link", "hop") else c for term, c in zip(TERMS, message, strict=True)]
        curves = CostCurves([near, message], NOTHING, NOTHING)
        finish_s.append(_core.simulate(phases, curves, levels=nodes[None, :], network=network).finish_s)
    assert finish_s[1] == pytest.approx(finish_s[0])
    assert finish_s[2] == pytest.approx(finish_s[0])
