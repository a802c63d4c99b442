"""Further visits for algorithms that may be the fastest, and for no others."""

from __future__ import annotations

from typing import Any

from hockney.campaign.contenders import contested
from hockney.records.keys import CollectiveKey, Key, PairKey
from hockney.records.record import Record


def key(algorithm: str, operation: str = "bcast", ranks: int = 4) -> CollectiveKey:
    return CollectiveKey(operation, algorithm, ranks, 0, 0, None, "warm", "barrier")


def timed(time_s: float, half: float | None, **more: Any) -> Record:
    given: dict[str, Any] = {"operation": "bcast", "bytes": 8, "statistic": "completion", "value": time_s}
    if half is not None:
        given |= {"low": time_s * (1 - half), "high": time_s * (1 + half)}
    return Record(source="hockney", **given, **more)


def named(done: dict[Key, dict[int, Record]]) -> list[str]:
    return sorted(one.algorithm for one, _ in contested(done))


def test_those_that_may_be_the_fastest_are_contested() -> None:
    done: dict[Key, dict[int, Record]] = {
        key("best"): {8: timed(1.00, 0.05)},
        key("near"): {8: timed(1.05, 0.05)},
        key("far"): {8: timed(1.50, 0.05)},
        key("vague"): {8: timed(1.50, 0.6)},
        key("unknown"): {8: timed(9.0, None)},
    }
    assert named(done) == ["best", "near", "unknown", "vague"]


def test_what_is_told_apart_or_equal_is_not() -> None:
    assert named({key("a"): {8: timed(1.0, 0.01)}, key("b"): {8: timed(1.1, 0.01)}}) == []
    assert named({key("a"): {8: timed(1.0, 0.01)}, key("b"): {8: timed(1.01, 0.01)}}) == []
    # Up to 7 % apart, or not at all: neither told apart nor equal.
    assert named({key("a"): {8: timed(1.0, 0.03)}, key("b"): {8: timed(1.03, 0.03)}}) == ["a", "b"]


def test_cells_are_apart_and_a_lone_algorithm_has_no_rival() -> None:
    alone: dict[Key, dict[int, Record]] = {
        key("a"): {8: timed(1.0, 0.1), 64: timed(1.0, 0.1)},
        key("b"): {16: timed(1.0, 0.1)},
        key("c", ranks=8): {8: timed(1.0, 0.1)},
        key("d", operation="reduce"): {8: timed(1.0, 0.1)},
        PairKey("pingpong", "cache", 0, 1, "warm"): {8: timed(1.0, 0.1)},
    }
    assert named(alone) == []


def test_segments_and_radices_are_rivals_of_one_cell() -> None:
    one, other = key("pipeline"), CollectiveKey("bcast", "pipeline", 4, 1024, 0, None, "warm", "barrier")
    assert len(list(contested({one: {8: timed(1.0, 0.1)}, other: {8: timed(1.0, 0.1)}}))) == 2


def test_ranks_that_share_cores_tell_nothing() -> None:
    shared = {"oversubscribed": True}
    assert named({key("a"): {8: timed(1.0, 0.3, **shared)}, key("b"): {8: timed(1.0, 0.3, **shared)}}) == []
