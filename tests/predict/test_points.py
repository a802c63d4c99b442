"""Repetitions become one point each; what cannot be used is counted; nothing else is pooled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hockney.errors import RequestError
from hockney.predict.points import POINT, beside, beyond, limits, points, positions


def one(frame: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """The first row with other values."""
    return frame.iloc[:1].assign(**values)


@pytest.fixture
def row(bcast: Callable[..., pd.DataFrame]) -> pd.DataFrame:
    return bcast(lambda *_: 1e-6, algorithms=["linear"], ranks=[4], sizes=[8], mappings=["core"])


def test_repetitions_are_one_point_with_their_median(row: pd.DataFrame) -> None:
    frame = pd.concat([one(row, time_s=value, repetition=i) for i, value in enumerate((3e-6, 1e-6, 1.2e-6))])
    made = points(frame, "bcast").frame
    assert len(made) == 1
    assert made["time_s"].iloc[0] == pytest.approx(1.2e-6)
    assert (made["repetitions"].iloc[0], made["spread"].iloc[0]) == (3, pytest.approx(3.0))


@pytest.mark.parametrize(
    "column", ["system", "mpi", "algorithm", "mapping", "ranks", "bytes", "source", "variant"]
)
def test_what_differs_is_never_pooled(row: pd.DataFrame, column: str) -> None:
    other = one(row, **{column: 7 if column in ("ranks", "bytes") else "other"}, time_s=5e-6)
    made = points(pd.concat([row, other]), "bcast").frame
    assert sorted(made["time_s"] * 1e6) == pytest.approx([1.0, 5.0])


def test_statistics_and_operations_are_kept_apart(row: pd.DataFrame) -> None:
    frame = pd.concat(
        [row, one(row, statistic="completion", time_s=9e-6), one(row, operation="reduce", time_s=4e-6)]
    )
    asked = points(frame, "bcast", "mean_over_ranks")
    assert asked.frame["time_s"].tolist() == pytest.approx([1e-6])
    # The completion says most about a collective.
    default = points(frame, "bcast")
    assert default.statistic == "completion"
    assert default.frame["time_s"].tolist() == pytest.approx([9e-6])


def test_other_times_of_the_same_calls_stand_beside(row: pd.DataFrame) -> None:
    row = one(row, algorithm="default")
    frame = pd.concat(
        [
            row,
            one(row, ranks=8),
            *(one(row, statistic="min_over_ranks", ranks=ranks, time_s=ranks * 1e-7) for ranks in (4, 8)),
            one(row, statistic="max_over_ranks", ranks=8),
        ]
    )
    kept = points(frame, "bcast", "mean_over_ranks").frame.query("ranks == 4")
    (found,) = beside(frame, kept, "bcast", "mean_over_ranks").items()
    assert found[0] == "min_over_ranks"
    assert found[1]["time_s"].tolist() == pytest.approx([4e-7])


def test_unusable_rows_are_counted_by_reason(row: pd.DataFrame) -> None:
    bad = [
        one(row, time_s=value, bytes=100 + i)
        for i, value in enumerate((np.nan, np.inf, 0.0, -1e-6, -2e-6, -3e-6))
    ]
    made = points(pd.concat([row, *bad, one(row, ranks=pd.NA, bytes=200)]), "bcast")
    assert len(made.frame) == 1
    assert made.dropped == {
        "without_a_time": 2,
        "with_a_zero_time": 1,
        "with_a_negative_time": 3,
        "without_ranks": 1,
    }
    assert "7 rows left out" in made.warnings[0]


def test_contradictory_repetitions_are_a_warning(row: pd.DataFrame) -> None:
    slow = pd.concat([row, one(row, time_s=3.1e-6, repetition=1)])
    assert "1 of 1 points" in points(slow, "bcast").warnings[0]
    assert points(pd.concat([row, one(row, time_s=2.9e-6, repetition=1)]), "bcast").warnings == []


@pytest.mark.parametrize(
    ("operation", "statistic", "word"),
    [
        ("reduce", "", "no 'reduce'"),
        ("bcast", "completion", "no statistic 'completion'"),
        ("bcast", "bandwidth_B_per_s", "not a time"),
    ],
)
def test_what_the_table_does_not_hold(row: pd.DataFrame, operation: str, statistic: str, word: str) -> None:
    with pytest.raises(RequestError, match=word) as error:
        points(row, operation, statistic)
    assert error.value.hint


def test_a_table_without_usable_rows_is_refused(row: pd.DataFrame) -> None:
    with pytest.raises(RequestError, match="1 with a zero time"):
        points(one(row, time_s=0.0), "bcast")


def test_columns_a_table_lacks_are_unknown(row: pd.DataFrame) -> None:
    made = points(row, "bcast").frame
    assert set(POINT) <= set(made.columns)
    assert made["segment_bytes"].isna().all()
    assert made["variant"].tolist() == [""]


def test_positions_hold_unknown_values_together() -> None:
    frame = pd.DataFrame({"root": pd.array([0, pd.NA, 0, pd.NA], dtype="Int64"), "mapping": ["a", "a", "a", "b"]})
    found = {key: index.tolist() for key, index in positions(frame, ["root", "mapping"]).items()}
    assert found == {(0, "a"): [0, 2], (None, "a"): [1], (None, "b"): [3]}


def test_limits_of_a_training_set(bcast: Callable[..., pd.DataFrame]) -> None:
    def told(**columns: object) -> str:
        return " ".join(limits(points(bcast(lambda *_: 1e-6, **columns), "bcast").frame))

    assert told() == ""
    assert "a single size (8 B)" in told(sizes=[8])
    assert "a single number of ranks (4)" in told(ranks=[4])
    assert "blocks" in told(mappings=[""])


def test_how_far_test_lies_beyond_training(bcast: Callable[..., pd.DataFrame]) -> None:
    def made(**columns: Any) -> pd.DataFrame:
        return points(bcast(lambda *_: 1e-6, **columns), "bcast").frame

    train = made(ranks=[4, 64], sizes=[8, 1024])
    assert beyond(train, made(ranks=[4, 16, 64], sizes=[8, 64])) == []
    words = " ".join(beyond(train, made(ranks=[2, 256], sizes=[1, 2048])))
    for told in (
        "256 ranks, training ends at 64 ranks (4 times)",
        "2 ranks, training begins at 4 ranks (2 times)",
        "2 KiB",
        "1 B, training begins at 8 B (8 times)",
    ):
        assert told in words
    assert "ends at 0 B:" in beyond(made(sizes=[0]), made(sizes=[8]))[0]
