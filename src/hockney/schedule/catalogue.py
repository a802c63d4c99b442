"""The algorithms of the compiled core by name, with errors that a user understands."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from hockney import _core
from hockney._core import Algorithm, Problem, Schedule, Step
from hockney.errors import RequestError
from hockney.records.keys import COLLECTIVES, ELEMENT_B
from hockney.registry import did_you_mean
from hockney.schedule import written

MOST_TRAFFIC_B = 2**57
"""The largest vector times ranks: algorithms move at most log₂ P (30) times that, and sums have 63 bits."""
MOST_SHOWN_STEPS = 2**20
"""Steps of all ranks together that are worth printing."""
MOST_COMPARED_STEPS = 2**8
"""Steps of all ranks together up to which schedules are compared: those of small problems are alike."""
FEW_RANKS = 128
"""Up to so many ranks messages and steps are counted; of more they are taken to grow as up to here."""
MOST_SEGMENTS = 64
"""Segments that are counted."""
NEEDS: dict[tuple[str, str], Callable[[int], int]] = {
    ("bcast", "scatter_allgather"): lambda ranks: ranks,
    ("bcast", "scatter_allgather_ring"): lambda ranks: ranks,
    ("bcast", "split_binary"): lambda _: 2,
    ("reduce", "rabenseifner"): lambda ranks: 1 << (ranks.bit_length() - 1),
    ("allreduce", "rabenseifner"): lambda ranks: 1 << (ranks.bit_length() - 1),
    ("allreduce", "ring"): lambda ranks: ranks,
    ("allreduce", "segmented_ring"): lambda ranks: ranks,
}
"""Elements that algorithms need on so many ranks: with fewer some rank's block is empty, and libraries run
another one instead. What numbers of ranks they need the core says itself (`refusal`)."""
PROBED = range(2, 33)
"""Rank counts by which `rank_counts` tells what an algorithm is defined for."""


def collectives() -> list[str]:
    """Names of the collectives that have schedules."""
    return [collective.name for collective in _core.collectives()]


def algorithms(collective: str | None = None) -> list[Algorithm]:
    """All algorithms of ours, or those of one collective; RequestError for an unknown one."""
    if collective is not None:
        _known(collective, collectives(), "collective")
    return [algorithm for algorithm in _core.algorithms() if collective in (None, algorithm.collective)]


def offered(collective: str) -> list[Algorithm]:
    """Those of a collective that are a choice; others are there to teach, and run where they are named."""
    return [algorithm for algorithm in algorithms(collective) if algorithm.is_offered]


@lru_cache(maxsize=1)
def by_name_alone() -> frozenset[tuple[str, str]]:
    """Collective and name of the algorithms that are no choice."""
    return frozenset((each.collective, each.name) for each in _core.algorithms() if not each.is_offered)


def algorithm_names() -> list[str]:
    """Names of the algorithms of all collectives, each once."""
    return list(dict.fromkeys(algorithm.name for algorithm in _core.algorithms()))


def find(collective: str, name: str) -> Algorithm:
    """One algorithm, of ours or of a user's file; RequestError names the known ones and the nearest."""
    if name.endswith(written.ENDING):
        _known(collective, collectives(), "collective")
        return written.define(collective, name)
    of_it = {algorithm.name: algorithm for algorithm in algorithms(collective)}
    _known(name, list(of_it), f"algorithm of {collective}")
    return of_it[name]


def _known(name: str, known: list[str], what: str) -> None:
    if name in known:
        return
    raise RequestError(f"unknown {what}: {name!r}", f"{did_you_mean(name, known)}known: {', '.join(known)}")


def least_B(collective: str, name: str, ranks: int) -> int:
    """The bytes from which on a library runs an algorithm on so many ranks: see `NEEDS`; 0 where any will do."""
    need = NEEDS.get((collective, name))
    return need(ranks) * (ELEMENT_B if COLLECTIVES[collective].reduces else 1) if need else 0


@dataclass(frozen=True)
class AskedSizes:
    """As asked, before rounding to whole elements."""

    bytes: int
    segment_bytes: int | None


