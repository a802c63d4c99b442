"""Visits of points between two ranks, at levels of a machine."""

from __future__ import annotations

from hockney.records.keys import CollectiveKey, PairKey
from hockney.records.record import Record

KEY = PairKey("pingpong", "cache", 0, 1, "warm")


def visit(size_B: int, value_s: float, repetition: int = 0) -> Record:
    return Record(
        source="hockney",
        operation="pingpong",
        bytes=size_B,
        statistic="one_way",
        value=value_s,
        low=value_s * 0.99,
        high=value_s * 1.01,
        locality="cache",
        cache="warm",
        pair="0-1",
        variant="default",
        repetition=repetition,
    )


def of_collective(key: CollectiveKey, size_B: int, value_s: float, half: float, elapsed_s: float) -> Record:
    """A visit of a point of a collective, known to ± `half`, as a share."""
    return Record(
        source="hockney",
        operation=key.operation,
        algorithm=key.algorithm,
        bytes=size_B,
        statistic="completion",
        value=value_s,
        low=value_s * (1 - half),
        high=value_s * (1 + half),
        cache=key.cache,
        start=key.start,
        ranks=key.ranks,
        root=key.root,
        variant="default",
        elapsed_s=elapsed_s,
    )


def at_level(reference_s: float, size_B: int, value_s: float) -> Record:
    """A visit of a hundred samples in ten groups, while the reference took that long."""
    references = {"reference_s": [reference_s] * 11, "reference_iqr_s": [0.01 * reference_s] * 11}
    groups = {"samples": [value_s] * 100, "group_begins": list(range(0, 100, 10))}
    return visit(size_B, value_s).model_copy(update=references | groups)


FAST, SLOW = 0.16e-6, 0.42e-6
