"""Scatters and gathers that were measured, in place of simulated ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from hockney.errors import RequestError
from hockney.models.over_ranks.choice import DEFAULT
from hockney.models.over_ranks.points import points, telling_placed
from hockney.records import table
from hockney.records.app_rows import LEAST_SAMPLES
from hockney.units import format_bytes

BEYOND = 2.0
"""How far beyond the measured sizes a block may be: time then grows as size does."""


@dataclass(frozen=True)
class MeasuredCollectives:
    """The library's own scatter and gather of a campaign or tidy table, by ranks and size of a block."""

    path: Path
    frame: pd.DataFrame

    @classmethod
    def of(cls, path: Path) -> MeasuredCollectives:
        """RequestError where the table holds no scatter or no gather."""
        frame = table.load(path)
        for operation in ("scatter", "gather"):
            if operation not in set(frame["operation"]):
                raise RequestError(
                    f"{path} holds no {operation}",
                    "measure both: `hockney measure --operation pingpong,scatter,gather -o FOLDER`",
                )
        return cls(path, frame)

    def time_s(self, operation: str, ranks: int, block_B: float, cache: str) -> tuple[float, float, float]:
        """Of a block of that size with its 95 % interval, NaN where there is none.

        On lines between measured sizes (logarithms of both).
        `cache` is preferred where some rows have it. RequestError for ranks that were not measured, or in several
        ways (mappings, libraries, …), and for a block far from all sizes that were.
        """
        measured = points(self.frame, operation)
        own = measured[(measured["label"] == DEFAULT) & (measured["ranks"] == ranks)]
        if "cache" in own.columns and (own["cache"] == cache).any():
            own = own[own["cache"] == cache]
        for name in telling_placed(own) if len(own) else []:
            several = sorted({str(word) for word in own[name].dropna()})
            if len(several) > 1:
                raise RequestError(
                    f"{self.path} has {operation} on {ranks} ranks with several values of {name}: "
                    f"{', '.join(several)}",
                    "leave all but one of them out of the table, or name a campaign of one alone",
                )
        # The range of few values holds the median less often than 95 times in 100.
        own = own.assign(
            **{
                bound: own[bound].mask(own["repeats"].between(1, LEAST_SAMPLES - 1))
                for bound in ("low_s", "high_s")
            }
        )
        own = own[own["bytes"] > 0].groupby("bytes", as_index=False)[["time_s", "low_s", "high_s"]].median()
        if own.empty:
            known = ", ".join(sorted({str(count) for count in measured["ranks"].dropna()})) or "none"
            raise RequestError(
                f"{self.path} has no {operation} of the library's own on {ranks} ranks", f"it has {known} ranks"
            )
        sizes_B = own["bytes"].to_numpy(np.float64)
        if not sizes_B[0] / BEYOND <= block_B <= sizes_B[-1] * BEYOND:
            raise RequestError(
                f"{self.path} has {operation} of {format_bytes(sizes_B[0])} to {format_bytes(sizes_B[-1])}, none "
                f"near blocks of {format_bytes(block_B)}",
                "measure that size: `hockney measure --operation scatter,gather --bytes …`",
            )
        value, low, high = (
            float(np.exp(np.interp(np.log(block_B), np.log(sizes_B), np.log(own[name]))))
            * (block_B / min(max(block_B, sizes_B[0]), sizes_B[-1]))
            for name in ("time_s", "low_s", "high_s")
        )
        return value, low, high