@dataclass(frozen=True)
class DescribedProblem:
    """What a schedule does, sizes in bytes; None: no segments, no radix."""

    asked: AskedSizes
    bytes: int
    element_bytes: int
    segment_bytes: int | None
    radix: int | None
    root: int


@dataclass(frozen=True)
class ScheduleRequest:
    """An algorithm and a problem that it does not refuse; `size_B` and `segment_B` are not rounded."""

    algorithm: Algorithm
    problem: Problem
    size_B: int
    segment_B: int

    @property
    def is_rounded(self) -> bool:
        """Whether sizes became whole elements."""
        return self.problem.bytes > self.size_B or self.problem.segment_B > self.segment_B

    def described(self) -> DescribedProblem:
        """The request beside the rounded problem."""
        return DescribedProblem(
            AskedSizes(self.size_B, self.segment_B or None),
            self.problem.bytes,
            self.problem.element_B,
            self.problem.segment_B or None,
            self.problem.radix or self.algorithm.default_radix or None,
            self.problem.root,
        )

    def resized(self, size_B: int) -> ScheduleRequest:
        """The same with another number of bytes, whole elements."""
        return ScheduleRequest(self.algorithm, self._problem(size_B, self.problem.ranks), size_B, self.segment_B)

    def on_ranks(self, ranks: int, size_B: int | None = None) -> ScheduleRequest:
        """The same from rank 0 on fewer ranks, with as many bytes or others."""
        size_B = self.problem.bytes if size_B is None else size_B
        return ScheduleRequest(self.algorithm, self._problem(size_B, ranks, 0), size_B, self.problem.segment_B)

    def _problem(self, size_B: int, ranks: int, root: int | None = None) -> Problem:
        p = self.problem
        return Problem(
            ranks=ranks,
            root=min(p.root, ranks - 1) if root is None else root,
            bytes=size_B,
            element_B=p.element_B,
            segment_B=p.segment_B,
            radix=p.radix,
        )

    def expected_messages(self) -> float:
        """The approximate number of messages, from its growth between 64 and 128 ranks.

        It is an upper estimate, because blocks that are empty for many ranks are counted.
        """
        return self._grown(self._messages)

    def expected_steps_of_root(self) -> float:
        """The approximate number of the root's steps and dependencies, from the same growth."""
        return self._grown(self._steps_of_root)

    def _grown(self, count: Callable[[int], float]) -> float:
        ranks = self.problem.ranks
        if ranks <= FEW_RANKS:
            return count(ranks)
        half, whole = count(FEW_RANKS // 2), count(FEW_RANKS)
        return whole * (whole / half) ** math.log2(ranks / FEW_RANKS) if half else 0.0

    def _messages(self, ranks: int) -> float:
        p = self.problem
        # Many segments are counted by few of them.
        size_B = min(p.bytes, MOST_SEGMENTS * p.segment_B) if p.segment_B else p.bytes
        fewer = self._problem(size_B, ranks)
        schedule = _core.generate(self.algorithm.collective, self.algorithm.name, fewer)
        return _core.count(schedule).messages * (p.bytes / size_B if size_B else 1.0)

    def _steps_of_root(self, ranks: int) -> float:
        p = self.problem if ranks == self.problem.ranks else self.on_ranks(ranks).problem
        steps = _core.generate_rank(self.algorithm.collective, self.algorithm.name, p, p.root).steps
        return sum(1 + len(step.after) for step in steps)

    def generate(self) -> Schedule:
        """All ranks' steps; _core.TooLarge where they are more than are held at once."""
        return _core.generate(self.algorithm.collective, self.algorithm.name, self.problem)

    def expect_steps(self, most: int, purpose: str, hint: str) -> None:
        """RequestError, too many `purpose`, where all ranks together have more than `most` steps."""
        steps = _core.count_steps(self.algorithm.collective, self.algorithm.name, self.problem, most)
        if steps > most:
            raise RequestError(
                f"{self.problem.ranks} ranks have more than {most} steps, too many {purpose}", hint
            )

    def printable_ranks(self) -> Sequence[int]:
        """All ranks; RequestError where together they have more than `MOST_SHOWN_STEPS` steps."""
        self.expect_steps(
            MOST_SHOWN_STEPS,
            "to print",
            "show one rank's with `hockney schedule show … --rank R`, or `hockney simulate` them",
        )
        return range(self.problem.ranks)


def ask(
    collective: str,
    name: str,
    *,
    ranks: int,
    root: int = 0,
    size_B: int = 0,
    segment_B: int = 0,
    radix: int = 0,
) -> ScheduleRequest:
    """A checked request; RequestError with the core's reason where the algorithm refuses it.

    Reductions have elements of 4 bytes, so `size_B` and `segment_B` are rounded up to whole ones; a barrier has
    no size.
    """
    algorithm = find(collective, name)
    name = algorithm.name
    what = COLLECTIVES[collective]
    element_B = ELEMENT_B if what.reduces else 1
    if ranks < 1:
        raise RequestError(f"the number of ranks must be at least 1, not {ranks}", "for example --ranks 8")
    if ranks > _core.MOST_RANKS:
        raise RequestError(
            f"the number of ranks must be at most {_core.MOST_RANKS} (2^30), not {ranks}", "for example --ranks 8"
        )
    if not 0 <= root < ranks:
        raise RequestError(
            f"root {root} is none of the ranks 0 to {ranks - 1}", "choose one of them, or more ranks"
        )
    if not 0 <= radix <= _core.MOST_RANKS:
        raise RequestError(f"radix {radix} is none of 0 to {_core.MOST_RANKS}", "0 means the algorithm's default")
    vectors = ranks if what.sizes_are_blocks else 1
    if max(size_B * vectors, segment_B) * ranks > MOST_TRAFFIC_B:
        raise RequestError(
            f"{max(size_B, segment_B)} B on {ranks} ranks are more bytes than can be counted",
            "ask for smaller messages, smaller segments or fewer ranks",
        )
    problem = Problem(
        ranks=ranks,
        root=root,
        bytes=-(-size_B // element_B) * element_B if what.has_size else 0,
        element_B=element_B,
        segment_B=-(-segment_B // element_B) * element_B,
        radix=radix,
    )
    if reason := _core.refusal(collective, name, problem):
        hint = "`hockney schedule list` shows what each algorithm is defined for"
        raise RequestError(reason, written.HINT if name.endswith(written.ENDING) else hint)
    return ScheduleRequest(algorithm, problem, size_B, segment_B)


@lru_cache(maxsize=65536)
def signature(
    collective: str, name: str, *, ranks: int, size_B: int, segment_B: int = 0, radix: int = 0
) -> int | None:
    """A number that algorithms have in common where they make the same schedule: what differs then is noise.

    On two ranks a chain, a binary tree and a linear broadcast are one message. None where the algorithm is none
    of the core's, refuses the problem, or has more than `MOST_COMPARED_STEPS` steps.
    """
    if name.endswith(written.ENDING):
        # A campaign's; the file may have changed since.
        return None
    try:
        request = ask(collective, name, ranks=ranks, size_B=size_B, segment_B=segment_B, radix=radix)
    except RequestError:
        return None
    if _core.count_steps(collective, name, request.problem, MOST_COMPARED_STEPS) > MOST_COMPARED_STEPS:
        return None
    return hash(tuple(tuple(map(_what, rank.steps)) for rank in request.generate()))


def _what(step: Step) -> tuple[object, ...]:
    """All of a step but its tag, a name."""
    regions = ((region.memory.value, region.offset_B, region.length_B) for region in (step.source, step.target))
    return (step.kind.value, step.peer, *regions, *step.after)


def rank_counts(algorithm: Algorithm) -> str:
    """The numbers of ranks for which an algorithm is defined, in words."""
    counts = [
        ranks
        for ranks in PROBED
        if not _core.refusal(algorithm.collective, algorithm.name, Problem(ranks=ranks, bytes=4, element_B=4))
    ]
    if len(counts) == len(PROBED):
        return "any"
    if counts == [ranks for ranks in PROBED if ranks % 2 == 0]:
        return "even"
    if all(ranks & (ranks - 1) == 0 for ranks in counts):
        return "powers of two"
    return ", ".join(map(str, counts))
