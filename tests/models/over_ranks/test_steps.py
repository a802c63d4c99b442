"""Planted steps are found where they are, curves without one show none: at the noise of a real cluster, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t
from tests.capabilities import shared

from hockney.models.over_ranks.boundaries import Boundary
from hockney.models.over_ranks.broken_curve import LEAST_SCALE, TAILS, Break, fitted
from hockney.models.over_ranks.points import curves, points
from hockney.models.over_ranks.search import FEWEST, roughness, search, simulated_step
from hockney.models.over_ranks.steps import UNTOLD, FoundStep, StepPlace, block_changes, reasons
from hockney.records import table
from hockney.statistics import Array

NOISE = np.loadtxt(Path(__file__).parent / "repeats.txt")
"""|ln| of the ratio of two runs of one point over √2, the deviation of one run: 600 pairs of the 3,736 of
broadcasts up to 128 ranks of orfeo-epyc (github.com/marcotallone/hpc-exam at f8bf5a9, MIT licence)."""
RANKS = np.arange(2.0, 49.0)
"""As two nodes of 24 cores give them."""
ALLOCATIONS = ("core", "socket", "node")
SHAPES: dict[str, Callable[[Array], Array]] = {
    "line": lambda ranks: 0.5 + 0.12 * ranks,
    "log": lambda ranks: 1 + np.log2(ranks),
    "root": np.sqrt,
    "square": lambda ranks: 1 + 0.01 * ranks**2,
    "P log P": lambda ranks: 1 + 0.1 * ranks * np.log2(ranks),
    "constant": np.ones_like,
}


def noisy(time: Array, noise: np.random.Generator) -> Array:
    """With the deviations of single runs on a cluster."""
    return np.asarray(time * np.exp(noise.choice([-1.0, 1.0], time.size) * noise.choice(NOISE, time.size)))


def repeated(time: Array, noise: np.random.Generator) -> Array:
    """The median of five repeats with 2 % noise."""
    return np.asarray(np.median(time * np.exp(noise.normal(0, 0.02, (5, time.size))), axis=0))


Noisy = Callable[[Array, np.random.Generator], Array]


def searched(
    time: Array, noise: np.random.Generator, ranks: Array = RANKS, spread: Noisy = noisy
) -> list[FoundStep]:
    """The steps that three allocations show."""
    found = search({name: (ranks, spread(time, noise)) for name in ALLOCATIONS})
    return [one for one in found if not one.at.is_bend]


# Of six curves each is right in 95 of 100 cases: one may be wrong. `bench/steps` has hundreds.
@pytest.mark.parametrize("ranks", [RANKS, RANKS[RANKS % 2 == 0]], ids=["every", "even"])
def test_a_step_is_told_where_it_is(ranks: Array) -> None:
    """At places with and without a reason: 5, 7, 19, 20, 31 and 44 ranks."""
    noise = np.random.default_rng(1)
    for n, (at, factor) in enumerate(((5, 1.6), (7, 2.0), (19, 1.3), (20, 0.5), (31, 3.0), (44, 1.3))):
        time = [*SHAPES.values()][(0, 1, 5)[n % 3]](ranks) * np.where(ranks >= at, factor, 1.0)
        (step,) = searched(time, noise, ranks, repeated)
        assert step.place.before < at <= step.place.after
        # Three numbers of ranks, or two more where every second one was measured.
        assert step.place.after - step.place.before <= (2 if ranks is RANKS else 4)
        assert step.is_common
        assert step.together.ratio == pytest.approx(factor, rel=0.05)


@pytest.mark.parametrize(("first", "second"), [(12, 30), (29, 36)], ids=["apart", "close"])
def test_two_steps_are_told_beside_each_other(first: int, second: int) -> None:
    """Seven points between steps up and down are no disturbed ones, and nothing else steps."""
    time = SHAPES["line"](RANKS) * np.where(first <= RANKS, 2.4, 1.0) * np.where(second <= RANKS, 0.45, 1.0)
    found = searched(time, np.random.default_rng(3), RANKS, repeated)
    assert [(one.place.before, one.place.after) for one in found] == [(first - 1, first), (second - 1, second)]


@pytest.mark.parametrize(("first", "second"), [(10, 13), (20, 24), (30, 35), (33, 40)])
def test_few_points_between_two_steps_of_a_clean_curve_count(first: int, second: int) -> None:
    """They lie so far from a curve without steps that they would weigh nothing as disturbed ones."""
    time = np.where((first <= RANKS) & (second > RANKS), 2.0, 1.0)
    time *= np.exp(np.random.default_rng(4).normal(0, 0.001, RANKS.size))
    found = search({"core": (RANKS, time)})
    assert [str(one.place) for one in found] == [f"from {at - 1} to {at} ranks" for at in (first, second)]


# Of 90 curves more than 3 show one in 1 of 100 cases where 1 in 100 does, of 900 more than 16.
@pytest.mark.parametrize("spread", [noisy, repeated])
@pytest.mark.parametrize(("sets", "most"), [(5, 3), pytest.param(50, 16, marks=pytest.mark.thorough)])
def test_smooth_curves_show_no_step(sets: int, most: int, spread: Noisy) -> None:
    """At most 1 in 100 of the curves, in sets of three each of six shapes; a step of all is one of each."""
    noise, shown = np.random.default_rng(1), 0
    for shape in SHAPES.values():
        for _ in range(sets):
            found = searched(shape(RANKS), noise, RANKS, spread)
            shown += sum(len(ALLOCATIONS) if one.is_common else len(one.shown_by) for one in found)
    assert shown <= most


# The share of draws that must show it: one in ten repeats of this cluster differs by 15 %, one in 100 by 40 %.
# Of 200 draws it is 0.8 and 0.7, each less a standard deviation and a half or more.
@pytest.mark.parametrize("draws", [12, pytest.param(200, marks=pytest.mark.thorough)])
@pytest.mark.parametrize(("at", "share"), [(16, 0.75), (32, 0.65)])
def test_a_step_of_a_tenth_is_found_with_three_curves(at: int, share: float, draws: int) -> None:
    noise = np.random.default_rng(2)
    time = (0.5 + 0.12 * RANKS) * np.where(at < RANKS, 1.1, 1.0)
    ratios = []
    for _ in range(draws):
        hits = [one for one in searched(time, noise) if one.place.before <= at < one.place.after]
        ratios += [one.together.ratio for one in hits]
    assert len(ratios) >= share * draws - (0 if draws > 12 else 2)
    # The smooth curve takes up to a sixth of the step; half of those found lie within 0.01 of their median.
    assert np.median(ratios) == pytest.approx(1.1, abs=0.03)


def test_what_cannot_be_told_apart_is_a_range() -> None:
    """A point that is disturbed by half the step may lie on either side of it."""
    time = repeated(SHAPES["line"](RANKS) * np.where(RANKS > 20, 1.2, 1.0), np.random.default_rng(5))
    time[RANKS == 20] *= np.sqrt(1.2)
    (step,) = [one for one in search({"core": (RANKS, time)}) if not one.at.is_bend]
    assert str(step.place) == "between 19 and 21 ranks"


def test_a_point_at_a_power_of_two_alone_is_no_step() -> None:
    """A library that takes another way at exactly 16 ranks makes no step there."""
    time = (0.5 + 0.12 * RANKS) * np.where(RANKS == 16, 0.5, 1.0)
    assert searched(time, np.random.default_rng(3)) == []


def test_a_slope_that_trebles_is_a_bend_and_no_step() -> None:
    time = repeated(1 + 0.05 * RANKS + 0.1 * np.maximum(RANKS - 24, 0), np.random.default_rng(1))
    (bend,) = search({"core": (RANKS, time)})
    assert bend.at.is_bend
    assert bend.place.before <= 24 <= bend.place.after
    # By the curve beside it, at 1 % noise of a median.
    assert bend.together.slope_ratio == pytest.approx(3, rel=0.3)


def test_a_step_of_one_allocation_is_its_own() -> None:
    noise = np.random.default_rng(4)
    smooth = 0.5 + 0.12 * RANKS
    of_each = {
        name: (RANKS, noisy(smooth * (1 + 0.5 * (RANKS > 24) * (name == "core")), noise)) for name in ALLOCATIONS
    }
    (one,) = search(of_each)
    assert one.shown_by == ("core",)
    assert not one.is_common
    assert one.each["core"].low <= 1.5 <= one.each["core"].high


def test_a_simulated_step_counts_at_its_own_place_alone() -> None:
    line = 0.5 + 0.12 * RANKS
    (step,) = searched(line * np.where(RANKS > 19, 2.0, 1.0), np.random.default_rng(1), RANKS, repeated)
    here, beside = (line * np.where(at < RANKS, 1.9, 1.0) for at in (19, 17))
    assert simulated_step(RANKS, here, step, []) == pytest.approx(1.9, rel=0.01)
    assert simulated_step(RANKS, beside, step, []) == 1
    assert simulated_step(RANKS, line, step, []) == pytest.approx(1, abs=0.005)


def test_too_few_points_tell_nothing() -> None:
    ranks = np.arange(2.0, 2.0 + FEWEST - 1)
    assert search({"core": (ranks, np.where(ranks > 4, 3.0, 1.0))}) == []


def test_neighbours_that_are_alike_are_rough() -> None:
    noise = np.random.default_rng(1).normal(size=20_000)
    alike = np.convolve(noise, [1.0, 1.0])
    # Of two shocks each, neighbours share one: ρ = 1/2, to a standard deviation of 0.7 %.
    assert roughness([alike / alike.std()]) == pytest.approx(3, rel=0.06)
    assert roughness([noise]) == pytest.approx(1, abs=0.05)


def test_a_fit_goes_on_until_it_is_the_most_likely_one() -> None:
    """Where one point in three is far off, the others are met exactly."""
    far = np.zeros(47)
    far[::3] = 0.3 * np.where(np.arange(far[::3].size) % 2, 1, -1)
    design = np.vander(np.linspace(-1, 1, far.size), 4)
    fit = fitted(design, design @ np.arange(1.0, 5.0) + far, TAILS[:1], np.ones_like(far))
    assert fit.likelihood[0] >= t.logpdf(far, TAILS[0], scale=LEAST_SCALE).sum() - 0.1


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (15, 16, ["power_of_two"]),
        (16, 17, ["power_of_two"]),
        (17, 18, []),
        (12, 13, ["package"]),
        (7, 9, ["power_of_two"]),
        (19, 20, ["decision"]),
        (22, 26, ["node"]),
        (24, 25, ["node"]),
        (25, 26, []),
    ],
)
def test_a_reason_lies_inside_the_range(before: int, after: int, why: list[str]) -> None:
    boundaries = [Boundary(12, 13, "package"), Boundary(24, 25, "node")]
    step = FoundStep(StepPlace(before, after), Break(before, after), UNTOLD, {}, True, ())
    levels = [one.level for one in boundaries if step.holds(one)]
    assert list(reasons(before, after, levels, [(19, "decision")])) == why


def test_bends_where_a_package_and_a_node_begin_are_told() -> None:
    """The slopes that the README of orfeo-epyc gives (0.19, 0.34, 0.55 µs a rank), with 1 % noise."""
    ranks = np.arange(2.0, 257.0)
    rise = 0.19 * ranks + 0.15 * np.maximum(ranks - 64, 0) + 0.21 * np.maximum(ranks - 128, 0)
    noise = np.random.default_rng(1).normal(0, 0.01, ranks.size)
    package, node = search({"core": (ranks, (1 + rise) * np.exp(noise))})
    assert package.holds(Boundary(64, 65, "package"))
    assert node.holds(Boundary(128, 129, "node"))
    # Slopes over 64 ranks at 1 % noise are good to some 3 %, and their ratio to 5 %: three of these.
    assert package.together.slope_ratio == pytest.approx(0.34 / 0.19, rel=0.15)
    assert node.together.slope_ratio == pytest.approx(0.55 / 0.34, rel=0.15)


def test_a_block_of_each_rank_changes_its_way_where_it_becomes_small() -> None:
    """Of 64 KiB, 31 ranks have blocks above 2 KiB; 32 cut theirs in two segments of 1 KiB, 64 no longer."""
    assert block_changes(65536, 1024, [2048.0]) == [(31, "protocol"), (31, "segments"), (63, "segments")]


def test_the_documented_breaks_of_orfeo() -> None:
    """Linear broadcast of 8 B, mapping core: the slope changes most at 128 ranks (README of the data)."""
    frame = table.load(shared("orfeo-epyc") / "tidy.csv.gz")
    rows = frame[(frame["mapping"] == "core") & (frame["algorithm"] == "linear")]
    (curve,) = curves(points(rows, "bcast"), 8).values()
    found = search({"core": (curve["ranks"].to_numpy(np.float64), curve["time_s"].to_numpy(np.float64))})
    assert any(one.at.is_bend and one.place.before <= 128 <= one.place.after for one in found)
