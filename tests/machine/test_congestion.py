"""Where the congestion of a machine comes from, and what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney.errors import RequestError
from hockney.machine.congestion import congestion_of
from hockney.machine.file import Machine, load
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


def test_measured_comes_before_the_machines_topology_and_after_a_given_one(machine: Machine) -> None:
    machine.topology = "torus:4x4x4"
    machine.effects = [effect(C_worst=2.5)]
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
