"""Formulas as text and LaTeX; the expected strings are written down by hand from the parameters."""

from __future__ import annotations

import re

import pytest
from tests.factories import not_none
from tests.factories import regime as line

from hockney.machine.file import Entry, Measurements, Point
from hockney.machine.formula import (
    bandwidth,
    formulas,
    half_bandwidth_size,
    interval,
    latex,
    latex_text,
    quantity,
    stated,
)
from hockney.models.base import Fit, Parameter, Regime


def regime(
    alpha_s: float, rate_B_per_s: float | None, low: float = 0, high: float | None = None, label: str = ""
) -> Regime:
    """T = alpha + n / rate with intervals of no width; a rate of None is a slope of zero."""
    beta = 0.0 if rate_B_per_s is None else 1 / rate_B_per_s
    return Regime(
        min_B=low,
        max_B=high,
        alpha_s=Parameter(value=alpha_s, low=alpha_s, high=alpha_s, unit="s"),
        beta_s_per_B=Parameter(value=beta, low=beta, high=beta, unit="s/B"),
        label=label,
    )


def fit(*regimes: Regime) -> Fit:
    return Fit(model="piecewise", regimes=list(regimes))


def test_without_intervals_there_are_the_four_digits_that_papers_print() -> None:
    def published(value: float, unit: str) -> Parameter:
        return Parameter(value=value, unit=unit)

    # 1 / 2.67 ns is 374.53 MB/s; 0.99964 GB/s is below 1 GB/s by four digits.
    one = Regime(min_B=0, max_B=None, alpha_s=published(12.346e-6, "s"), beta_s_per_B=published(2.67e-9, "s/B"))
    assert formulas(fit(one)) == ["T(n) = 12.35 µs + n / 374.5 MB/s for n ≥ 0"]
    assert r"\frac{n}{374.5\,\mathrm{MB/s}}" in latex(fit(one))
    one.beta_s_per_B = published(1 / 0.99964e9, "s/B")
    assert formulas(fit(one)) == ["T(n) = 12.35 µs + n / 999.6 MB/s for n ≥ 0"]


def test_regimes_that_share_a_break_do_not_overlap() -> None:
    two = fit(regime(0.21e-6, 10.9e9, 0, 4096, "eager"), regime(1.5e-6, 12.04e9, 4096, None, "rendezvous"))
    assert formulas(two) == [
        "T(n) = 0.21 µs + n / 10.9 GB/s for 0 ≤ n ≤ 4 KiB (eager)",
        "T(n) = 1.5 µs + n / 12 GB/s for n > 4 KiB (rendezvous)",
    ]


def test_a_gap_between_regimes_is_kept() -> None:
    two = fit(regime(1e-6, 1e9, 0, 4096), regime(2e-6, 1e9, 4097, 65536))
    assert formulas(two)[1] == "T(n) = 2 µs + n / 1 GB/s for 4097 B ≤ n ≤ 64 KiB"


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (regime(0.8e-6, None), "T(n) = 0.8 µs for n ≥ 0"),
        (regime(0.0, 2e9), "T(n) = n / 2 GB/s for n ≥ 0"),
        (regime(0.0, None), "T(n) = 0 µs for n ≥ 0"),
        (regime(-113e-6, 1.25e9), "T(n) = −113 µs + n / 1.25 GB/s for n ≥ 0"),
        (regime(3e-6, -1e9), "T(n) = 3 µs − n / 1 GB/s for n ≥ 0"),
        (regime(0.0, -1e9), "T(n) = −n / 1 GB/s for n ≥ 0"),
        (regime(1.23456e-3, 999.6e6), "T(n) = 1.23 ms + n / 1 GB/s for n ≥ 0"),
        (regime(1e-6, 1e9, 0, 65535), "T(n) = 1 µs + n / 1 GB/s for 0 ≤ n ≤ 64 KiB"),
        (regime(1e-6, 1e9, 0, 1000), "T(n) = 1 µs + n / 1 GB/s for 0 ≤ n ≤ 1000 B"),
        # What a solver leaves instead of zero does not show: at 64 B the second term is 1e-13 µs of 0.15 µs.
        (regime(0.15e-6, 6.5e23, 0, 64), "T(n) = 0.15 µs for 0 ≤ n ≤ 64 B"),
        (regime(1e-15, 8e9, 65536), "T(n) = n / 8 GB/s for n ≥ 64 KiB"),
        # Without an upper end every slope shows somewhere; without a lower end every constant does.
        (regime(0.15e-6, 6.5e23), "T(n) = 0.15 µs + n / 650000000000000 GB/s for n ≥ 0"),
        (regime(1e-9, 1e6), "T(n) = 1 ns + n / 1 MB/s for n ≥ 0"),
        # 1 µs against 64 KiB / 33 GB/s = 2 µs: both show.
        (regime(1e-6, 33e9, 64, 65536), "T(n) = 1 µs + n / 33 GB/s for 64 B ≤ n ≤ 64 KiB"),
        # Only whole sizes exist: 5792.6 bounds the same messages as 5792.
        (regime(1e-6, 1e9, 0, 5792.6), "T(n) = 1 µs + n / 1 GB/s for 0 ≤ n ≤ 5792 B"),
    ],
)
def test_one_regime(one: Regime, expected: str) -> None:
    assert formulas(fit(one)) == [expected]


def test_latex_of_one_regime_is_an_equation() -> None:
    assert latex(fit(regime(0.21e-6, 10.9e9))) == (r"T(n) = 0.21\,\mu\mathrm{s} + \frac{n}{10.9\,\mathrm{GB/s}}")


