"""Where messages cost one thing only, every schedule of the registry takes what is counted on its critical path.

A port that takes a message for as long as the message takes to arrive makes ranks one-ported, which is what
`_core.count` counts; without any cost of ports the time is that of the longest chain of messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from hockney import _core
from hockney._core import Kind, Network, Schedule
from hockney.errors import RequestError
from hockney.predict.costs import BUFFERED, NOTHING, TERMS, Costs, Curve
from hockney.schedule.catalogue import ScheduleRequest, algorithms, ask

RANKS = (*range(1, 18), 24, 32, 33)
FEW = (*range(1, 13), 16, 17)
"""Where each step is followed in Python: powers of two, one more, and odd numbers."""
SIZES_B = ((4096, 0), (4096, 256), (1000, 52))
"""Whole message and segment, which may be ragged."""
MEETING = {("bcast", "scatter_allgather"), ("bcast", "blocking_pipeline")}
"""Where blocks of different sizes, or receives posted late, let a sender be ahead of its receiver: `count` lets
it wait, so it waits."""
ROOTED = {"bcast", "reduce", "gather", "scatter"}

of_each = pytest.mark.parametrize(
    "algorithm", algorithms(), ids=lambda algorithm: f"{algorithm.collective}-{algorithm.name}"
)


def problems(algorithm: _core.Algorithm, counts: Sequence[int] = RANKS) -> Iterator[ScheduleRequest]:
    """Every root of few ranks, first, middle and last of many; segments where the algorithm has them."""
    for ranks in counts:
        roots = set(range(ranks)) if ranks <= 8 else {0, ranks // 2, ranks - 1}
        for root in roots if algorithm.collective in ROOTED else {0}:
            for size_B, segment_B in SIZES_B:
                if segment_B and not algorithm.is_segmented:
                    continue
                try:
                    yield ask(
                        algorithm.collective,
                        algorithm.name,
                        ranks=ranks,
                        root=root,
                        size_B=size_B if algorithm.collective != "barrier" else 0,
                        segment_B=segment_B,
                    )
                except RequestError:
                    continue  # not defined for so many ranks


def makespan_s(asked: ScheduleRequest, *, meets: bool = False, **curves: Curve) -> float:
    curves["handshake"] = [0.0], [0.0 if meets else BUFFERED]
    costs = Costs([[curves.get(term, NOTHING) for term in TERMS]], NOTHING, NOTHING)
    simulated = _core.simulate(
        [(asked.algorithm.collective, asked.algorithm.name, asked.problem)],
        costs.curves(),
        levels=np.zeros((0, 0), np.int32),
        network=Network(node_of_rank=[]),
    )
    return float(simulated.finish_s.max())


def longest_chain(schedule: Schedule) -> int:
    """Messages that follow one another: a step starts when those before it have started and those it depends on
    are complete; a send is complete at once, a receive one message after its send."""
    starts: list[list[int]] = [[] for _ in schedule]
    sends: dict[tuple[int, int, int], int] = {}

    def end(rank: int, number: int) -> int | None:
        step, start = schedule[rank].steps[number], starts[rank][number]
        if step.kind != Kind.receive:
            return start
        sent = sends.get((step.peer, rank, step.tag))
        return None if sent is None else max(start, sent + 1)

    is_moving = True
    while is_moving:
        is_moving = False
        for rank, program in enumerate(schedule):
            for number in range(len(starts[rank]), len(program.steps)):
                step = program.steps[number]
                ends = [end(rank, before) for before in step.after]
                if None in ends:
                    break
                starts[rank].append(max([0, *starts[rank][-1:], *(at for at in ends if at is not None)]))
                is_moving = True
                if step.kind == Kind.send:
                    sends[rank, step.peer, step.tag] = starts[rank][-1]
    ends = [end(rank, number) for rank, program in enumerate(schedule) for number in range(len(program.steps))]
    return max((at for at in ends if at is not None), default=0)


@of_each
@pytest.mark.parametrize(
    ("curve", "counted"),
    [(([0.0], [1.0]), "critical_messages"), (([0.0, 1.0], [0.0, 1.0]), "critical_bytes")],
    ids=["messages", "bytes"],
)
def test_where_each_message_or_byte_takes_one(algorithm: _core.Algorithm, curve: Curve, counted: str) -> None:
    meets = (algorithm.collective, algorithm.name) in MEETING
    for asked in problems(algorithm):
        simulated_s = makespan_s(asked, meets=meets, gap=curve, drain=curve, transfer=curve)
        assert simulated_s == getattr(_core.count(asked.generate()), counted), asked


@pytest.mark.parametrize("counts", [FEW, pytest.param(RANKS, marks=pytest.mark.thorough)], ids=["few", "all"])
@of_each
def test_where_only_latency_takes_time(algorithm: _core.Algorithm, counts: Sequence[int]) -> None:
    for asked in problems(algorithm, counts):
        assert makespan_s(asked, transfer=([0.0], [1.0])) == longest_chain(asked.generate()), asked
