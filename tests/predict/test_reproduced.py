"""Causes of steps: what takes a simulated step away is named, what is not reproduced is not explained."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hockney.machine.system import Mapping, Node, System, SystemLibrary, SystemNetwork
from hockney.predict.place import LOCALITIES, NETWORK
from hockney.predict.reproduced import Reproduction, explained, reproductions, within

SYSTEM = System(
    schema_version=1,
    name="s",
    node=Node(packages=2, numa_per_package=1, caches_per_numa=1, cores_per_cache=12),
    network=SystemNetwork(topology="switch"),
    mpi=[SystemLibrary(library="Open MPI", version="4.1.5")],
    procedure="osu",
    mappings={"core": Mapping(order=["core", "cache", "numa", "package", "node"], binding="core")},
)


def test_a_part_without_which_the_step_is_gone_is_its_cause() -> None:
    assert explained(1.2, 1.18, {"barrier": 1.01, "level": 1.17}).causes == ("barrier",)
    assert explained(1.2, 1.18, {"barrier": 1.02, "level": 1.0}).causes == ("level", "barrier")


def test_a_step_that_stays_is_of_the_algorithm() -> None:
    assert explained(1.2, 1.18, {"barrier": 1.16, "level": 1.18}).causes == ("schedule",)


@pytest.mark.parametrize("simulated", [1.0, 0.9, 1.05, 1.6, float("nan"), None])
def test_what_is_not_reproduced_is_not_explained(simulated: float | None) -> None:
    """No step, the wrong way, less than half in ln (1.2^0.5 = 1.095), more than twice (1.44), nothing."""
    assert explained(1.2, simulated, {"barrier": 1.0}).causes == ()


def test_a_fall_has_causes_too() -> None:
    assert explained(0.8, 0.82, {"barrier": 0.99}).causes == ("barrier",)


@pytest.fixture(scope="module")
def simulation() -> tuple[pd.DataFrame, Reproduction]:
    """A linear broadcast whose messages take ten times as long to another package, three times that to a node."""
    rows = []
    for ranks in range(2, 49, 2):
        for size in (2, 64, 1024):
            for algorithm, work in (("linear", ranks - 1.0), ("binomial", np.ceil(np.log2(ranks)))):
                far = 1.0 if ranks <= 12 else 2.0 if ranks <= 24 else 4.0
                rows.append(
                    {
                        "system": "s", "mpi": "Open MPI 4.1.5", "operation": "bcast", "algorithm": algorithm,
                        "mapping": "core", "nodes": 1 + (ranks > 24), "ppn": min(ranks, 24), "ranks": ranks,
                        "bytes": size, "statistic": "mean_over_ranks", "time_s": 2e-7 * far * (1 + work),
                        "repetition": 0, "source": "osu",
                    }
                )  # fmt: skip
    frame = pd.DataFrame(rows)
    made, against = reproductions(frame, "bcast", "mean_over_ranks", [64], {"s": SYSTEM})
    assert against == []
    (one,) = made.values()
    return frame, one


def curve_of(frame: pd.DataFrame, algorithm: str) -> pd.DataFrame:
    rows = frame[(frame["algorithm"] == algorithm) & (frame["bytes"] == 64)]
    known = rows.assign(variant="", cache="").reset_index(drop=True)
    return known.reindex(columns=[*known.columns, "root", "segment_bytes", "radix"])


def test_sizes_that_are_explained_were_not_trained_on(simulation: tuple[pd.DataFrame, Reproduction]) -> None:
    _, one = simulation
    # 24 numbers of ranks, two algorithms, the two other sizes.
    assert (one.is_unseen, one.trained) == (True, 96)


def test_without_a_level_all_ranks_are_within_the_next(simulation: tuple[pd.DataFrame, Reproduction]) -> None:
    """Two packages of 12 cores a node: 48 ranks fill two nodes."""
    frame, one = simulation
    last = one.scenarios.of_points(curve_of(frame, "binomial"))[-1]
    assert last is not None
    assert max(last.place.localities) == NETWORK
    node = within(last.place, LOCALITIES.index("node"))
    assert max(node.localities) == LOCALITIES.index("node")
    assert set(node.node) == {0}
    package = within(last.place, LOCALITIES.index("package"))
    assert max(package.localities) == LOCALITIES.index("package")


def test_without_its_barrier_all_ranks_begin_together(simulation: tuple[pd.DataFrame, Reproduction]) -> None:
    """Then the mean over ranks of a linear broadcast grows by half a message a rank, without a wiggle at 8."""
    frame, one = simulation
    curve = curve_of(frame, "linear")
    inside = curve["ranks"] <= 12
    growth = np.diff(one.time_s(one.scenarios.of_points(curve), ("barrier",))[inside])
    # Each further rank is one send later: increments are equal once messages hide each other's latency.
    assert growth[1:] == pytest.approx(np.full(growth.size - 1, growth[1:].mean()), rel=0.08)
