"""One rank for all that do the same: only where they really do, and with the same times as all ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hockney import _core
from hockney._core import Kind, Problem, Step
from hockney.predict.costs import LoggopsParameters
from hockney.predict.simulation import simulate
from hockney.schedule.catalogue import ScheduleRequest, algorithms, ask

ALGORITHMS = [
    one for one in algorithms() if _core.symmetric_classes((one.collective, one.name, Problem(ranks=8)))
]
SIZES_B = [0, 4, 1000, 3360, 100_000]
# 3360 and 100,000 B are divided evenly by some of them.
RANKS = [1, 2, 3, 4, 7, 8, 12, 16, 32, 35]
PARAMETERS = LoggopsParameters(
    5.0, 1.0, 3.0, 0.01, receive_overhead_s=0.7, reduce_s_per_B=0.002, rendezvous_above_B=300
)
COPYING = replace(PARAMETERS, copy_s_per_B=0.001)

of_each = pytest.mark.parametrize("one", ALGORITHMS, ids=lambda one: f"{one.collective}-{one.name}")


def cases(one: _core.Algorithm, *, copies: bool = False) -> list[ScheduleRequest]:
    """Those of its cases in which all ranks are alike, also where copies take time."""
    found = []
    for ranks in RANKS:
        for size_B in SIZES_B:
            problem = Problem(ranks=ranks, bytes=0 if one.collective == "barrier" else size_B, element_B=4)
            if not _core.refusal(one.collective, one.name, problem):
                asked = ask(one.collective, one.name, ranks=ranks, size_B=size_B)
                if _core.symmetric_classes((one.collective, one.name, asked.problem), copies):
                    found.append(asked)
    return found


def test_many_algorithms_are_alike() -> None:
    # Read in their sources: what goes round, doubles or halves distances, or sends to all.
    assert len(ALGORITHMS) == 19


@of_each
@pytest.mark.parametrize("p", [PARAMETERS, COPYING], ids=["messages", "copies"])
def test_one_rank_tells_the_times_of_all(one: _core.Algorithm, p: LoggopsParameters) -> None:
    if one.name == "linear_sync":
        # Several messages of a rank meet late there, and which leaves first depends on whose turn it is.
        p = replace(p, rendezvous_above_B=None)
    for asked in cases(one, copies=p.copy_s_per_B > 0):
        by_class = simulate(asked, p)
        every = simulate(asked, p, by_class=False)
        assert (by_class.method, every.method) == ("by_class", "simulated")
        expected_s = [float(by_class.finish_s[0])] * asked.problem.ranks
        assert every.finish_s.tolist() == pytest.approx(expected_s, rel=1e-12), asked.problem.ranks
        assert by_class.messages == every.messages


@of_each
@pytest.mark.parametrize("copies", [False, True])
def test_ranks_that_are_called_alike_have_the_same_steps(one: _core.Algorithm, copies: bool) -> None:
    """The same kinds and sizes, with peers at the same distance."""
    for asked in cases(one, copies=copies):
        ranks = asked.problem.ranks
        generated = (
            _core.generate_rank(one.collective, one.name, asked.problem, rank).steps for rank in range(ranks)
        )
        steps = [[step for step in mine if copies or step.kind != Kind.copy] for mine in generated]
        shapes = [[_shape(mine, rank, ranks, how) for rank, mine in enumerate(steps)] for how in ("shift", "xor")]
        assert any(all(shape == of_how[0] for shape in of_how) for of_how in shapes), (ranks, asked.problem.bytes)


@of_each
def test_there_is_something_to_compare(one: _core.Algorithm) -> None:
    assert len({asked.problem.ranks for asked in cases(one)}) >= 4


def test_ranks_that_copy_differently_are_simulated_one_by_one() -> None:
    asked = ask("allreduce", "recursive_doubling", ranks=8, size_B=400)
    assert simulate(asked, PARAMETERS).method == "by_class"
    assert simulate(asked, COPYING).method == "simulated"


def _shape(steps: list[Step], rank: int, ranks: int, how: str) -> list[tuple[Any, ...]]:
    """What decides a rank's time. Copies and reductions are as long as their source."""

    def distance(peer: int) -> int:
        if peer < 0:
            return -1
        return (peer - rank) % ranks if how == "shift" else peer ^ rank

    return [
        (
            step.kind.name,
            distance(step.peer),
            step.tag,
            (step.source if step.kind == Kind.send else step.target).length_B,
        )
        for step in steps
    ]


@pytest.mark.parametrize("size_B", [4, 1004])
def test_blocks_that_differ_are_not_taken_for_alike(size_B: int) -> None:
    """A vector of 1,004 B on 8 ranks has blocks of 124 and 128 B."""
    outcome = simulate(ask("allreduce", "ring", ranks=8, size_B=size_B), PARAMETERS)
    assert outcome.method == "simulated"
