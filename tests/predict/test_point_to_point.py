"""Point-to-point times by locality: what was measured, where, and what is taken where nothing was."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from hockney.machine.system import System
from hockney.predict.place import LOCALITIES
from hockney.predict.point_to_point import MessageTimes

NODE, NETWORK = LOCALITIES.index("node"), LOCALITIES.index("network")
ROW = {"operation": "pingpong", "statistic": "one_way", "mapping": "", "repetition": 0, "locality": "node"}


def pairs(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame([ROW | row for row in rows])


def test_medians_at_the_sizes_and_straight_log_log_between(system: System) -> None:
    table = pairs(
        *({"bytes": 16, "time_s": time} for time in (1e-6, 2e-6, 90e-6)),
        {"bytes": 64, "time_s": 8e-6},
    )
    time_s = MessageTimes(table, system)
    assert time_s(NODE, 16) == pytest.approx(2e-6)
    assert time_s(NODE, 32) == pytest.approx(4e-6)
    # In proportion beyond the last size, constant below the first.
    assert time_s(NODE, 640) == pytest.approx(8e-5)
    assert time_s(NODE, 0) == pytest.approx(2e-6)


def test_an_empty_message_counts_as_one_byte(system: System) -> None:
    time_s = MessageTimes(pairs({"bytes": 0, "time_s": 3e-6}, {"bytes": 8, "time_s": 3e-6}), system)
    assert time_s(NODE, 0) == time_s(NODE, 1) == pytest.approx(3e-6)


def test_the_network_is_what_the_system_file_says(system: System) -> None:
    time_s = MessageTimes(pairs()[:0].reindex(columns=[*ROW, "bytes", "time_s"]), system)
    assert time_s(NETWORK, 10_000) == pytest.approx(1e-6 + 1e-6)
    for nearer, farther in zip(range(NETWORK), range(1, NETWORK), strict=False):
        assert time_s(nearer, 8) < time_s(farther, 8)


def test_other_statistics_and_times_that_are_none_are_left_out(system: System) -> None:
    table = pairs(
        {"bytes": 8, "time_s": 1e-6},
        {"bytes": 8, "time_s": 50e-6, "statistic": "max_over_ranks"},
        {"bytes": 8, "time_s": 60e-6, "operation": "pingping"},
        {"bytes": 8, "time_s": 0e-6},
    )
    assert MessageTimes(table, system)(NODE, 8) == pytest.approx(1e-6)
