"""A trace is the same simulation without its times: replayed, it gives them; its gradient is their derivative."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.factories import loggp

from hockney import _core
from hockney._core import Network, Problem, RecordedTrace
from hockney.predict.costs import TERMS, LoggopsParameters, per_byte
from hockney.predict.simulation import simulate
from hockney.schedule.catalogue import ScheduleRequest, algorithms, ask

NO_LEVELS = np.zeros((0, 0), np.int32)
EAGER = LoggopsParameters(5.0, 1.0, 3.0, 0.01, receive_overhead_s=0.7, reduce_s_per_B=0.002, copy_s_per_B=0.001)
MEETING = LoggopsParameters(
    5.0, 1.0, 3.0, 0.01, receive_overhead_s=0.7, reduce_s_per_B=0.002, rendezvous_above_B=300
)

of_each = pytest.mark.parametrize("one", algorithms(), ids=lambda one: f"{one.collective}-{one.name}")
at_each = pytest.mark.parametrize("ranks", [1, 2, 7, 16])


def case(one: _core.Algorithm, ranks: int) -> ScheduleRequest:
    """In segments where the algorithm has them."""
    if _core.refusal(one.collective, one.name, Problem(ranks=ranks, bytes=2000, element_B=4)):
        pytest.skip(f"not for {ranks} ranks")
    return ask(one.collective, one.name, ranks=ranks, size_B=2000, segment_B=152 if one.is_segmented else 0)


def record(asked: ScheduleRequest, *, above_B: float | None = None) -> RecordedTrace:
    phase = (asked.algorithm.collective, asked.algorithm.name, asked.problem)
    # Which costs is of no importance where nothing is shared, but for what waits for its receiver.
    of_any = loggp(latency_s=1.0, overhead_s=1.0, gap_s=1.0, gap_s_per_B=1.0, rendezvous_above_B=above_B)
    return RecordedTrace([phase], of_any, levels=NO_LEVELS, network=Network(node_of_rank=[]))


def table(p: LoggopsParameters, sizes_B: list[int]) -> NDArray[np.float64]:
    """The costs of each size in the order of the terms, then of copies and reductions: by their definitions."""
    rows = []
    for size_B in sizes_B:
        further_s = max(size_B - 1, 0) * p.gap_s_per_B
        is_eager = p.rendezvous_above_B is None or size_B <= p.rendezvous_above_B
        of_term = {
            "send": p.overhead_s,
            "receive": p.receive_overhead_s,
            "gap": p.gap_s + further_s,
            "drain": p.gap_s + further_s,
            "transfer": p.latency_s + further_s,
            "handshake": -1.0 if is_eager else p.latency_s,
        }
        rows.append([of_term.get(term, 0.0) for term in TERMS])
        rows[-1] += [size_B * p.copy_s_per_B, size_B * p.reduce_s_per_B]
    return np.array(rows, dtype=np.float64).reshape(len(sizes_B), len(TERMS) + 2)


@of_each
@at_each
@pytest.mark.parametrize("p", [EAGER, MEETING], ids=["eager", "rendezvous"])
def test_a_replay_is_the_simulation(one: _core.Algorithm, ranks: int, p: LoggopsParameters) -> None:
    asked = case(one, ranks)
    trace = record(asked, above_B=p.rendezvous_above_B)
    replayed_s = trace.finish_s(table(p, trace.size_B))
    assert replayed_s.shape == (1, ranks)
    expected_s = simulate(asked, p, by_class=False).finish_s
    assert replayed_s[0].tolist() == pytest.approx(expected_s.tolist(), rel=1e-12)


@of_each
@pytest.mark.parametrize("ranks", [2, 5, 7, 16])
@pytest.mark.parametrize("drain", [1, 5], ids=["", "slow_ports"])
def test_the_gradient_is_the_derivative(one: _core.Algorithm, ranks: int, drain: float) -> None:
    """Where messages come in slowly, those that were overtaken no longer fit between the others."""
    asked = case(one, ranks)
    trace = record(asked)
    random = np.random.default_rng(1)
    # Costs without any relation, so that no two paths are equally long.
    costs = random.uniform(1, 2, (len(trace.size_B), len(TERMS) + 2))
    costs[:, TERMS.index("handshake")] = -1
    costs[:, TERMS.index("drain")] *= drain
    costs[:, [TERMS.index("send"), TERMS.index("receive")]] /= drain
    weights = random.uniform(1, 2, ranks)
    # With other times than those of a replay there is none.
    gradient = trace.gradient(costs, lambda finish_s: weights * (finish_s == trace.finish_s(costs)).all())
    assert gradient.any()
    for _ in range(3):
        direction = random.uniform(-1, 1, costs.shape)
        direction[:, TERMS.index("handshake")] = 0
        # Times are linear between ties, so differences are exact but for rounding: 1e-16 · T / step.
        step = 1e-6
        above, below = (weights @ trace.finish_s(costs + s * direction)[0] for s in (step, -step))
        assert (gradient * direction).sum() == pytest.approx((above - below) / (2 * step), rel=1e-5, abs=1e-5)


def test_a_trace_keeps_no_ends_of_messages_that_nobody_waits_for() -> None:
    """Of 7 messages 4 have 10 B: neither is their receive posted, nor does their sender wait."""
    asked = ask("scatter", "binomial", ranks=8, size_B=10)
    mixed = record(asked, above_B=15)
    assert mixed.events == record(asked, above_B=0).events - 2 * 4
    with pytest.raises(ValueError, match="must stay so"):
        mixed.finish_s(table(replace(MEETING, rendezvous_above_B=0), mixed.size_B))


@pytest.mark.parametrize("shape", [7, (1, 8)])
def test_costs_must_fit_the_tape(shape: int | tuple[int, int]) -> None:
    trace = record(ask("scatter", "binomial", ranks=8, size_B=10))
    assert sorted(trace.size_B) == [10, 20, 40]
    with pytest.raises(ValueError, match="row for each size"):
        trace.finish_s(np.ones((2, len(TERMS) + 2)))
    with pytest.raises(ValueError, match="weight for each rank"):
        trace.gradient(table(EAGER, trace.size_B), lambda _: np.ones(shape))


SHARING = ask("reduce", "binomial", ranks=12, size_B=64), ask("alltoall", "linear", ranks=6, size_B=8)


@pytest.mark.parametrize("asked", SHARING, ids=["reduce", "alltoall"])
def test_a_replay_passes_shared_links_as_the_simulation(asked: ScheduleRequest) -> None:
    phase = (asked.algorithm.collective, asked.algorithm.name, asked.problem)
    given = LoggopsParameters(5.0, 1.0, 0.0, 0.0).at([0])
    given.messages[0][TERMS.index("node_link")] = per_byte(0.5)
    costs = given.curves()
    network = Network(node_of_rank=[rank % 2 for rank in range(asked.problem.ranks)])
    trace = RecordedTrace([phase], costs, levels=NO_LEVELS, network=network)
    rows = []
    for size_B in trace.size_B:
        of_term = {"send": 1.0, "receive": 1.0, "transfer": 5.0, "handshake": -1.0, "node_link": 0.5 * size_B}
        rows.append([of_term.get(term, 0.0) for term in TERMS] + [0.0, 0.0])
    expected = _core.simulate([phase], costs, levels=NO_LEVELS, network=network).finish_s
    alone = _core.simulate([phase], costs, levels=NO_LEVELS, network=Network(node_of_rank=[])).finish_s
    assert trace.finish_s(np.array(rows))[0].tolist() == pytest.approx(expected.tolist(), rel=1e-12)
    assert max(expected) > max(alone)
