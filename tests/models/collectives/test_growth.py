"""The form that made the times is preferred, allocations that differ are told, coefficients come back."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.factories import not_none

from hockney.models.collectives.growth import RankCurve, choose
from hockney.statistics import Array

RANKS = np.arange(2.0, 49.0, 2.0)
ALLOCATIONS = ("core", "socket", "node")


def curves(
    time_us: Array, seed: int, factors: tuple[float, ...] = (1.0, 1.0, 1.0), spread: float = 0.03
) -> list[RankCurve]:
    noise = np.random.default_rng(seed)
    return [
        RankCurve(name, RANKS, 1e-6 * factor * time_us * np.exp(noise.normal(0, spread, RANKS.size)))
        for name, factor in zip(ALLOCATIONS, factors, strict=True)
    ]


@pytest.mark.parametrize(
    ("form", "time_us"),
    [
        ("linear", 0.5 + 0.117 * RANKS),
        ("logarithmic", 0.4 + 0.9 * np.log2(RANKS)),
        ("quadratic", 1 + 0.02 * RANKS + 0.006 * RANKS**2),
        ("log_quadratic", np.exp(-2.5 + 0.16 * RANKS - 0.0022 * RANKS**2)),
    ],
)
def test_the_form_that_made_the_times_is_preferred(form: str, time_us: Array) -> None:
    chosen = [choose(curves(time_us, seed)) for seed in range(20)]
    forms = [one.preferred.form for one in chosen if one is not None]
    # AICc takes one coefficient too many with a chance of P(χ²₁ > 2) = 0.16: 95 % of 20 draws have at least 13.
    assert len(forms) == 20
    assert forms.count(form) >= 13


def test_coefficients_lie_in_their_intervals() -> None:
    inside = 0
    for seed in range(40):
        chosen = not_none(choose(curves(0.5 + 0.117 * RANKS, seed)))
        line = next(model for model in chosen.models if model.form == "linear" and not model.factors)
        slope = line.coefficients[1]
        assert slope.term == "P"
        inside += slope.low <= 0.117e-6 <= slope.high
    # 38 of 40 are expected, in 99 % of such trials 35 or more; noise that happens to run together widens some.
    assert inside >= 35


def test_allocations_that_differ_are_told_by_their_factor() -> None:
    chosen = not_none(choose(curves(0.5 + 0.117 * RANKS, 1, (1.0, 1.0, 1.3))))
    factor = chosen.preferred.factors["node"]
    assert factor.low <= 1.3 <= factor.high
    # Two sets of 24 points with 3 % noise: good to 3 %·√(2/24) = 0.9 %, ± 1.96 of these, somewhat widened.
    assert factor.high / factor.low < 1.1
    assert not_none(chosen.level_gain) > 10
    assert not_none(chosen.shape_gain) < 10


def test_allocations_that_are_alike_share_one_curve() -> None:
    told = [choose(curves(0.5 + 0.117 * RANKS, seed)) for seed in range(20)]
    # Two factors too many gain more than their penalty of 4 with a chance of P(χ²₂ > 4) = 0.14.
    assert sum(bool(one.preferred.factors) for one in told if one is not None) <= 7


def test_allocations_of_different_shape_are_told() -> None:
    mixed = [*curves(0.5 + 0.117 * RANKS, 1)[:2], curves(4 + 0.02 * RANKS, 2)[2]]
    chosen = not_none(choose(mixed))
    assert not_none(chosen.shape_gain) > 10


def test_the_schedules_own_form_is_preferred_to_an_equal_one() -> None:
    """P − 1 rounds are a line in P: the form that has a reason is named."""
    plain = curves(0.5 + 0.117 * RANKS, 3)
    own = [RankCurve(one.allocation, one.ranks, one.time_s, {"schedule": one.ranks - 1}) for one in plain]
    chosen = not_none(choose(own))
    by_form = {model.form: model for model in reversed(chosen.models) if not model.factors}
    assert by_form["schedule"].aicc == pytest.approx(by_form["linear"].aicc, abs=1e-6)
    assert [model.form for model in chosen.models].index("schedule") < [m.form for m in chosen.models].index(
        "linear"
    )


def test_steps_of_a_tree_choose_its_depth() -> None:
    depth = np.ceil(np.log2(RANKS))
    made = [RankCurve(c.allocation, c.ranks, c.time_s, {"schedule": depth}) for c in curves(0.3 + 0.8 * depth, 4)]
    chosen = not_none(choose(made))
    assert chosen.preferred.form == "schedule"
    assert chosen.preferred.coefficients[1].value == pytest.approx(0.8e-6, rel=0.03)
    assert chosen.preferred.at_s(made[0]) == pytest.approx(1e-6 * (0.3 + 0.8 * depth), rel=0.05)


def test_adjusted_r2_is_that_of_scipy_where_noise_is_small() -> None:
    (one, *_) = curves(0.5 + 0.117 * RANKS, 5, spread=1e-4)
    chosen = not_none(choose([one]))
    theirs = stats.linregress(one.ranks, one.time_s)
    line = next(model for model in chosen.models if model.form == "linear")
    n = RANKS.size
    # With little noise a relative and an absolute fit agree: 1 − R² to a few per cent of itself.
    assert 1 - line.adjusted_r2 == pytest.approx((1 - theirs.rvalue**2) * (n - 1) / (n - 2), rel=0.3)
    assert line.coefficients[0].value == pytest.approx(0.5e-6, rel=1e-3)


def test_too_few_points_choose_nothing() -> None:
    assert choose([RankCurve("core", np.array([2.0, 4.0, 8.0]), np.array([1.0, 2.0, 3.0]))]) is None
    same = RankCurve("core", np.full(9, 4.0), np.linspace(1, 2, 9))
    assert choose([same]) is None


def test_a_negative_intercept_as_published_is_kept() -> None:
    """−0.23 + 0.117·P is positive from 2 ranks on, and as good a line as any."""
    chosen = not_none(choose(curves(-0.2 + 0.117 * RANKS, 6)))
    line = next(model for model in chosen.models if model.form == "linear")
    assert line.coefficients[0].value == pytest.approx(-0.2e-6, rel=0.05)
