"""Where a cache, a package, a node begins, on a machine whose cores can be counted on paper."""

from __future__ import annotations

import pytest

from hockney.machine.locality import domains
from hockney.machine.placement import placement
from hockney.machine.system import Mapping, Node, System, SystemNetwork, Turn
from hockney.models.over_ranks.boundaries import Boundary, Domains, boundaries, node_boundaries

FILL: list[Turn] = ["core", "cache", "numa", "package", "node"]
ALTERNATE: list[Turn] = ["package", "core", "cache", "numa", "node"]
SYSTEM = System(
    schema_version=1,
    name="s",
    # 2 packages × 2 NUMA domains × 2 caches × 2 cores: 16 cores a node.
    node=Node(packages=2, numa_per_package=2, caches_per_numa=2, cores_per_cache=2),
    network=SystemNetwork(topology="switch"),
    mappings={"core": Mapping(order=FILL), "socket": Mapping(order=ALTERNATE)},
)


def of(mapping: str) -> list[Boundary]:
    return boundaries(range(1, 41), lambda ranks: domains(placement(SYSTEM, mapping, ranks)))


def test_cores_in_order_fill_one_level_after_the_other() -> None:
    assert [(one.before, one.after, one.level) for one in of("core")] == [
        (2, 3, "cache"),
        (4, 5, "numa"),
        (8, 9, "package"),
        (16, 17, "node"),
        # The second package of the second node; then the third node.
        (24, 25, "package"),
        (32, 33, "node"),
    ]


def test_packages_in_turn_fill_both_at_once() -> None:
    assert [(one.before, one.level) for one in of("socket")] == [
        (1, "package"),
        # Two ranks in the first cache of each package, four in its first NUMA domain.
        (4, "cache"),
        (8, "numa"),
        (16, "node"),
        (17, "package"),
        (32, "node"),
        (33, "package"),
    ]


def test_boundaries_lie_between_the_counts_that_were_measured() -> None:
    found = boundaries([2, 6, 20], lambda ranks: domains(placement(SYSTEM, "core", ranks)))
    # The outermost level that begins is the one that counts.
    assert found == [Boundary(2, 6, "numa"), Boundary(6, 20, "node")]


def test_unknown_places_have_no_boundaries_beside_them() -> None:
    def known(ranks: int) -> Domains | None:
        return domains(placement(SYSTEM, "core", ranks)) if ranks < 16 else None

    assert boundaries([14, 16, 18], known) == []


def test_numbers_of_nodes_alone_tell_nodes() -> None:
    assert node_boundaries({16: 1, 18: 2, 20: 2, 40: 3}) == [Boundary(16, 18, "node"), Boundary(20, 40, "node")]


@pytest.mark.parametrize("mapping", ["core", "socket"])
def test_one_rank_count_has_none(mapping: str) -> None:
    assert boundaries([8], lambda ranks: domains(placement(SYSTEM, mapping, ranks))) == []


def test_only_the_second_of_the_caches_is_a_boundary() -> None:
    many = SYSTEM.model_copy(update={"node": Node(packages=1, caches_per_numa=4, cores_per_cache=2)})
    found = boundaries(range(1, 12), lambda ranks: domains(placement(many, "core", ranks)))
    # From the third rank on messages cross caches anyway.
    assert found == [Boundary(2, 3, "cache"), Boundary(8, 9, "node")]
