"""extra_p: known growth is found where the package is installed; where it is not, that is said."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.capabilities import lacking

from hockney.errors import EnvironmentLack
from hockney.predict.estimators.base import Training
from hockney.predict.estimators.extra_p import fit
from hockney.predict.points import points

INSTALLED = importlib.util.find_spec("extrap") is not None
needs_extra_p = pytest.mark.skipif(not INSTALLED, reason=lacking("Extra-P", "it is not installed"))
# The package warns of what its own dependencies deprecate when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*class Meta.*")


def training(frame: pd.DataFrame) -> Training:
    return Training(points(frame, "bcast").frame, frame[:0], None, "bcast", "mean_over_ranks")


def growth(algorithm: str, ranks: int, size: int, mapping: str) -> float:
    base = 1e-6 + size * 1e-9 * {"core": 1, "node": 2}[mapping]
    return base + {"linear": 3e-7 * ranks, "binomial": 2e-6 * math.log2(ranks)}[algorithm]


@needs_extra_p
def test_linear_and_logarithmic_growth_are_found(bcast: Callable[..., pd.DataFrame]) -> None:
    asked = points(bcast(growth, ranks=[128, 1024]), "bcast").frame
    made = fit(training(bcast(growth))).predict(asked)
    # Both terms are in Extra-P's search space, so only rounding is left.
    assert made.time_s == pytest.approx(asked["time_s"].to_numpy(), rel=1e-6)
    assert np.isnan(made.low_s).all()
    assert made.note is None


@needs_extra_p
def test_few_numbers_of_ranks_are_told_and_one_is_not_enough(bcast: Callable[..., pd.DataFrame]) -> None:
    made = fit(training(bcast(growth, ranks=[2, 4, 8]))).predict(points(bcast(growth), "bcast").frame)
    assert made.note is not None
    assert "12 models" in made.note[0]  # two algorithms, three sizes, two mappings
    one = fit(training(bcast(growth, ranks=[8]))).predict(points(bcast(growth), "bcast").frame)
    assert np.isnan(one.time_s).all()


def test_without_the_package_the_way_to_it_is_told(
    bcast: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.import_module

    def missing(name: str, *rest: Any) -> Any:
        if name.startswith("extrap"):
            raise builtins.ModuleNotFoundError(name)
        return found(name, *rest)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(EnvironmentLack, match="not installed") as error:
        fit(training(bcast(growth)))
    assert error.value.hint == "pip install '.[extra-p]' in the folder of the clone"
