"""Localities and oversubscription on synthetic systems whose wiring is known from their data sheets."""

from __future__ import annotations

from typing import Any

import pytest

from hockney.records.answers import RankPlace
from hockney.runner.topology import localities, locality, notes, oversubscribed


def _rank(rank: int, cpu: int, **facts: Any) -> RankPlace:
    base = {
        "rank": rank,
        "host": "n1",
        "machine": "boot-1",
        "cpu": cpu,
        "affinity": [cpu],
        "package": 0,
        "numa": 0,
        "core": cpu,
        "siblings": [cpu],
        "caches": [],
    }
    return RankPlace.model_validate({**base, **facts})


def _epyc_7h12(rank: int, cpu: int, **facts: Any) -> RankPlace:
    """Two packages of 64 cores, SMT off, NPS4: 16 cores a NUMA domain, L3 shared by the 4 cores of a CCX."""
    ccx = list(range(cpu // 4 * 4, cpu // 4 * 4 + 4))
    caches = [
        {"level": 1, "type": "Data", "size_B": 32768, "shared": [cpu]},
        {"level": 1, "type": "Instruction", "size_B": 32768, "shared": [cpu]},
        {"level": 2, "type": "Unified", "size_B": 524288, "shared": [cpu]},
        {"level": 3, "type": "Unified", "size_B": 16777216, "shared": ccx},
    ]
    return _rank(rank, cpu, package=cpu // 64, numa=cpu // 16, caches=caches, **facts)


def _xeon(rank: int, cpu: int, **facts: Any) -> RankPlace:
    """Two packages of 24 cores with two threads each (CPU n and n + 48), one NUMA domain and one L3 a package."""
    core = cpu % 48
    socket = core // 24
    whole = [c for c in range(96) if c % 48 // 24 == socket]
    both = [core, core + 48]
    caches = [
        {"level": 1, "type": "Data", "size_B": 49152, "shared": both},
        {"level": 2, "type": "Unified", "size_B": 1310720, "shared": both},
        {"level": 3, "type": "Unified", "size_B": 37748736, "shared": whole},
    ]
    facts = {"affinity": both, **facts}
    return _rank(rank, cpu, package=socket, numa=socket, core=core % 24, siblings=both, caches=caches, **facts)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [(0, 3, "cache"), (0, 4, "numa"), (3, 15, "numa"), (0, 16, "package"), (0, 63, "package"), (0, 64, "node")],
)
def test_dual_epyc_7h12(a: int, b: int, expected: str) -> None:
    assert locality(_epyc_7h12(0, a), _epyc_7h12(1, b)) == expected
    assert locality(_epyc_7h12(1, b), _epyc_7h12(0, a)) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [(0, 48, "core"), (0, 1, "cache"), (0, 49, "cache"), (23, 24, "node"), (0, 72, "node")],
)
def test_dual_xeon_with_smt(a: int, b: int, expected: str) -> None:
    """Core numbers repeat on the second package: they are no identity of their own."""
    assert locality(_xeon(0, a), _xeon(1, b)) == expected


def test_an_instruction_cache_in_common_is_no_cache_locality() -> None:
    caches = [{"level": 1, "type": "Instruction", "size_B": 65536, "shared": [0, 1]}]
    assert locality(_rank(0, 0, caches=caches), _rank(1, 1, caches=caches)) == "numa"


def test_two_core_vm() -> None:
    caches = [{"level": 3, "type": "Unified", "size_B": 33554432, "shared": [0, 1]}]
    ranks = [_rank(0, 0, caches=caches), _rank(1, 1, caches=caches)]
    assert localities(ranks) == {"0-1": "cache"}
    assert oversubscribed(ranks) == []
    assert notes(ranks) == []


def test_another_host_or_another_boot_is_network() -> None:
    assert locality(_rank(0, 0), _rank(1, 0, host="n2", machine="boot-2")) == "network"
    assert locality(_rank(0, 0), _rank(1, 1, host="n2")) == "network"
    assert locality(_rank(0, 0), _rank(1, 1, machine="boot-2")) == "network"


def test_a_system_that_tells_nothing_is_one_numa_domain() -> None:
    bare = [RankPlace(rank=rank, host="n1", machine="m", cpu=rank) for rank in (0, 1)]
    assert locality(*bare) == "numa"


def test_pairs_are_named_lower_rank_first() -> None:
    assert list(localities([_rank(2, 2), _rank(0, 0), _rank(1, 1)])) == ["0-1", "0-2", "1-2"]


def test_more_ranks_than_cpus() -> None:
    ranks = [_rank(r, r % 2, affinity=[0, 1]) for r in range(3)]
    assert oversubscribed(ranks) == ["3 ranks on 2 CPUs of n1"]
    assert oversubscribed(ranks[:2]) == []


def test_two_ranks_pinned_to_one_cpu() -> None:
    ranks = [_rank(0, 0), _rank(1, 0), _rank(2, 1)]
    assert oversubscribed(ranks) == [
        "3 ranks on 2 CPUs of n1",
        "ranks 0, 1 pinned to CPU 0 of n1",
    ]


def test_three_ranks_in_a_set_of_two() -> None:
    ranks = [_rank(r, 0, affinity=[0, 1]) for r in range(2)] + [_rank(2, 1), _rank(3, 7, affinity=[4, 5, 6, 7])]
    assert oversubscribed(ranks) == ["ranks 0, 1, 2 pinned to CPU 0-1 of n1"]


def test_smt_siblings_share_a_core_and_are_not_oversubscribed() -> None:
    ranks = [_xeon(0, 0), _xeon(1, 48)]
    assert oversubscribed(ranks) == []
    assert localities(ranks) == {"0-1": "core"}
    assert notes(ranks) == []


def test_two_namespaces_of_one_machine() -> None:
    """Each "host" binds its first rank to core 0 of the machine that both are."""
    pinned = [_rank(0, 0, host="ns1"), _rank(1, 0, host="ns2")]
    assert localities(pinned) == {"0-1": "network"}
    assert oversubscribed(pinned) == ["2 ranks on 1 CPUs of ns1 and ns2"]
    assert any("ns1 and ns2 are one machine" in note for note in notes(pinned))
    free = [_rank(0, 0, host="ns1", affinity=[0, 1]), _rank(1, 1, host="ns2", affinity=[0, 1])]
    assert oversubscribed(free) == []
    apart = [_rank(0, 0), _rank(1, 0, host="n2", machine="boot-2")]
    assert oversubscribed(apart) == []
    assert notes(apart) == []


def test_ranks_that_may_move_are_named() -> None:
    ranks = [_epyc_7h12(r, r, affinity=list(range(128))) for r in range(3)] + [_epyc_7h12(5, 5)]
    (note,) = notes(ranks)
    assert note.startswith("ranks 0-2 are not pinned")
