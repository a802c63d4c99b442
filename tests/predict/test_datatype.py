"""Times of layouts from planted costs, their intervals, and the verdict between a datatype and a loop."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.predict.planted_datatypes import HOST, LAYOUTS, Truth, planted

from hockney.models.effects._shapes import Shape
from hockney.models.effects.base import Effect
from hockney.predict.datatype import DatatypePrediction, DatatypeVerdict, _reach, decide, predict_way
from hockney.predict.datatype_costs import ways_of
from hockney.predict.layout import face, strided

NEW = ("vector", 1000, 16, 112)
"""16,000 B; not among LAYOUTS."""
CHEAP = Truth(block_s={"vector": 1e-9, "indexed": 1e-9}, setup_s=0.0)
DEAR = Truth(block_s={"vector": 5e-9, "indexed": 2e-8})


def predicted(effect: Effect, shape: Shape) -> dict[str, DatatypePrediction]:
    return {name: predict_way(way, shape, effect.not_identified) for name, way in ways_of(effect, [HOST]).items()}


def verdict(effect: Effect, shape: Shape) -> DatatypeVerdict:
    return decide(predicted(effect, shape), shape)


@pytest.mark.parametrize(
    "layout",
    [
        NEW,
        ("indexed", 1000, 16, 112),
        ("vector", 100, 100, 20000),
        ("vector", 10000, 2, 3000),
        ("vector", 10000, 2, 9000),
    ],
)
def test_a_layout_that_was_not_measured_costs_what_was_planted(layout: tuple[str, int, int, int]) -> None:
    truth = Truth()
    one = predicted(planted({"send": truth}), strided(*layout))["send"]
    assert not one.measured
    # Without noise the fit is exact but for the solver's rounding.
    assert one.time_s == pytest.approx(truth.time_s(*layout), rel=1e-6)


def test_the_parts_are_those_planted() -> None:
    truth = Truth()
    parts = predicted(planted({"send": truth}), strided(*NEW))["send"]
    assert parts.contiguous_s == pytest.approx(1e-6 + 16000e-10, rel=1e-6)
    assert parts.fixed_s == pytest.approx(2e-7 + 16000 * 4e-10, rel=1e-6)
    # Of 16 B: copied by a call.
    assert parts.blocks_s == pytest.approx(999 * (2e-9 + 5e-9), rel=1e-6)
    # Blocks begin every 112 B, multiples of 16: each in one line, a line of its own. 128 kB fit in L2.
    assert parts.lines_s == pytest.approx((1000 - 250) * 3e-9, rel=1e-6)
    # 20,000 lines every 3000 B are 1.28 MB, more than L2, and touch all pages of 60 MB.
    parts = predicted(planted({"send": truth}), strided("vector", 20000, 8, 3000))["send"]
    pages = 59_997_008 // 4096 + 1
    assert parts.lines_s == pytest.approx((20000 - 2500) * 1e-8 + (pages - 40) * 2e-8, rel=1e-6)


def test_a_face_is_a_vector_s_cost_of_fewer_elements() -> None:
    truth = Truth()
    one = predicted(planted({"send": truth}), face("x", (14, 40, 25), 8))["send"]
    fewer_s = 4e-10 * (8000 - 1000)
    assert one.time_s == pytest.approx(truth.time_s("vector", 1000, 8, 112) - fewer_s, rel=1e-6)


def test_beyond_a_switch_of_protocol_blocks_cost_what_the_kernel_takes() -> None:
    truth = Truth(switch_B=16384)
    effect = planted({"send": truth})
    for layout in (("vector", 1000, 20, 112), ("vector", 2000, 16, 112), ("vector", 64, 16, 112)):
        one = predicted(effect, strided(*layout))["send"]
        assert one.time_s == pytest.approx(truth.time_s(*layout), rel=1e-6)
        assert not any("blocks are taken to cost" in note for note in one.notes)
    # Scattered messages of 1 KiB and 16 KiB were measured: where between them it begins is not known.
    notes = predicted(effect, strided(*NEW))["send"].notes
    assert any("what they do below 16 KiB" in note and "any size above 1 KiB" in note for note in notes)
    listed = predicted(effect, strided("irregular", 1000, 20, 112))["send"]
    assert "the cost of a block of irregular layouts was not measured and is left out of the sum" in listed.notes


def test_a_measured_time_is_preferred() -> None:
    effect = planted({"send": Truth()})
    shape = strided("vector", 2048, 8, 16)
    rows = [dict(row) for row in effect.points]
    (mine,) = [row for row in rows if (row["layout"], row["block_B"], row["bytes"]) == ("vector", 8, 16384)]
    mine |= {"time_s": 9e-6, "low_s": 8.9e-6, "high_s": 9.2e-6}
    one = predicted(effect.model_copy(update={"points": rows}), shape)["send"]
    assert (one.measured, one.time_s, one.low_s, one.high_s) == (True, 9e-6, 8.9e-6, 9.2e-6)
    # Another launch's: the median, and an interval that covers both.
    again = {**mine, "time_s": 11e-6, "low_s": 10e-6, "high_s": 11.5e-6}
    one = predicted(effect.model_copy(update={"points": [*rows, again]}), shape)["send"]
    assert one.time_s == pytest.approx(10e-6)
    assert (one.low_s, one.high_s) == (8.9e-6, 11.5e-6)
    unknown = {**mine, "low_s": None, "high_s": None}
    one = predicted(effect.model_copy(update={"points": [*rows, unknown]}), shape)["send"]
    assert (one.low_s, one.high_s) == (None, None)


def test_the_interval_is_that_of_the_layouts_left_out() -> None:
    # 20 vectors: as many as the 95 % quantile needs, so that lists do not count for them.
    effect = planted({"send": Truth()}, {"send": 0.2})
    rows = [dict(row) for row in effect.points]
    for row in rows:
        if row["layout"] == "indexed":
            row["left_out_s"] = float(row["time_s"] or 0) * math.e**2
    effect = effect.model_copy(update={"points": rows})
    one = predicted(effect, strided(*NEW))["send"]
    assert (one.level, one.errors) == (0.95, 20)
    assert one.low_s == pytest.approx(one.time_s * math.exp(-0.2))
    assert one.high_s == pytest.approx(one.time_s * math.exp(0.2))
    # Of lists there are two: all layouts count.
    listed = predicted(effect, strided("indexed", *NEW[1:]))["send"]
    assert listed.errors == 22
    assert listed.high_s == pytest.approx(listed.time_s * math.exp(2))


def test_of_few_layouts_the_interval_says_what_it_covers() -> None:
    some = [LAYOUTS[1], *LAYOUTS[3:12]]
    one = predicted(planted({"send": Truth()}, layouts=some), strided(*NEW))["send"]
    assert one.level == pytest.approx(9 / 10)
    assert one.errors == 9
    assert any("an interval of 90 %: only 9 layouts" in note for note in one.notes)
    few = predicted(planted({"send": Truth()}, layouts=some[:5]), strided(*NEW))["send"]
    assert (few.low_s, few.high_s, few.level) == (None, None, None)
    assert any("no interval: 4 layouts" in note for note in few.notes)


@pytest.mark.parametrize(
    "errors", [9, *(pytest.param(many, marks=pytest.mark.thorough) for many in (19, 25, 60))]
)
def test_intervals_hold_a_further_error_as_often_as_they_say(errors: int) -> None:
    random, draws = np.random.default_rng(0), 4000
    held, level = 0, 0.0
    for _ in range(draws):
        *known, new = np.abs(random.standard_normal(errors + 1))
        reach, said, _ = _reach(known)
        assert reach is not None
        assert said is not None
        level = said
        held += new <= reach
    # The share of 4000 draws has a standard error of 0.35 to 0.5 percent; three of them.
    assert held / draws >= level - 0.015
    # What is said is the most that can be: at most one in n + 1 more.
    assert held / draws <= level + 1 / (errors + 1) + 0.015


def test_the_verdict_follows_the_planted_costs() -> None:
    shape = strided(*NEW)
    for send, hand, answer in (
        (CHEAP, DEAR, "library"),
        (DEAR, CHEAP, "by hand"),
        (DEAR, DEAR, "undecided"),
    ):
        found = verdict(planted({"send": send, "hand": hand}), shape)
        assert (found.answer, found.why) == (answer, "by the model of send and hand")
        assert found.factor == pytest.approx(send.time_s(*NEW) / hand.time_s(*NEW), rel=1e-6)


def test_a_difference_within_the_errors_cannot_be_told() -> None:
    shape = strided(*NEW)
    ratio = DEAR.time_s(*NEW) / CHEAP.time_s(*NEW)
    # Half-widths of 3 and 4 parts make 5.
    for width, answer in ((math.log(ratio) * 0.9, "by hand"), (math.log(ratio) * 1.1, "undecided")):
        effect = planted({"send": DEAR, "hand": CHEAP}, {"send": 0.6 * width, "hand": 0.8 * width})
        found = verdict(effect, shape)
        assert found.answer == answer
        assert [found.low, found.high] == pytest.approx(
            [ratio * math.exp(-width), ratio * math.exp(width)], rel=1e-6
        )


def test_a_layout_of_several_launches_counts_once_by_its_worst() -> None:
    effect = planted({"send": Truth()}, {"send": 0.1})
    points = [
        {**row, "left_out_s": None if row["left_out_s"] is None else float(row["time_s"] or 0) * math.exp(error)}
        for error in (0.1, -0.5, 0.0)
        for row in effect.points
    ]
    one = predicted(effect.model_copy(update={"points": points}), strided(*NEW))["send"]
    assert one.errors == 20
    assert one.high_s == pytest.approx(one.time_s * math.exp(0.5))


def test_measured_both_ways_the_measurements_decide() -> None:
    # The models cannot tell them apart: layouts left out were wrong by a factor of twenty.
    shape = strided("vector", 2048, 8, 16)
    for send, hand, answer in (
        (CHEAP, DEAR, "library"),
        (DEAR, CHEAP, "by hand"),
        (DEAR, DEAR, "undecided"),
    ):
        found = verdict(planted({"send": send, "hand": hand}, {"send": 3.0, "hand": 0.0}), shape)
        assert (found.answer, found.why) == (answer, "measured both ways")
        ratio = send.time_s("vector", 2048, 8, 16) / hand.time_s("vector", 2048, 8, 16)
        assert found.factor == pytest.approx(ratio)
        assert [found.low, found.high] == pytest.approx([ratio * 0.99 / 1.01, ratio * 1.01 / 0.99])


def test_measured_one_way_the_other_s_model_has_the_error() -> None:
    gone = ("vector", 2048, 8, 16)
    effect = planted({"send": DEAR, "hand": CHEAP}, {"send": 3.0, "hand": 0.05})
    names = ("way", "layout", "blocks", "block_B", "stride_B")
    rows = [row for row in effect.points if tuple(row[name] for name in names) != ("hand", *gone)]
    found = verdict(effect.model_copy(update={"points": rows}), strided(*gone))
    assert (found.answer, found.why) == ("by hand", "by the model of hand")
    ratio = DEAR.time_s(*gone) / CHEAP.time_s(*gone)
    assert [found.low, found.high] == pytest.approx(
        [
            ratio * math.exp(-math.hypot(math.log(1 / 0.99), 0.05)),
            ratio * math.exp(math.hypot(math.log(1.01), 0.05)),
        ],
        rel=1e-6,
    )


def test_what_was_not_measured_is_no_zero() -> None:
    # No layout whose lines are beyond L3.
    near = [layout for layout in LAYOUTS if layout[3] < 2048 or layout[1] * layout[3] < 2**24]
    effect = planted({"send": DEAR, "hand": CHEAP}, layouts=near)
    # All in one place of their pages: each claims 4 KiB, 32 MiB together.
    shape = strided("vector", 8192, 4, 2**14)
    one = predicted(effect, shape)["send"]
    assert one.lower_bound
    # What pages cost those in L3 tell.
    assert one.lines_s == pytest.approx((8192 - 8) * 2e-8, rel=1e-6)
    assert one.high_s is None
    assert one.low_s is not None
    assert "the cost of a line in memory was not measured and is left out of the sum" in one.notes
    found = verdict(effect, shape)
    assert (found.answer, found.why) == ("undecided", "of send and hand only a lower bound is known")
    # Nor is a kind of block that no layout had.
    drawn = predicted(effect, strided("irregular", 1000, 16, 112))["send"]
    assert drawn.lower_bound
    assert "the cost of a block of irregular layouts was not measured and is left out of the sum" in drawn.notes


def test_beyond_the_largest_message_the_line_goes_on_and_the_interval_widens() -> None:
    truth = Truth()
    layout = ("vector", 4 * 16384, 16, 112)
    one = predicted(planted({"send": truth}, {"send": 0.2}), strided(*layout))["send"]
    assert one.time_s == pytest.approx(truth.time_s(*layout), rel=1e-6)
    # 1 MiB is four times 256 KiB: one step more.
    assert one.high_s == pytest.approx(one.time_s * math.exp(0.4))
    assert "extrapolated: 1 MiB is more than the 256 KiB measured" in one.notes
    # Sizes whose times fall do not go on falling.
    falling = planted({"send": replace(truth, beta_s_per_B=-1e-12, element_s=0.0)})
    assert predicted(falling, strided(*layout))["send"].contiguous_s == pytest.approx(1e-6 - 262144e-12)


def test_below_the_smallest_message_its_time_is_taken_and_no_lower_end_is_said() -> None:
    one = predicted(planted({"send": Truth()}), strided("vector", 8, 8, 64))["send"]
    assert one.contiguous_s == pytest.approx(1e-6 + 1024e-10, rel=1e-6)
    assert one.low_s is None
    assert one.high_s is not None
    assert any("64 B is less than the 1 KiB measured" in note for note in one.notes)
    found = verdict(planted({"send": DEAR, "hand": CHEAP}), strided("vector", 8, 8, 64))
    assert (found.answer, found.why) == ("undecided", "an end of an interval is not known")


def test_a_size_between_those_measured_is_said() -> None:
    effect = planted({"send": Truth()})
    assert any("16000 B is none" in note for note in predicted(effect, strided(*NEW))["send"].notes)
    assert predicted(effect, strided("vector", 2048, 8, 112))["send"].notes == []


def test_one_size_alone_tells_no_slope() -> None:
    effect = planted({"send": Truth()}, layouts=[LAYOUTS[1], *LAYOUTS[3:18]])
    one = predicted(effect, strided("vector", 8192, 8, 16))["send"]
    assert any("64 KiB is more than the 16 KiB measured, the only size" in note for note in one.notes)


def test_terms_that_are_not_identified_are_named() -> None:
    effect = planted({"send": Truth(), "hand": Truth()})
    effect = effect.model_copy(update={"not_identified": {"send_setup_s": "one size", "hand_line_L1_s": "none"}})
    found = predicted(effect, strided(*NEW))
    assert "setup_s is not identified: one size" in found["send"].notes
    # This layout is in L2.
    assert not any("not identified" in note for note in found["hand"].notes)


def test_blocks_that_touch_are_nothing_to_pack() -> None:
    effect = planted({"send": DEAR, "hand": CHEAP})
    shape = strided("vector", 1000, 20, 20)
    one = predicted(effect, shape)["send"]
    assert one.time_s == pytest.approx(1e-6 + 20000e-10, rel=1e-6)
    assert (one.low_s, one.high_s) == (None, None)
    assert verdict(effect, shape).answer == "library"


def test_without_one_of_the_ways_nothing_is_told() -> None:
    found = verdict(planted({"send": Truth(), "pack": Truth()}), strided(*NEW))
    assert (found.answer, found.why, found.factor) == ("undecided", "hand was not measured", None)
