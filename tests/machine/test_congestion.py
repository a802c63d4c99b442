"""Where the congestion of a machine comes from, and what it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hockney.errors import RequestError
from hockney.machine.congestion import Congestions, congestion_of
from hockney.machine.file import Machine, load
from hockney.machine.topologies.base import parse_spec
from hockney.machine.traffic.base import Links
from hockney.machine.traffic.demands.base import Allocated
from hockney.machine.traffic.study import study
from hockney.models.base import Parameter
from hockney.models.effects.base import Effect


@pytest.fixture
def machine() -> Machine:
    return load(Path(__file__).parent / "data" / "version1.json")


def effect(**parameters: float) -> Effect:
    return Effect(
        effect="congestion",
        parameters={name: Parameter(value=value, unit="") for name, value in parameters.items()},
        source="a paper",
    )


def test_nothing_is_guessed(machine: Machine) -> None:
    assert congestion_of(machine) is None
    machine.effects = [Effect(effect="congestion", not_measurable="one node")]
    assert congestion_of(machine) is None


@pytest.mark.parametrize(
    ("topology", "worst"),
    [
        ("torus:8x8x8", 12.0),  # document 003: 3/2 k
        ("single-switch:nodes=8,ports=8", 1.0),
        ("hypercube:4", 4.0),  # 4 hops to the opposite corner, as many links as a node has
    ],
)
def test_of_a_topology_all_links_sending(machine: Machine, topology: str, worst: float) -> None:
    found = congestion_of(machine, topology)
    assert found is not None
    assert found.value == pytest.approx(worst)
    assert found.definition.text == f"C = {worst:.3g}"


@pytest.mark.parametrize(
    "topology",
    [
        *("torus:8", "torus:5x5", "torus:4x6", "torus:2x4x4", "torus:3x4", "torus:2x2x2", "hypercube:5"),
        "fat-tree:nodes=32,leaf-ports=8:4,spines=4,spine-ports=8",
        "fat-tree:nodes=32,leaf-ports=8:8,spines=4,spine-ports=8",
    ],
)
def test_what_is_known_without_routing_is_what_routing_finds(machine: Machine, topology: str) -> None:
    network = parse_spec(topology)
    everybody = Allocated(Links.of(network), np.arange(network.nodes))
    routed = study(everybody, traffic="worst_pairing", routing="shortest", size_B=1.0)
    found = congestion_of(machine, topology)
    assert found is not None
    assert found.value == pytest.approx(routed.factor_of_all_links)


def test_a_large_torus_needs_no_routing(machine: Machine) -> None:
    machine.topology = "torus:32x32x32"
    found = congestion_of(machine)
    assert found is not None
    assert found.value == 48  # 3/2 k


def test_other_large_networks_are_routed_only_on_request(machine: Machine) -> None:
    machine.topology = "dragonfly:routers=16,nodes-per-router=4,global-links=2,groups=17"
    assert congestion_of(machine) is None


def test_measured_comes_before_the_machines_topology_and_after_a_given_one(machine: Machine) -> None:
    machine.topology = "torus:4x4x4"
    machine.effects = [effect(worst_congestion=2.5)]
    found = congestion_of(machine)
    assert found is not None
    assert (found.value, found.definition.source) == (2.5, "a paper")
    assert found.network is not None
    given = congestion_of(machine, "torus:8x8x8")
    assert given is not None
    assert given.value == pytest.approx(12)
    machine.effects = []
    own = congestion_of(machine)
    assert own is not None
    assert own.value == pytest.approx(6)


def test_it_is_of_the_network_and_of_the_entrys_mpi_and_variant(machine: Machine) -> None:
    def measured(worst: float, **words: object) -> Effect:
        return effect(worst_congestion=worst).model_copy(update=words)

    machine.effects = [
        measured(9.0, locality="package"),
        measured(8.0, locality="network", oversubscribed=True),
        measured(7.0, locality="network", variant="tuned"),
        measured(2.0, locality="network", mpi="a"),
        measured(3.0, locality="network", mpi="b", variant="default"),
        measured(2.5, locality="network", mpi="b"),
    ]
    all_of_them = Congestions(machine)

    def at(mpi: str = "", variant: str = "") -> float | None:
        entry = machine.point_to_point[0].model_copy(update={"other": {"mpi": mpi} if mpi else {}})
        found = all_of_them.at(entry.model_copy(update={"variant": variant}))
        return found.value if found else None

    assert [at("a"), at("b"), at("b", "default"), at()] == [2.0, 3.0, 3.0, 3.0]
    assert [at("a", "tuned"), at("a", "other")] == [7.0, None]
    assert all_of_them.at().value == 3.0  # type: ignore[union-attr]
    given = Congestions(machine, "torus:8x8x8").at(machine.point_to_point[0])
    assert given is not None
    assert given.value == pytest.approx(12)


def test_a_published_formula_has_no_number(machine: Machine) -> None:
    machine.effects = [effect(C_per_cbrt_P=1.5)]
    found = congestion_of(machine)
    assert found is not None
    assert (found.value, found.definition.text) == (None, "C = 1.5·∛P")


def test_a_given_topology_must_exist_the_machines_own_may_be_elsewhere(machine: Machine) -> None:
    with pytest.raises(RequestError, match="names no topology"):
        congestion_of(machine, "moebius:4")
    machine.topology = "edges:elsewhere.txt"
    assert congestion_of(machine) is None
