"""Tables of collectives whose times follow a known law."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import pandas as pd
import pytest

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
            "time_us": law(algorithm, p, size, mapping) * 1e6, "repetition": repetition,
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
