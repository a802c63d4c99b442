"""The proof of `hockney schedule verify`, over many rank counts, roots and segments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

from hockney import _core
from hockney._core import Algorithm, Collective, Problem
from hockney.errors import RequestError
from hockney.records.keys import COLLECTIVES
from hockney.units import counted

MOST_RANKS = 4096
"""A proof follows every block on every rank."""
SHOWN = 2
"""Complaints of a case that are said: one mistake shows on many ranks."""
FEW = (*range(2, 9), 32)
"""Numbers of ranks on which a file is proved before its times are told."""
ROOTS_UP_TO = 17
"""Every root and messages without data are tried up to this many ranks; beyond, the first and the last root."""


@dataclass
class ProofResult:
    """The result of one algorithm: how many cases were proved, how many it refused, and what is wrong."""

    algorithm: Algorithm
    proved: int = 0
    refused: int = 0
    reason: str = ""
    """Why the last refused case was refused."""
    complaints: list[str] = field(default_factory=list)


def prove(
    algorithms: Iterable[Algorithm], rank_counts: Sequence[int], progress: Callable[[str], None]
) -> list[ProofResult]:
    """Verify every case that an algorithm does not refuse."""
    verdicts = []
    for algorithm in algorithms:
        verdict = ProofResult(algorithm)
        verdicts.append(verdict)
        for ranks in rank_counts:
            progress(f"{algorithm.collective} {algorithm.name}, {counted(ranks, 'rank')}")
            for problem in cases(algorithm, ranks):
                try:
                    if reason := _core.refusal(algorithm.collective, algorithm.name, problem):
                        verdict.refused += 1
                        verdict.reason = reason
                        continue
                    verdict.proved += 1
                    wrong = complaints(algorithm, problem)
                except RequestError as error:
                    # A user's text that divides by zero.
                    wrong = [error.message]
                if wrong:
                    more = f"; {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
                    verdict.complaints.append(f"{_where(problem)}: {'; '.join(wrong[:SHOWN])}{more}")
                    break
    return verdicts


@lru_cache(maxsize=64)
def mistake(algorithm: Algorithm, rank_counts: tuple[int, ...]) -> str:
    """What is wrong with a schedule of a file on some of these numbers of ranks; empty where nothing is."""
    wrong = [text for result in prove([algorithm], rank_counts, lambda _: None) for text in result.complaints]
    return f"{algorithm.name} is no {algorithm.collective}: {wrong[0]}" if wrong else ""


def _where(problem: Problem) -> str:
    said = [f"{counted(problem.ranks, 'rank')}, root {problem.root}, {problem.bytes} B"]
    said += [f"elements of {problem.element_B} B"] * (problem.element_B > 1)
    said += [f"segments of {problem.segment_B} B"] * (problem.segment_B > 0)
    said += [f"radix {problem.radix}"] * (problem.radix > 0)
    return ", ".join(said + ["in place"] * problem.in_place + ["in rank order"] * (not problem.commutative))


def complaints(algorithm: Algorithm, problem: Problem) -> list[str]:
    """What is wrong with one case; empty where it is proved."""
    schedule = _core.generate(algorithm.collective, algorithm.name, problem)
    wrong = _core.verify(algorithm.collective, problem, schedule)
    if wrong:
        return wrong
    counts = _core.count(schedule)
    if counts.blocks:
        return ["one-ported, it does not get to its end"]
    return _core.beaten_bounds(algorithm.collective, algorithm.name, problem, counts)


def cases(algorithm: Algorithm, ranks: int) -> Iterator[Problem]:
    """The problems on `ranks` ranks that an algorithm is tried with, including those that it refuses.

    They vary elements of one byte and of four (a cut through an element shows), lengths that leave blocks unequal
    or empty, no data at all, segments of one and of three elements or none, the default radix, the least and a
    large one, operators that commute or not, in place or not; every root up to `ROOTS_UP_TO` ranks, beyond that
    the first and the last.
    """
    collective = COLLECTIVES[algorithm.collective]
    roots: Sequence[int] = [0]
    if collective.rooted:
        roots = range(ranks) if ranks <= ROOTS_UP_TO else [0, ranks - 1]
    operators = (True, False) if collective.reduces and algorithm.is_ordered else (True,)
    radices = [0, algorithm.least_radix, algorithm.default_radix + 3] if algorithm.default_radix else [0]
    for size_B, element_B in _lengths(collective, ranks):
        segments_B = [0, element_B, 3 * element_B] if algorithm.is_segmented else [0]
        for root, commutative, segment_B, radix, in_place in product(
            roots, operators, segments_B, radices, (False, True)
        ):
            yield Problem(
                ranks=ranks,
                root=root,
                bytes=size_B,
                element_B=element_B,
                segment_B=segment_B,
                radix=radix,
                in_place=in_place,
                commutative=commutative,
            )


def _lengths(collective: Collective, ranks: int) -> list[tuple[int, int]]:
    """(bytes, bytes of an element)."""
    if not collective.has_size:
        return [(0, 1)]
    # An odd number of elements for each rank or in all: blocks differ in length. Five elements: some are empty.
    lengths = [(3, 1), (8, 4)] if collective.sizes_are_blocks else [(2 * ranks + 3, 1), (5 * 4, 4)]
    return [*lengths, (0, 1)] if ranks <= ROOTS_UP_TO else lengths
