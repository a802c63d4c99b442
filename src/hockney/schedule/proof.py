"""The proof over many rank counts, roots and segments: what `hockney schedule verify` does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from hockney import _core
from hockney._core import Algorithm, Problem

ROOTS_UP_TO = 17
"""Every root is tried up to this many ranks; beyond, the first and the last."""


@dataclass
class Verdict:
    """What came of one algorithm."""

    algorithm: Algorithm
    proved: int = 0
    refused: int = 0
    complaints: list[str] = field(default_factory=list)


def prove(
    algorithms: Iterable[Algorithm],
    rank_counts: Sequence[int],
    roots: Sequence[int] | None,
    segments_B: Sequence[int] | None,
    progress: Callable[[str], None],
) -> list[Verdict]:
    """Verify every case that an algorithm does not refuse; `None`: the roots and segments that make sense."""
    verdicts = []
    for algorithm in algorithms:
        verdict = Verdict(algorithm)
        verdicts.append(verdict)
        for ranks in rank_counts:
            progress(f"{algorithm.collective} {algorithm.name}, {ranks} ranks")
            for problem in _problems(algorithm, ranks, roots, segments_B):
                if _core.refusal(algorithm.collective, algorithm.name, problem):
                    verdict.refused += 1
                    continue
                verdict.proved += 1
                if found := complaints(algorithm, problem):
                    where = f"{ranks} ranks, root {problem.root}, segment {problem.segment_B or 'none'}"
                    verdict.complaints.append(f"{where}: {'; '.join(found)}")
                    break
    return verdicts


def complaints(algorithm: Algorithm, problem: Problem) -> list[str]:
    """What is wrong with one case: nothing, if it is proved."""
    schedule = _core.generate(algorithm.collective, algorithm.name, problem)
    found = _core.verify(algorithm.collective, problem, schedule)
    if found:
        return found
    counts = _core.count(schedule)
    if counts.blocks:
        return ["one-ported, it does not get to its end"]
    return _core.beaten_bounds(algorithm.collective, algorithm.name, problem, counts)


def _problems(
    algorithm: Algorithm, ranks: int, roots: Sequence[int] | None, segments_B: Sequence[int] | None
) -> Iterator[Problem]:
    collective = next(one for one in _core.collectives() if one.name == algorithm.collective)
    if not collective.rooted:
        chosen: Sequence[int] = [0]
    elif roots is not None:
        chosen = roots
    else:
        chosen = range(ranks) if ranks <= ROOTS_UP_TO else [0, ranks - 1]
    # An odd number of elements for each rank or in all: blocks differ in length.
    whole = algorithm.collective in ("bcast", "reduce", "allreduce")
    size_B = 0 if algorithm.collective == "barrier" else 2 * ranks + 3 if whole else 3
    segments = segments_B if segments_B is not None else [0, 1, 3]
    for root in chosen:
        for segment_B in segments if algorithm.is_segmented else [0]:
            for commutative in (True, False) if collective.reduces and algorithm.is_ordered else (True,):
                for in_place in (False, True):
                    yield Problem(
                        ranks=ranks,
                        root=root,
                        bytes=size_B,
                        segment_B=segment_B,
                        in_place=in_place,
                        commutative=commutative,
                    )
