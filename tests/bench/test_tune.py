"""When `bench/tune` says that rules are good: a bench that shows nothing says nothing."""

from __future__ import annotations

import math
import runpy
from pathlib import Path
from typing import Any

import pytest

BENCH = runpy.run_path(str(Path(__file__).resolve().parents[2] / "bench" / "tune"))


def row(**other: Any) -> Any:
    said = {"operation": "bcast", "bytes": 64, "rule": "tuned:chain", "best": "tuned:chain"}
    times = {"default_s": 2.0, "tuned_s": 1.0, "best_s": 1.0}
    gain = {"gain": 2.0, "gain_low": 1.9, "gain_high": 2.1, "regret": 0.0, "best_half_width": 0.01}
    return BENCH["Row"](**said | times | gain | other)


@pytest.mark.parametrize(
    ("rows", "missing", "is_good"),
    [
        ([row()], 0, True),
        ([row(gain_high=0.9)], 0, False),
        ([row(regret=0.2)], 0, False),
        # Nothing is shown of a cell, of its gain, or of how good the best is.
        ([row()], 1, False),
        ([row(), row(gain_low=math.nan, gain_high=math.nan)], 0, False),
        ([row(best_half_width=0.06)], 0, False),
        ([row(), row(best_half_width=math.inf)], 0, True),
        ([], 0, False),
    ],
)
def test_only_what_was_shown_is_good(rows: list[Any], missing: int, is_good: bool) -> None:
    assert BENCH["show"](rows, missing) is is_good
