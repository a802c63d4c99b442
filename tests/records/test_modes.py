"""Two modes at one level of the references: not found where there are none, found where they were planted."""

from __future__ import annotations

import numpy as np
import pytest
from tests.factories import draws, record, references
from tests.records.one_level import Stream, resampled

from hockney.records.contents import Modes, find_modes, modes_in_words
from hockney.records.levels import Level
from hockney.records.record import Record
from hockney.records.visits import Levels, ranks_of

SIZES_B = [*(1 << exponent for exponent in range(24)), *(3 << exponent for exponent in range(8, 24))]
VISITS, GROUPS = 3, 15
COUNT = len(SIZES_B) * VISITS * GROUPS
MOVED_B = 4096
RATIO = 1.25
DRAWS = draws(50)

REFERENCE_S = 1e-7
VISIT = record(0, locality="cache", pair="0-1", **references(REFERENCE_S, GROUPS, 1))
LEVELS: Levels = {ranks_of(VISIT): [Level(REFERENCE_S, 0.97 * REFERENCE_S, 1.03 * REFERENCE_S, 1.0, 10.0)]}


def time_s(size_B: int) -> float:
    return 1e-6 + size_B / 1e10


def campaign(
    rng: np.random.Generator, noise: Stream, is_slow: Stream, operation: str = "pingpong"
) -> list[Record]:
    """Visits of all sizes in random order, three times; groups of one sample deviate by `noise`, ln, one each.

    While it `is_slow`, messages of `MOVED_B` and more take `RATIO` times as long. The place of each visit in
    memory moves it by 0.5 %, some (Student's t with three degrees) by much more.
    """
    visits = []
    for number, size_B in enumerate(np.concatenate([rng.permutation(SIZES_B) for _ in range(VISITS)]).tolist()):
        of_visit = slice(number * GROUPS, (number + 1) * GROUPS)
        slower = np.log(RATIO) * is_slow[of_visit] * (size_B >= MOVED_B)
        samples = time_s(size_B) * np.exp(noise[of_visit] + slower + 0.005 * rng.standard_t(3))
        median_s = float(np.median(samples))
        timed = {
            "value": median_s,
            "low": 0.999 * median_s,
            "high": 1.001 * median_s,
            "samples": samples.tolist(),
        }
        visits.append(VISIT.model_copy(update={"bytes": size_B, "operation": operation, **timed}))
    return visits


def one_mode(rng: np.random.Generator) -> Stream:
    """Deviations, ln, of a machine that keeps to one level."""
    noise = resampled(rng, COUNT)
    return noise - np.median(noise)


def stays(rng: np.random.Generator, share: float, shortest: int) -> Stream:
    """Whether each group is slow, 0 or 1: in stays of `shortest` to twice as many groups, for that share."""
    is_slow = np.zeros(COUNT)
    while is_slow.mean() < share:
        start = rng.integers(0, COUNT - 2 * shortest)
        is_slow[start : start + rng.integers(shortest, 2 * shortest)] = 1
    return is_slow


@pytest.mark.parametrize("width", [1, pytest.param(3, marks=pytest.mark.thorough)])
def test_one_mode_is_one_mode(width: int) -> None:
    rng = np.random.default_rng(width)
    false = sum(
        bool(find_modes(campaign(rng, width * one_mode(rng), np.zeros(COUNT)), LEVELS)) for _ in range(3 * DRAWS)
    )
    assert false / (3 * DRAWS) <= 0.02


@pytest.mark.parametrize(
    ("share", "shortest"),
    [
        (0.05, 50),
        *(pytest.param(share, 5, marks=pytest.mark.thorough) for share in (0.05, 0.2, 0.5)),
        *(pytest.param(share, 50, marks=pytest.mark.thorough) for share in (0.2, 0.5)),
    ],
)
def test_a_mode_of_large_messages_is_found(share: float, shortest: int) -> None:
    """Stays are shorter than a visit, or as long as a few."""
    rng = np.random.default_rng(shortest)
    found = 0
    for _ in range(DRAWS):
        for modes in find_modes(campaign(rng, one_mode(rng), stays(rng, share, shortest)), LEVELS):
            found += abs(np.log(modes.times_as_long) / np.log(RATIO) - 1) < 0.2
    assert found / DRAWS >= 0.9


@pytest.mark.parametrize("sizes_B", [SIZES_B[:5], sorted(SIZES_B)[-5:]], ids=["small", "large"])
def test_a_mode_that_is_rare_among_all_sizes_is_found_among_its_neighbours(sizes_B: list[int]) -> None:
    """Five groups of one visit of each of five points are slow: less than 2 % of all, but not of one half."""
    rng = np.random.default_rng(4)
    visits = campaign(rng, 0.1 * one_mode(rng), np.zeros(COUNT))
    of_sizes = [visit for visit in visits if visit.bytes in sizes_B][-5:]
    for visit in of_sizes:
        visit.samples[5:10] = [RATIO * sample for sample in visit.samples[5:10]]
    (modes,) = find_modes(visits, LEVELS)
    assert min(sizes_B) <= modes.smallest_B <= modes.largest_B <= max(sizes_B)


def planted() -> tuple[list[Record], Modes]:
    rng = np.random.default_rng(1)
    visits = campaign(rng, 0.1 * one_mode(rng), stays(rng, 0.3, 50))
    (modes,) = find_modes(visits, LEVELS)
    return visits, modes


def test_the_range_of_sizes_the_ratio_and_the_share_are_told() -> None:
    _, modes = planted()
    assert MOVED_B <= modes.smallest_B <= 2 * MOVED_B
    assert modes.largest_B >= SIZES_B[-1] / 4
    assert modes.times_as_long == pytest.approx(RATIO, rel=0.02)
    assert modes.share == pytest.approx(0.3, abs=0.08)


def test_groups_at_other_levels_say_nothing() -> None:
    """Where the reference sees what moves the times, it is a level and no mode."""
    rng = np.random.default_rng(2)
    is_slow = stays(rng, 0.3, 5)
    visits = campaign(rng, 0.1 * one_mode(rng), is_slow)
    assert find_modes(visits, LEVELS)
    for number, visit in enumerate(visits):
        of_visit = is_slow[number * GROUPS : (number + 1) * GROUPS]
        both = np.maximum(np.append(of_visit, 0), np.append(0, of_visit))
        visits[number] = visit.model_copy(update={"reference_s": (REFERENCE_S * (1 + both)).tolist()})
    assert find_modes(visits, LEVELS) == []


def test_a_difference_of_times_and_series_without_references_are_left_out() -> None:
    rng = np.random.default_rng(3)
    visits = campaign(rng, 0.1 * one_mode(rng), stays(rng, 0.3, 50), "send_overhead")
    assert find_modes(visits, LEVELS) == []
    assert find_modes(planted()[0], {}) == []


def test_words_name_sizes_ratio_and_share() -> None:
    modes = Modes(VISIT, 2**18, 2**22, 1.4, 0.34)
    assert modes_in_words([]) == ""
    assert modes_in_words([modes]).endswith("either: use --launches 5.")
    assert modes_in_words([modes], 8).endswith("either.")
    assert "256 KiB to 4 MiB, 1.4 × as long in 34 % of the time" in modes_in_words([modes])
    others = [Modes(VISIT, 0, 1, ratio, 0.1) for ratio in (1.2, 1.3, 1.25, 1.22)]
    said = modes_in_words([*others, modes])
    assert "1.4 ×" in said, "the farthest apart stands for all"
    assert "4 further series" in said
