"""What Python may not ask of the extension, and what it is told. Each crashed, or was wrong in silence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from tests.factories import loggp

from hockney import _core
from hockney._core import CostCurves, Kind, Memory, Network, Problem, RankSchedule, Region, Schedule, Step
from hockney.errors import RequestError
from hockney.predict.costs import TERMS

NO_LEVELS = np.zeros((0, 0), np.int32)
ALONE = Network(node_of_rank=[])
COSTS = loggp(latency_s=5e-6, overhead_s=1e-6, gap_s=1e-6, gap_s_per_B=1e-9, rendezvous_above_B=100)
BARRIER = ("barrier", "dissemination", Problem(ranks=4))


def scheduled(*ranks: Sequence[Step]) -> Schedule:
    return Schedule([RankSchedule(steps) for steps in ranks])


def message(kind: Kind, peer: int, length_B: int = 4, tag: int = 0, after: Sequence[int] = ()) -> Step:
    region = Region(Memory.scratch, 0, length_B)
    regions = {"source": region} if kind == Kind.send else {"target": region}
    return Step(kind, peer=peer, tag=tag, after=after, **regions)


def simulate(
    *phases: _core._Phase,
    costs: CostCurves = COSTS,
    network: Network = ALONE,
    noise_s: Sequence[float] = (),
    by_class: bool = False,
    most_B: int = 2**26,
) -> _core.Simulated:
    return _core.simulate(
        phases,
        costs,
        levels=NO_LEVELS,
        network=network,
        noise_s=noise_s,
        by_class=by_class,
        most_B=most_B,
    )


def regimes(sizes: Sequence[float], times: Sequence[float], noise: Sequence[float]) -> _core.Regimes:
    return _core.Regimes(np.array(sizes), np.array(times), np.array(noise))


def lines(sizes: Sequence[Sequence[float]], times: Sequence[Sequence[float]]) -> object:
    return _core.nonnegative_lines(np.array(sizes), np.array(times))


def curves(sizes: list[float], times: list[float]) -> CostCurves:
    """The same for each term before these: two directions share nothing, and answers wait for nothing."""
    own = TERMS.index("duplex")
    return CostCurves([[*[(sizes, times)] * own, *[([], [])] * (len(TERMS) - own)]], ([], []), ([], []))


SEND, RECEIVE = Kind.send, Kind.receive
PAIR = regimes([0.0, 1.0], [1.0, 2.0], [0.0, 0.0])
REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: _core.generate_rank(*BARRIER, 4), IndexError, "rank 4 is none of 0 to 3"),
    (lambda: _core.generate_rank(*BARRIER, -1), IndexError, "rank -1 is none of 0 to 3"),
    (lambda: _core.verify("bcast", Problem(ranks=1, element_B=0), scheduled([])), ValueError, "whole number"),
    (lambda: _core.count_steps(*BARRIER, -1), ValueError, "negative"),
    (lambda: _core.generate("reduce", "chain", Problem(ranks=2, bytes=2**61 - 1)), ValueError, "can be counted"),
    (
        lambda: _core.generate_rank("alltoall", "linear", Problem(ranks=2**30, bytes=1), 0),
        _core.TooLarge,
        "4 GiB",
    ),
    (
        lambda: _core.generate_rank("allreduce", "ring", Problem(ranks=2**30, bytes=2**30), 0),
        _core.TooLarge,
        "4 GiB",
    ),
    (lambda: scheduled([message(SEND, 2)], []), ValueError, "rank 0, step 0: peer 2 is no other rank"),
    (lambda: scheduled([message(SEND, 0)], []), ValueError, "no other rank"),
    (lambda: scheduled([Step(Kind.copy, peer=2**31 - 1)]), ValueError, "no peer"),
    (lambda: scheduled([message(SEND, 1, tag=2**28)], []), ValueError, "tag 268435456"),
    (lambda: scheduled([message(SEND, 1, after=[0])], []), ValueError, "which is not before it"),
    (lambda: scheduled([message(SEND, 1, -1)], []), ValueError, "outside its memory"),
    (
        lambda: scheduled([Step(Kind.copy, source=Region(Memory.input, 2**63 - 1, 1))]),
        ValueError,
        "outside its memory",
    ),
    (lambda: RankSchedule([], -1), ValueError, "negative"),
    (lambda: Schedule([RankSchedule([]), None]), TypeError, "RankSchedules"),  # type: ignore[list-item]
    (lambda: scheduled([])[1], IndexError, "out of range"),
    (lambda: simulate(), ValueError, "nothing to simulate"),
    (lambda: simulate(Schedule([])), ValueError, "without ranks"),
    (lambda: simulate(*[BARRIER] * 17), ValueError, "at most 16 phases"),
    (lambda: simulate(scheduled([message(SEND, 1)], [])), ValueError, "message for message"),
    (
        lambda: simulate(scheduled([message(SEND, 1)], [message(RECEIVE, 0, 8)])),
        ValueError,
        "message for message",
    ),
    (
        lambda: simulate(scheduled([message(SEND, 1)] * 2, [message(RECEIVE, 0)] * 2)),
        ValueError,
        "message for message",
    ),
    (
        lambda: simulate(
            scheduled(
                [message(RECEIVE, 1), message(SEND, 1, after=[0])],
                [message(RECEIVE, 0), message(SEND, 0, after=[0])],
            )
        ),
        RequestError,
        "a rank waits for ever",
    ),
    (lambda: simulate(BARRIER, network=Network(node_of_rank=[0, 1])), ValueError, "each of the 4 ranks"),
    (lambda: simulate(BARRIER, noise_s=[1e-6, 1e-6]), ValueError, "noise is none"),
    (lambda: simulate(BARRIER, noise_s=[math.inf]), ValueError, "noise must be a time"),
    (lambda: simulate(BARRIER, BARRIER, by_class=True), ValueError, "one phase only"),
    (
        lambda: simulate(("bcast", "linear", Problem(ranks=2**30, bytes=1))),
        _core.TooLarge,
        "67108864 B of memory",
    ),
    (lambda: simulate(BARRIER, most_B=-1), ValueError, "negative"),
    (
        lambda: simulate(
            ("bcast", "linear", Problem(ranks=2, bytes=2**40)), costs=curves([0.0, 1.0], [0.0, 1e99])
        ),
        ValueError,
        "the cost of 1099511627776 bytes is no time",
    ),
    (lambda: curves([0.0, 0.0], [0.0, 1.0]), ValueError, "increase"),
    (lambda: curves([0.0], [math.nan]), ValueError, "no time"),
    (lambda: curves([0.0, 1.0], [0.0]), ValueError, "a time for each size"),
    (lambda: _core.timeline(scheduled([]), CostCurves([], ([], []), ([], []))), ValueError, "one locality"),
    (lambda: Network(node_of_rank=[-1]), ValueError, "a node must be at least 0, not -1"),
    (lambda: Network(node_of_rank=[2**31 - 1]), _core.TooLarge, "a node must be at most"),
    (lambda: Network(node_of_rank=[0], torus=[0]), ValueError, "at least 1, not 0"),
    (lambda: Network(node_of_rank=[0], torus=[2**16, 2**16]), _core.TooLarge, "links"),
    (lambda: Network(node_of_rank=[0, 1], below=[1], uplinks=[0]), ValueError, "at least 1, not 0"),
    (lambda: Network(node_of_rank=[0], torus=[2], below=[2], uplinks=[1]), ValueError, "not both"),
    (lambda: Network(node_of_rank=[0, 1], memory_of_rank=[0]), ValueError, "a memory"),
    (lambda: Network(node_of_rank=[0, 1], torus=[2]).route(0, 2), IndexError, "node 2 is none of 0 to 1"),
    (
        lambda: _core.beaten_bounds(
            "bcast", "linear", Problem(ranks=9, bytes=1), _core.count(_core.generate(*BARRIER))
        ),
        ValueError,
        "the counts are of 4 ranks",
    ),
    (lambda: _core.median_interval([1.0, math.nan]), ValueError, "no time"),
    (lambda: _core.median_interval([]), ValueError, "no values"),
    (lambda: regimes([], [], []), ValueError, "there must be a size"),
    (lambda: regimes(range(97), [1.0] * 97, [0.0] * 97), ValueError, "at most 96 points"),
    (lambda: regimes([0.0, 1.0], [1.0], [0.0, 0.0]), ValueError, "a time for each size"),
    (lambda: regimes([0.0, 1.0], [1.0, 1.0], [0.0]), ValueError, "a noise for each size"),
    (lambda: regimes([1.0, 1.0], [1.0, 1.0], [0.0, 0.0]), ValueError, "sizes must increase"),
    (lambda: regimes([-1.0], [1.0], [0.0]), ValueError, "at least 0"),
    (lambda: regimes([math.inf], [1.0], [0.0]), ValueError, "at least 0"),
    (lambda: regimes([1.0], [0.0], [0.0]), ValueError, "times must be positive"),
    (lambda: regimes([1.0], [math.nan], [0.0]), ValueError, "times must be numbers"),
    (lambda: regimes([1.0], [1.0], [math.nan]), ValueError, "noise must be"),
    (lambda: PAIR.pieces([]), ValueError, "to its end"),
    (lambda: PAIR.pieces([(0, 0)]), ValueError, "to its end"),
    (lambda: PAIR.pieces([(0, 2)]), ValueError, "in order"),
    (lambda: PAIR.pieces([(0, 1), (1, 1)]), ValueError, "in order"),
    (lambda: PAIR.gain(0, 0, 2), IndexError, "a break is after a point"),
    (lambda: PAIR.gain(1, 0, 1), IndexError, "a break is after a point"),
    (lambda: lines([[]], [[]]), ValueError, "there must be a size"),
    (lambda: lines([[1.0]], [[1.0], [1.0]]), ValueError, "a time for each size"),
    (lambda: lines([[1.0]], [[math.inf]]), ValueError, "times must be numbers"),
]


@pytest.mark.parametrize(("ask", "error", "words"), REFUSED, ids=[words for _, _, words in REFUSED])
def test_it_is_refused_in_words(ask: Callable[[], object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ask()


def test_a_column_of_another_type_is_not_cut_to_fit() -> None:
    with pytest.raises(TypeError, match="incompatible"):
        _core.simulate([BARRIER], COSTS, levels=np.zeros((0, 0), np.int64), network=ALONE)


def test_nothing_of_a_schedule_can_be_changed() -> None:
    schedule = _core.generate(*BARRIER)
    step = schedule[0].steps[0]
    with pytest.raises(AttributeError):
        step.peer = 9  # type: ignore[misc]
    with pytest.raises(TypeError):
        del schedule[0].steps[0]  # type: ignore[attr-defined]


def test_a_step_outlives_its_schedule() -> None:
    steps = [step for mine in _core.generate(*BARRIER) for step in mine.steps]
    assert [step.peer for step in steps[:4]] == [1, 3, 2, 2]


def test_segments_of_one_rank_alone() -> None:
    """One rank reduces and broadcasts to itself, segment by segment; it read beyond the end of a list."""
    problem = Problem(ranks=1, bytes=12, element_B=4, segment_B=4)
    schedule = _core.generate("allreduce", "reduce_bcast", problem)
    assert [step.kind for step in schedule[0].steps] == [Kind.copy]
    assert _core.verify("allreduce", problem, schedule) == []


def test_one_rank_stands_for_all_where_what_it_sends_waits() -> None:
    """Empty messages that ask before they are sent, listed before the receives that they meet."""
    costs = curves([0.0], [1e-6])
    every = simulate(BARRIER, costs=costs).finish_s
    assert simulate(BARRIER, costs=costs, by_class=True).finish_s[0] == pytest.approx(every[0], rel=1e-12)


@pytest.mark.thorough
def test_dependencies_of_what_is_written_count_as_memory() -> None:
    # Each of 60,000 steps waits for 60,000 others: 14 GB.
    count = 2 * 60_000
    stage, work = np.repeat(np.arange(2, dtype=np.int32), count // 2), np.full(count, 3, np.int32)
    nobody, length_B = np.full(count, -1, np.int32), np.ones(count, np.int64)
    with pytest.raises(_core.TooLarge, match="4 GiB"):
        _core.write_schedule(1, np.zeros(count, np.int32), stage, work, nobody, length_B)
