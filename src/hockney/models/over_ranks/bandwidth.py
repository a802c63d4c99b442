"""Rates of collectives, each with one definition (docs/reference/collectives.md)."""

from __future__ import annotations

from hockney.records.keys import COLLECTIVES, sizes_are_blocks


def blocks(operation: str, ranks: int) -> int:
    """How many of its sizes the whole vector has: one, or a block of each rank."""
    return ranks if sizes_are_blocks(operation) else 1


def moved_blocks(operation: str, ranks: int) -> int:
    """How many of its sizes must move, summed over the ranks."""
    collective = COLLECTIVES[operation]
    senders = ranks if collective.sizes_are_blocks and not collective.rooted else 1
    return _passes(operation) * senders * (ranks - 1)


def algorithm_bandwidth_B_per_s(operation: str, ranks: int, size_B: int, time_s: float) -> float:
    """Whole vector over time, B = size / time: `algbw` of nccl-tests."""
    return blocks(operation, ranks) * size_B / time_s


def bus_bandwidth_B_per_s(operation: str, ranks: int, size_B: int, time_s: float) -> float:
    """What each rank's link must carry at least, over time: `busbw` of nccl-tests (its PERFORMANCE.md)."""
    collective = COLLECTIVES[operation]
    # A rank keeps its own block. A vector from one rank or to one rank passes each link as a whole.
    is_whole = collective.rooted and not collective.sizes_are_blocks
    factor = 1.0 if is_whole else _passes(operation) * (ranks - 1) / ranks
    return factor * algorithm_bandwidth_B_per_s(operation, ranks, size_B, time_s)


def network_bandwidth_B_per_s(operation: str, ranks: int, size_B: int, time_s: float) -> float:
    """All bytes that must move, summed over the ranks, over time: what the network carries."""
    return moved_blocks(operation, ranks) * size_B / time_s


def _passes(operation: str) -> int:
    """How often the data moves: twice where all ranks have and get the whole vector, to its sum and back."""
    collective = COLLECTIVES[operation]
    return 1 if collective.rooted or collective.sizes_are_blocks else 2