def test_latex_of_several_regimes_uses_cases() -> None:
    two = fit(regime(0.21e-6, 10.9e9, 0, 4096), regime(-1.5e-3, None, 4096))
    assert latex(two).splitlines() == [
        r"T(n) = \begin{cases}",
        r"  0.21\,\mu\mathrm{s} + \frac{n}{10.9\,\mathrm{GB/s}} & \text{for } 0 \le n \le 4\,\mathrm{KiB} \\",
        r"  -1.5\,\mathrm{ms} & \text{for } n > 4\,\mathrm{KiB}",
        r"\end{cases}",
    ]


def test_latex_is_plain_ascii_and_balanced() -> None:
    text = latex(fit(regime(1e-15, 3e9, 0, 64), regime(2e-6, -1e9, 64, 128), regime(0, 1e9, 129)))
    assert text.isascii()
    assert text.count("{") == text.count("}")
    assert r"10^{-6}" in text, "1e-15 s is 1e-6 ns: an exponent must not come out as 1e-06"
    assert not re.search(r"\de-?\d", text)


def test_latex_text_escapes_what_a_user_may_write() -> None:
    assert latex_text(r"tcp_1 & 50% #2 {x} ~a^b \c $") == (
        r"tcp\_1 \& 50\% \#2 \{x\} \textasciitilde{}a\textasciicircum{}b \textbackslash{}c \$"
    )


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (2.1e-7, "s", "0.21 µs"),
        (1.09e10, "B/s", "10.9 GB/s"),
        (65536, "B", "64 KiB"),
        (2288.6, "B", "2.23 KiB"),  # 2288.6 / 1024 = 2.2349…
        (1023.7, "B", "1 KiB"),
        (9.17e-11, "s/B", "0.0917 ns/B"),
        (-3e-6, "s", "−3 µs"),
        (0.5, "", "0.5"),
    ],
)
def test_quantity(value: float, unit: str, expected: str) -> None:
    assert quantity(value, unit) == expected


def test_interval_needs_both_ends() -> None:
    assert interval(Parameter(value=2e-7, low=1.9e-7, high=2.3e-7, unit="s")) == "0.19 to 0.23 µs"
    assert interval(Parameter(value=2e3, low=512, high=4096, unit="B")) == "512 B to 4 KiB"
    assert interval(Parameter(value=2e-7, low=1.9e-7, unit="s")) == "—"
    # 1.87e-05 ns, which a reader takes for something.
    assert interval(Parameter(value=3.7e-10, low=1.87e-14, high=6.43e-10, unit="s")) == "0 to 0.643 ns"
    # Small is what is small beside the other end, not what has an exponent.
    assert interval(Parameter(value=2e-5, low=1e-5, high=3e-5, unit="1")) == "1e-05 to 3e-05"
    assert interval(Parameter(value=2e-14, low=1e-14, high=3e-14, unit="s")) == "1e-05 to 3e-05 ns"
    assert interval(Parameter(value=1e-6, low=5e-10, high=2e-6, unit="s")) == "0 to 2 µs"


def test_a_number_without_an_interval_keeps_the_digits_of_papers() -> None:
    printed = Parameter(value=17.77e-6, unit="s")
    assert stated(printed) == "17.77 µs"
    assert stated(printed.model_copy(update={"low": 17e-6, "high": 18e-6})) == "17.8 µs"
    assert stated(Parameter(value=374.5e6, unit="B/s")) == "374.5 MB/s"


def test_a_share_has_no_unit() -> None:
    share = Parameter(value=0.967, low=0.966, high=0.968, unit="1")
    assert (stated(share), interval(share)) == ("0.967", "0.966 to 0.968")


def measured(*sizes_B: int) -> Entry:
    points = [Point(size_B=size_B, time_s=1.0) for size_B in sizes_B]
    fit = Fit(model="piecewise", regimes=[line(0, 1 / 2e9, 0, 1000), line(0, 1 / 5e9, 1000)])
    return Entry(
        operation="pingpong", fits={"piecewise": fit}, measurements=Measurements(campaign="", points=points)
    )


@pytest.mark.parametrize(
    ("sizes_B", "rate_B_per_s"),
    [((8, 1000, 2000), 2e9), ((8, 1000, 2000, 4000), 5e9), ((0, 2000), 5e9), ((), 5e9)],
)
def test_a_bandwidth_needs_two_sizes_where_any_regime_has_them(
    sizes_B: tuple[int, ...], rate_B_per_s: float
) -> None:
    entry = measured(*sizes_B)
    found = not_none(bandwidth(entry, entry.fits["piecewise"]))
    assert found.value == pytest.approx(rate_B_per_s)


def test_half_the_bandwidth_is_half_of_the_one_that_is_told() -> None:
    # 1 µs + n/2 GB/s: half is reached at 2000 B; one slow size beyond 1 MB says nothing of a slope.
    regimes = [line(1e-6, 1 / 2e9, 0, 1e6), line(1e-6, 1 / 1e8, 1e6)]
    points = [Point(size_B=size_B, time_s=1.0) for size_B in (8, 1000, 2_000_000)]
    fit = Fit(model="piecewise", regimes=regimes, n_half_B=Parameter(value=105.0, unit="B"))
    measurements = Measurements(campaign="", points=points)
    entry = Entry(operation="pingpong", fits={"piecewise": fit}, measurements=measurements)
    bandwidth_, size = bandwidth(entry, fit), half_bandwidth_size(entry, fit)
    assert bandwidth_ is not None
    assert size is not None
    assert bandwidth_.value / 2 == pytest.approx(size.value / (1e-6 + size.value / 2e9))
    # Where every slope was measured it is the model's own.
    more = [*points, Point(size_B=4_000_000, time_s=1.0)]
    whole = entry.model_copy(update={"measurements": Measurements(campaign="", points=more)})
    assert half_bandwidth_size(whole, fit) == fit.n_half_B
