"""A table whose fastest algorithms, penalties and times are planted, with two placements and messages beside."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

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
    rows = [
        {
            "system": system, "mpi": "m", "operation": operation, "algorithm": algorithm, "mapping": mapping,
            "nodes": 1, "ppn": ranks, "ranks": ranks, "bytes": size_B, "statistic": "completion",
            "time_s": factor * time_s(operation, algorithm, mapping, ranks, size_B), "repetition": 0,
            "low_s": 0.99 * factor * time_s(operation, algorithm, mapping, ranks, size_B),
            "high_s": 1.01 * factor * time_s(operation, algorithm, mapping, ranks, size_B),
        }
        for operation in ("bcast", "reduce")
        for algorithm in FACTORS
        for mapping in ("core", "node")
        for ranks in RANKS
        for size_B in SIZES_B
    ]  # fmt: skip
    rows += [
        {
            "system": system, "mpi": "m", "operation": "pingpong", "algorithm": "", "mapping": mapping,
            "nodes": 1, "ppn": 2, "ranks": 2, "bytes": size_B, "statistic": "one_way", "repetition": 0,
            "time_s": factor * (latency_s + size_B / 1e9), "low_s": 0.99 * factor * (latency_s + size_B / 1e9),
            "high_s": 1.01 * factor * (latency_s + size_B / 1e9),
        }
        for mapping, latency_s in (("core", 1e-6), ("node", 2e-6))
        for size_B in (0, *(4**power for power in range(10)))
    ]  # fmt: skip
    rows += [
        {
            "system": system, "mpi": "m", "operation": "barrier", "algorithm": "default", "mapping": mapping,
            "nodes": 1, "ppn": ranks, "ranks": ranks, "bytes": 0, "statistic": "completion", "repetition": 0,
            "time_s": factor * barrier_s(mapping, ranks), "low_s": 0.99 * factor * barrier_s(mapping, ranks),
            "high_s": 1.01 * factor * barrier_s(mapping, ranks),
        }
        for mapping in ("core", "node")
        for ranks in RANKS
    ]  # fmt: skip
    table.write(pd.DataFrame(rows), path)
    return path
