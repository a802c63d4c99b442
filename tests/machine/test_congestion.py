"""Where the congestion of a machine comes from, and what it is."""

from __future__ import annotations

import numpy as np
import pytest
from tests.factories import not_none, version_1

from hockney.errors import RequestError
from hockney.machine.congestion import Congestions
from hockney.machine.file import Machine
from hockney.models.base import Parameter
from hockney.models.effects.base import Effect
from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.base import Allocated, Links
from hockney.network.traffic.study import study


@pytest.fixture
def machine() -> Machine:
    return version_1()


def effect(**parameters: float) -> Effect:
    return Effect(
        effect="congestion",
        parameters={name: Parameter(value=value, unit="") for name, value in parameters.items()},
        source="a paper",
    )


def test_nothing_is_guessed(machine: Machine) -> None:
    assert Congestions(machine).at() is None
    machine.effects = [Effect(effect="congestion", not_measurable="one node")]
    assert Congestions(machine).at() is None


@pytest.mark.parametrize(
    ("topology", "worst"),
    [
        ("single-switch:nodes=8,ports=8", 1.0),
        # Tornado: 3 of 8 links further, all the same way round, over one of two links out; 2 of 5 as well.
        ("torus:8", 6.0),
        ("torus:5", 4.0),
        # Both to the other side on half the links each: 2 · 4/4.
        ("torus:4", 2.0),
        # Two leaves of 8 nodes exchange all they have by 4 links up.
        ("fat-tree:nodes=32,leaf-ports=8:4,spines=4,spine-ports=8", 2.0),
        # 4 nodes of a leaf by 2 links, whatever is above.
        ("fat-tree:nodes=16,leaf-ports=4:2,spines=1,spine-ports=4:8,cores=1,core-ports=16", 2.0),
    ],
)
def test_of_a_topology_all_links_sending(machine: Machine, topology: str, worst: float) -> None:
    found = not_none(Congestions(machine, topology).at())
    assert found.is_bound
    assert found.value == pytest.approx(worst)
    assert found.definition.text == f"C = {worst:.3g}"


@pytest.mark.parametrize(
    "topology",
    [
        *("torus:8", "torus:3", "torus:4", "torus:5", "torus:6", "torus:9", "torus:1x6"),
        "fat-tree:nodes=32,leaf-ports=8:4,spines=4,spine-ports=8",
        "fat-tree:nodes=32,leaf-ports=8:8,spines=4,spine-ports=8",
        "fat-tree:nodes=32,links-per-node=2,leaf-ports=8:4,spines=4,spine-ports=8,link=10Gbit/s,uplink=20Gbit/s",
        "fat-tree:nodes=16,leaf-ports=4:2,spines=1,spine-ports=4:8,cores=1,core-ports=16",
        "fat-tree:nodes=16,leaf-ports=4:4,spines=2,spine-ports=4:2,cores=2,core-ports=8",
        "single-switch:nodes=8,ports=8",
    ],
)
def test_what_is_known_by_proof_is_what_assignments_find(machine: Machine, topology: str) -> None:
    network = parse_spec(topology)
    everybody = Allocated(Links.of(network), np.arange(network.nodes))
    routed = study(everybody, traffic="worst_permutation", routing="shortest", size_B=1.0)
    found = not_none(Congestions(machine, topology).at())
    assert found.value == pytest.approx(routed.factor_of_all_links)


@pytest.mark.parametrize(
    ("topology", "traffic"),
    [
        *(("torus:8x8x8", name) for name in ("tornado", "worst_pairing", "permutation", "transpose")),
        *(("torus:4x6", name) for name in ("tornado", "worst_pairing", "permutation")),
        *(("hypercube:6", name) for name in ("bit_complement", "permutation", "transpose")),
    ],
)
def test_no_pairing_exceeds_it(machine: Machine, topology: str, traffic: str) -> None:
    network = parse_spec(topology)
    everybody = Allocated(Links.of(network), np.arange(network.nodes))
    found = not_none(Congestions(machine, topology).at())
    assert found.is_bound
    for seed in range(3):
        routed = study(everybody, traffic=traffic, routing="shortest", size_B=1.0, seed=seed)
        assert routed.factor_of_all_links <= not_none(found.value) * (1 + 1e-9)  # sums of shares are rounded


@pytest.mark.parametrize(
    ("topology", "far"),
    [("torus:32x32x32", 48), ("torus:15x15x15", 42), ("hypercube:12", 12)],  # 3/2 k; 7 hops × 6 links; corner
)
def test_where_no_assignment_is_possible_nothing_is_called_a_bound(
    machine: Machine, topology: str, far: float
) -> None:
    machine.topology = topology
    found = not_none(Congestions(machine).at())
    assert found.value == far
    assert not found.is_bound
    assert "worst by distance, not a bound" in found.definition.source


def test_other_large_networks_are_routed_only_on_request(machine: Machine) -> None:
    machine.topology = "dragonfly:routers=16,nodes-per-router=4,global-links=2,groups=17"
    assert Congestions(machine).at() is None


def test_measured_comes_before_the_machines_topology_and_after_a_given_one(machine: Machine) -> None:
    machine.topology = "torus:4"
    machine.effects = [effect(worst_congestion=2.5)]
    found = not_none(Congestions(machine).at())
    assert (found.value, found.definition.source) == (2.5, "a paper")
    given = not_none(Congestions(machine, "torus:8").at())
    assert given.value == pytest.approx(6)
    machine.effects = []
    own = not_none(Congestions(machine).at())
    assert own.value == pytest.approx(2)


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
    given = not_none(Congestions(machine, "torus:8").at(machine.point_to_point[0]))
    assert given.value == pytest.approx(6)


def test_a_published_formula_has_no_number(machine: Machine) -> None:
    machine.effects = [effect(C_per_cbrt_P=1.5)]
    found = not_none(Congestions(machine).at())
    assert (found.value, found.definition.text) == (None, "C = 1.5·∛P")
    assert not found.is_bound, "it is of the farthest pairing"


def test_a_given_topology_must_exist_the_machines_own_may_be_elsewhere(machine: Machine) -> None:
    with pytest.raises(RequestError, match="names no topology"):
        Congestions(machine, "moebius:4").at()
    machine.topology = "edges:elsewhere.txt"
    assert Congestions(machine).at() is None
