"""What comes next, and which visit of a point counts."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from hockney.campaign.plan import Plan
from hockney.campaign.work import Work, unmeasured
from hockney.records.keys import PairKey
from hockney.records.record import Record

KEY = PairKey("pingpong", "cache", 0, 1, "warm")


def visit(size_B: int, value_s: float, repetition: int = 0) -> Record:
    return Record(
        source="hockney",
        operation="pingpong",
        bytes=size_B,
        statistic="one_way",
        value=value_s,
        low=value_s * 0.99,
        high=value_s * 1.01,
        locality="cache",
        cache="warm",
        pair="0-1",
        variant="default",
        repetition=repetition,
    )


def work(*records: Record, index: int = 0, **choices: object) -> Work:
    resumed = Work.resume(Plan.asked({"ranks": 2, **choices}), records, "default", index)
    resumed.largest_B[KEY] = 0
    return resumed


def test_the_quieter_visit_counts_whichever_comes_first() -> None:
    for order in ((1e-6, 2e-6), (2e-6, 1e-6)):
        seen = work(*(visit(8, value) for value in order))
        assert seen.done[KEY][8].value == 1e-6
        assert seen.visits[KEY, 8] == 2
        # From interval to interval: 2 µs · 0.99 over 1 µs · 1.01.
        assert seen.level_change == pytest.approx(2 * 0.99 / 1.01)


def test_visits_that_agree_are_no_change_of_level() -> None:
    assert work(visit(8, 1e-6), visit(8, 1.005e-6)).level_change <= 1


def test_given_sizes_first_then_second_visits_backwards() -> None:
    assert work(sizes_B=[8, 64]).next_point() == (KEY, 8)
    assert work(visit(8, 1e-6), sizes_B=[8, 64]).next_point() == (KEY, 64)
    assert work(visit(8, 1e-6), visit(64, 1e-6), sizes_B=[8, 64]).next_point() == (KEY, 64)
    done = [visit(8, 1e-6), visit(64, 1e-6)] * 2
    assert work(*done, sizes_B=[8, 64]).next_point() is None


def test_those_who_saw_a_jump_look_again_before_it_is_believed() -> None:
    ladder = [visit(size, 5e-6 if size >= 16 else 1e-6) for size in (0, 1, 4, 16, 64)]
    seen = work(*ladder, largest_B=64)
    following = seen.next_point()
    assert following is not None
    assert following[1] in (0, 1, 4, 16, 64), "a size that was measured once, not yet a new one"
    believed = work(*ladder, *ladder, largest_B=64).next_point()
    assert believed is not None
    assert believed[1] in (2, 8), "the middle of an interval beside the jump"


def test_a_later_launch_repeats_the_sizes_of_the_first() -> None:
    first = [visit(size, 1e-6) for size in (8, 8, 40)]
    second = work(*first, index=1)
    assert second.next_point() == (KEY, 8)
    assert second.expected_points() == 2 * 2


def test_a_series_in_trouble_waits_until_the_others_are_done() -> None:
    other = PairKey("bandwidth", "cache", 0, 1, "warm")
    failure = {"variant": "default", "index": 0, "series": dataclasses.asdict(other), "bytes": 8}
    resumed = Work.resume(Plan.asked({"ranks": 2, "sizes_B": [8]}), [], "default", 0, [failure])
    resumed.largest_B = {other: 0, KEY: 0}
    assert resumed.next_point() == (KEY, 8)
    resumed.fail(KEY, 8)
    assert resumed.next_point() == (other, 8)


def test_a_size_that_failed_does_not_end_the_refinement() -> None:
    ladder = [visit(size, 5e-6 if size >= 16 else 1e-6) for size in (0, 1, 4, 16, 64)] * 2
    seen = work(*ladder, largest_B=64)
    first = seen.next_point()
    assert first is not None
    seen.fail(*first)
    second = seen.next_point()
    assert second is not None
    assert second[1] not in (first[1], 0, 1, 4, 16, 64)


def test_a_damaged_line_names_no_point() -> None:
    good = {"variant": "default", "series": dataclasses.asdict(KEY), "bytes": 8, "reason": "it died"}
    damaged: list[dict[str, Any]] = [
        {},
        {**good, "series": "bcast"},
        {**good, "series": 5},
        {**good, "series": {"operation": "bcast"}},
        {**good, "series": dataclasses.asdict(KEY) | {"leader": []}},
        {"series": dataclasses.asdict(KEY), "reason": "no size"},
    ]
    imported = visit(8, 1e-6).model_copy(update={"source": "osu", "cache": ""})
    assert unmeasured([imported], [*damaged, good]) == ["pingpong cache, 8 B: it died"]
    assert unmeasured([imported, visit(8, 1e-6)], [*damaged, good]) == []
