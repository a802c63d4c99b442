"""Random bisections: drawn by lot from a seed, every rank once, until the mean is known; answers invented."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from tests.campaign.effects.asking import Asked, ask, questions, whys

from hockney.campaign.effects.base import Here, NotMeasurable, Question
from hockney.records.answers import RankPlace, StreamsAnswer
from hockney.records.record import Locality


def here(hosts: str, **more: Any) -> Here:
    between: dict[tuple[int, int], Locality] = {
        (a, b): "cache" if hosts[a] == hosts[b] else "network" for a, b in combinations(range(len(hosts)), 2)
    }
    ranks = [RankPlace(rank=rank, host=host) for rank, host in enumerate(hosts)]
    present: list[tuple[Locality, int, int]] = [
        (name, *next(pair for pair, one in between.items() if one == name))
        for name in ("cache", "network")
        if name in between.values()
    ]
    return Here(pairs=present, localities=between, ranks=ranks, **more)


def asked_of(where: Here, noise: float = 0.0, window_s: float = 1e-3) -> Asked:
    """All questions; a window takes `window_s`, in draws ± `noise` (relative)."""
    lot = np.random.default_rng(1)

    def answered(question: Question) -> StreamsAnswer:
        time_s = window_s * (1 + noise * lot.uniform(-1, 1))
        pairs = str(question.parameters["pairs"]).count(",") // 2 + 1
        return streams(time_s, [time_s] * pairs, preempted=2)

    return ask("congestion", where, answered)


def streams(time_s: float, pair_s: list[float], preempted: int = 0) -> StreamsAnswer:
    return StreamsAnswer(time_s=time_s, samples_s=[time_s], preempted=preempted, pair_s=pair_s, verified=True)


def draws(asked: Asked) -> list[Question]:
    return [one for one in of_pattern(asked, "random") if "again" not in one.parameters]


def of_pattern(asked: Asked, pattern: str) -> list[Question]:
    return [one for one in questions(asked) if one.parameters["pattern"] == pattern]


def ends(question: Question) -> list[int]:
    return [int(word) for word in str(question.parameters["pairs"]).split(",")]


def test_a_bisection_takes_every_rank_once_and_differs_from_the_next() -> None:
    drawn = draws(asked_of(here("aaaaaaaa")))
    assert all(sorted(ends(one)) == list(range(8)) for one in drawn)
    assert len({tuple(ends(one)) for one in drawn}) > len(drawn) / 2


def test_an_odd_rank_is_left_out_by_lot() -> None:
    drawn = draws(asked_of(here("aaaaa")))
    assert {len(set(ends(one))) for one in drawn} == {4}
    assert {rank for one in drawn for rank in ends(one)} == set(range(5))


def test_the_same_seed_draws_the_same_and_another_does_not() -> None:
    first, again, other = (
        [ends(one) for one in draws(asked_of(here("aaaaaaaa", seed=seed)))] for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_of_several_nodes_one_rank_each_takes_part() -> None:
    drawn = draws(asked_of(here("aabbccdd", oversubscribed="8 ranks on 2")))
    assert {tuple(one.members) for one in drawn} == {(0, 2, 4, 6)}


def test_ranks_of_one_node_that_share_cores_are_not_measured() -> None:
    (only,) = asked_of(here("aaaa", oversubscribed="4 ranks on 2"))
    assert isinstance(only, NotMeasurable)


def test_draws_end_when_the_mean_is_known() -> None:
    quiet, noisy = (len(draws(asked_of(here("aaaaaaaa", tolerance=0.01), noise))) for noise in (0.001, 0.1))
    assert quiet == 20
    # 1.96 · 0.1/√3 / √n = 1 % at n = 128.
    assert noisy == pytest.approx(128, abs=40)


def test_draws_end_when_the_time_is_spent() -> None:
    late = asked_of(here("aaaaaaaa", tolerance=1e-9), 0.1, window_s=0.1)
    # Ten budgets of a second, three windows of 0.1 s a draw.
    assert len(draws(late)) == pytest.approx(34, abs=2)


def test_a_slow_link_gets_fewer_messages_in_flight() -> None:
    windows = {one.parameters["window"] for one in draws(asked_of(here("aaaaaaaa"), window_s=0.1))}
    assert windows == {1}


def test_the_ordered_pairings_are_across_the_middle_and_to_the_neighbour() -> None:
    found = {str(one.parameters["pattern"]): ends(one) for one in questions(asked_of(here("abcdef")))}
    assert found["halves"] == [0, 3, 1, 4, 2, 5]
    assert found["neighbours"] == [0, 1, 2, 3, 4, 5]


def test_two_ranks_have_one_bisection() -> None:
    asked = asked_of(here("aa"))
    assert len(draws(asked)) == 1
    assert not {"halves", "neighbours"} & {one.parameters["pattern"] for one in questions(asked)}


def test_a_topology_asks_for_its_worst_pairing_with_one_rank_of_each_node() -> None:
    # Opposite corners of a cube, three hops each; ranks two a node, of which the first takes part.
    (asked,) = of_pattern(asked_of(here("aabbccddeeffgghh", topology="hypercube:3")), "topology")
    assert list(asked.members) == list(range(0, 16, 2))
    pairs = ends(asked)
    assert sorted(pairs) == list(range(8))
    assert all(a + b == 7 for a, b in zip(pairs[::2], pairs[1::2], strict=True))


def test_the_bound_is_of_the_pairs_asked_for() -> None:
    # Four pairs across the one link between two leaves of four nodes.
    tree = "fat-tree:nodes=8,leaf-ports=4:1,spines=1,spine-ports=2"
    (asked,) = of_pattern(asked_of(here("abcdefgh", topology=tree)), "topology")
    assert asked.parameters["topology_bound"] == 4
    pairs = ends(asked)
    assert all((a < 4) != (b < 4) for a, b in zip(pairs[::2], pairs[1::2], strict=True))


def test_a_topology_of_another_number_of_nodes_is_not_measurable_and_says_both() -> None:
    asked = asked_of(here("aabbcc", topology="torus:4x2"))
    assert of_pattern(asked, "topology") == []
    (why,) = whys(asked)
    assert "8 nodes" in why
    assert "3 hosts" in why
    assert len(draws(asked)) > 0


def test_without_a_topology_nothing_is_said_of_one() -> None:
    asked = asked_of(here("abcdefgh"))
    assert not of_pattern(asked, "topology")
    assert not whys(asked)


def slow(pairing: Question, times: int, slowness: dict[object, list[float]]) -> float:
    """Seconds of a pairing's slowest pair on its visit number `times`; 1 ms for all that are not listed."""
    name = pairing.parameters.get("draw", pairing.parameters["pattern"])
    seen = slowness.get(name, [1e-3])
    return seen[min(times, len(seen) - 1)]


