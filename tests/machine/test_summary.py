"""Inverses of parameters and their intervals."""

from __future__ import annotations

import pytest

from hockney.machine.summary import inverse
from hockney.models.base import Parameter


def test_the_ends_of_the_interval_change_places() -> None:
    found = inverse(Parameter(value=0.5, low=0.25, high=1.0, unit="s/B"), "B/s", 2)
    assert found == Parameter(value=4.0, low=2.0, high=8.0, unit="B/s")


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 1.0), (None, 1.0), (None, None)])
def test_an_interval_that_holds_zero_has_no_inverse(low: float | None, high: float | None) -> None:
    found = inverse(Parameter(value=0.5, low=low, high=high, unit="s/B"), "B/s")
    assert found == Parameter(value=2.0, unit="B/s")


def test_zero_has_no_inverse() -> None:
    assert inverse(Parameter(value=0.0, unit="s/B"), "B/s") is None
