"""Inverses of parameters and their intervals."""

from __future__ import annotations

import pytest

from hockney.machine.file import Entry, Measurements, Point
from hockney.machine.summary import bandwidth, half_bandwidth_size, inverse
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


def test_half_the_bandwidth_is_half_of_the_one_that_is_told() -> None:
    # 1 µs + n/2 GB/s: half is reached at 2000 B; one slow size beyond 1 MB says nothing of a slope.
    regimes = [
        Regime(
            min_B=low_B,
            max_B=high_B,
            alpha_s=Parameter(value=1e-6, unit="s"),
            beta_s_per_B=Parameter(value=1 / rate, unit="s/B"),
        )
        for low_B, high_B, rate in ((0, 1e6, 2e9), (1e6, None, 1e8))
    ]
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
