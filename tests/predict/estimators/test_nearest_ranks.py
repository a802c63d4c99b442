"""nearest_ranks: the nearest trained run as it was, and nothing beyond its sizes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from hockney.predict.estimators.base import Prediction, Training
from hockney.predict.estimators.nearest_ranks import fit
from hockney.predict.points import points

Tables = Callable[..., pd.DataFrame]


def by_ranks(_algorithm: str, ranks: int, size: int, _mapping: str) -> float:
    return float(ranks * size * 1e-9)


def predicted(trained: pd.DataFrame, asked: pd.DataFrame) -> Prediction:
    training = Training(points(trained, "bcast").frame, trained[:0], None, "bcast", "mean_over_ranks")
    return fit(training).predict(points(asked, "bcast").frame)


@pytest.mark.parametrize(("asked", "nearest"), [(1000, 64), (2, 4), (5, 4), (12, 16), (8, 16), (40, 64)])
def test_the_nearest_by_ratio_answers(bcast: Tables, asked: int, nearest: int) -> None:
    """8 is as near to 4 as to 16: the larger. 40 / 16 is more than 64 / 40."""
    made = predicted(
        bcast(by_ranks, ranks=[4, 16, 64]), bcast(by_ranks, ranks=[asked], sizes=[1024], algorithms=["linear"])
    )
    assert made.time_s == pytest.approx(np.full(2, nearest * 1024e-9), rel=1e-9)
    assert np.isnan(made.low_s).all()
    assert made.note is None


def test_between_two_sizes_of_that_run_times_are_a_power_of_the_size(bcast: Tables) -> None:
    asked = bcast(by_ranks, ranks=[8], sizes=[300])
    made = predicted(bcast(by_ranks, ranks=[8]), asked)
    assert made.time_s == pytest.approx(asked["time_s"].to_numpy(), rel=1e-9)


def test_a_run_without_the_size_is_passed_over(bcast: Tables) -> None:
    """16 ranks are nearest to 12, but sent 8 B alone; 4 ranks sent less and more."""
    trained = pd.concat([bcast(by_ranks, ranks=[16], sizes=[8]), bcast(by_ranks, ranks=[4], sizes=[8, 4096])])
    asked = bcast(by_ranks, ranks=[12], sizes=[8, 64], mappings=["core"], algorithms=["linear"])
    made = predicted(trained, asked)
    assert made.time_s == pytest.approx([16 * 8e-9, 4 * 64e-9], rel=1e-9)


@pytest.mark.parametrize("other", [{"sizes": [4]}, {"sizes": [2**17]}, {"mappings": ["far"]}, {"system": "t"}])
def test_what_no_run_shows_is_refused(bcast: Tables, other: dict[str, object]) -> None:
    made = predicted(bcast(by_ranks), bcast(by_ranks, **({"ranks": [8]} | other)))
    assert np.isnan(made.time_s).all()
    assert made.note
