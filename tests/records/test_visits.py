"""What visits of a point come to: at which level, between which bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests import factories
from tests.factories import ends, not_none, references

from hockney.records.levels import common, in_words
from hockney.records.record import Record
from hockney.records.visits import at, levels_of, ratio_in_pairs, samples_at, settle, taken_together

FAST_S, SLOW_S = 0.16e-6, 0.42e-6
GROUP = 10
"""Samples between two references."""


def visit(samples_s: NDArray[np.float64], reference_s: NDArray[np.float64] | None = None, **more: Any) -> Record:
    """A visit of samples in groups of ten, or without references; its own median is that of all samples."""
    groups = samples_s.size // GROUP
    bracket = {} if reference_s is None else references(reference_s.tolist(), groups, GROUP, 0.02)
    fields = {"ranks": 2, "pair": "0-1", "samples": samples_s.tolist(), **bracket, **more}
    return factories.record(64, float(np.median(samples_s)), **fields)


def level_visit(rng: np.random.Generator, is_slow: NDArray[np.bool_], quick_s: float, **more: Any) -> Record:
    """A visit whose group i lies between the levels i and i + 1 of `is_slow`; slow samples last 2.5 times."""
    reference_s = np.where(is_slow, SLOW_S, FAST_S) * np.exp(0.01 * rng.normal(size=is_slow.size))
    slow = np.repeat(is_slow[1:] | is_slow[:-1], GROUP)
    return visit(
        np.where(slow, 2.5, 1) * quick_s * np.exp(0.02 * rng.normal(size=slow.size)), reference_s, **more
    )


def quiet(groups: int = 10) -> NDArray[np.bool_]:
    return np.zeros(groups + 1, dtype=bool)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_groups_between_two_references_of_the_level_count(rng: np.random.Generator) -> None:
    is_slow = quiet(20)
    is_slow[8:14] = True
    record = level_visit(rng, is_slow, 1e-6)
    levels = levels_of([record, *(level_visit(rng, quiet(), 1e-6) for _ in range(3))])
    # Groups 0 to 6 and 14 to 19 lie between two fast references, 8 to 12 between two slow ones.
    assert samples_at(record, levels).tolist() == [*record.samples[:70], *record.samples[140:]]
    assert samples_at(record, levels, at(1)).tolist() == record.samples[80:130]
    assert samples_at(record, levels, at(2)).size == 0
    assert samples_at(record, {}).tolist() == record.samples


def test_the_level_counts_and_not_the_visit(rng: np.random.Generator) -> None:
    slow = ~quiet(12)
    slow[-3:] = False
    visits = [level_visit(rng, quiet(), 1e-6) for _ in range(2)] + [level_visit(rng, slow, 1e-6)]
    (record,) = settle(visits, levels_of(visits)).records
    assert visits[2].value > 2e-6
    assert record.value == pytest.approx(1e-6, rel=0.01)
    assert len(record.samples) == 100 + 100 + 20


def test_a_point_never_met_at_the_level_stands_at_the_one_it_has(rng: np.random.Generator) -> None:
    usual = [level_visit(rng, quiet(), 1e-6) for _ in range(3)]
    lost = level_visit(rng, ~quiet(), 2e-6, bytes=128)
    settled = settle([*usual, lost], levels_of([*usual, lost]))
    assert [record.bytes for record in settled.elsewhere] == [128]
    assert settled.records[-1].value == pytest.approx(5e-6, rel=0.01)


def test_few_samples_at_the_level_are_none(rng: np.random.Generator) -> None:
    is_slow = ~quiet(10)
    usual = [level_visit(rng, quiet(), 1e-6) for _ in range(3)]
    short = level_visit(rng, is_slow, 1e-6)
    short.reference_s[:2] = [FAST_S, FAST_S]
    short.group_begins[1:] = [begin - 5 for begin in short.group_begins[1:]]
    slow = [level_visit(rng, ~quiet(), 1e-6) for _ in range(2)]
    assert samples_at(short, levels_of([*usual, *slow])).size == 0


def test_one_level_has_all_samples_and_a_disturbed_reference_costs_none(rng: np.random.Generator) -> None:
    noisy = level_visit(rng, quiet(), 1e-6)
    noisy.reference_s[3] *= 1.5
    visits = [noisy, *(level_visit(rng, quiet(), 1e-6) for _ in range(3))]
    assert samples_at(noisy, levels_of(visits)).tolist() == noisy.samples


def stray(rng: np.random.Generator, factor: float, first: int, last: int, **more: Any) -> Record:
    """A visit whose references first … last are so many times as long."""
    record = level_visit(rng, quiet(), 1e-6, **more)
    record.reference_s[first : last + 1] = [factor * time_s for time_s in record.reference_s[first : last + 1]]
    return record


@pytest.mark.parametrize(
    ("factor", "is_off"), [(0.5, True), (0.76, True), (0.84, False), (1.2, False), (2.0, True)]
)
def test_a_stay_too_short_for_a_level_is_no_part_of_the_only_one(
    rng: np.random.Generator, factor: float, is_off: bool
) -> None:
    met, gone = stray(rng, factor, 2, 5), stray(rng, factor, 0, 10)
    levels = levels_of([*(level_visit(rng, quiet(), 1e-6) for _ in range(60)), met])
    [[only]] = levels.values()
    assert (only.strays > 0) is is_off
    assert ("too short to count" in in_words([only])) is is_off
    # Groups 2 to 4 lie between two such references, 1 and 5 beside one.
    kept = [*met.samples[:20], *met.samples[50:]] if is_off else met.samples
    assert samples_at(met, levels).tolist() == kept
    assert samples_at(gone, levels).size == (0 if is_off else 100)


def test_references_that_wander_scatter_or_were_disturbed_are_no_stay(rng: np.random.Generator) -> None:
    usual = [level_visit(rng, quiet(), 1e-6) for _ in range(60)]
    disturbed = stray(rng, 2.0, 2, 5)
    disturbed.reference_iqr_s[2:6] = [0.75 * time_s for time_s in disturbed.reference_s[2:6]]
    assert samples_at(disturbed, levels_of([*usual, disturbed])).tolist() == disturbed.samples
    shared = stray(rng, 2.0, 2, 5, oversubscribed=True)
    assert samples_at(shared, levels_of([*usual, shared])).tolist() == shared.samples
    scattered = [level_visit(rng, quiet(), 1e-6) for _ in range(61)]
    for record in scattered:
        record.reference_s = (FAST_S * np.exp(0.2 * rng.normal(size=11))).tolist()
    scattered[-1].reference_s[2:6] = [1.4 * FAST_S] * 4
    assert samples_at(scattered[-1], levels_of(scattered)).tolist() == scattered[-1].samples, (
        "within three spreads"
    )
    ramps = [level_visit(rng, quiet(), 1e-6) for _ in range(60)]
    for record in ramps[20:40]:
        record.reference_s = (FAST_S * np.linspace(1, 1.6, 11)).tolist()
    ramps[39].reference_s[:6] = [1.6 * FAST_S] * 6
    levels = levels_of(ramps)
    [[only]] = levels.values()
    assert only.strays > 0.02
    assert samples_at(ramps[39], levels).tolist() == ramps[39].samples


def test_disturbed_samples_do_not_count_at_a_level(rng: np.random.Generator) -> None:
    is_slow = quiet(20)
    is_slow[8:14] = True
    record = level_visit(rng, is_slow, 1e-6, disturbed_at=[0, 69, 100])
    levels = levels_of([record, *(level_visit(rng, quiet(), 1e-6) for _ in range(3))])
    assert samples_at(record, levels).tolist() == [*record.samples[1:69], *record.samples[140:]]


def test_disturbed_samples_of_all_visits_at_the_level_are_counted(rng: np.random.Generator) -> None:
    is_slow = quiet(20)
    is_slow[8:14] = True
    # Of the first, 1 and 69 lie in groups at the level; 100 lies at the other.
    partly = level_visit(rng, is_slow, 1e-6, disturbed=3, disturbed_at=[1, 69, 100])
    visits = [partly, *(level_visit(rng, quiet(), 1e-6, disturbed=5, disturbed_at=[*range(5)]) for _ in range(3))]
    (point,) = settle(visits, levels_of(visits)).records
    assert point.disturbed == 2 + 3 * 5
    unknown = [level_visit(rng, quiet(), 1e-6) for _ in range(3)]
    assert settle(unknown, levels_of(unknown)).records[0].disturbed is None


def test_a_launch_at_another_level_leaves_the_point_to_those_that_met_it(rng: np.random.Generator) -> None:
    visits = [level_visit(rng, quiet(), 1e-6, repetition=launch) for launch in (0, 1)]
    visits.append(level_visit(rng, ~quiet(), 1e-6, repetition=2))
    settled = settle(visits, levels_of(visits))
    assert [record.repetition for record in settled.records] == [0, 1]
    assert settled.elsewhere == []


def test_a_shared_core_has_no_levels(rng: np.random.Generator) -> None:
    visits = [
        level_visit(rng, ~quiet() if late else quiet(), 1e-6, oversubscribed=True) for late in (False, True)
    ]
    assert levels_of(visits) == {}


def test_visits_that_differ_widen_the_interval_and_those_of_other_sizes_help() -> None:
    def of_size(size_B: int, *values_s: float) -> list[Record]:
        return [visit(np.array([value_s]), bytes=size_B, low=value_s, high=value_s) for value_s in values_s]

    def half(*visits: Record) -> float:
        record = settle(visits, {}).records[0]
        assert record.high is not None
        assert record.value / not_none(record.low) == pytest.approx(record.high / record.value)
        return float(np.log(record.high / record.value))

    # Two visits, 2 % apart: Student's t with one degree of freedom, 12.706, times the standard error ln(1.02)/2.
    alone = half(*of_size(8, 1e-6, 1.02e-6))
    assert alone == pytest.approx(12.706 * np.log(1.02) / 2, rel=1e-3)
    # Ten other sizes that vary alike lend eight degrees of freedom: t falls to 2.26.
    others = [each for size in range(10) for each in of_size(100 + size, 1e-6, 1.02e-6)]
    shared = half(*of_size(8, 1e-6, 1.02e-6), *others)
    assert shared < alone / 3
    # One size that was disturbed does not widen the others.
    assert half(*of_size(8, 1e-6, 1.02e-6), *others, *of_size(300, 1e-6, 9e-6)) == pytest.approx(shared, rel=0.05)


def test_a_difference_of_two_times_may_be_nothing() -> None:
    samples = [np.array([value]) for value in (2e-8, 9e-8, 1e-8)]
    visits = [visit(each, operation="send_overhead", low=0.0, high=1e-7) for each in samples]
    (record,) = settle(visits, {}).records
    assert record.value == pytest.approx(2e-8)
    assert record.low == 0


def test_other_statistics_stay_with_the_visit_that_stands() -> None:
    def pair(name: str, value_s: float) -> list[Record]:
        fixed: dict[str, Any] = {"operation": "bcast", "algorithm": "binomial", "visit": name}
        completion = visit(np.array([value_s]), **fixed, statistic="completion")
        return [completion, visit(np.array([value_s / 2]), **fixed, statistic="mean_over_ranks")]

    visits = [*pair("a", 1e-6), *pair("b", 3e-6), *pair("c", 2e-6)]
    assert [record.value for record in settle(visits, {}).records] == pytest.approx([2e-6, 1e-6])


def test_records_of_other_programs_count_as_they_are() -> None:
    records = [visit(np.array([1e-6]), source="osu"), visit(np.array([2e-6]), source="osu")]
    assert [record.value for record in settle(records, {}).records] == [1e-6, 2e-6]


def test_planted_levels_come_back(rng: np.random.Generator) -> None:
    """Twenty sizes with three visits each, while the machine changes between two levels."""
    sizes = [1 << exponent for exponent in range(20)]
    true_s = {size: 0.2e-6 + size / 1e10 for size in sizes}
    visits = []
    for _ in range(3):
        for size in rng.permutation(sizes).tolist():
            is_slow = np.full(11, rng.random() < 0.3)
            visits.append(level_visit(rng, is_slow, true_s[size], bytes=size))
    levels = levels_of(visits)
    (of_ranks,) = levels.values()
    assert [level.reference_s for level in of_ranks] == pytest.approx([FAST_S, SLOW_S], rel=0.03)
    settled = settle(visits, levels, common)
    missed = [record.bytes for record in settled.elsewhere]
    assert len(missed) <= 2
    for record in settled.records:
        if record.bytes not in missed:
            assert record.value == pytest.approx(true_s[record.bytes], rel=0.03)
    slow = settle(visits, levels, at(1))
    there = [record for record in slow.records if record not in slow.elsewhere]
    assert len(there) > 5
    for record in there:
        assert record.value == pytest.approx(2.5 * true_s[record.bytes], rel=0.03)


def test_a_point_that_scatters_unlike_its_like_keeps_its_spread() -> None:
    def point(size_B: int, *values: float) -> list[Record]:
        return [visit(np.full(6, value), bytes=size_B, low=value, high=value) for value in values]

    alike = [record for size_B in range(1, 20) for record in point(size_B, 1.0e-6, 1.01e-6, 0.99e-6)]
    judged = [*point(64, 1e-6, 1.3e-6, 0.8e-6), *point(128, 1e-6, 1.015e-6, 0.985e-6)]
    records = settle([*alike, *judged], {}).records
    far, like = (next(record for record in records if record.bytes == size_B) for size_B in (64, 128))
    # Student's t with two degrees of freedom, its own; the values' range is that of a plain median, not a mean.
    own = 4.303 * 1.25 * np.std(np.log([1, 1.3, 0.8]), ddof=1) / np.sqrt(3)
    assert np.log(far.value / not_none(far.low)) == pytest.approx(own, rel=1e-3)
    # Eight degrees of the others, and two of its own; theirs are half of them below their mean by that share.
    theirs, own = (np.var(np.log([1, 1 + step, 1 - step]), ddof=1) for step in (0.01, 0.015))
    pooled = np.sqrt((8 * theirs / (1 - 2 / 18) ** 3 + 2 * own) / 10)
    assert np.log(like.value / not_none(like.low)) == pytest.approx(2.228 * pooled / np.sqrt(3), rel=0.02)


@pytest.mark.parametrize(
    ("launches", "each"),
    [(20, 3), (4, 3), *(pytest.param(*one, marks=pytest.mark.thorough) for one in ((11, 5), (6, 10)))],
)
def test_visits_of_one_launch_are_no_independent_witnesses(launches: int, each: int) -> None:
    """Launches that differ by 5 %, visits by 2 %: the interval holds the truth, as often as it says."""
    lot, draws, held, widths = np.random.default_rng(11), 600, 0, []
    for _ in range(draws):
        offsets = np.repeat(lot.normal(0.0, 0.05, launches), each)
        visits = [
            visit(np.full(8, np.exp(offset + lot.normal(0.0, 0.02))), launch=str(number // each))
            for number, offset in enumerate(offsets)
        ]
        (record,) = settle(visits, {}).records
        low, high = ends(record)
        held += low <= 1.0 <= high
        widths.append(np.log(high / low) / 2)
    assert held / draws >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / draws)
    # An oracle that knows both errors: Student's t of a median, whose error is 1.25 times a mean's.
    oracle = stats.t.ppf(0.975, launches - 1) * 1.25 * np.hypot(0.05, 0.02 / np.sqrt(each)) / np.sqrt(launches)
    assert np.median(widths) <= 1.3 * oracle


@pytest.mark.parametrize(("launches", "each"), [(20, 2), (1, 30), (3, 8)])
def test_a_ratio_in_pairs_does_not_see_what_both_have_in_common(launches: int, each: int) -> None:
    lot, draws, held, reaches = np.random.default_rng(launches), 600, 0, []
    for _ in range(draws):
        common = lot.normal(0.0, 0.3, (launches, each))
        one, other = (
            {str(launch): row.tolist() for launch, row in enumerate(common + lot.normal(0.0, 0.01, common.shape))}
            for _ in range(2)
        )
        ratio = not_none(ratio_in_pairs({**one, "alone": [9.0]}, other))
        held += abs(ratio[0]) <= ratio[1]
        reaches.append(ratio[1])
    assert held / draws >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / draws)
    # An oracle that has all pairs: 2.2 at most is Student's t of a dozen.
    assert np.median(reaches) <= 1.3 * 2.2 * 1.25 * 0.01 * np.sqrt(2) / np.sqrt(launches * each)


@pytest.mark.parametrize(("launches", "each"), [(20, 3), (6, 10)])
def test_a_ratio_that_differs_from_launch_to_launch_says_so(launches: int, each: int) -> None:
    lot, draws, held = np.random.default_rng(launches), 600, 0
    for _ in range(draws):
        one, other = (
            {
                str(launch): (lot.normal(0.0, 0.02) + lot.normal(0.0, 0.01, each)).tolist()
                for launch in range(launches)
            }
            for _ in range(2)
        )
        ratio = not_none(ratio_in_pairs(one, other))
        held += abs(ratio[0]) <= ratio[1]
    assert held / draws >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / draws)


def test_few_pairs_say_nothing_of_a_ratio() -> None:
    one, other = {"a": [0.0] * 11, "b": [0.0] * 5}, {"a": [0.1] * 11, "c": [0.1] * 5}
    assert ratio_in_pairs(one, other) is None
    assert ratio_in_pairs({**one, "c": [0.0]}, other) == pytest.approx((-0.1, 0.0))


def test_points_that_do_the_same_tell_of_every_launch_that_visited_one() -> None:
    # In "a" all three were visited, one of them twice; in "b" and "c" one each.
    one, two, three = {"a": [1.0, 5.0], "b": [2.0]}, {"a": [3.0]}, {"a": [8.0], "c": [0.0]}
    assert taken_together([one, two, three]) == {"a": [3.0, 5.0], "b": [2.0], "c": [0.0]}
