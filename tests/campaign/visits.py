"""Visits of points between two ranks, at levels of a machine."""

from __future__ import annotations

from tests.factories import collective, record, references

from hockney.records.keys import CollectiveKey, PairKey
from hockney.records.record import Record

KEY = PairKey("pingpong", "cache", 0, 1, "warm")


def visit(size_B: int, value_s: float, repetition: int = 0) -> Record:
    of_pair = {"locality": "cache", "cache": "warm", "pair": "0-1", "variant": "default"}
    return record(size_B, value_s, within=0.01, repetition=repetition, **of_pair)


def of_collective(key: CollectiveKey, size_B: int, value_s: float, half: float, elapsed_s: float) -> Record:
    """A visit of a point of a collective, known to ± `half`, as a share."""
    asked = {name: getattr(key, name) for name in ("operation", "algorithm", "cache", "start", "ranks", "root")}
    return collective(size_B, value_s, within=half, variant="default", elapsed_s=elapsed_s, **asked)


def at_level(reference_s: float, size_B: int, value_s: float) -> Record:
    """A visit of a hundred samples in ten groups, while the reference took that long."""
    samples = {"samples": [value_s] * 100, **references(reference_s, 10, 10)}
    return visit(size_B, value_s).model_copy(update=samples)


FAST, SLOW = 0.16e-6, 0.42e-6
