"""The proof of every algorithm in the registry, over rank counts, roots, segments, operators and in-place use."""

from __future__ import annotations

import pytest

from hockney import _core
from hockney._core import Algorithm, Problem
from hockney.schedule.proof import cases, complaints

ALGORITHMS = _core.algorithms()
NAMES = [f"{algorithm.collective}-{algorithm.name}" for algorithm in ALGORITHMS]
COLLECTIVES = {collective.name: collective for collective in _core.collectives()}
SAMPLES = (96, 100, 127, 128, 255, 256, 257, 500, 1000)
"""Rank counts beyond 64: powers of two, their neighbours, round numbers."""


def prove(algorithm: Algorithm, problem: Problem) -> None:
    where = f"{problem.ranks} ranks, root {problem.root}, {problem.bytes} B, segment {problem.segment_B}"
    assert complaints(algorithm, problem) == [], where


@pytest.mark.parametrize(
    "counts", [range(1, 33), pytest.param(range(33, 65), marks=pytest.mark.thorough)], ids=["32", "64"]
)
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=NAMES)
def test_up_to_64_ranks(algorithm: Algorithm, counts: range) -> None:
    proved = 0
    for ranks in counts:
        for problem in cases(algorithm, ranks):
            if not _core.refusal(algorithm.collective, algorithm.name, problem):
                prove(algorithm, problem)
                proved += 1
    # An algorithm that refuses nearly everything would pass for nothing: powers of two remain to the choosiest.
    assert proved >= sum(ranks & (ranks - 1) == 0 for ranks in counts)


def test_the_cases_vary_all_that_an_algorithm_takes() -> None:
    """What the issue asks for: all roots up to 17 ranks, several segments, radices, element sizes, operators."""
    chain = next(one for one in ALGORITHMS if (one.collective, one.name) == ("reduce", "chain"))
    tried = list(cases(chain, 17))
    assert {one.root for one in tried} == set(range(17))
    assert {one.element_B for one in tried} == {1, 4}
    assert {one.segment_B // one.element_B for one in tried} == {0, 1, 3}
    assert {one.radix for one in tried} == {0, chain.least_radix, chain.default_radix + 3}
    assert {one.in_place for one in tried} == {False, True}
    # Not the constructor's own choice alone: a length that no rank count divides, one below it, and none.
    assert {one.bytes // one.element_B for one in tried} == {2 * 17 + 3, 5, 0}
    linear = next(one for one in ALGORITHMS if (one.collective, one.name) == ("reduce", "linear"))
    assert {one.commutative for one in cases(linear, 4)} == {True, False}
    assert {one.root for one in cases(chain, 40)} == {0, 39}


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=NAMES)
def test_samples_up_to_1000_ranks(algorithm: Algorithm) -> None:
    for ranks in SAMPLES:
        # One element a rank is enough here: what differs from block to block was shown above.
        whole = algorithm.collective in ("bcast", "reduce", "allreduce")
        size_B = 0 if algorithm.collective == "barrier" else ranks + 1 if whole else 1
        # Everything to everybody is P² elements; the largest is left to the other samples.
        if algorithm.collective == "alltoall" and ranks > 500:
            continue
        root = ranks // 3 if COLLECTIVES[algorithm.collective].rooted else 0
        problem = Problem(ranks=ranks, root=root, bytes=size_B)
        if not _core.refusal(algorithm.collective, algorithm.name, problem):
            prove(algorithm, problem)


def test_large_messages_keep_their_offsets() -> None:
    # 5 GiB: an int anywhere would show as a wrong or negative length.
    size_B = 5 * 2**30
    for algorithm in ALGORITHMS:
        if algorithm.collective == "barrier":
            continue
        problem = Problem(ranks=4, bytes=size_B)
        schedule = _core.generate(algorithm.collective, algorithm.name, problem)
        counts = _core.count(schedule)
        assert _core.beaten_bounds(algorithm.collective, algorithm.name, problem, counts) == []
        # No input and no output has more than a block of each rank.
        buffer_B = size_B * (problem.ranks if COLLECTIVES[algorithm.collective].sizes_are_blocks else 1)
        for mine in schedule:
            for step in mine.steps:
                for region in (step.source, step.target):
                    room_B = mine.scratch_B if region.memory == _core.Memory.scratch else buffer_B
                    assert region.offset_B >= 0
                    assert region.length_B == 0 or region.offset_B + region.length_B <= room_B
