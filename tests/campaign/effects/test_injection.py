"""Which pairs stream at once, and how many: on placements written out, answers invented."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from tests.campaign.effects.asking import Asked, ask, questions, whys

from hockney.campaign.effects.base import Here, NotMeasurable, Question
from hockney.campaign.effects.injection import counts, pairs_at
from hockney.campaign.pairs import choose
from hockney.records import answers
from hockney.records.record import Locality

Place = tuple[str, int, int, int]
"""Host, package, cache, core of a rank."""


def locality(a: Place, b: Place) -> Locality:
    names: tuple[Locality, ...] = ("network", "node", "numa", "cache")
    return next((name for name, x, y in zip(names, a, b, strict=True) if x != y), "core")


def here(places: Sequence[Place], **more: Any) -> Here:
    between = {(a, b): locality(places[a], places[b]) for a, b in combinations(range(len(places)), 2)}
    ranks = [answers.RankPlace(rank=rank, host=place[0]) for rank, place in enumerate(places)]
    return Here(pairs=choose(between, [], 1), localities=between, ranks=ranks, **more)


def asked(where: Here, time_s: Callable[[Question], float] = lambda _: 1e-5) -> Asked:
    return ask("injection", where, lambda one: answers.StreamsAnswer(time_s=time_s(one), verified=True))


def test_numbers_of_pairs_grow_by_at_most_two() -> None:
    assert counts(1) == [1]
    assert counts(6) == [1, 2, 3, 4, 6]
    assert counts(13) == [1, 2, 3, 4, 6, 8, 12, 13]


def test_across_nodes_all_senders_are_on_one_and_all_receivers_on_another() -> None:
    where = here([("a", 0, 0, 0), ("b", 0, 0, 0), ("a", 0, 0, 1), ("b", 0, 0, 1), ("a", 0, 0, 2), ("b", 0, 0, 2)])
    pairs, layout = pairs_at(where, "network")
    assert layout == "facing"
    assert pairs == [(0, 1), (2, 3), (4, 5)]


def test_across_nodes_of_one_rank_each_pairs_share_no_node() -> None:
    pairs, layout = pairs_at(here([(name, 0, 0, 0) for name in "abcdef"]), "network")
    assert layout == "disjoint"
    assert sorted(rank for pair in pairs for rank in pair) == [0, 1, 2, 3, 4, 5]


def test_within_a_cache_the_one_with_most_ranks_is_taken() -> None:
    where = here(
        [
            ("a", 0, cache, core)
            for cache, cores in ((0, 2), (1, 5))
            for core in range(10 * cache, 10 * cache + cores)
        ]
    )
    pairs, layout = pairs_at(where, "cache")
    assert layout == "disjoint"
    assert len(pairs) == 2
    assert {rank for pair in pairs for rank in pair} < {2, 3, 4, 5, 6}
    assert pairs_at(where, "numa") == ([(0, 2), (1, 3)], "facing")


def test_a_domain_that_has_most_of_the_ranks_does_not_waste_the_others() -> None:
    # Two siblings on one core, and two cores of one rank each: two pairs, none of them the siblings.
    where = here([("a", 0, 0, 0), ("a", 0, 0, 0), ("a", 0, 0, 1), ("a", 0, 0, 2)])
    pairs, _ = pairs_at(where, "cache")
    assert len(pairs) == 2
    assert (0, 1) not in pairs


def test_two_ranks_are_one_pair_and_it_is_said_that_two_need_more() -> None:
    of_two = asked(here([("a", 0, 0, 0), ("a", 0, 0, 1)]))
    (missing,) = set(whys(of_two))
    assert "4 ranks" in missing
    assert {tuple(one.members) for one in questions(of_two)} == {(0, 1)}


def test_ranks_that_share_cores_are_measured_across_the_network_only() -> None:
    where = here([("a", 0, 0, 0), ("a", 0, 0, 1), ("b", 0, 0, 0), ("b", 0, 0, 1)], oversubscribed="4 ranks on 2")
    of_four = asked(where)
    assert {one.locality for one in of_four if isinstance(one, NotMeasurable)} == {"cache"}
    assert {one.locality for one in questions(of_four)} == {"network"}


def test_every_point_is_visited_twice_unless_it_is_long_or_simulated() -> None:
    places = [("a", 0, 0, 0), ("a", 0, 0, 1)]

    def visits(where: Here, time_s: float) -> list[Any]:
        return [one.parameters["visit"] for one in questions(asked(where, lambda _: time_s))]

    quick = visits(here(places), 1e-4)
    assert quick.count(0) == quick.count(1) > 0
    assert set(visits(here(places), 0.1)) == {0}
    assert set(visits(here(places, simulated=True), 1e-4)) == {0}


def test_a_slow_link_is_spared_the_longest_messages() -> None:
    places = [("a", 0, 0, 0), ("b", 0, 0, 1)]

    def longest(bandwidth_B_per_s: float) -> int:
        def time_s(one: Question) -> float:
            return float(one.parameters["bytes"] * one.parameters["window"]) / bandwidth_B_per_s  # type: ignore[operator]

        return max(int(str(one.parameters["bytes"])) for one in questions(asked(here(places), time_s)))

    assert longest(7.5e6) == 2**18
    assert longest(1e10) == 2**20
