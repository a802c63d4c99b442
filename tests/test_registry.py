"""The registry of units: look-up, unknown names, and a name used twice."""

from __future__ import annotations

import pytest
from tests.factories import refusing

from hockney.models.base import models
from hockney.registry import Registry


def test_an_unknown_name_is_answered_with_the_nearest_and_all_known() -> None:
    with refusing("unknown model 'piecewize'", "did you mean 'piecewise'?", "least_squares"):
        models.get("piecewize")


def test_a_name_cannot_be_registered_twice() -> None:
    registry: Registry[int] = Registry("number", "", "")
    registry.register("one")(1)
    with pytest.raises(ValueError, match="registered twice"):
        registry.register("one")(2)
