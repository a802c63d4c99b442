"""What begins where a step is: a level of the machine, or another decision of the library, and only there."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from tests.factories import frame, row

from hockney.machine.locality import Places
from hockney.machine.system import Mapping, Node, System, SystemNetwork
from hockney.models.over_ranks.points import curves, points
from hockney.report.collective_analysis import analyse

SYSTEM = System(
    schema_version=1,
    name="s",
    node=Node(packages=2, numa_per_package=1, caches_per_numa=1, cores_per_cache=24),
    network=SystemNetwork(topology="switch"),
    mappings={"core": Mapping(order=["core", "cache", "numa", "package", "node"])},
)
NONE: list[System] = []


def reasons_told(
    at: int, cores: int = 48, size_B: int = 1024, systems: list[System] = NONE, **columns: str
) -> list[tuple[int, int, tuple[str, ...]]]:
    """Where the times of 2 to 48 ranks on nodes of so many cores are told to double, and why; planted at `at`."""
    noise = np.random.default_rng(1)
    rows = []
    for ranks in range(2, 49):
        nodes = -(-ranks // cores)
        time_s = (1 + 0.1 * ranks) * 1e-6 * (2 if ranks >= at else 1) * np.exp(noise.normal(0, 0.01))
        here = {"system": "s", "mapping": "core", "nodes": nodes, "ppn": -(-ranks // nodes), **columns}
        rows.append(row(size_B, ranks, time_s, **here))
    table = frame(rows)
    operation = columns["operation"]
    measured = points(table, operation)
    lines = {size_B: curves(measured, size_B)}
    with patch("hockney.report.collective_analysis.reproductions", return_value=({}, [])):
        found = analyse(table, measured, operation, "completion", lines, Places(table, systems))
    return [(one.place.before, one.place.after, one.place.why) for one in found.algorithms[0].steps]


@pytest.mark.parametrize(("at", "why"), [(25, ("package",)), (24, ()), (26, ()), (21, ())])
def test_a_level_is_a_reason_where_it_begins_alone(at: int, why: tuple[str, ...]) -> None:
    """The second package of 24 cores begins with rank 25."""
    told = reasons_told(at, systems=[SYSTEM], operation="bcast", algorithm="linear")
    assert told == [(at - 1, at, why)]


@pytest.mark.parametrize(
    ("library", "operation", "at", "why"),
    [
        # Of 1 KiB to 31 ranks recursive doubling, from 32 on Rabenseifner's (coll_tuned_decision_fixed.c of 4.1).
        ("Open MPI 4.1.5", "allreduce", 32, ("power_of_two", "decision")),
        ("Open MPI 4.1.5", "allreduce", 30, ()),
        # The component han serves several nodes from 5.0 on, of 24 cores here; alltoall is not among its own.
        ("Open MPI 5.0.3", "bcast", 25, ("node", "decision")),
        ("Open MPI 4.1.5", "bcast", 25, ("node",)),
        ("Open MPI 5.0.3", "alltoall", 25, ("node",)),
        ("Intel MPI 2021.9", "allreduce", 32, ("power_of_two",)),
    ],
)
def test_a_decision_of_the_library_is_a_reason_where_it_is(
    library: str, operation: str, at: int, why: tuple[str, ...]
) -> None:
    told = reasons_told(at, cores=24, mpi=library, operation=operation, algorithm="default")
    assert told == [(at - 1, at, why)]
