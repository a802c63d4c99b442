"""Boundaries of a campaign's own launch, of a system file, or of node counts."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from hockney.machine.locality import Places
from hockney.machine.system import Mapping, Node, System, SystemNetwork
from hockney.models.over_ranks.boundaries import Boundary
from hockney.models.over_ranks.points import CONFIGURATION, Configuration
from hockney.records.journal import LaunchLine


def place(rank: int) -> dict[str, Any]:
    """Two packages of four cores on each host, a cache for each pair of cores."""
    core = rank % 8
    pair = [core // 2 * 2, core // 2 * 2 + 1]
    return {
        "rank": rank, "host": f"n{rank // 8}", "cpu": core, "affinity": [core], "package": core // 4,
        "numa": core // 4, "core": core, "siblings": [core],
        "caches": [{"level": 3, "type": "Unified", "size_B": 2**25, "shared": pair}],
    }  # fmt: skip


LAUNCH = LaunchLine.model_validate({"id": "a", "mapping": "core", "ranks": [place(rank) for rank in range(16)]})
FRAME = pd.DataFrame({"system": ["s"]})
COUNTS = [2, 3, 4, 5, 8, 9, 16]


def curve() -> pd.DataFrame:
    nodes = [1, 1, 1, 1, 1, 2, 2]
    frame = pd.DataFrame({"ranks": COUNTS, "nodes": nodes, "ppn": [min(count, 8) for count in COUNTS]})
    return frame.astype("Int64").assign(time_s=1.0)


def of(**values: str) -> Configuration:
    return Configuration(tuple((name, values.get(name, "")) for name in CONFIGURATION))


HERE = of(system="s", mapping="core")


def test_a_launch_tells_where_its_ranks_were() -> None:
    found = Places(FRAME, [], [LAUNCH]).boundaries(HERE, curve())
    assert found == [
        Boundary(2, 3, "cache"),
        Boundary(4, 5, "package"),
        Boundary(8, 9, "node"),
        Boundary(9, 16, "package"),
    ]


@pytest.mark.parametrize("other", [{"variant": "tcp"}, {"mapping": "node"}])
def test_another_launch_tells_nothing(other: dict[str, str]) -> None:
    places = Places(FRAME, [], [LAUNCH.with_fields(**other)])
    assert places.boundaries(HERE, curve()) == [Boundary(8, 9, "node")]
    assert places.notes == []


def test_of_several_systems_launches_tell_nothing() -> None:
    places = Places(pd.DataFrame({"system": ["s", "t"]}), [], [LAUNCH])
    assert places.boundaries(HERE, curve()) == [Boundary(8, 9, "node")]


def test_a_system_file_comes_before_the_launch() -> None:
    system = System(
        schema_version=1,
        name="of another name",
        node=Node(packages=1, cores_per_cache=8),
        network=SystemNetwork(topology="switch"),
        mappings={"core": Mapping(order=["core", "cache", "numa", "package", "node"])},
    )
    assert Places(FRAME, [system], [LAUNCH]).boundaries(HERE, curve()) == [Boundary(8, 9, "node")]


def test_a_placement_that_cannot_be_is_said_once() -> None:
    system = System(
        schema_version=1,
        name="s",
        node=Node(packages=1, cores_per_cache=4),
        network=SystemNetwork(topology="switch"),
        mappings={"core": Mapping(order=["core", "cache", "numa", "package", "node"])},
    )
    places = Places(FRAME, [system], [])
    # Eight ranks on one node of four cores: what the table says of nodes is still true.
    assert places.boundaries(HERE, curve()) == [Boundary(8, 9, "node")]
    assert places.boundaries(HERE, curve()) == [Boundary(8, 9, "node")]
    (note,) = places.notes
    assert "4 cores" in note
