"""Which pairs stand for a locality."""

from __future__ import annotations

from itertools import combinations

import pytest

from hockney.campaign.estimate import series
from hockney.campaign.pairs import MOST_SEEN, choose, seen
from hockney.campaign.plan import Plan
from hockney.errors import RequestError
from hockney.records.answers import RankPlace
from hockney.records.keys import PairKey
from hockney.records.record import Locality
from hockney.runner.topology import locality

# Two hosts of two cores that share a cache: ranks 0, 1 on one and 2, 3 on the other.
FOUR: dict[tuple[int, int], Locality] = {
    (0, 1): "cache",
    (2, 3): "cache",
    (0, 2): "network",
    (0, 3): "network",
    (1, 2): "network",
    (1, 3): "network",
}


def test_one_pair_of_each_locality_nearest_first() -> None:
    assert choose(FOUR, [], 1) == [("cache", 0, 1), ("network", 0, 2)]


def test_further_pairs_take_other_ranks_first() -> None:
    # After 0-2 the pair 1-3 shares no rank with it; only then pairs that do.
    assert choose(FOUR, ["network"], 3) == [("network", 0, 2), ("network", 1, 3), ("network", 0, 3)]


def test_further_pairs_are_at_other_distances() -> None:
    """Six hosts of two ranks: neighbours alone could not tell what a hop takes."""
    hosts = {rank: rank // 2 for rank in range(12)}
    between: dict[tuple[int, int], Locality] = {
        (i, j): "cache" if hosts[i] == hosts[j] else "network" for i in hosts for j in hosts if i < j
    }
    pairs = choose(between, ["network"], 4)
    # Four hosts apart are only 0-4 and 1-5, whose ranks the first three pairs have taken.
    assert sorted(hosts[j] - hosts[i] for _, i, j in pairs) == [1, 1, 2, 3]
    assert len({rank for _, *pair in pairs for rank in pair}) == 8


def test_no_more_pairs_than_there_are() -> None:
    assert choose(FOUR, ["cache"], 9) == [("cache", 0, 1), ("cache", 2, 3)]


def test_an_unknown_word_and_an_absent_locality_are_told_apart() -> None:
    with pytest.raises(RequestError, match="unknown locality 'socket'"):
        choose(FOUR, ["socket"], 1)
    with pytest.raises(RequestError, match="no pair of ranks has locality 'package'"):
        choose(FOUR, ["package"], 1)


@pytest.mark.parametrize("in_turn", [False, True], ids=["by host", "in turn"])
def test_of_ten_thousand_ranks_few_stand_for_all(in_turn: bool) -> None:
    """80 hosts of two packages of 64 cores each, filled one after the other or in turn."""
    places = [(rank % 80, rank // 80) if in_turn else divmod(rank, 128) for rank in range(10_240)]
    ranks = [
        RankPlace(rank=rank, host=f"n{host}", cpu=core, numa=core // 64, package=core // 64)
        for rank, (host, core) in enumerate(places)
    ]
    chosen = seen(ranks)
    assert len(chosen) <= MOST_SEEN
    assert len({place.host for place in chosen}) == 80
    assert {locality(a, b) for a, b in combinations(chosen, 2)} == {"numa", "node", "network"}
    assert all(a.rank < b.rank for a, b in combinations(chosen, 2))
    assert seen(ranks[:MOST_SEEN]) == ranks[:MOST_SEEN]


@pytest.mark.parametrize(("hosts", "found"), [(1, {"numa", "node"}), (2, {"numa", "node", "network"})])
def test_of_hosts_with_many_cores_no_locality_is_lost(hosts: int, found: set[Locality]) -> None:
    ranks = [
        RankPlace(
            rank=rank, host=f"n{rank // 600}", cpu=rank % 600, numa=rank % 600 // 300, package=rank % 600 // 300
        )
        for rank in range(600 * hosts)
    ]
    chosen = seen(ranks)
    assert len(chosen) <= MOST_SEEN
    assert {locality(a, b) for a, b in combinations(chosen, 2)} == found


def test_a_reduction_is_measured_with_warm_caches_alone() -> None:
    plan = Plan(ranks=2, operations=["pingpong", "reduce_local"], localities=["network"], hosts=["a", "b"])
    keys = series(plan.model_copy(update={"caches": ["warm", "off"]}))
    caches = [(key.operation, key.cache) for key in keys if isinstance(key, PairKey)]
    assert caches == [("pingpong", "warm"), ("pingpong", "off"), ("reduce_local", "warm")]
