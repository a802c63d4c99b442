"""A table whose fastest algorithms, penalties and times are planted, with two placements and messages beside."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from tests.factories import row

from hockney.records import table

RANKS = (2, 4, 8, 16, 32)
SIZES_B = (1, 64, 4096, 262144)
EVIL = "</script><b>x</b>"
FACTORS = {"default": 1.3, "binomial": 1.0, "chain": 2.0}
"""Over the binomial tree, but for `chain`, which is the fastest, at half its time, from 4096 B on."""


def time_s(operation: str, algorithm: str, mapping: str, ranks: int, size_B: int) -> float:
    """What is planted."""
    base = (1e-6 * ranks + size_B * 1e-9) * (3 if mapping == "node" else 1) * (2 if operation == "reduce" else 1)
    if algorithm == "chain" and size_B >= 4096:
        return 0.5 * base
    return FACTORS[algorithm] * base


def barrier_s(mapping: str, ranks: int) -> float:
    """What is planted of an operation without bytes."""
    return 1e-6 * ranks * (3 if mapping == "node" else 1)


def planted(path: Path, factor: float = 1.0, system: str = EVIL) -> Path:
    """Write the table; all times are multiplied by the factor, and ± 1 % are their intervals."""

    def timed(size_B: int, ranks: int, seconds: float, *named: str, **columns: str) -> dict[str, Any]:
        where = dict(zip(("operation", "algorithm", "mapping"), named, strict=True))
        return row(size_B, ranks, factor * seconds, within=0.01, system=system, **where, **columns)

    rows = [
        timed(size_B, ranks, time_s(*named, ranks, size_B), *named)
        for named in product(("bcast", "reduce"), FACTORS, ("core", "node"))
        for ranks in RANKS
        for size_B in SIZES_B
    ]
    rows += [
        timed(size_B, 2, latency_s + size_B / 1e9, "pingpong", "", mapping, statistic="one_way")
        for mapping, latency_s in (("core", 1e-6), ("node", 2e-6))
        for size_B in (0, *(4**power for power in range(10)))
    ]
    rows += [
        timed(0, ranks, barrier_s(mapping, ranks), "barrier", "default", mapping)
        for mapping in ("core", "node")
        for ranks in RANKS
    ]
    table.write(pd.DataFrame(rows), path)
    return path
