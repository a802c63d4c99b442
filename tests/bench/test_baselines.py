"""The baselines of the accuracy page: the nearest trained run as it was; growth that Extra-P finds or lacks."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bench.baselines import extra_p, extra_p_joint, last_slope, nearest_ranks, textbook_hockney
from tests.capabilities import lacking
from tests.factories import not_none, refusing, training
from tests.predict.conftest import bcast as bcast

from hockney.errors import EnvironmentLack
from hockney.models.collectives.closed_form import closed_form
from hockney.models.collectives.expression import FormulaCall
from hockney.predict.estimators.base import FittedEstimator, Prediction, Training
from hockney.predict.points import points

Tables = Callable[..., pd.DataFrame]
Estimator = Callable[[Training], FittedEstimator]
needs_extra_p = pytest.mark.skipif(
    importlib.util.find_spec("extrap") is None, reason=lacking("Extra-P", "it is not installed")
)
# The package warns of what its own dependencies deprecate when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*class Meta.*")
SIZES = (8, 64, 512, 4096, 32768)


def by_ranks(_algorithm: str, ranks: int, size: int, _mapping: str) -> float:
    return float(ranks * size * 1e-9)


def predicted(trained: pd.DataFrame, asked: pd.DataFrame) -> Prediction:
    training = Training(points(trained, "bcast").frame, trained[:0], None, "bcast", "mean_over_ranks")
    return nearest_ranks(training).predict(points(asked, "bcast").frame)


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


def test_times_that_follow_the_formulas_are_predicted_exactly(bcast: Tables) -> None:
    def law(algorithm: str, ranks: int, size: int, mapping: str) -> float:
        alpha, size_B, _ = not_none(closed_form("bcast", algorithm)).counts(FormulaCall(ranks, size))
        return float(alpha * 2e-6 + size_B * 1e-10) * {"core": 1, "node": 4}[mapping]

    names = ["linear", "binomial", "chain", "binary"]
    asked = points(bcast(law, algorithms=[*names, "knomial"], ranks=[3, 500], sizes=[1, 2**20]), "bcast").frame
    made = textbook_hockney(training(bcast(law, algorithms=names))).predict(asked)
    # Relative to rounding of the least squares, whose columns span ten decades.
    assert made.time_s == pytest.approx(asked["time_s"].to_numpy(), rel=1e-6)
    assert made.high_s == pytest.approx(made.time_s, rel=1e-6)


def test_the_last_slope_is_that_of_the_two_largest_runs(bcast: Tables) -> None:
    def squared_late(_algorithm: str, ranks: int, size: int, _mapping: str) -> float:
        return float(max(ranks, 16) ** 2 * size * 1e-12)

    known = points(bcast(squared_late, ranks=[4, 16, 64]), "bcast").frame
    asked = points(bcast(squared_late, ranks=[256]), "bcast").frame
    training = Training(known, known[:0], None, "bcast", "mean_over_ranks")
    assert last_slope(training).predict(asked).time_s == pytest.approx(asked["time_s"].to_numpy())
    alone = replace(training, points=known[known["ranks"] == 4].reset_index(drop=True))
    assert np.isnan(last_slope(alone).predict(asked).time_s).all()


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


def growth(algorithm: str, ranks: int, size: int, mapping: str) -> float:
    base = 1e-6 + size * 1e-9 * {"core": 1, "node": 2}[mapping]
    return base + {"linear": 3e-7 * ranks, "binomial": 2e-6 * math.log2(ranks)}[algorithm]


def trained(frame: pd.DataFrame) -> Training:
    return Training(points(frame, "bcast").frame, frame[:0], None, "bcast", "mean_over_ranks")


@needs_extra_p
@pytest.mark.parametrize(("fit", "sizes"), [(extra_p, (8, 1024)), (extra_p_joint, (8, 4096, 20000))])
def test_growth_is_found(fit: Estimator, sizes: tuple[int, ...], bcast: Tables) -> None:
    asked = points(bcast(growth, ranks=[128, 1024], sizes=sizes), "bcast").frame
    made = fit(trained(bcast(growth, sizes=(*SIZES, 1024)))).predict(asked)
    # All terms are in Extra-P's search space, so only rounding is left.
    assert made.time_s == pytest.approx(asked["time_s"].to_numpy(), rel=1e-6)
    assert np.isnan(made.low_s).all()
    assert made.note is None


@needs_extra_p
@pytest.mark.parametrize(
    ("fit", "few", "one"),
    # Two algorithms, two mappings, and of models of ranks alone three sizes.
    [(extra_p, ("12 models", {"ranks": [2, 4, 8]}), {"ranks": [8]})]
    + [(extra_p_joint, ("4 models", {"sizes": [8, 64, 512]}), one) for one in ({"ranks": [8]}, {"sizes": [8]})],
)
def test_few_values_are_told_and_one_is_not_enough(
    fit: Estimator, few: tuple[str, Mapping[str, Any]], one: Mapping[str, Any], bcast: Tables
) -> None:
    asked, (count, table) = points(bcast(growth), "bcast").frame, few
    made = fit(trained(bcast(growth, **table))).predict(asked)
    assert count in not_none(made.note)[0]
    assert np.isnan(fit(trained(bcast(growth, **one))).predict(asked).time_s).all()


def test_without_the_package_the_way_to_it_is_told(bcast: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    present = importlib.import_module

    def missing(name: str, *rest: Any) -> Any:
        if name.startswith("extrap"):
            raise ModuleNotFoundError(name)
        return present(name, *rest)

    monkeypatch.setattr(importlib, "import_module", missing)
    with refusing("not installed", "pip install 'extrap", kind=EnvironmentLack):
        extra_p(trained(bcast(growth)))
