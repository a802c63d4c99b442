"""Regressions recover what they were made from; adjusted R² and standard errors as scipy computes them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from hockney.models.over_ranks.regression import regressions

RANKS = np.arange(2.0, 48.0, 2.0)


def test_a_parabola_without_noise_is_recovered_both_ways() -> None:
    time = 1e-6 * (3 + 0.2 * RANKS + 0.01 * RANKS**2)
    parabolas = [fit for fit in regressions(RANKS, time) if fit.degree == 2]
    assert {fit.weights for fit in parabolas} == {"absolute", "relative"}
    for fit in parabolas:
        assert fit.coefficients == pytest.approx((3e-6, 2e-7, 1e-8), rel=1e-6)
        assert fit.adjusted_r2 == pytest.approx(1, abs=1e-9)


def test_the_plain_line_is_that_of_scipy() -> None:
    time = 1e-6 * (1 + 0.1 * RANKS) * np.exp(np.random.default_rng(3).normal(0, 0.1, RANKS.size))
    plain = next(fit for fit in regressions(RANKS, time) if (fit.degree, fit.weights) == (1, "absolute"))
    theirs = stats.linregress(RANKS, time)
    assert plain.coefficients == pytest.approx((theirs.intercept, theirs.slope))
    assert plain.standard_errors == pytest.approx((theirs.intercept_stderr, theirs.stderr))
    n = RANKS.size
    assert plain.adjusted_r2 == pytest.approx(1 - (1 - theirs.rvalue**2) * (n - 1) / (n - 2))
    assert (plain.first, plain.last, plain.points) == (2, 46, n)


def test_a_parabola_that_turns_round_is_named() -> None:
    # A published −2.529·processes² is of this kind.
    time = 1e-6 * (1 + 5.5 * RANKS - 0.08 * RANKS**2)
    notes = [note for fit in regressions(RANKS, time) if fit.degree == 2 for note in fit.notes]
    assert any("turns round at 34 ranks" in note for note in notes)


def test_too_few_points_give_nothing() -> None:
    assert regressions(np.array([2.0, 4.0, 8.0]), np.array([1.0, 2.0, 3.0])) == []
