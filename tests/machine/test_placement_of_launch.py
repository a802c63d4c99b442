"""Placements of launches agree with the localities that the runner derives from the same reports."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from hockney.errors import RequestError
from hockney.machine.placement_of_launch import placement_of_launch
from hockney.records.answers import RankPlace
from hockney.records.journal import LaunchLine
from hockney.runner.topology import locality


def epyc(rank: int, cpu: int, **facts: Any) -> dict[str, Any]:
    """A 7H12 node with SMT: 128 cores, CPU n and n + 128 are one; 4 cores an L3, 16 a NUMA domain."""
    core = cpu % 128
    both = [core, core + 128]
    ccx = [c + extra for extra in (0, 128) for c in range(core // 4 * 4, core // 4 * 4 + 4)]
    caches = [
        {"level": 1, "type": "Data", "size_B": 32768, "shared": both},
        {"level": 1, "type": "Instruction", "size_B": 32768, "shared": both},
        {"level": 3, "type": "Unified", "size_B": 16777216, "shared": ccx},
    ]
    places = {"package": core // 64, "numa": core // 16, "core": core % 64, "siblings": both, "caches": caches}
    return {"rank": rank, "host": "n1", "machine": "b1", "cpu": cpu, "affinity": [cpu], **places, **facts}


CPUS = (0, 128, 1, 4, 15, 16, 63, 64, 131)
HOSTS: tuple[dict[str, str], ...] = ({}, {"host": "n2", "machine": "b2"})


def test_every_pair_has_the_locality_of_the_runner() -> None:
    ranks = [epyc(i, cpu, **host) for i, (cpu, host) in enumerate((c, h) for h in HOSTS for c in CPUS)]
    placed = placement_of_launch(LaunchLine.model_validate({"id": "l", "ranks": ranks[::-1]}), len(ranks))
    found = {(a, b): placed.locality(a, b) for a, b in combinations(range(len(ranks)), 2)}
    told = [RankPlace.model_validate(rank) for rank in ranks]
    assert found == {(a.rank, b.rank): locality(a, b) for a, b in combinations(told, 2)}
    assert set(found.values()) == {"core", "cache", "numa", "package", "node", "network"}
    assert (placed.nodes, placed.ppn, placed.binding) == (2, len(CPUS), "core")


def test_a_node_that_tells_nothing_is_one_numa_domain() -> None:
    ranks = [{"rank": rank, "host": "n1", "machine": "b1"} for rank in range(3)]
    placed = placement_of_launch(LaunchLine.model_validate({"ranks": ranks}), 3)
    assert {placed.locality(a, b) for a, b in combinations(range(3), 2)} == {"numa"}


def test_an_instruction_cache_is_not_shared_data() -> None:
    caches = [{"level": 1, "type": "Instruction", "size_B": 65536, "shared": [0, 1]}]
    ranks = [
        {"rank": c, "host": "n", "machine": "b", "cpu": c, "siblings": [c], "caches": caches} for c in (0, 1)
    ]
    assert placement_of_launch(LaunchLine.model_validate({"ranks": ranks}), 2).locality(0, 1) == "numa"


def test_ranks_that_may_move_have_no_known_binding() -> None:
    assert (
        placement_of_launch(
            LaunchLine.model_validate({"ranks": [epyc(0, 0), epyc(1, 1, affinity=[0, 1, 2])]}), 2
        ).binding
        is None
    )


def test_fewer_ranks_are_the_first_ones() -> None:
    ranks = [epyc(0, 0), epyc(1, 64), epyc(2, 0, host="n2")]
    placed = placement_of_launch(LaunchLine.model_validate({"ranks": ranks}), 2)
    assert (placed.ranks, placed.nodes) == (2, 1)


@pytest.mark.parametrize(
    ("launch", "ranks", "says"),
    [
        ({"id": "l1", "imported": "table.out"}, 2, "launch 'l1' does not say where"),
        ({"ranks": []}, 2, "does not say where"),
        ({"ranks": [epyc(0, 0)]}, 2, "2 ranks asked for"),
        ({"ranks": [epyc(0, 0)]}, 0, "0 ranks asked for"),
    ],
)
def test_a_launch_without_places_is_refused(launch: dict[str, Any], ranks: int, says: str) -> None:
    with pytest.raises(RequestError, match=says):
        placement_of_launch(LaunchLine.model_validate(launch), ranks)
