"""The measured points of a collective: one row for each algorithm, allocation, rank count and size."""

from __future__ import annotations

from typing import Any

import pandas as pd

from hockney.campaign.keys import COLLECTIVES
from hockney.samples.series import default_statistic

HELD = (
    "system",
    "mpi",
    "variant",
    "cache",
    "mapping",
    "algorithm",
    "segment_bytes",
    "radix",
    "root",
    "ranks",
    "bytes",
)
"""What tells one point from another; what is unknown is empty."""


def collectives_in(frame: pd.DataFrame) -> list[str]:
    """The collectives of a tidy table, in the usual order."""
    present = set(frame["operation"])
    return [name for name in COLLECTIVES if name in present]


def points(frame: pd.DataFrame, operation: str, statistic: str = "") -> pd.DataFrame:
    """Columns of `HELD`, `nodes`, `ppn`, `time_s`, `low_s`, `high_s`, `label`; sorted by ranks and size.

    Repetitions are pooled: the median, and the hull of their intervals and values. `statistic` empty: the one
    that says most (completion, then the slowest rank, then the mean). `label` names the algorithm with its
    segment and radix. RequestError where the table has no such operation.
    """
    chosen = statistic or default_statistic(frame, operation)
    rows = frame[(frame["operation"] == operation) & (frame["statistic"] == chosen)].copy()
    for name in HELD:
        if name not in rows.columns:
            rows[name] = pd.NA
    for bound in ("low_us", "high_us"):
        rows[bound] = rows[bound].fillna(rows["time_us"]) if bound in rows.columns else rows["time_us"]
    grouped = rows.groupby(list(HELD), dropna=False, sort=False)
    pooled = grouped.agg(
        time_s=("time_us", "median"),
        low_s=("low_us", "min"),
        high_s=("high_us", "max"),
        nodes=("nodes", "max"),
        ppn=("ppn", "max"),
    ).reset_index()
    for name in ("time_s", "low_s", "high_s"):
        pooled[name] = pooled[name] / 1e6
    pooled["label"] = [
        _label(str(algorithm), segment, radix)
        for algorithm, segment, radix in zip(
            pooled["algorithm"], pooled["segment_bytes"], pooled["radix"], strict=True
        )
    ]
    return pooled.sort_values(["ranks", "bytes", "label"], ignore_index=True)


def _label(algorithm: str, segment: Any, radix: Any) -> str:
    words = [algorithm]
    if not pd.isna(segment) and segment:
        words.append(f"segment {int(segment)} B")
    if not pd.isna(radix) and radix:
        words.append(f"radix {int(radix)}")
    return ", ".join(words)
