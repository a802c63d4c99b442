"""Broadcasts against the literature: rounds, messages and bytes in closed form; trees as Open MPI builds them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import ceil

import numpy as np
import pytest

from hockney import _core
from hockney._core import Counts, Kind, Problem

MESSAGE_B = 1 << 14
"""16 KiB: a multiple of every power of two of ranks used here."""


def log2(ranks: int) -> int:
    """⌈log₂ P⌉."""
    return (ranks - 1).bit_length()


def count(algorithm: str, ranks: int, *, segments: int = 1, radix: int = 0) -> Counts:
    segment_B = MESSAGE_B // segments if segments > 1 else 0
    problem = Problem(ranks=ranks, root=ranks // 2, bytes=MESSAGE_B, segment_B=segment_B, radix=radix)
    return _core.count(_core.generate("bcast", algorithm, problem))


def children(algorithm: str, ranks: int, *, root: int = 0, radix: int = 0) -> list[list[int]]:
    """Whom each rank serves, in this order."""
    problem = Problem(ranks=ranks, root=root, bytes=MESSAGE_B, radix=radix)
    schedule = _core.generate("bcast", algorithm, problem)
    return [[step.peer for step in mine.steps if step.kind == Kind.send] for mine in schedule]


# Trees, each a few lines written from its definition: parents of ranks 1, 2, … for root 0, and the order in which
# a rank serves its children.


def binary(ranks: int) -> list[list[int]]:
    # Level by level: the k-th of 2^l ranks hangs on the (k mod 2^(l−1))-th of the level above.
    served: list[list[int]] = [[] for _ in range(ranks)]
    for child in range(1, ranks):
        level = (child + 1).bit_length() - 1
        place = child - (2**level - 1)
        served[2 ** (level - 1) - 1 + place % 2 ** (level - 1)].append(child)
    return served


def binomial(ranks: int) -> list[list[int]]:
    # The parent lacks the highest bit; nearest child first.
    served: list[list[int]] = [[] for _ in range(ranks)]
    for child in range(1, ranks):
        served[child - 2 ** (child.bit_length() - 1)].append(child)
    return served


def chain(ranks: int, fanout: int) -> list[list[int]]:
    served: list[list[int]] = [[] for _ in range(ranks)]
    for links in np.array_split(np.arange(1, ranks), min(fanout, ranks - 1)):
        line = [0, *map(int, links)]
        for parent, child in pairwise(line):
            served[parent].append(child)
    return served


def knomial(ranks: int, radix: int) -> list[list[int]]:
    # The parent has 0 for the lowest digit that is not 0; larger digits' places first, smaller digits first.
    served: list[list[tuple[int, int, int]]] = [[] for _ in range(ranks)]
    for child in range(1, ranks):
        place = 1
        while child // place % radix == 0:
            place *= radix
        digit = child // place % radix
        served[child - digit * place].append((-place, digit, child))
    return [[child for _, _, child in sorted(mine)] for mine in served]


def halving(ranks: int) -> list[list[int]]:
    # A broadcast by halves of ranges, written from its description.
    served: list[list[int]] = [[] for _ in range(ranks)]

    def halve(root: int, end: int) -> None:
        if root == end:
            return
        receiver = root + (end - root + 1) // 2
        served[root].append(receiver)
        halve(root, receiver - 1)
        halve(receiver, end)

    halve(0, ranks - 1)
    return served


TREES: list[tuple[str, int, Callable[[int], list[list[int]]]]] = [
    ("linear", 0, lambda ranks: [list(range(1, ranks)), *([] for _ in range(ranks - 1))]),
    ("pipeline", 0, lambda ranks: chain(ranks, 1)),
    ("blocking_pipeline", 0, lambda ranks: chain(ranks, 1)),
    ("chain", 0, lambda ranks: chain(ranks, 4)),
    ("chain", 3, lambda ranks: chain(ranks, 3)),
    ("binary", 0, binary),
    ("binomial", 0, binomial),
    ("knomial", 0, lambda ranks: knomial(ranks, 4)),
    ("knomial", 2, lambda ranks: knomial(ranks, 2)),
    ("knomial", 3, lambda ranks: knomial(ranks, 3)),
    ("halving_tree", 0, halving),
    ("pipelined_tree", 0, halving),
]


@pytest.mark.parametrize(("algorithm", "radix", "model"), TREES)
def test_a_tree_has_the_shape_that_defines_it(
    algorithm: str, radix: int, model: Callable[[int], list[list[int]]]
) -> None:
    for ranks in range(2, 41):
        expected = model(ranks)
        assert children(algorithm, ranks, radix=radix) == expected, f"{ranks} ranks"
        # Another root turns the tree.
        root = ranks - 1
        turned = children(algorithm, ranks, root=root, radix=radix)
        for v in range(ranks):
            assert turned[(v + root) % ranks] == [(child + root) % ranks for child in expected[v]]


@pytest.mark.parametrize(
    "algorithm", ["linear", "pipeline", "blocking_pipeline", "halving_tree", "pipelined_tree"]
)
def test_a_fat_tree_of_148_nodes_table_1(algorithm: str) -> None:
    """16 KiB to 8, 14, 28 processes. (The table's 15 messages of a tree over 14 processes are a slip: 13.)"""
    for ranks, tree_path in ((8, 3), (14, 4), (28, 5)):
        counts = count(algorithm, ranks)
        path = tree_path if algorithm.endswith("_tree") else ranks - 1
        assert counts.critical_messages == path
        assert counts.critical_bytes == path * MESSAGE_B
        assert (counts.messages, counts.bytes) == (ranks - 1, (ranks - 1) * MESSAGE_B)


def test_every_rank_receives_the_message_once() -> None:
    """Trees and exchanges of halves bring nobody a byte twice."""
    for algorithm in _core.algorithms():
        if algorithm.collective != "bcast" or "allgather" in algorithm.name:
            continue
        for ranks in (2, 5, 8, 13):
            segments = 8 if algorithm.is_segmented else 1
            counts = count(algorithm.name, ranks, segments=segments)
            assert sorted(counts.received_bytes) == [0] + [MESSAGE_B] * (ranks - 1)
            if algorithm.is_one_block:
                assert counts.messages == segments * (ranks - 1)


@pytest.mark.parametrize("segments", [1, 4, 16])
def test_rounds_of_segmented_trees(segments: int) -> None:
    """Pješivac-Grbović et al., Performance analysis of MPI collective operations (2007)."""
    for ranks in range(2, 34):
        # A chain fills in P − 2 rounds more: n / buffer + p − 2.
        assert count("pipeline", ranks, segments=segments).rounds == ranks - 2 + segments
        # In turns each further segment takes two: the first is there after P − 1 rounds, then one in every other.
        # Of two ranks neither does anything else.
        expected = ranks - 1 + 2 * (segments - 1) if ranks > 2 else segments
        assert count("blocking_pipeline", ranks, segments=segments).rounds == expected
    for levels in (2, 3, 4, 5):
        # Complete trees: each rank serves two children in turn, on every level and for every segment.
        assert count("binary", 2**levels - 1, segments=segments).rounds == 2 * (levels - 1 + segments - 1)
    for dimension in (1, 2, 3, 4, 5):
        # The root sends every segment ⌈log₂P⌉ times, which is why segments do not shorten a tree of this degree.
        assert count("binomial", 2**dimension, segments=segments).rounds == segments * dimension
    for ranks in range(2, 66):
        # The root of a halving tree has ⌊log₂P⌋ children.
        degree = ranks.bit_length() - 1
        assert count("pipelined_tree", ranks, segments=segments).rounds == (segments - 1) * degree + log2(ranks)


def test_a_rank_of_the_blocking_pipeline_does_one_thing_at_a_time() -> None:
    for ranks in (2, 3, 8):
        problem = Problem(ranks=ranks, root=1, bytes=100, segment_B=8)
        for mine in _core.generate("bcast", "blocking_pipeline", problem):
            assert [step.after for step in mine.steps] == [[], *([i] for i in range(len(mine.steps) - 1))]


def test_rounds_without_segments() -> None:
    for ranks in range(2, 66):
        assert count("linear", ranks).rounds == ranks - 1
        for algorithm in ("binomial", "halving_tree", "pipelined_tree", "circulant"):
            assert count(algorithm, ranks).rounds == log2(ranks)
        # The c-th of f chains starts c − 1 rounds late and has ⌈(P − 1) / f⌉ links or one less.
        fanout = min(4, ranks - 1)
        longest = ceil((ranks - 1) / fanout)
        last_long = (ranks - 1) % fanout or fanout
        assert count("chain", ranks).rounds == max(last_long + longest, fanout + (ranks - 1) // fanout) - 1
    for radix in (2, 3, 4, 5):
        for digits in (1, 2, 3):
            # radix − 1 messages in turn on each level of a full tree.
            assert count("knomial", radix**digits, radix=radix).rounds == (radix - 1) * digits


@pytest.mark.parametrize("segments", [1, 4, 16])
def test_split_binary(segments: int) -> None:
    """A binary tree for each half of the message, then one exchange of halves (Pješivac-Grbović et al. 2007)."""
    problem_B = 2 * MESSAGE_B
    for levels in (2, 3, 4, 5):
        problem = Problem(
            ranks=2**levels - 1, bytes=problem_B, segment_B=MESSAGE_B // segments if segments > 1 else 0
        )
        counts = _core.count(_core.generate("bcast", "split_binary", problem))
        assert counts.rounds == 2 * (levels - 1 + segments - 1) + 1
        # The exchange is one message of half the length.
        assert counts.critical_bytes == 2 * (levels - 1 + segments - 1) * MESSAGE_B // segments + MESSAGE_B


def test_split_binary_pairs_as_open_mpi_does() -> None:
    """Odd ranks with the next one; where there is none, the root helps the last rank."""
    for ranks in range(2, 30):
        schedule = _core.generate("bcast", "split_binary", Problem(ranks=ranks, bytes=10))
        # Beyond the tree's own messages: what a rank receives last.
        last = {v: [s.peer for s in schedule[v].steps if s.kind == Kind.receive][-1] for v in range(1, ranks)}
        for v in range(1, ranks):
            partner = v + 1 if v % 2 == 1 else v - 1
            assert last[v] == (partner if partner < ranks else 0)
            lengths = [s.target.length_B for s in schedule[v].steps if s.kind == Kind.receive]
            assert lengths == [5, 5]


def test_scatter_and_allgather() -> None:
    """Thakur, Rabenseifner and Gropp (2005): both halves move (P − 1) / P of the message; 2 ⌈log₂P⌉
    rounds with recursive doubling, ⌈log₂P⌉ + P − 1 with the ring."""
    for dimension in range(1, 7):
        ranks = 2**dimension
        for algorithm, rounds, exchanges in (
            ("scatter_allgather", 2 * dimension, ranks * dimension),
            ("scatter_allgather_ring", dimension + ranks - 1, ranks * (ranks - 1)),
        ):
            counts = count(algorithm, ranks)
            assert counts.rounds == rounds
            assert counts.critical_bytes == 2 * (ranks - 1) * MESSAGE_B // ranks
            assert counts.messages == ranks - 1 + exchanges
            # Half of the message on each level of the scatter; everybody's share to everybody else.
            assert counts.bytes == MESSAGE_B * dimension // 2 + MESSAGE_B * (ranks - 1)


def test_scatter_and_allgather_for_any_number_of_ranks() -> None:
    for ranks in range(2, 41):
        ring = count("scatter_allgather_ring", ranks)
        assert ring.rounds == log2(ranks) + ranks - 1
        assert ring.messages == (ranks - 1) * (ranks + 1)
        # Open MPI, bcast_intra_scatter_allgather: who has a partner swaps with it; who has none, although there
        # are ranks in the other half, is sent their blocks once.
        doubling = count("scatter_allgather", ranks)
        swaps = sum(1 for v in range(ranks) for bit in range(log2(ranks)) if (v ^ (1 << bit)) < ranks)
        sent = sum(
            1
            for v in range(ranks)
            for bit in range(log2(ranks))
            if (v ^ (1 << bit)) >= ranks and ((v >> bit) ^ 1) << bit < ranks
        )
        assert doubling.messages == ranks - 1 + swaps + sent


def test_circulant_meets_the_bound() -> None:
    """n − 1 + ⌈log₂P⌉ rounds for n blocks, each message one block (Träff, arXiv 2407.18004)."""
    for ranks in [*range(2, 66), 100, 127, 128, 129, 1000]:
        for blocks in (1, 2, 3, log2(ranks), log2(ranks) + 1, 16):
            # The last block is one byte shorter.
            problem = Problem(ranks=ranks, root=ranks // 3, bytes=4 * blocks - 1, segment_B=4)
            counts = _core.count(_core.generate("bcast", "circulant", problem))
            assert counts.rounds == blocks - 1 + log2(ranks), f"{ranks} ranks, {blocks} blocks"
            assert counts.messages == blocks * (ranks - 1)


def test_circulant_partners_are_the_skips() -> None:
    """Round k of a phase goes to rank + ⌈P / 2^(q−k)⌉, q = ⌈log₂P⌉ (Träff, arXiv 2407.18004)."""
    # Published for P = 17, ibidem: 1, 2, 3, 5, 9.
    for ranks, skips in ((17, [1, 2, 3, 5, 9]), *((p, None) for p in (2, 3, 8, 20, 33))):
        q = log2(ranks)
        expected = [ceil(ranks / 2 ** (q - k)) for k in range(q)]
        assert skips is None or skips == expected
        problem = Problem(ranks=ranks, bytes=64, segment_B=1)
        schedule = _core.generate("bcast", "circulant", problem)
        for v in range(1, ranks):
            to = {(step.peer - v) % ranks for step in schedule[v].steps if step.kind == Kind.send}
            source = {(v - step.peer) % ranks for step in schedule[v].steps if step.kind == Kind.receive}
            # Nobody sends to the root.
            assert to == {skip for skip in expected if (v + skip) % ranks != 0}
            assert source == set(expected)


def test_what_is_refused() -> None:
    for algorithm in _core.algorithms():
        if algorithm.collective != "bcast":
            continue
        name, least = algorithm.name, algorithm.least_radix

        def refusal(name: str = name, *, root: int = 0, segment_B: int = 0, radix: int = 0) -> str:
            problem = Problem(ranks=5, bytes=64, root=root, segment_B=segment_B, radix=radix)
            return _core.refusal("bcast", name, problem)

        assert refusal() == ""
        assert refusal(root=5) == "root 5 is none of the ranks 0 to 4"
        uncut = f"{name} does not cut its messages into segments"
        assert refusal(segment_B=16) == ("" if algorithm.is_segmented else uncut)
        if algorithm.default_radix:
            assert refusal(radix=least) == ""
            # 0 stands for the default.
            assert refusal(radix=least - 1 or -1) == f"the radix of {name} must be at least {least}"
        else:
            assert refusal(radix=2) == f"{name} takes no radix"
