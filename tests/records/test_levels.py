"""Levels of a machine: not found where there are none, found where they were planted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.factories import draws
from tests.records.one_level import Stream, resampled

from hockney.records.levels import STAY, Level, common, find_levels, in_common, in_words

TRIALS = draws(500)
LENGTHS = (200, *(pytest.param(count, marks=pytest.mark.thorough) for count in (600, 2000)))


def correlated(rng: np.random.Generator, count: int) -> Stream:
    """The same deviations, in a process that remembers nine tenths of its past; as wide as before."""
    stream = resampled(rng, count)
    noise = rng.permutation(stream - np.median(stream))
    for index in range(1, count):
        noise[index] = 0.9 * noise[index - 1] + np.sqrt(1 - 0.81) * noise[index]
    return np.median(stream) + noise


def heavy_tailed(rng: np.random.Generator, count: int) -> Stream:
    """The same deviations, each as much wider as a normal value is made one of Student's with 3 degrees."""
    stream = resampled(rng, count)
    return np.median(stream) + (stream - np.median(stream)) / np.sqrt(rng.chisquare(3, count) / 3)


KINDS = [resampled, correlated, heavy_tailed]


def levels_in(stream: Stream) -> list[Level]:
    times_s = np.exp(stream)
    return find_levels(times_s.tolist(), (0.02 * times_s).tolist())


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_one_level_is_one_level(kind: Callable[[np.random.Generator, int], Stream], count: int) -> None:
    rng = np.random.default_rng(count)
    false = sum(len(levels_in(kind(rng, count))) > 1 for _ in range(TRIALS))
    assert false / TRIALS <= 0.02


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_level_that_is_rare_and_near_is_found(
    kind: Callable[[np.random.Generator, int], Stream], count: int
) -> None:
    """A quarter slower, for a twentieth of the time, in stays of at least five references."""
    rng = np.random.default_rng(count)
    found = 0
    for _ in range(TRIALS):
        stream, is_slow = kind(rng, count), np.zeros(count, dtype=bool)
        while is_slow.mean() < 0.05:
            start = rng.integers(0, count - 2 * STAY)
            is_slow[start : start + rng.integers(STAY, 2 * STAY)] = True
        levels = levels_in(stream + np.log(1.25) * is_slow)
        # Found to a third: a stay of five references has much of the noise of one, where they are correlated, and
        # such noise may show a further level beside.
        near = [
            level
            for level in levels
            if abs(np.log(level.reference_s / common(levels).reference_s) / np.log(1.25) - 1) < 1 / 3
        ]
        # The running median may move both edges of a stay by a reference: two fifths of one of five.
        found += abs(sum(level.share for level in near) / is_slow.mean() - 1) < 0.5
    assert found / TRIALS >= 0.93


def test_levels_say_what_they_are() -> None:
    rng = np.random.default_rng(1)
    fast, slow = 0.16e-6, 0.42e-6
    is_slow = np.arange(900) % 300 >= 240
    times_s = np.where(is_slow, slow, fast) * np.exp(0.01 * rng.normal(size=900))
    quick, late = find_levels(times_s.tolist(), (0.02 * times_s).tolist())
    assert quick.reference_s == pytest.approx(fast, rel=0.005)
    assert late.reference_s == pytest.approx(slow, rel=0.005)
    # The running median may move an edge by a reference.
    assert [quick.share, late.share] == pytest.approx([0.8, 0.2], abs=0.01)
    assert [quick.stay, late.stay] == pytest.approx([240, 60], abs=2)
    assert quick.holds(1.02 * fast)
    assert not quick.holds(1.3 * fast)
    assert not quick.holds(slow)
    assert common([quick, late]) is quick
    assert in_words([quick, late]).startswith(
        "The machine changed its speed: 80 % of the time as used here (reference 0.16 µs), 20 % of it 2."
    )


def test_of_two_levels_alike_the_faster_is_common() -> None:
    levels = [Level(reference_s, 0.9 * reference_s, 1.1 * reference_s, 0.5, 10) for reference_s in (1e-6, 2e-6)]
    assert common(levels) is levels[0]


def test_disturbed_references_are_no_level() -> None:
    # The quartiles of a reference that a preempted rank took part in lie milliseconds apart.
    times_s = np.full(100, 0.16e-6)
    iqr_s = np.full(100, 2e-9)
    times_s[40:60], iqr_s[40:60] = 3e-3, 8e-3
    (level,) = find_levels(times_s.tolist(), iqr_s.tolist())
    assert level.reference_s == pytest.approx(0.16e-6)
    assert level.share == 1


def test_without_references_there_is_no_level() -> None:
    assert find_levels([], []) == []
    assert find_levels([1e-3] * 10, [2e-3] * 10) == []


def test_few_references_are_one_level() -> None:
    (level,) = find_levels([1e-6, 1.01e-6, 3e-6], [1e-8] * 3)
    assert level.share == 1


def test_equal_references_end_in_levels() -> None:
    """A coarse clock: four slow references are too few, and no cut lies between the equal ones beside them."""
    times_s = [1e-6] * 20 + [1.5e-6] * 4 + [1e-6] * 20
    (level,) = find_levels(times_s, [0.0] * len(times_s))
    assert level.reference_s == pytest.approx(1e-6)
    quick, slow = find_levels([*times_s, *[1.5e-6] * 5], [0.0] * (len(times_s) + 5))
    assert (quick.reference_s, slow.reference_s) == pytest.approx((1e-6, 1.5e-6))


@pytest.mark.parametrize(
    ("b", "found"),
    [
        ([(1.05, 1.0)], (1.0, 1.05)),
        ([(1.15, 1.0)], (1.2, 1.15)),  # 4 % from the rarer level, which no campaign would tell from it
        ([(1.1, 1.0)], (1.0, 1.1)),  # the same as neither: the level that held longer
        ([(1.15, 0.8), (1.38, 0.2)], (1.2, 1.15)),  # the rarer level is the same as the common one of B
        ([(0.9, 0.8), (1.1, 0.2)], (1.0, 0.9)),  # both drifted alike: the common one to the common one
        ([(0.85, 1.0)], (1.0, 0.85)),
        ([(0.85, 0.9), (1.21, 0.1)], (1.2, 1.21)),  # rather the same than the nearer to the common one
        ([(0.7, 1.0)], None),
    ],
)
def test_the_level_in_common(b: list[tuple[float, float]], found: tuple[float, float] | None) -> None:
    a = [(1.0, 0.8), (1.2, 0.2)]
    pair = in_common(((of_a, of_b) for of_a in a for of_b in b), lambda level: level)
    assert (pair and (pair[0][0], pair[1][0])) == found
