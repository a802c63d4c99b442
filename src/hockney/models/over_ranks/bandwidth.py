"""Rates of collectives, each with one definition (docs/reference/collectives.md)."""

from __future__ import annotations

from hockney.records.keys import BLOCKS


def total_bytes(operation: str, ranks: int, size_B: int) -> int:
    """The whole vector: `size_B` itself, or the blocks of all ranks."""
    return size_B * ranks if operation in BLOCKS else size_B


def algorithm_bandwidth_B_per_s(operation: str, ranks: int, size_B: int, time_s: float) -> float:
    """Whole vector over time, B = size / time: `algbw` of nccl-tests."""
    return total_bytes(operation, ranks, size_B) / time_s


def bus_bandwidth_B_per_s(operation: str, ranks: int, size_B: int, time_s: float) -> float:
    """What each rank's link must carry at least, over time: `busbw` of nccl-tests (its PERFORMANCE.md)."""
    share = (ranks - 1) / ranks
    factor = {
        "allreduce": 2 * share,
        "allgather": share,
        "reduce_scatter": share,
        "alltoall": share,
        "scatter": share,
        "gather": share,
    }.get(operation, 1.0)
    return factor * algorithm_bandwidth_B_per_s(operation, ranks, size_B, time_s)


def network_bandwidth_B_per_s(operation: str, ranks: int, size_B: int, time_s: float) -> float:
    """All bytes that must move, summed over the ranks, over time: what the network carries."""
    moved = {
        "bcast": (ranks - 1) * size_B,
        "reduce": (ranks - 1) * size_B,
        "scatter": (ranks - 1) * size_B,
        "gather": (ranks - 1) * size_B,
        "allreduce": 2 * (ranks - 1) * size_B,
        "allgather": ranks * (ranks - 1) * size_B,
        "reduce_scatter": ranks * (ranks - 1) * size_B,
        "alltoall": ranks * (ranks - 1) * size_B,
    }.get(operation, 0)
    return moved / time_s
