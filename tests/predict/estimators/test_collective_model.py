"""collective_model: exact where the law is one of its forms, silent on what it did not see."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from tests.factories import training

from hockney.errors import RequestError
from hockney.predict.estimators.base import Prediction
from hockney.predict.estimators.collective_model import fit
from hockney.predict.points import points

Tables = Callable[..., pd.DataFrame]
SIZES = (8, 64, 512, 4096, 32768)


def law(algorithm: str, ranks: int, size: int, _mapping: str) -> float:
    rounds = ranks - 1 if algorithm == "linear" else (ranks - 1).bit_length()
    return float(2e-6 + rounds * (1e-6 + 1e-9 * size))


def predicted(trained: pd.DataFrame, asked: pd.DataFrame) -> Prediction:
    return fit(training(trained)).predict(points(asked, "bcast").frame)


def test_a_law_of_its_terms_comes_back_between_and_beyond(bcast: Tables) -> None:
    asked = bcast(law, ranks=[12, 200], sizes=[100, 10**6])
    made = predicted(bcast(law, sizes=SIZES), asked)
    # Exact times: what is left is the interpolation of residuals of rounding.
    assert made.time_s == pytest.approx(points(asked, "bcast").frame["time_s"].to_numpy(), rel=1e-6)
    assert (made.low_s <= made.time_s).all()
    assert (made.time_s <= made.high_s).all()


def test_a_placement_that_was_not_trained_has_no_time(bcast: Tables) -> None:
    made = predicted(bcast(law, sizes=SIZES), bcast(law, mappings=["far"]))
    assert np.isnan(made.time_s).all()
    assert made.note


def test_too_few_points_are_refused(bcast: Tables) -> None:
    with pytest.raises(RequestError, match="points enough"):
        predicted(bcast(law, ranks=[8], sizes=[64]), bcast(law, ranks=[8], sizes=[64]))
