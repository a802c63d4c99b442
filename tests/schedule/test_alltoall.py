"""Alltoall: closed forms of its algorithms' costs; `bytes` is one rank's block."""

from __future__ import annotations

import pytest

from hockney import _core
from hockney._core import Counts, Kind, Problem, RankSchedule, Schedule

RANKS = (1, 2, 3, 4, 5, 7, 8, 12, 22, 31, 64)
BLOCK_B = 12


def generate(algorithm: str, ranks: int, radix: int = 0) -> Schedule:
    return _core.generate("alltoall", algorithm, Problem(ranks=ranks, bytes=BLOCK_B, radix=radix))


def count(algorithm: str, ranks: int) -> Counts:
    return _core.count(generate(algorithm, ranks))


def targets(schedule: Schedule, rank: int) -> list[int]:
    return [step.peer for step in schedule[rank].steps if step.kind == Kind.send]


def under_way(mine: RankSchedule) -> int:
    """How many sends start before any message is complete."""
    done: set[int] = set()
    sends = 0
    for index, step in enumerate(mine.steps):
        if not set(step.after) <= done:
            break
        if step.kind in (Kind.copy, Kind.reduce):
            done.add(index)
        sends += step.kind == Kind.send
    return sends


@pytest.mark.parametrize("algorithm", ["linear", "pairwise", "linear_sync"])
@pytest.mark.parametrize("ranks", RANKS)
def test_direct_exchanges_send_each_block_once(algorithm: str, ranks: int) -> None:
    # P − 1 messages of a block from each rank, and as many rounds (Thakur, Rabenseifner and Gropp 2005).
    counts = count(algorithm, ranks)
    assert counts.rounds == ranks - 1
    assert counts.messages == ranks * (ranks - 1)
    assert set(counts.sent_bytes) == set(counts.received_bytes) == {(ranks - 1) * BLOCK_B}
    assert counts.critical_bytes == (ranks - 1) * BLOCK_B
    assert counts.copied_bytes == ranks * BLOCK_B
    assert {mine.scratch_B for mine in generate(algorithm, ranks)} == {0}


@pytest.mark.parametrize("ranks", RANKS)
def test_bruck(ranks: int) -> None:
    # ⌈log₂P⌉ rounds; a block travels once for each bit of the distance to its target (Bruck et al. 1997).
    counts = count("bruck", ranks)
    hops = sum(distance.bit_count() for distance in range(ranks))
    assert counts.rounds == (ranks - 1).bit_length()
    assert counts.messages == ranks * counts.rounds
    assert set(counts.sent_bytes) == set(counts.received_bytes) == {hops * BLOCK_B}
    assert counts.critical_bytes == hops * BLOCK_B


@pytest.mark.parametrize("log", [1, 3, 6])
def test_bruck_at_powers_of_two_moves_half_the_blocks_in_each_round(log: int) -> None:
    # (n/2 log₂P) β, n the whole vector (Thakur, Rabenseifner and Gropp 2005).
    assert count("bruck", 2**log).critical_bytes == 2 ** (log - 1) * log * BLOCK_B


@pytest.mark.parametrize("algorithm", ["linear", "pairwise", "linear_sync"])
def test_no_two_ranks_have_the_same_target_at_a_time(algorithm: str) -> None:
    schedule = generate(algorithm, 7)
    for step in zip(*(targets(schedule, rank) for rank in range(7)), strict=True):
        assert sorted(step) == list(range(7))


def test_partners() -> None:
    assert targets(generate("pairwise", 5), 3) == [4, 0, 1, 2]
    assert targets(generate("bruck", 22), 20) == [21, 0, 2, 6, 14]


@pytest.mark.parametrize("radix", [1, 2, 5, 15, 40])
def test_linear_sync_keeps_as_many_exchanges_under_way_as_asked_for(radix: int) -> None:
    assert {under_way(mine) for mine in generate("linear_sync", 16, radix)} == {min(radix, 15)}


def test_pairwise_is_one_at_a_time_and_linear_all_at_once() -> None:
    assert {under_way(mine) for mine in generate("pairwise", 16)} == {1}
    assert {under_way(mine) for mine in generate("linear", 16)} == {15}
    assert {under_way(mine) for mine in generate("linear_sync", 16)} == {4}  # the default


def test_linear_sync_starts_the_next_exchange_when_the_oldest_is_complete() -> None:
    for mine in generate("linear_sync", 9, 3):
        for kind in (Kind.send, Kind.receive):
            places = [place for place, step in enumerate(mine.steps) if step.kind == kind]
            assert all(mine.steps[place].after == [] for place in places[:3])
            for oldest, place in zip(places, places[3:], strict=False):
                assert oldest in mine.steps[place].after


def test_linear_sync_needs_at_least_one() -> None:
    problem = Problem(ranks=4, bytes=8, radix=-1)
    assert _core.refusal("alltoall", "linear_sync", problem) == "the radix of linear_sync must be at least 1"
