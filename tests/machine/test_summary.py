"""Inverses of parameters and their intervals."""

from __future__ import annotations

import pytest

from hockney.machine.file import Entry, Measurements, Point
from hockney.machine.summary import bandwidth, inverse
from hockney.models.base import Fit, Parameter, Regime


def test_the_ends_of_the_interval_change_places() -> None:
    found = inverse(Parameter(value=0.5, low=0.25, high=1.0, unit="s/B"), "B/s", 2)
    assert found == Parameter(value=4.0, low=2.0, high=8.0, unit="B/s")


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 1.0), (None, 1.0), (None, None)])
def test_an_interval_that_holds_zero_has_no_inverse(low: float | None, high: float | None) -> None:
    found = inverse(Parameter(value=0.5, low=low, high=high, unit="s/B"), "B/s")
    assert found == Parameter(value=2.0, unit="B/s")


def test_zero_has_no_inverse() -> None:
    assert inverse(Parameter(value=0.0, unit="s/B"), "B/s") is None


def measured(*sizes_B: int) -> Entry:
    def line(low_B: float, high_B: float | None, rate_B_per_s: float) -> Regime:
        zero = Parameter(value=0.0, unit="s")
        slope = Parameter(value=1 / rate_B_per_s, unit="s/B")
        return Regime(min_B=low_B, max_B=high_B, alpha_s=zero, beta_s_per_B=slope)

    points = [Point(size_B=size_B, time_s=1.0) for size_B in sizes_B]
    fit = Fit(model="piecewise", regimes=[line(0, 1000, 2e9), line(1000, None, 5e9)])
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
    found = bandwidth(entry, entry.fits["piecewise"])
    assert found is not None
    assert found.value == pytest.approx(rate_B_per_s)
