"""Fits of the laws: what is recovered, how wide the intervals are, what cannot be identified."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats
from tests.factories import not_none

from hockney.errors import RequestError
from hockney.models.scaling.fit import find_break, fit_law
from hockney.models.scaling.times import Times

Array = NDArray[np.float64]
COUNTS = np.array([1.0, 2, 4, 8, 16, 32])


def strong(processes: Array, serial: float, coherency: float = 0.0, first_s: float = 10.0) -> Array:
    """Times by the universal law, of Amdahl's where κ = 0."""
    return first_s * (1 + serial * (processes - 1) + coherency * processes * (processes - 1)) / processes


def noisy(time_s: Array, seed: int, relative: float = 0.03) -> Array:
    noise: Array = np.random.default_rng(seed).normal(0, relative, time_s.shape)
    return time_s * np.exp(noise)


# Times without noise are told to 1e-9; a millionth leaves room for the optimiser's own end.
@pytest.mark.parametrize(("serial", "coherency"), [(0.05, 5e-4), (0.3, 1e-6), (0.001, 0.02)])
def test_exact_times_give_the_parameters_back(serial: float, coherency: float) -> None:
    fit = fit_law("usl", Times(COUNTS, strong(COUNTS, serial, coherency)))
    assert fit.theta == pytest.approx([serial, coherency], rel=1e-5)
    assert fit.serial_time_s.value == pytest.approx(10, rel=1e-6)
    assert fit_law("amdahl", Times(COUNTS, strong(COUNTS, serial))).theta == pytest.approx([serial], rel=1e-6)


def test_weak_scaling_levels_off_at_the_parallel_fraction() -> None:
    # T(p) = T(1) p/(s + (1 − s)p) with s = 0.2, T(1) = 3 s
    fit = fit_law("gustafson", Times(COUNTS, 3 * COUNTS / (0.2 + 0.8 * COUNTS)))
    assert fit.theta == pytest.approx([0.2], rel=1e-6)
    assert fit.serial_time_s.value == pytest.approx(3, rel=1e-6)


def logarithm(p: Array, first: float, serial: float) -> Array:
    return np.asarray(first + np.log((1 + serial * (p - 1)) / p))


def test_intervals_are_those_of_curve_fit_with_students_t() -> None:
    time_s = noisy(strong(COUNTS, 0.05), 3)
    best, covariance = optimize.curve_fit(logarithm, COUNTS, np.log(time_s), p0=[2, 0.1])
    half = stats.t.ppf(0.975, 4) * math.sqrt(covariance[1, 1])
    found = fit_law("amdahl", Times(COUNTS, time_s)).parameters["serial_fraction"]
    assert (found.value, found.low, found.high) == pytest.approx(
        (best[1], best[1] - half, best[1] + half), rel=1e-3
    )


@pytest.mark.thorough
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    runs = 200
    fits = [fit_law("amdahl", Times(COUNTS, noisy(strong(COUNTS, 0.05), seed))) for seed in range(runs)]
    intervals = [one.parameters["serial_fraction"] for one in fits]
    inside = [(one.low or 0) <= 0.05 <= (one.high or 0) for one in intervals]
    # Three standard deviations of a share of 200 at 95 %: 4.6 %.
    assert 0.904 <= sum(inside) / runs <= 0.996


def test_repetitions_do_not_hide_that_a_law_is_off() -> None:
    widths = []
    for repetitions in (3, 60):
        processes = np.tile(COUNTS, repetitions)
        fit = fit_law("amdahl", Times(processes, noisy(strong(processes, 0.05, 2e-3), 5, 0.01)))
        assert not_none(fit.lack_of_fit_p) < 0.001
        assert fit.degrees_of_freedom == COUNTS.size - 2
        assert any("off by more than repetitions" in note for note in fit.notes)
        one = fit.parameters["serial_fraction"]
        widths.append(not_none(one.high) - not_none(one.low))
    # Twenty times the repetitions narrow the scatter's part only, which is next to nothing here.
    assert widths[1] == pytest.approx(widths[0], rel=0.1)


def test_repetitions_that_agree_with_the_law_narrow_the_interval() -> None:
    processes = np.tile(COUNTS, 8)
    fit = fit_law("amdahl", Times(processes, noisy(strong(processes, 0.05), 2)))
    assert not_none(fit.lack_of_fit_p) > 0.05
    assert fit.degrees_of_freedom == 46


def test_parameters_stay_physical_and_say_so() -> None:
    faster = fit_law("amdahl", Times(COUNTS, noisy(strong(COUNTS, 0) / COUNTS**0.1, 1, 0.001)))
    assert faster.theta == [0]
    assert "serial_fraction is at its bound 0" in faster.notes
    assert faster.limits == {"speedup_limit": None}


