"""Numbers with intervals: one over them, their products."""

from __future__ import annotations

import pytest

from hockney.models.base import Parameter


def test_one_over_an_interval_turns_its_ends_round() -> None:
    rate = Parameter(value=4.0, low=2.0, high=8.0, unit="s").inverse
    assert (rate.value, rate.low, rate.high, rate.unit) == (0.25, 0.125, 0.5, "1/s")


@pytest.mark.parametrize("low", [0.0, -3e-5])
def test_one_over_an_interval_that_holds_zero_has_none(low: float) -> None:
    rate = Parameter(value=1e-5, low=low, high=5e-5, unit="s").inverse
    assert (rate.low, rate.high) == (None, None)
    product = rate.times(Parameter(value=2.0, low=1.0, high=3.0, unit="s"))
    assert product.value == pytest.approx(2e5)
    assert product.low is None
