"""Series: what one holds fixed, how repetitions combine, and what belongs to it."""

from __future__ import annotations

import math
import statistics
from functools import partial

import numpy as np
import pytest
from tests import factories
from tests.factories import not_none, refusing

from hockney.errors import RequestError
from hockney.records.journal import LaunchLine
from hockney.records.series import Series
from hockney.records.series_of_table import default_statistic, series
from hockney.records.table import from_records

record = partial(factories.record, pair="0-1")


def test_sizes_are_sorted_and_everything_else_is_held_fixed() -> None:
    records = [
        *(record(size, 1e-6 * (size + 1), variant=variant) for variant in ("default", "tcp") for size in (8, 0)),
        record(0, 9e-6, pair="0-2"),
        record(0, 9e-6, cache="off"),
    ]
    found = series(from_records(records), "pingpong")
    assert [(one.key["variant"], one.key["pair"], one.key["cache"]) for one in found] == [
        ("default", "0-1", ""),
        ("tcp", "0-1", ""),
        ("", "0-2", ""),
        ("", "0-1", "off"),
    ]
    assert found[0].size_B.tolist() == [0, 8]
    assert found[0].time_s == pytest.approx([1e-6, 9e-6])


def test_launches_of_a_pair_become_a_median_with_the_spread_between_them() -> None:
    values = [(1.0e-6, 0.9e-6, 1.1e-6), (1.3e-6, 1.2e-6, 1.4e-6), (2.0e-6, 1.9e-6, 2.1e-6)]
    records = [
        record(8, value, low=low, high=high, repetition=number)
        for number, (value, low, high) in enumerate(values)
    ]
    (one,) = series(from_records(records), "pingpong")
    # Student's t with two degrees of freedom is 4.303 at 97.5 %, and the median of three so far apart errs 1.25
    # times as much as their mean does.
    factor = math.exp(4.303 * 1.25 * statistics.stdev([0, math.log(1.3), math.log(2)]) / math.sqrt(3))
    # The least and the most weigh 7/27 each, and 2 counts as e^0.3 times the middle one.
    middle_s = 1.3e-6 * math.exp((-math.log(1.3) + 0.3) * 7 / 27)
    expected = (middle_s, middle_s / factor, middle_s * factor)
    assert (one.time_s[0], one.low_s[0], one.high_s[0]) == pytest.approx(expected, rel=1e-3)
    assert not_none(one.freedom).tolist() == [2]


def test_two_launches_of_one_size_leave_the_spread_that_they_had() -> None:
    (one,) = series(from_records([record(8, 1e-6), record(8, 3e-6, repetition=1)]), "pingpong")
    assert (one.time_s[0], one.low_s[0], one.high_s[0]) == pytest.approx((math.sqrt(3) * 1e-6, 1e-6, 3e-6))


def test_without_a_pair_each_repetition_is_a_series() -> None:
    records = [record(size, 1e-6, pair="", repetition=core) for core in (4, 7) for size in (1, 2)]
    found = series(from_records(records), "pingpong")
    assert [one.key["repetition"] for one in found] == ["4", "7"]


def test_repetitions_of_a_collective_are_combined() -> None:
    records = [
        record(8, value, operation="bcast", statistic="completion", pair="", repetition=number, ranks=ranks)
        for ranks in (4, 8)
        for number, value in enumerate((1e-6, 3e-6))
    ]
    found = series(from_records(records), "bcast", "completion")
    assert [one.time_s.tolist() for one in found] == [pytest.approx([math.sqrt(3) * 1e-6])] * 2


def test_the_eager_limit_is_kept_where_launches_agree() -> None:
    records = [record(8, 1e-6, locality="cache", launch=launch, repetition=n) for n, launch in enumerate("ab")]
    for other, expected in ((4096, 4096), (8192, None)):
        launches = [
            LaunchLine(id=name, eager_limit_B={"shared_memory": limit_B})
            for name, limit_B in (("a", 4096), ("b", other))
        ]
        (one,) = series(from_records(records, launches), "pingpong")
        assert one.eager_limit_B == expected


def test_further_breaks_are_kept_where_launches_that_know_any_agree() -> None:
    records = [record(8, 1e-6, locality="cache", launch=launch, repetition=n) for n, launch in enumerate("ab")]
    for other, expected in (
        ([256, 2112], (256, 2112)),
        ([2112, 256], (256, 2112)),
        ([256], (256,)),
        ([512], ()),
        ([], (256, 2112)),
    ):
        launches = [
            LaunchLine(id=name, breaks_B={"shared_memory": sizes_B})
            for name, sizes_B in (("a", [256, 2112]), ("b", other))
        ]
        (one,) = series(from_records(records, launches), "pingpong")
        assert one.breaks_B == expected


def test_dedicated_measurements_of_the_same_pair_are_related() -> None:
    records = [
        record(8, 1e-6),
        record(8, 2e-7, operation="send_overhead"),
        record(8, 3e-7, operation="receive_overhead", pair="0-2"),
        record(8, 5e-7, operation="bandwidth", window=1),
        record(8, 4e-7, operation="bandwidth", window=64),
        record(8, 6e-7, operation="bandwidth", window=64, pairs=4),
    ]
    (one,) = series(from_records(records), "pingpong")
    assert set(one.related) == {"send_overhead", "bandwidth"}
    # The longest window of the fewest pairs: neither starved nor contended.
    assert one.related["bandwidth"].time_s == pytest.approx([4e-7])


def test_an_unknown_operation_lists_those_there_are() -> None:
    frame = from_records([record(8, 1e-6), record(8, 1e-6, operation="pingping")])
    for ask in (lambda: series(frame, "pingpng"), lambda: default_statistic(frame, "pingpng")):
        with refusing("no 'pingpng'", "pingping, pingpong"):
            ask()


def test_an_unknown_statistic_lists_those_there_are() -> None:
    frame = from_records([record(8, 1e-6)])
    with refusing("completion", "one_way"):
        series(frame, "pingpong", "completion")
    with pytest.raises(RequestError, match="made of times"):
        series(frame, "pingpong", "bandwidth_B_per_s")


def test_the_default_statistic_is_one_the_table_has() -> None:
    collective = record(8, 1e-6, operation="bcast", statistic="max_over_ranks", pair="")
    frame = from_records([record(8, 1e-6), collective])
    assert default_statistic(frame, "pingpong") == "one_way"
    assert default_statistic(frame, "bcast") == "max_over_ranks"


def test_a_series_refuses_what_is_none() -> None:
    one = np.array([1.0, 2.0])
    with pytest.raises(RequestError, match="not positive"):
        Series({}, one, np.array([1.0, 0.0]), one, one)
    with pytest.raises(RequestError, match="empty series"):
        Series({}, one[:0], one[:0], one[:0], one[:0])
    with pytest.raises(ValueError, match="increase"):
        Series({}, one[::-1], one, one, one)


def test_take_keeps_what_belongs_to_the_series() -> None:
    one = np.array([1.0, 2.0, 4.0])
    whole = Series({"pair": "0-1"}, one, one, one, one, 4096.0, (256.0,))
    part = whole.take(np.array([True, False, True]))
    assert part.size_B.tolist() == [1, 4]
    assert (part.eager_limit_B, part.breaks_B, part.key) == (4096.0, (256.0,), whole.key)
