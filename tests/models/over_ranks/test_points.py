"""Points and curves are what was measured: nothing is pooled that differs in what was held fixed."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest
from tests import factories

from hockney.models.over_ranks.points import curves, points, telling, telling_placed


def row(ranks: int, time_us: float, **other: Any) -> dict[str, Any]:
    known = {"variant": "", "cache": "warm", "root": 0, "algorithm": "linear"}
    return factories.row(8, ranks, time_us * 1e-6, **known | other)


@pytest.mark.parametrize(
    ("column", "other"),
    [("system", "t"), ("mpi", "n"), ("variant", "tcp"), ("cache", "off"), ("root", 1), ("mapping", "node")],
)
def test_a_curve_holds_its_configuration(column: str, other: object) -> None:
    rows = [row(ranks, 1.0 * ranks) for ranks in (2, 4, 8)]
    rows += [row(ranks, 100.0 * ranks, **{column: other}) for ranks in (2, 4, 8)]
    measured = points(pd.DataFrame(rows), "bcast")
    found = curves(measured, 8)
    # A median over both would be a third curve that was never measured.
    assert sorted(tuple(curve["time_s"] * 1e6) for curve in found.values()) == [
        pytest.approx((2, 4, 8)),
        pytest.approx((200, 400, 800)),
    ]
    assert set(telling(measured)) == {column, "mapping"}
    assert {configuration[column] for configuration, _ in found} == {str(rows[0][column]), str(other)}


def test_nodes_split_a_curve_only_where_ranks_do_not_tell_them() -> None:
    filled = [row(ranks, ranks, nodes=(ranks + 3) // 4, ppn=4) for ranks in (4, 8, 12)]
    measured = points(pd.DataFrame(filled), "bcast")
    assert [len(curve) for curve in curves(measured, 8).values()] == [3]
    assert "nodes" not in telling_placed(measured)
    both = points(pd.DataFrame([*filled, row(4, 9.0, nodes=4, ppn=1), row(8, 19.0, nodes=4, ppn=2)]), "bcast")
    assert "nodes" in telling_placed(both)
    found = {one["nodes"]: list(curve["time_s"] * 1e6) for (one, _), curve in curves(both, 8).items()}
    assert found["4"] == pytest.approx([9, 19])
    assert found["1"] == pytest.approx([4])


def test_repetitions_are_pooled_and_unknown_columns_allowed() -> None:
    frame = pd.DataFrame([row(4, time, repetition=number) for number, time in enumerate((1.0, 2.0, 9.0))])
    (one,) = points(frame.drop(columns=["variant", "cache", "root"]), "bcast").to_dict("records")
    assert (one["time_s"], one["low_s"], one["high_s"]) == pytest.approx((2e-6, 1e-6, 9e-6))


def test_one_value_without_an_interval_has_none() -> None:
    held = {"low_s": 0.9e-6, "high_s": 1.2e-6}
    frame = pd.DataFrame(
        [row(2, 1.0), row(4, 1.0, **held), row(8, 1.0), row(8, 3.0, repetition=1), row(16, 1.0, **held, bytes=16)]
    )
    by_ranks = {point["ranks"]: point for point in points(frame, "bcast").to_dict("records")}
    bounds = {ranks: [point["low_s"], point["high_s"]] for ranks, point in by_ranks.items()}
    assert bounds[2] == pytest.approx([math.nan, math.nan], nan_ok=True)
    assert bounds[4] == pytest.approx([0.9e-6, 1.2e-6])
    # The range of two repeats is no 95 % interval, and the point says of how many it is.
    assert bounds[8] == pytest.approx([1e-6, 3e-6])
    assert [by_ranks[ranks]["repeats"] for ranks in (4, 8, 16)] == [0, 2, 0]
