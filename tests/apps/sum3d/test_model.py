"""The model of the three-dimensional sum, part by part, against costs that are worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests.factories import VERSION_1 as MACHINE

from hockney.apps.stencil.grids import Grid
from hockney.apps.sum3d.model import predict_sum3d, usual_cache
from hockney.machine.file import Host, HostCache, load
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.message_costs import SIZES_B, Messages
from hockney.predict.place import LOCALITIES
from hockney.units import Extents

LATENCY_S, S_PER_B, MEMORY_B_PER_S = 1e-5, 1e-9, 1e10
SIZE = Extents(8, 10, 10)


def costs() -> MachineCosts:
    """Messages that keep sender and receiver busy for no time, one after another at 1 GB/s."""
    one_way = LATENCY_S + S_PER_B * SIZES_B
    messages = Messages(one_way, 0.0, 0.0, S_PER_B * SIZES_B)
    return MachineCosts({LOCALITIES.index("package"): messages}, "by hand")


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_root_that_serves_one_after_another(ranks: int) -> None:
    made = predict_sum3d(SIZE, Grid(ranks, 1, 1), "balanced", costs(), MEMORY_B_PER_S)
    block = 800 // ranks
    assert made.block_B == 8 * block
    served_s = (ranks - 1) * 8 * block * S_PER_B + LATENCY_S * (ranks > 1)
    own_s = 16 * block / MEMORY_B_PER_S
    assert made.scatter_s == pytest.approx(2 * (served_s + own_s))
    assert made.gather_s == pytest.approx(served_s + own_s)
    assert made.compute_s == pytest.approx(24 * block / MEMORY_B_PER_S)
    assert made.pack_s == 0
    assert made.time_s == pytest.approx(3 * (served_s + own_s) + 24 * block / MEMORY_B_PER_S)


def test_binomial_trees_send_fewer_messages_of_more_blocks() -> None:
    made = predict_sum3d(SIZE, Grid(4, 1, 1), "balanced", costs(), MEMORY_B_PER_S, algorithm="binomial")
    # Two blocks, then one: at the farthest rank after two messages.
    assert made.scatter_s == pytest.approx(2 * (2 * LATENCY_S + 3 * 1600 * S_PER_B + 16 * 200 / MEMORY_B_PER_S))


def test_the_largest_load_rules_where_loads_differ() -> None:
    made = predict_sum3d(Extents(5, 10, 10), Grid(2, 1, 1), "cartesian", costs(), MEMORY_B_PER_S)
    assert made.block_B == 8 * 300
    assert made.compute_s == pytest.approx(24 * 300 / MEMORY_B_PER_S)


def test_blocks_are_put_in_order_by_rank_0() -> None:
    pieces = predict_sum3d(SIZE, Grid(2, 1, 1), "cartesian", costs(), MEMORY_B_PER_S)
    blocks = predict_sum3d(SIZE, Grid(2, 1, 1), "blocks", costs(), MEMORY_B_PER_S)
    # Three matrices of 800 elements, each read and written.
    assert blocks.time_s - pieces.time_s == pytest.approx(3 * 800 * 16 / MEMORY_B_PER_S)
    assert blocks.pack_s == pytest.approx(3 * 800 * 16 / MEMORY_B_PER_S)


def test_the_sum_may_be_slower_than_memory() -> None:
    alone = predict_sum3d(SIZE, Grid(2, 1, 1), "balanced", costs(), MEMORY_B_PER_S)
    made = predict_sum3d(SIZE, Grid(2, 1, 1), "balanced", costs(), MEMORY_B_PER_S, sum_bandwidth_B_per_s=1e9)
    assert made.compute_s == pytest.approx(24 * 400 / 1e9)
    assert (made.scatter_s, made.gather_s) == (alone.scatter_s, alone.gather_s)


def test_time_only_grows_with_the_matrix() -> None:
    times = [
        predict_sum3d(Extents(n, 10, 10), Grid(2, 2, 1), "balanced", costs(), 1e10).time_s for n in (4, 8, 16)
    ]
    assert (np.diff(times) > 0).all()


@pytest.mark.parametrize(
    ("cache_B", "size", "expected"),
    # Three matrices of 8 B an element: 24000 B.
    [
        (24000, Extents(10, 10, 10), "warm"),
        (23999, Extents(10, 10, 10), "off"),
        (None, Extents(10, 10, 10), "warm"),
    ],
)
def test_matrices_larger_than_the_caches_come_from_memory(
    cache_B: int | None, size: Extents, expected: str
) -> None:
    machine = load(MACHINE)
    caches = [HostCache(level=3, type="Unified", size_B=cache_B, shared=[0])] if cache_B else []
    machine.system.hosts = [Host(host="a", caches=caches)]
    assert usual_cache(machine, size) == expected
    only_warm = [entry for entry in machine.point_to_point if entry.cache != "off"]
    assert usual_cache(machine.model_copy(update={"point_to_point": only_warm}), size) == "warm"
