"""Reductions to a root: shapes of Open MPI's trees and closed forms of their costs."""

from __future__ import annotations

import pytest

from hockney import _core
from hockney._core import Counts, Kind, Problem, Schedule

RANKS = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 64)
TREES = ("linear", "chain", "pipeline", "binary", "binomial")


def generate(
    algorithm: str, ranks: int, size_B: int, segment_B: int = 0, radix: int = 0, root: int = 0
) -> Schedule:
    problem = Problem(ranks=ranks, bytes=size_B, segment_B=segment_B, radix=radix, root=root)
    return _core.generate("reduce", algorithm, problem)


def count(algorithm: str, ranks: int, size_B: int, segment_B: int = 0, radix: int = 0) -> Counts:
    return _core.count(generate(algorithm, ranks, size_B, segment_B, radix))


def parents(schedule: Schedule) -> dict[int, int]:
    return {
        rank: step.peer for rank, mine in enumerate(schedule) for step in mine.steps if step.kind == Kind.send
    }


def receives(schedule: Schedule, rank: int) -> list[int]:
    return [step.peer for step in schedule[rank].steps if step.kind == Kind.receive]


def chains(ranks: int, fanout: int) -> list[list[int]]:
    """The other ranks in `fanout` runs, the first ones longer by one."""
    others, runs = list(range(1, ranks)), []
    fanout = min(fanout, ranks - 1)
    for left in range(fanout, 0, -1):
        length = -(-len(others) // left)
        runs.append(others[:length])
        others = others[length:]
    return runs


def expected_parent(algorithm: str, v: int, ranks: int) -> int:
    """Of a rank counted from the root on, v > 0; from the description of each tree."""
    if algorithm == "linear":
        return 0
    if algorithm == "pipeline":
        return v - 1
    if algorithm == "chain":
        run = next(run for run in chains(ranks, 4) if v in run)
        return 0 if v == run[0] else v - 1
    if algorithm == "binomial":
        return v & (v - 1)  # subtrees are ranges of ranks: the lowest bit goes
    # binary: place i on level l has the places i and i + 2^l of the next level as children.
    level = (v + 1).bit_length() - 1
    above = 1 << (level - 1)  # ranks on the level above, which begins with rank above − 1
    return (v + 1 - 2 * above) % above + above - 1


@pytest.mark.parametrize("algorithm", TREES)
@pytest.mark.parametrize("ranks", [2, 3, 8, 13, 17, 64])
def test_the_tree_is_open_mpis(algorithm: str, ranks: int) -> None:
    for root in (0, ranks // 2, ranks - 1):
        told = parents(generate(algorithm, ranks, 8, root=root))
        expected = {
            (v + root) % ranks: (expected_parent(algorithm, v, ranks) + root) % ranks for v in range(1, ranks)
        }
        assert told == expected


@pytest.mark.parametrize("algorithm", TREES)
@pytest.mark.parametrize("ranks", RANKS)
def test_each_rank_but_the_root_sends_its_sum_once(algorithm: str, ranks: int) -> None:
    counts = count(algorithm, ranks, 100)
    assert counts.messages == ranks - 1
    assert counts.bytes == counts.reduced_bytes == 100 * (ranks - 1)
    assert counts.max_degree == min(1, ranks - 1)
    assert counts.copied_bytes == (100 if ranks == 1 else 0)  # the root's contribution is added where it lies


@pytest.mark.parametrize("ranks", RANKS)
def test_rounds_without_segments(ranks: int) -> None:
    # Pješivac-Grbović et al. 2007, section 3, with one segment: the root of the flat tree receives P − 1
    # messages; P − 1 follow one another along a pipeline.
    assert count("linear", ranks, 8).rounds == ranks - 1
    assert count("pipeline", ranks, 8).rounds == ranks - 1
    # A binomial tree halves those left in each round (Thakur, Rabenseifner and Gropp 2005).
    assert count("binomial", ranks, 8).rounds == (ranks - 1).bit_length()
    # The longest chain's sum reaches the root's port first, then one from each further chain.
    runs = chains(ranks, 4)
    assert count("chain", ranks, 8).rounds == (len(runs[0]) - 1 + len(runs) if runs else 0)


@pytest.mark.parametrize("ranks", [2, 3, 8, 17])
@pytest.mark.parametrize("segments", [1, 2, 5, 9])
def test_segments_fill_the_pipeline(ranks: int, segments: int) -> None:
    # The first segment takes P − 1 hops, every further one arrives a hop behind the one before.
    counts = count("pipeline", ranks, 10 * segments, segment_B=10)
    assert counts.messages == (ranks - 1) * segments
    assert counts.rounds == ranks - 1 + segments - 1
    assert counts.critical_bytes == 10 * counts.rounds


@pytest.mark.parametrize("levels", [2, 3, 5])
@pytest.mark.parametrize("segments", [1, 2, 20])
def test_a_complete_binary_tree_takes_two_rounds_a_segment(levels: int, segments: int) -> None:
    # An inner rank's port receives two messages a segment: two rounds a level for the first segment, two more for
    # every further one (Pješivac-Grbović et al. 2007).
    counts = count("binary", 2**levels - 1, 8 * segments, segment_B=8)
    assert counts.rounds == 2 * (levels - 1) + 2 * (segments - 1)


@pytest.mark.parametrize(("ranks", "fanout"), [(9, 2), (9, 4), (10, 4), (14, 4), (14, 1)])
@pytest.mark.parametrize("segments", [1, 2, 5])
def test_the_roots_port_limits_the_chains(ranks: int, fanout: int, segments: int) -> None:
    # It waits for the longest chain and is busy with a message from each chain for each segment from then on.
    counts = count("chain", ranks, 8 * segments, segment_B=8, radix=fanout)
    assert counts.rounds == len(chains(ranks, fanout)[0]) - 1 + fanout * segments


@pytest.mark.parametrize("segments", [1, 2, 5])
def test_the_binomial_roots_port_is_never_idle(segments: int) -> None:
    # log₂P children, each with a message a segment.
    assert count("binomial", 16, 8 * segments, segment_B=8).rounds == 4 * segments


@pytest.mark.parametrize("radix", [1, 2, 5, 100])
def test_a_chains_fan_out_is_the_roots_number_of_children(radix: int) -> None:
    schedule = generate("chain", 9, 8, radix=radix)
    assert receives(schedule, 0) == [run[0] for run in chains(9, radix)]


def test_a_chain_of_one_is_the_pipeline() -> None:
    for ranks in RANKS:
        assert parents(generate("chain", ranks, 8, radix=1)) == parents(generate("pipeline", ranks, 8))


def test_the_linear_root_adds_from_the_last_rank_on() -> None:
    # As Open MPI does, so that a₀ ⊕ (a₁ ⊕ (… ⊕ aₙ)) keeps rank order with any root.
    assert receives(generate("linear", 6, 8, root=2), 2) == [5, 4, 3, 1, 0]


@pytest.mark.parametrize("ranks", [2, 4, 8, 32, 64])
def test_rabenseifner_at_powers_of_two(ranks: int) -> None:
    # 2 log₂P rounds, 2 (P − 1)/P of the vector on the way, (P − 1)/P of it added up by each rank (Thakur,
    # Rabenseifner and Gropp 2005).
    counts = count("rabenseifner", ranks, 12 * ranks)
    log = ranks.bit_length() - 1
    assert counts.rounds == 2 * log
    assert counts.messages == ranks * log + ranks - 1
    assert counts.critical_bytes == 2 * (ranks - 1) * 12
    assert counts.reduced_bytes == ranks * (ranks - 1) * 12


@pytest.mark.parametrize("ranks", [3, 5, 6, 7, 12, 31, 63])
def test_rabenseifner_elsewhere_hands_in_the_extra_vectors_first(ranks: int) -> None:
    log = ranks.bit_length() - 1
    nodes = 2**log
    counts = count("rabenseifner", ranks, 12 * nodes)
    assert counts.rounds == 1 + 2 * log
    assert counts.messages == ranks - nodes + nodes * log + nodes - 1
    assert counts.critical_bytes == 12 * nodes + 2 * (nodes - 1) * 12


@pytest.mark.parametrize("algorithm", ["linear", "chain", "pipeline", "binomial"])
def test_rank_order_is_kept_or_refused(algorithm: str) -> None:
    def refusal(root: int) -> str:
        return _core.refusal("reduce", algorithm, Problem(ranks=6, bytes=8, root=root, commutative=False))

    assert refusal(0) == ""
    assert refusal(2) == ("" if algorithm == "linear" else f"{algorithm} keeps rank order for root 0 only")


@pytest.mark.parametrize("algorithm", ["binary", "rabenseifner"])
def test_the_others_need_a_commutative_operator(algorithm: str) -> None:
    problem = Problem(ranks=6, bytes=8, commutative=False)
    assert "commutative" in _core.refusal("reduce", algorithm, problem)


def test_what_an_algorithm_does_not_take_is_refused() -> None:
    assert "segments" in _core.refusal("reduce", "rabenseifner", Problem(ranks=4, bytes=8, segment_B=4))
    assert "segments" in _core.refusal("reduce", "linear", Problem(ranks=4, bytes=8, segment_B=4))
    assert "at least 1" in _core.refusal("reduce", "chain", Problem(ranks=4, bytes=8, radix=-1))
    assert "no radix" in _core.refusal("reduce", "binomial", Problem(ranks=4, bytes=8, radix=2))


@pytest.mark.parametrize("algorithm", ["chain", "pipeline", "binary", "binomial"])
def test_a_long_message_needs_three_segments_of_memory_at_most(algorithm: str) -> None:
    # One holds the sum, one is joined, one receives; the leaves need none.
    schedule = generate(algorithm, 16, 10_000, segment_B=100)
    assert max(mine.scratch_B for mine in schedule) <= 300
    assert min(mine.scratch_B for mine in schedule) == 0
