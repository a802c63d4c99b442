"""What holds for every algorithm and all parameters."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hockney import _core
from hockney._core import Kind, Problem
from hockney.predict.costs import LoggopsParameters
from hockney.predict.simulation import simulate
from hockney.schedule.catalogue import algorithms, ask

ALGORITHMS = algorithms()
COMPLETE = {"bcast", "barrier", "allreduce", "allgather"}
"""Where something of one rank must reach all others."""

times_s = st.floats(0, 10)
per_byte_s = st.floats(0, 0.01)
all_parameters = st.builds(
    LoggopsParameters,
    latency_s=times_s,
    overhead_s=times_s,
    gap_s=times_s,
    gap_s_per_B=per_byte_s,
    receive_overhead_s=times_s,
    overhead_s_per_B=per_byte_s,
    reduce_s_per_B=per_byte_s,
    copy_s_per_B=per_byte_s,
)
some_algorithm = st.sampled_from(ALGORITHMS)
some_ranks = st.integers(1, 20)
some_size_B = st.sampled_from([0, 4, 400, 5000])
examples = settings(max_examples=100, derandomize=True)


def is_refused(one: _core.Algorithm, ranks: int, size_B: int) -> bool:
    size_B = 0 if one.collective == "barrier" else size_B
    return bool(_core.refusal(one.collective, one.name, Problem(ranks=ranks, bytes=size_B, element_B=4)))


@examples
@given(some_algorithm, some_ranks, some_size_B, all_parameters)
def test_dependencies_are_respected(one: _core.Algorithm, ranks: int, size_B: int, p: LoggopsParameters) -> None:
    """A step starts after those it depends on, a receive when its message has come, the processor does one at a
    time, and a rank is through when all its steps are."""
    if is_refused(one, ranks, size_B):
        return
    asked = ask(one.collective, one.name, ranks=ranks, size_B=size_B)
    schedule = asked.generate()
    line = _core.timeline(schedule, p.at([0]).curves())
    sent_s: dict[tuple[int, int, int], float] = {}
    for rank, mine in enumerate(schedule):
        for number, step in enumerate(mine.steps):
            if step.kind == Kind.send:
                sent_s[rank, step.peer, step.tag] = line.end_s[rank][number]
    for rank, mine in enumerate(schedule):
        start_s, end_s = line.start_s[rank], line.end_s[rank]
        for number, step in enumerate(mine.steps):
            assert all(start_s[number] >= end_s[before] for before in step.after)
            if step.kind == Kind.receive:
                further_B = max(step.target.length_B - 1, 0)
                there_s = sent_s[step.peer, rank, step.tag] + p.latency_s + further_B * p.gap_s_per_B
                assert start_s[number] >= line.arrival_s[rank][number] >= there_s * (1 - 1e-12)
        # In time the acts follow one another; sums of some hundred terms round to 1e-12.
        order = sorted(range(len(start_s)), key=lambda n: (start_s[n], end_s[n]))
        for before, after in itertools.pairwise(order):
            assert start_s[after] >= end_s[before] * (1 - 1e-12)
        assert line.finish_s[rank] == max(end_s, default=0.0)
    assert line.finish_s == pytest.approx(simulate(asked, p, by_class=False).finish_s.tolist(), rel=1e-12)


@examples
@given(some_algorithm, some_ranks, some_size_B, all_parameters)
def test_no_rank_is_done_before_its_own_work(
    one: _core.Algorithm, ranks: int, size_B: int, p: LoggopsParameters
) -> None:
    """The processor's acts and the port's messages, each one after another."""
    if is_refused(one, ranks, size_B):
        return
    asked = ask(one.collective, one.name, ranks=ranks, size_B=size_B)
    finish_s = simulate(asked, p, by_class=False).finish_s
    for rank, mine in enumerate(asked.generate()):
        busy_s, took_s = 0.0, []
        for step in mine.steps:
            size = (step.source if step.kind == Kind.send else step.target).length_B
            if step.kind in (Kind.send, Kind.receive):
                busy_s += p.overhead_s if step.kind == Kind.send else p.receive_overhead_s
                busy_s += size * p.overhead_s_per_B
            else:
                busy_s += size * (p.reduce_s_per_B if step.kind == Kind.reduce else p.copy_s_per_B)
            if step.kind == Kind.receive:
                took_s.append(p.gap_s + max(size - 1, 0) * p.gap_s_per_B)
        # The first message to come need not wait for the port.
        received_s = sum(took_s) - max(took_s, default=0.0)
        assert finish_s[rank] >= max(busy_s, received_s) * (1 - 1e-12)


def earliest_s(ranks: int, p: LoggopsParameters, size_B: int) -> float:
    """When the last of so many ranks can have a message under LogP: every rank that has it goes on sending (Karp,
    Sahay, Santos and Schauser 1993)."""
    apart_s = max(p.overhead_s, p.gap_s + max(size_B - 1, 0) * p.gap_s_per_B)
    flight_s = p.overhead_s + p.latency_s + max(size_B - 1, 0) * p.gap_s_per_B + p.receive_overhead_s
    offers, last_s = [flight_s], 0.0
    for _ in range(ranks - 1):
        last_s = heapq.heappop(offers)
        heapq.heappush(offers, last_s + apart_s)
        heapq.heappush(offers, last_s + flight_s)
    return last_s


@examples
@given(st.sampled_from([one for one in ALGORITHMS if one.collective in COMPLETE]), some_ranks, all_parameters)
def test_nothing_reaches_all_ranks_before_it_can(one: _core.Algorithm, ranks: int, p: LoggopsParameters) -> None:
    """The bound of one byte; ⌈log₂P⌉(o + L + o) is one only where a message is gone before the next can leave."""
    if is_refused(one, ranks, 400):
        return
    outcome = simulate(ask(one.collective, one.name, ranks=ranks, size_B=400), p, by_class=False)
    assert outcome.finish_s.max() >= earliest_s(ranks, p, 1) * (1 - 1e-12)
    slow_port = replace(p, gap_s=p.overhead_s + p.latency_s + p.receive_overhead_s)
    outcome = simulate(ask(one.collective, one.name, ranks=ranks, size_B=400), slow_port, by_class=False)
    rounds = int(np.ceil(np.log2(ranks)))
    assert outcome.finish_s.max() >= rounds * slow_port.gap_s * (1 - 1e-12)


@settings(max_examples=200, derandomize=True)
@given(
    some_algorithm,
    some_ranks,
    some_size_B,
    all_parameters,
    st.sampled_from(sorted(set(vars(LoggopsParameters(0, 0, 0, 0, 0))) - {"rendezvous_above_B"})),
    st.floats(0, 5),
)
def test_more_is_never_faster(
    one: _core.Algorithm, ranks: int, size_B: int, p: LoggopsParameters, name: str, more: float
) -> None:
    """For every rank. Not so with shared links, where a later message can let others pass: test_network.py."""
    if is_refused(one, ranks, size_B):
        return
    asked = ask(one.collective, one.name, ranks=ranks, size_B=size_B)
    longer = replace(p, **{name: getattr(p, name) + (more / 1000 if name.endswith("_B") else more)})
    before_s = simulate(asked, p, by_class=False).finish_s
    after_s = simulate(asked, longer, by_class=False).finish_s
    assert (after_s >= before_s * (1 - 1e-12)).all()
