"""Names, labels and order of curves."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests.factories import campaign

from hockney.machine.build import build
from hockney.records.record import Record
from hockney.report.curves import MessageCurve, by_crowd, by_operation, curves, labels

SIZES = (0, *(2**power for power in range(21)))


@pytest.fixture
def several(tmp_path: Path, record: Callable[..., Record]) -> list[MessageCurve]:
    places = product(("network", "cache"), ("tcp, slow", "default"), SIZES[:5])
    messages = [record(size, locality=locality, variant=variant) for locality, variant, size in places]
    crowds = product((16, 2), SIZES[1:5])
    rates = [record(size, operation="bandwidth", ranks=ranks) for ranks, size in crowds]
    return curves(build(campaign(tmp_path / "several", messages + rates)))


def test_nearest_first_and_operations_in_order(several: list[MessageCurve]) -> None:
    assert [curve.label for curve in several] == [
        *("cache, default", "cache, tcp, slow", "network, default", "network, tcp, slow"),
        *("cache, ranks 2", "cache, ranks 16"),
    ]
    assert list(by_operation(several)) == ["pingpong", "bandwidth"]


def test_names_are_unique_file_names(several: list[MessageCurve]) -> None:
    assert [curve.name for curve in several][:2] == ["pingpong-cache-default", "pingpong-cache-tcp-slow"]
    assert len({curve.name for curve in several}) == len(several)


def test_names_that_become_equal_are_told_apart(tmp_path: Path, record: Callable[..., Record]) -> None:
    records = [record(size, variant=variant) for variant in ("a/b", "a b") for size in SIZES[:4]]
    names = [curve.name for curve in curves(build(campaign(tmp_path / "alike", records)))]
    assert sorted(names) == ["pingpong-cache-a-b", "pingpong-cache-a-b-2"]


def test_different_numbers_of_ranks_are_different_pictures(several: list[MessageCurve]) -> None:
    assert list(by_crowd(several[4:], 8)) == ["ranks 2", "ranks 16"]
    assert list(by_crowd(several[:4], 8)) == [""]


def test_too_many_curves_are_taken_apart_by_place(several: list[MessageCurve]) -> None:
    assert {place: len(of_it) for place, of_it in by_crowd(several[:4], 3).items()} == {"cache": 2, "network": 2}
    # What is compared, the transport, has one word in every place.
    kinds = [curve.kind for curve in several[:4]]
    assert kinds[:2] == kinds[2:]
    assert kinds[0] != kinds[1]


def test_labels_leave_out_what_all_share(several: list[MessageCurve]) -> None:
    assert labels(several[:2]) == ["cache, default", "cache, tcp, slow"]
    assert labels(several[4:5]) == ["cache"]


def test_throughput_of_pairs_and_directions(curve: Callable[..., MessageCurve]) -> None:
    one = curve([(1000, 1e-6)])
    both = curve([(1000, 1e-6)], operation="bidirectional", other={"pairs": "4"})
    size, time = np.array([1000.0]), np.array([1e-6])
    assert one.throughput(size, time) == pytest.approx(1e9)
    assert both.throughput(size, time) == pytest.approx(8e9)


def test_what_was_measured_beside_it_is_related(tmp_path: Path, record: Callable[..., Record]) -> None:
    alone = product(SIZES[:5], ("pingpong", "pingping", "send_overhead"))
    records = [record(size, operation=operation) for size, operation in alone]
    streams = product(SIZES[:5], ("default", "other"))
    records += [record(size, operation="bandwidth", window=64, variant=variant) for size, variant in streams]
    of_messages = curves(build(campaign(tmp_path / "related", records)))[:2]
    assert {one.operation for one in of_messages} == {"pingpong", "pingping"}
    for one in of_messages:
        assert {"bandwidth", "send_overhead"} <= set(one.series.related)
