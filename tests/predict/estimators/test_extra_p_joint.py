"""extra_p_joint: known growth with ranks and bytes is found, also at sizes that were not trained."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from tests.capabilities import lacking

from hockney.predict.estimators.base import Training
from hockney.predict.estimators.extra_p_joint import fit
from hockney.predict.points import points

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("extrap") is None, reason=lacking("Extra-P", "it is not installed")
    ),
    # The package warns of what its own dependencies deprecate when it is imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*class Meta.*"),
]
SIZES = (8, 64, 512, 4096, 32768)
Table = Callable[..., pd.DataFrame]


def training(frame: pd.DataFrame) -> Training:
    return Training(points(frame, "bcast").frame, frame[:0], None, "bcast", "mean_over_ranks")


def growth(algorithm: str, ranks: int, size: int, mapping: str) -> float:
    base = 1e-6 + size * 1e-9 * {"core": 1, "node": 2}[mapping]
    return base + {"linear": 3e-7 * ranks, "binomial": 2e-6 * math.log2(ranks)}[algorithm]


def test_growth_with_ranks_and_bytes_is_found(bcast: Table) -> None:
    asked = points(bcast(growth, ranks=[128, 1024], sizes=[8, 4096, 20000]), "bcast").frame
    made = fit(training(bcast(growth, sizes=SIZES))).predict(asked)
    # All terms are in Extra-P's search space, so only rounding is left.
    assert made.time_s == pytest.approx(asked["time_s"].to_numpy(), rel=1e-6)
    assert np.isnan(made.low_s).all()
    assert made.note is None


def test_few_values_are_told_and_one_is_not_enough(bcast: Table) -> None:
    asked = points(bcast(growth), "bcast").frame
    made = fit(training(bcast(growth, sizes=[8, 64, 512]))).predict(asked)
    assert made.note is not None
    assert "4 models" in made.note[0]  # two algorithms, two mappings
    for absent in ({"ranks": [8]}, {"sizes": [8]}):
        assert np.isnan(fit(training(bcast(growth, **absent))).predict(asked).time_s).all()