def test_what_times_cannot_identify() -> None:
    few = COUNTS[:2]
    exactly = fit_law("amdahl", Times(few, strong(few, 0.05)))
    assert exactly.parameters["serial_fraction"].low is None
    assert exactly.parameters["serial_fraction"].value == pytest.approx(0.05)
    assert any("nothing supports an interval" in note for note in exactly.notes)
    with pytest.raises(RequestError, match="cannot be identified"):
        fit_law("usl", Times(np.tile(few, 5), strong(np.tile(few, 5), 0.05)))
    near = np.array([1.0, 2, 2])
    wild = fit_law("amdahl", Times(near, np.array([10.0, 4, 12])))
    assert any("do not identify serial_fraction" in note for note in wild.notes)


def test_aicc_is_that_of_the_residuals() -> None:
    time_s = noisy(strong(COUNTS, 0.05), 3)
    best, _ = optimize.curve_fit(logarithm, COUNTS, np.log(time_s), p0=[2, 0.1])
    squares = float(np.sum((logarithm(COUNTS, *best) - np.log(time_s)) ** 2))
    # n ln(RSS/n) + 2k + 2k(k + 1)/(n − k − 1) with n = 6 times and k = 3: s, T(1), the variance.
    expected = 6 * math.log(squares / 6) + 6 + 24 / 2
    assert fit_law("amdahl", Times(COUNTS, time_s)).aicc == pytest.approx(expected, rel=1e-6)
    assert fit_law("usl", Times(COUNTS[:4], time_s[:4])).aicc is None


# Weak scaling of a published run of a Jacobi solver on one node of 24 cores with two hardware threads each:
# N P₁/P, printed; from 25 processes on threads share cores.
THREADS = np.array([1.0, 12, 24, 25, 32, 40, 48])
PRINTED = np.array([1.0, 1.049, 1.134, 1.432, 1.495, 1.533, 1.605])
WEAK = ["growing_overhead", "gustafson"]


def test_a_break_is_found_where_threads_share_cores() -> None:
    broken = not_none(find_break(WEAK, Times(THREADS, 22.07 * PRINTED)))
    assert (broken.before, broken.after) == (24, 25)
    # From 24 to 25 the printed ratio steps by 1.263, of which one process more makes less than a per cent.
    assert broken.ratio.value == pytest.approx(PRINTED[3] / PRINTED[2], rel=0.01)


def test_a_law_has_the_factor_beyond_the_break() -> None:
    time_s = (1 + 0.01 * (THREADS - 1)) * np.where(THREADS >= 25, 1.3, 1.0)
    fit = fit_law("growing_overhead", Times(THREADS, time_s), step_at=25)
    assert fit.theta == pytest.approx([0.01], rel=1e-5)
    assert not_none(fit.step).value == pytest.approx(1.3, rel=1e-6)
    assert THREADS / fit.speedup(THREADS) == pytest.approx(time_s)


def test_laws_are_no_breaks() -> None:
    for seed in range(5):
        # Nor is what another law makes of the times: each is tested against the better one.
        level = 1 / (0.3 + 0.7 / THREADS)
        for time_s in (1 + 0.01 * (THREADS - 1), level):
            assert find_break(WEAK, Times(THREADS, noisy(time_s, seed, 0.01))) is None
    doubled = np.array([1.0, 2, 4, 8, 16, 32, 64, 128])
    strong_s = noisy(strong(doubled, 0.02, 1e-4), 4, 0.01)
    assert find_break(["amdahl", "usl"], Times(doubled, strong_s)) is None
    assert find_break(WEAK, Times(THREADS[:4], PRINTED[:4])) is None, "four numbers of processes are too few"


@pytest.mark.thorough
def test_planted_breaks_come_back() -> None:
    """The published numbers with 1 % noise: the place always, the factor of a planted law in its interval."""
    runs, places, inside, values = 200, 0, 0, []
    planted = (1 + 0.0058 * (THREADS - 1)) * np.where(THREADS >= 25, 1.265, 1.0)
    for seed in range(runs):
        broken = find_break(WEAK, Times(THREADS, noisy(PRINTED, seed, 0.01)))
        places += broken is not None and broken.after == 25
        fit = fit_law("growing_overhead", Times(THREADS, noisy(planted, 1000 + seed, 0.01)), step_at=25)
        assert fit.step is not None
        values.append(fit.step.value / 1.265 - 1)
        inside += not_none(fit.step.low) <= 1.265 <= not_none(fit.step.high)
    assert places >= 0.95 * runs
    assert abs(float(np.median(values))) < 0.03
    assert float(np.quantile(np.abs(values), 0.95)) < 0.08
    assert inside >= 0.92 * runs
