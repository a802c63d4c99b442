"""Who is fastest, who cannot be told from it, and what the default costs; rates by their definitions."""

from __future__ import annotations

import pandas as pd
import pytest

from hockney.models.over_ranks.bandwidth import (
    algorithm_bandwidth_B_per_s,
    bus_bandwidth_B_per_s,
    network_bandwidth_B_per_s,
)
from hockney.models.over_ranks.choice import choices, penalty
from hockney.models.over_ranks.points import points

ROWS = [
    # algorithm, µs, low, high
    ("default", 4.0, 3.9, 4.1),
    ("binomial", 2.0, 1.9, 2.1),
    ("chain", 2.05, 2.0, 2.2),
    ("linear", 6.0, 5.9, 6.1),
]


def frame() -> pd.DataFrame:
    rows = [
        {
            "system": "s",
            "mpi": "m",
            "operation": "bcast",
            "algorithm": name,
            "mapping": "core",
            "nodes": 1,
            "ppn": 4,
            "ranks": 4,
            "bytes": 8,
            "statistic": "completion",
            "repetition": 0,
            "time_s": time * 1e-6,
            "low_s": low * 1e-6,
            "high_s": high * 1e-6,
        }
        for name, time, low, high in ROWS
    ]
    return pd.DataFrame(rows)


def test_the_fastest_its_ties_and_the_penalty() -> None:
    (choice,) = choices(points(frame(), "bcast"))
    assert (choice.best, choice.ties, choice.candidates) == ("binomial", ("chain",), 3)
    assert choice.penalty == pytest.approx(2.0)
    total = penalty([choice])
    assert total is not None
    assert (total.points, total.within_10_percent) == (1, 0.0)
    assert total.worst == pytest.approx(2.0)


def test_without_a_default_there_is_no_penalty() -> None:
    some = frame()
    found = choices(points(some[some["algorithm"] != "default"], "bcast"))
    assert penalty(found) is None


@pytest.mark.parametrize(
    ("column", "other"),
    [
        ("system", "t"),
        ("mpi", "n"),
        ("variant", "tcp"),
        ("cache", "off"),
        ("root", 1),
        ("mapping", "node"),
        ("nodes", 2),
        ("ranks", 8),
        ("bytes", 16),
    ],
)
def test_what_was_measured_under_other_conditions_is_not_compared(column: str, other: str | int) -> None:
    here = frame().assign(variant="", cache="warm", root=0)
    # There everything takes a tenth: it would win everywhere, and the default there would pay for it.
    there = here.assign(**{column: other}, time_s=here["time_s"] / 10, low_s=here["low_s"] / 10)
    there["high_s"] = here["high_s"] / 10
    found = choices(points(pd.concat([here, there], ignore_index=True), "bcast"))
    assert sorted(choice.best_s for choice in found) == pytest.approx([0.2e-6, 2e-6])
    assert [choice.penalty for choice in found] == pytest.approx([2.0, 2.0])
    assert {choice.candidates for choice in found} == {3}


def test_rates_have_one_definition_each() -> None:
    # 4 ranks, 8 B in 1 s: nccl-tests' busbw of an allreduce is 2(n − 1)/n of algbw; a bcast's equals it.
    assert algorithm_bandwidth_B_per_s("allreduce", 4, 8, 1.0) == 8
    assert bus_bandwidth_B_per_s("allreduce", 4, 8, 1.0) == pytest.approx(12)
    assert bus_bandwidth_B_per_s("bcast", 4, 8, 1.0) == 8
    # Document 002: a broadcast moves P − 1 messages in all.
    assert network_bandwidth_B_per_s("bcast", 4, 8, 1.0) == 24
    # Blocks: the whole vector is 4 · 8 B.
    assert algorithm_bandwidth_B_per_s("alltoall", 4, 8, 1.0) == 32
    assert bus_bandwidth_B_per_s("allgather", 4, 8, 1.0) == pytest.approx(24)