def visited_again(slowness: dict[object, list[float]], *, moving: bool = False, **more: Any) -> list[object]:
    """The pairings asked for again, by draw or pattern, in order."""
    seen: dict[str, int] = {}
    again: list[object] = []

    def answered(asked: Question) -> StreamsAnswer:
        parameters = asked.parameters
        key = str(parameters["pairs"])
        if "again" in parameters:
            again.append(parameters.get("draw", parameters["pattern"]))
        time_s = slow(asked, seen.get(key, 0), slowness)
        seen[key] = seen.get(key, 0) + 1
        others = key.count(",") // 2
        pair_s = [1e-3] * (others + 1)
        # Where `moving`, another pair is the slow one on each visit.
        pair_s[seen[key] % len(pair_s) if moving else -1] = time_s
        return streams(time_s, pair_s)

    ask("congestion", here(**{"hosts": "aaaaaaaa", **more}), answered)
    return again


def test_the_slowest_pairing_is_visited_again_and_others_if_it_was_slow_by_chance() -> None:
    # Draw 3 is the slowest, and stays so.
    assert visited_again({3: [5e-3], 8: [2e-3]}) == [3] * 12
    # An ordered pairing counts as well.
    assert visited_again({"halves": [5e-3], 8: [2e-3]}) == ["halves"] * 12
    # Draw 3 was slow once: now draw 8 is to be asked, which stays.
    assert visited_again({3: [5e-3, 1e-3], 8: [2e-3]}) == [3] * 12 + [8] * 12
    # Always slow, but by another of its four pairs each time: no pair of it is.
    assert visited_again({3: [5e-3], 8: [2e-3]}, moving=True) == [3] * 12 + [8] * 12
    # The worst pairing of a topology counts as well.
    fitting: dict[str, Any] = {"hosts": "abcdefgh", "topology": "hypercube:3"}
    assert visited_again({"topology": [5e-3], 8: [2e-3]}, **fitting) == ["topology"] * 12
    # Four are enough where all were slow by chance.
    chance: dict[object, list[float]] = {draw: [(9 - draw) * 1e-2, 1e-3] for draw in range(6)}
    assert visited_again(chance) == [draw for draw in range(4) for _ in range(12)]


def test_a_simulation_repeats_itself_and_is_not_asked_again() -> None:
    asked = asked_of(here("abcdefgh", simulated=True))
    assert not [one for one in questions(asked) if "again" in one.parameters]
