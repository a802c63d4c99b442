"""The links of a system file are those that messages share in the simulation."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

from hockney.machine.placement import placement
from hockney.machine.system import System
from hockney.predict.place import place_of
from hockney.predict.scenario import MOST_STEPS, Scenarios


def system(nodes: int | None = 64, **network: Any) -> System:
    return System.model_validate(
        {
            "schema_version": 1,
            "name": "own",
            "nodes": nodes,
            "node": {"packages": 1, "cores_per_cache": 1},
            "network": network,
            "mappings": {"node": {"order": ["node", "core", "cache", "numa", "package"], "ppn": 1}},
        }
    )


def test_a_job_on_a_torus_takes_the_first_nodes_of_the_whole_machine() -> None:
    torus = system(topology="torus", shape=[4, 4, 4])
    made = placement(torus, "node", 6)
    assert made.network_coordinates is not None
    assert made.network_coordinates.tolist()[5] == [0, 1, 1]
    place = place_of(made, torus)
    assert place.torus == (4, 4, 4)
    assert place.shares_links


def test_uplinks_of_a_fat_tree_are_shared() -> None:
    tree = system(topology="fat_tree", below=[16], uplinks=[4])
    place = place_of(placement(tree, "node", 32), tree)
    assert (place.below, place.uplinks, place.torus) == ((16,), (4,), ())
    assert place.shares_links
    switch = system(topology="switch")
    assert not place_of(placement(switch, "node", 32), switch).shares_links


@pytest.mark.parametrize(
    ("network", "what"),
    [
        ({"topology": "torus", "below": [4], "uplinks": [1]}, "below is for a fat_tree, not for a torus"),
        ({"topology": "switch", "shape": [64]}, "shape is for a torus, not for a switch"),
        ({"topology": "fat_tree", "below": [4], "uplinks": [1, 2]}, "a number for each level"),
        ({"topology": "torus", "shape": [64], "shapes": {8: [8]}}, "give one of them"),
        ({"topology": "torus", "shape": [65]}, "has 65 nodes, nodes says 64"),
    ],
)
def test_links_that_contradict_the_topology_are_refused(network: dict[str, Any], what: str) -> None:
    with pytest.raises(ValidationError, match=what):
        system(**network)


def test_a_schedule_of_too_many_steps_is_not_simulated() -> None:
    """Every rank of a linear alltoall sends to and receives from all others: P(P − 1) messages."""
    scenarios = Scenarios(system(nodes=None, topology="switch"), "hockney")
    point = {
        "operation": "alltoall", "algorithm": "linear", "mapping": "node", "nodes": None, "ppn": None, "mpi": "",
        "bytes": 8, "root": None, "segment_bytes": None, "radix": None, "variant": "", "source": "",
    }  # fmt: skip
    many = int(MOST_STEPS**0.5) + 1
    assert scenarios.of_points(pd.DataFrame([point | {"ranks": 64}]))[0] is not None
    assert scenarios.missing == {}
    assert scenarios.of_points(pd.DataFrame([point | {"ranks": many}]))[0] is None
    assert f"more than {MOST_STEPS} steps" in scenarios.missing["linear"]
