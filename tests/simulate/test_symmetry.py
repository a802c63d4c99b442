"""One rank for all that do the same: only where they really do, and with the same times as all ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hockney import _core
from hockney._core import Kind, Network, Problem, Step
from hockney.predict.costs import LoggopsParameters, value
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
                if _core.symmetric_classes((one.collective, one.name, asked.problem), copies) == 1:
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


MACHINES = {
    "bytes": LoggopsParameters(2.5, 1.5, 1.0, 0.006, reduce_s_per_B=0.0005),
    "processor": LoggopsParameters(0.7, 0.2, 0.2, 5e-5, receive_overhead_s=6.6, overhead_s_per_B=0.008),
    "mixed": LoggopsParameters(6.3, 0.1, 0.25, 1e-4, overhead_s_per_B=7e-6),
    "meeting": replace(PARAMETERS, rendezvous_above_B=0),
    "some meet": PARAMETERS,
}


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("p", MACHINES.values(), ids=MACHINES.keys())
def test_classes_of_uneven_blocks_tell_the_times_of_all(p: LoggopsParameters, trace: bool) -> None:
    """To the last bit. A rank's class lies where its number does with the bits reversed."""
    ranks, bits, alone = 1024, 10, Network(node_of_rank=[])
    place = [int(f"{rank:0{bits}b}"[::-1], 2) for rank in range(ranks)]
    of_all, no_levels, fewer = p.at([0]), np.zeros((0, 0), np.int32), 0
    for elements in (1, 511, ranks - 1, ranks + 1, 2 * ranks - 1, 3 * ranks + 341, 1000 * ranks + 682):
        phase = ("allreduce", "rabenseifner", Problem(ranks=ranks, bytes=4 * elements, element_B=4))
        by_class, every = (
            _core.simulate([phase], of_all.curves(), levels=no_levels, network=alone, trace=trace, by_class=few)
            for few in (True, False)
        )
        of_class = by_class.ranks_of_class.astype(int)
        finish_s = np.repeat(by_class.finish_s, of_class)[place] if of_class.size else by_class.finish_s
        np.testing.assert_array_equal(finish_s, every.finish_s)
        assert by_class.messages == every.messages
        fewer += 0 < of_class.size < ranks / 8
        if trace:
            curves = [*of_all.messages[0], of_all.copy, of_all.reduce]
            terms_s = np.stack([value(curve, np.array(by_class.size_B)) for curve in curves], axis=1)
            assert (by_class.critical * terms_s).sum() == pytest.approx(every.finish_s.max(), rel=1e-9)
    assert fewer >= 4
