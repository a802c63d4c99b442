"""interpolation: exact between points of a law that is straight in logarithms, silent outside of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy.spatial import QhullError
from tests.factories import training

from hockney.predict.estimators.base import Prediction
from hockney.predict.estimators.interpolation import fit
from hockney.predict.points import points

Tables = Callable[..., pd.DataFrame]


def power(algorithm: str, ranks: int, size: int, _mapping: str) -> float:
    return float({"linear": 2e-6, "binomial": 1e-6}[algorithm] * ranks**0.7 * size**0.3)


def predicted(trained: pd.DataFrame, asked: pd.DataFrame) -> Prediction:
    return fit(training(trained)).predict(points(asked, "bcast").frame)


def test_a_power_of_ranks_and_bytes_comes_back_from_scattered_points(bcast: Tables) -> None:
    drawn = bcast(power, ranks=[2, 3, 5, 8, 13, 21, 34], sizes=[8, 64, 512, 4096])
    scattered = drawn[np.random.default_rng(2).random(len(drawn)) < 0.7]
    asked = bcast(power, ranks=[7, 10], sizes=[100, 700])
    made = predicted(scattered, asked)
    assert made.time_s == pytest.approx(asked["time_s"].to_numpy(), rel=1e-9)
    assert np.isnan(made.low_s).all()
    assert made.note is None


@pytest.mark.parametrize("outside", [{"ranks": [65]}, {"sizes": [4]}, {"mappings": ["far"]}])
def test_outside_of_the_points_nothing_is_said(bcast: Tables, outside: dict[str, object]) -> None:
    made = predicted(bcast(power), bcast(power, **({"ranks": [8], "sizes": [1024]} | outside)))
    assert np.isnan(made.time_s).all()
    assert made.note


@pytest.mark.parametrize("line", [{"ranks": [8]}, {"sizes": [64]}, {"ranks": [8], "sizes": [64]}])
def test_points_on_a_line_enclose_nothing(bcast: Tables, line: dict[str, object]) -> None:
    asked = bcast(power, ranks=[8], sizes=[64])
    assert np.isnan(predicted(bcast(power, **line), asked).time_s).all()


@pytest.mark.parametrize("ranks", [(24, 25, 48), (263, 342, 355), (3, 5, 7, 11, 13)])
def test_sizes_in_proportion_to_the_ranks_enclose_nothing(bcast: Tables, ranks: tuple[int, ...]) -> None:
    """A line in logarithms, but for their rounding: Qhull refuses the first and makes a triangle of the second. A
    group that encloses something is none the worse for it."""
    on_a_line = pd.concat([bcast(power, ranks=[count], sizes=[10**6 * count]) for count in ranks])
    both = pd.concat([on_a_line[on_a_line["algorithm"] == "linear"], bcast(power, algorithms=["binomial"])])
    asked = bcast(power, algorithms=["linear"], ranks=[ranks[1]], sizes=[10**6 * ranks[1]])
    assert np.isnan(predicted(both, asked).time_s).all()
    known = bcast(power, algorithms=["binomial"], ranks=[8], sizes=[1024])
    assert predicted(both, known).time_s == pytest.approx(known["time_s"].to_numpy(), rel=1e-9)


def test_what_the_triangulation_refuses_encloses_nothing(bcast: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise QhullError("QH6154 initial simplex is flat")

    monkeypatch.setattr("scipy.interpolate.LinearNDInterpolator", refuse)
    assert np.isnan(predicted(bcast(power), bcast(power, ranks=[8])).time_s).all()


def test_two_runs_of_one_place_count_as_their_geometric_mean(bcast: Tables) -> None:
    once = bcast(power, nodes=1)
    twice = pd.concat([once, once.assign(nodes=2, time_s=once["time_s"] * 4)])
    asked = bcast(power, ranks=[8], sizes=[1024])
    assert predicted(twice, asked).time_s == pytest.approx(2 * asked["time_s"].to_numpy(), rel=1e-9)
