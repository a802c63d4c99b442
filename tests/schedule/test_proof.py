"""The proof of every algorithm in the registry, over rank counts, roots, segments, operators and in-place use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hockney import _core
from hockney._core import Algorithm, Problem

ALGORITHMS = _core.algorithms()
NAMES = [f"{algorithm.collective}-{algorithm.name}" for algorithm in ALGORITHMS]
COLLECTIVES = {collective.name: collective for collective in _core.collectives()}
SAMPLES = (96, 100, 127, 128, 255, 256, 257, 500, 1000)
"""Rank counts beyond 64: powers of two, their neighbours, round numbers."""


def problems(algorithm: Algorithm, ranks: int, *, thorough: bool) -> Iterator[Problem]:
    """What the algorithm does not refuse: odd lengths, an empty one, every root where `thorough`."""
    collective = COLLECTIVES[algorithm.collective]
    # A block for each rank would hide what happens when some are empty or larger than others; 4 B elements show
    # a cut through an element.
    whole = algorithm.collective in ("bcast", "reduce", "allreduce")
    lengths = [(2 * ranks + 3, 1), (4 * 5, 4)] if whole else [(3, 1), (8, 4)]
    if thorough:
        lengths.append((0, 1))
    if algorithm.collective == "barrier":
        lengths = [(0, 1)]
    roots = range(ranks) if collective.rooted and ranks <= 17 and thorough else [0]
    if collective.rooted and ranks > 17:
        roots = [0, ranks - 1]
    operators = [True, False] if collective.reduces and algorithm.is_ordered else [True]
    radices = [0, algorithm.least_radix, algorithm.default_radix + 3] if algorithm.default_radix else [0]
    for size_B, element_B in lengths:
        segments = [0, element_B, 3 * element_B] if algorithm.is_segmented else [0]
        for root in roots:
            for commutative in operators:
                for segment_B in segments:
                    for radix in radices:
                        for in_place in (False, True):
                            problem = Problem(
                                ranks=ranks,
                                root=root,
                                bytes=size_B,
                                element_B=element_B,
                                segment_B=segment_B,
                                radix=radix,
                                in_place=in_place,
                                commutative=commutative,
                            )
                            if not _core.refusal(algorithm.collective, algorithm.name, problem):
                                yield problem


def prove(algorithm: Algorithm, problem: Problem) -> None:
    schedule = _core.generate(algorithm.collective, algorithm.name, problem)
    where = f"{problem.ranks} ranks, root {problem.root}, {problem.bytes} B, segment {problem.segment_B}"
    assert _core.verify(algorithm.collective, problem, schedule) == [], where
    counts = _core.count(schedule)
    assert not counts.blocks, where
    assert _core.beaten_bounds(algorithm.collective, algorithm.name, problem, counts) == [], where


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=NAMES)
def test_up_to_64_ranks(algorithm: Algorithm) -> None:
    proved = 0
    for ranks in range(1, 65):
        for problem in problems(algorithm, ranks, thorough=ranks <= 17):
            prove(algorithm, problem)
            proved += 1
    # An algorithm that refuses nearly everything would pass for nothing: powers of two remain to the choosiest.
    assert proved >= 7


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
        collective = COLLECTIVES[algorithm.collective]
        for rank, mine in enumerate(schedule):
            room = {
                _core.Memory.input: collective.input_B(problem, rank),
                _core.Memory.output: collective.output_B(problem, rank),
                _core.Memory.scratch: mine.scratch_B,
            }
            for step in mine.steps:
                for region in (step.source, step.target):
                    assert region.offset_B >= 0
                    assert region.length_B == 0 or region.offset_B + region.length_B <= room[region.memory]
