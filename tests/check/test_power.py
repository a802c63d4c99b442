"""What a check says that it finds, against what it finds of violations that were planted."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.check.planted import MPIS, Made, Measured, equal, times, true_ratios, violating
from tests.factories import not_none

from hockney.check.judge import LEAST_LAUNCHES, JudgedRatios, comparisons, judge
from hockney.check.power import FACTOR, FOUND, Power, power
from hockney.check.study import study

FAMILY_ERROR, LEAST_FACTOR = 0.02, 1.05
COUNT, PLANTED, SIZES = 300, 30, 10
"""Comparisons of a campaign, how many of them are violated, and how many sizes are alike."""


def campaign(factor: float, launches: int, spread: float, random: np.random.Generator) -> JudgedRatios:
    """Two calls at each of `SIZES` sizes, ln(time) with that spread; the first `PLANTED` are violated."""
    time_s = np.exp(random.normal(0.0, spread, (2 * COUNT, launches)))
    time_s[:PLANTED] *= factor
    pairs = comparisons(
        [(row, [(1, row + COUNT)]) for row in range(COUNT)], [row // SIZES for row in range(COUNT)]
    )
    return judge(pairs, time_s, time_s, time_s)


def found(judged: JudgedRatios) -> NDArray[np.bool_]:
    return (judged.p_corrected <= FAMILY_ERROR) & (judged.ratio > LEAST_FACTOR)


def said(judged: JudgedRatios) -> Power:
    return not_none(power(judged, int(found(judged).sum()), FAMILY_ERROR, LEAST_FACTOR))


def said_share(made: Power) -> float:
    return not_none(made.found_share)


def share(factor: float, launches: int, spread: float, campaigns: int, seed: int) -> tuple[float, float]:
    """The share of violations by that factor that is found, and the mean of what is said of `FACTOR`."""
    random = np.random.default_rng(seed)
    made = [campaign(factor, launches, spread, random) for _ in range(campaigns)]
    return (
        float(np.mean([found(judged)[:PLANTED].mean() for judged in made])),
        float(np.mean([said_share(said(judged)) for judged in made])),
    )


@pytest.mark.parametrize("launches", [15, 25])
def test_the_share_that_is_said_is_found(launches: int) -> None:
    # Three standard deviations of a half of 20 × 30 violations are 0.06. The spread that launches show, of 20 to
    # 30 degrees of freedom, is off by a seventh, and so is the t around 4.5 that is expected.
    is_found, is_said = share(FACTOR, launches, 0.12, campaigns=20, seed=launches)
    assert is_found == pytest.approx(is_said, abs=0.1)


def test_the_smallest_factor_is_found_as_often_as_it_is_said_to_be() -> None:
    random = np.random.default_rng(1)
    median = not_none(said(campaign(1.0, 12, 0.05, random)).median_factor)
    # Three standard deviations of 0.95 of 20 × 30 violations.
    assert share(median, 12, 0.05, campaigns=20, seed=2)[0] == pytest.approx(FOUND, abs=0.03)
    # The worst is worse, as each comparison has a spread of its own besides the common one.
    worst = not_none(said(campaign(1.0, 12, 0.05, random)).worst_factor)
    assert worst > median


def test_with_as_many_launches_as_are_said_the_factor_is_found_in_each() -> None:
    launches = not_none(said(campaign(1.0, 8, 0.12, np.random.default_rng(3))).launches)
    assert share(FACTOR, launches, 0.12, campaigns=10, seed=4)[0] >= FOUND
    assert share(FACTOR, 15, 0.12, campaigns=10, seed=5)[0] < FOUND


def test_launches_that_agree_to_the_last_digit_find_all_above_the_least_factor() -> None:
    made = said(campaign(1.0, LEAST_LAUNCHES, 0.0, np.random.default_rng(6)))
    assert made.worst_factor == pytest.approx(LEAST_FACTOR, rel=0.01)
    assert made.found_share == pytest.approx(1.0)
    assert made.launches == LEAST_LAUNCHES


def test_too_few_launches_find_nothing() -> None:
    judged = campaign(FACTOR, LEAST_LAUNCHES - 1, 0.05, np.random.default_rng(7))
    assert power(judged, 0, FAMILY_ERROR, LEAST_FACTOR) is None
    assert study(times(equal, launches=LEAST_LAUNCHES - 1)).power is None


def test_where_nothing_can_be_found_that_is_said() -> None:
    made = study(times(equal, launches=LEAST_LAUNCHES, noise=Made(own=3.0)))
    assert not_none(made.power).median_factor is None
    assert "× more than 100 in a typical comparison" in "\n".join(made.lines())


@pytest.mark.parametrize("least_factor", [FACTOR, 1.5])
def test_nothing_is_said_of_a_factor_that_is_no_violation(least_factor: float) -> None:
    made = study(times(equal, launches=12), least_factor=least_factor)
    assert made.power is not None
    assert made.power.found_share is None
    assert made.power.launches is None
    assert not_none(made.power.median_factor) > least_factor
    assert f"a factor of {FACTOR:g}" not in "\n".join(made.lines())
    few = study(times(equal, launches=LEAST_LAUNCHES - 1), least_factor=least_factor)
    assert f"most factors of {FACTOR:g}" not in "\n".join(few.lines())


def test_from_how_many_launches_on_each_finds_the_factor() -> None:
    made = study(times(equal, launches=12))
    assert made.power is not None
    assert made.power.found_share is not None
    assert f"all need about {made.power.launches} launches." in "\n".join(made.lines())
    wide = study(times(equal, launches=LEAST_LAUNCHES, noise=Made(own=3.0)))
    assert "noise does not average out in any reasonable time" in "\n".join(wide.lines())
    few = study(times(equal, launches=LEAST_LAUNCHES - 1))
    assert "stay undecided: `hockney measure --launches 10 …`" in "\n".join(few.lines())


@pytest.mark.thorough
@pytest.mark.parametrize("library", MPIS)
@pytest.mark.parametrize("launches", [10, 15])
def test_the_share_that_is_said_is_found_with_the_noise_of_a_library(library: str, launches: int) -> None:
    hits, shares = [], []
    for seed in range(2000, 2010):
        noisy, true = violating(seed, launches, Measured(library), equal, (FACTOR, FACTOR))
        planted = np.isclose(true_ratios(true), FACTOR)
        result = study(noisy, family_error=FAMILY_ERROR)
        shares.append(said_share(not_none(result.power)))
        hits += [
            one.verdict == "violated" for one, is_one in zip(result.findings, planted, strict=True) if is_one
        ]
    assert len(hits) > 400
    assert np.mean(hits) == pytest.approx(np.mean(shares), abs=0.06)


@pytest.mark.thorough
@pytest.mark.parametrize("library", MPIS)
def test_all_planted_violations_are_found_by_as_many_launches_as_a_check_asks_for(library: str) -> None:
    # Promised are 95 % of each, not all: the seeds are fixed, and with these none is missed.
    planted = 0
    for seed in range(3000, 3040):
        first = study(violating(seed, 10, Measured(library))[0], family_error=FAMILY_ERROR)
        noisy, true = violating(seed + 500, not_none(not_none(first.power).launches), Measured(library))
        result = study(noisy, family_error=FAMILY_ERROR)
        for ratio, finding in zip(true_ratios(true), result.findings, strict=True):
            planted += ratio >= FACTOR
            assert ratio < FACTOR or finding.verdict == "violated", (seed, finding.identity, ratio)
            assert ratio > 1 or finding.verdict != "violated", (seed, finding.identity)
    assert planted > 1500
