"""Tables of collectives whose times follow a known law."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from hockney.machine.system import Mapping as Places
from hockney.machine.system import Node, System, SystemNetwork
from hockney.predict.calibrate import times_s
from hockney.predict.parameters import ParameterLayout, Start
from hockney.predict.points import points
from hockney.predict.scenario import Scenarios

Array = NDArray[np.float64]

Law = Callable[..., float]
"""(algorithm, ranks, bytes, mapping) → seconds."""


def _table(
    law: Law,
    *,
    algorithms: Iterable[str] = ("linear", "binomial"),
    ranks: Iterable[int] = (2, 4, 8, 16, 32, 64),
    sizes: Iterable[int] = (8, 1024, 65536),
    mappings: Iterable[str] = ("core", "node"),
    repetitions: int = 1,
    **columns: Any,
) -> pd.DataFrame:
    rows = [
        {
            "system": "s", "mpi": "m", "operation": "bcast", "algorithm": algorithm, "mapping": mapping,
            "nodes": 2, "ppn": p // 2, "ranks": p, "bytes": size, "statistic": "mean_over_ranks",
            "time_s": law(algorithm, p, size, mapping), "repetition": repetition,
        }
        | columns
        for algorithm, p, size, mapping, repetition in product(
            algorithms, ranks, sizes, mappings, range(repetitions)
        )
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture(scope="session")
def bcast() -> Callable[..., pd.DataFrame]:
    """Make a tidy table of a broadcast: (law, algorithms=…, ranks=…, sizes=…, mappings=…, other columns)."""
    return _table


SYSTEM = System(
    schema_version=1,
    name="s",
    node=Node(packages=2, caches_per_numa=2, cores_per_cache=4),
    network=SystemNetwork(topology="switch", bandwidth_B_per_s=1e10, latency_s=1e-6),
    mappings={
        "core": Places(order=["core", "cache", "numa", "package", "node"]),
        "package": Places(order=["package", "core", "cache", "numa", "node"], binding="package"),
        "node": Places(order=["node", "core", "cache", "numa", "package"], nodes=2),
        "half": Places(order=["core", "cache", "numa", "package", "node"], ppn=8),
    },
)
"""Nodes of 16 cores: two packages of two caches of four."""


@pytest.fixture(scope="session")
def system() -> System:
    """A cluster of nodes of 16 cores: two packages of two caches of four."""
    return SYSTEM


def _times_s(table: pd.DataFrame, operation: str, protocols: Mapping[str, Any]) -> Array:
    """Of a machine that is exactly what the model says, with other costs than a calibration begins with."""
    statistic = str(table["statistic"].iloc[0])
    scenarios = Scenarios(SYSTEM, "osu" if statistic == "mean_over_ranks" else "hockney")
    made = scenarios.of_points(points(table, operation, statistic).frame)
    chosen = [one for one in made if one is not None]
    assert len(chosen) == len(table), scenarios.missing
    labels = tuple(sorted({one.label for one in chosen}))
    layout = ParameterLayout(
        np.array([0.0, *2.0 ** np.arange(21)]), labels, SYSTEM.node.cores, **{"held_above_B": 8192.0, **protocols}
    )
    theta = layout.start(
        Start(
            lambda locality, size_B: (0.3 + 0.2 * locality) * 1e-6 + size_B / (4e9 - 5e8 * locality),
            lambda size_B: 1e-7 + size_B / 1e10,
        )
    )
    for number, of_label in enumerate(layout.places["algorithm"]):
        theta[of_label] += 0.1 * (-1) ** number
    theta[layout.places["load"]] += 0.1
    theta[layout.places["step"]] += 0.7
    theta[layout.places["port"]] += 1.8
    theta[layout.places["handshake"]] += 1.5
    return np.array(times_s(chosen, statistic, layout, theta))


def _simulated_table(
    *,
    operation: str = "bcast",
    statistic: str = "completion",
    algorithms: Iterable[str] = ("linear", "binomial"),
    ranks: Iterable[int] = (2, 4, 6, 8, 12, 16, 24, 32),
    sizes: Iterable[int] = (8, 1024, 65536),
    mappings: Iterable[str] = ("core", "half"),
    mpi: str = "",
    noise: float = 0.0,
    protocols: Mapping[str, Any] | None = None,
    seed: int = 3,
) -> pd.DataFrame:
    rows = [
        {
            "system": "s", "mpi": mpi, "operation": operation, "algorithm": algorithm, "mapping": mapping,
            "nodes": None, "ppn": None, "ranks": p, "bytes": size, "statistic": statistic, "time_s": 1e-6,
            "repetition": 0,
        }
        for algorithm, p, size, mapping in product(algorithms, ranks, sizes, mappings)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    disturbed = np.exp(np.random.default_rng(seed).normal(0.0, noise, len(table)))
    return table.assign(time_s=_times_s(table, operation, protocols or {}) * disturbed)


@pytest.fixture(scope="session")
def simulated_table() -> Callable[..., pd.DataFrame]:
    """Make a tidy table of a machine that is exactly what the simulator says: (ranks=…, sizes=…, …)."""
    return _simulated_table
