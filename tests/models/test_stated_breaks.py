"""Breaks that a library states: the regimes of piecewise end there where the data agree, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from hockney.models.base import Fit, corrected, models, predict
from hockney.records.series import Series

SIZES = np.array([0.0, *(2.0 ** np.arange(23))])


def fit(size_B: np.ndarray, time_s: np.ndarray, eager_limit_B: float | None = None) -> Fit:
    return models.get("piecewise")(Series({}, size_B, time_s, time_s, time_s, eager_limit_B))


@pytest.mark.parametrize("belongs_below", [True, False])
def test_the_stated_eager_limit_is_the_break(belongs_below: bool) -> None:
    limit = 4096.0
    eager = limit >= SIZES if belongs_below else limit > SIZES
    time = np.where(eager, 1e-6 + SIZES * 2e-10, 3e-6 + SIZES * 1e-10)
    found = fit(SIZES, time, limit)
    assert [regime.label for regime in found.regimes] == ["eager", "rendezvous"]
    # A library that counts its header against the limit sends the message of that size by rendezvous.
    assert found.regimes[0].max_B == (limit if belongs_below else limit - 1)
    assert np.allclose(predict(found, SIZES), time, rtol=1e-9)


def test_a_stated_limit_that_the_data_do_not_show_makes_no_regime() -> None:
    found = fit(SIZES, 1e-6 + SIZES * 1e-10, 4096.0)
    assert len(found.regimes) == 1
    assert found.regimes[0].label == ""


def test_further_stated_breaks_are_the_breaks_where_the_data_agree() -> None:
    """As Open MPI inside a host: 256 B inline, 2,112 B copied plainly, 4,016 B eager; nothing else lies there."""
    size = np.array([0, 8, 32, 128, 512, 1024, 2048, 3072, 8192, 16384, 65536, 2**20], float)
    time = np.select([size <= 256, size <= 4016], [1e-7 + size * 6e-11, 2e-7 + size * 1e-11], 2e-6 + size * 6e-11)
    series = Series({}, size, time, time, time, eager_limit_B=4016, breaks_B=(256, 2112))
    found = models.get("piecewise")(series)
    assert [regime.max_B for regime in found.regimes] == [256, 4016, None]
    assert [regime.label for regime in found.regimes] == ["eager", "eager", "rendezvous"]
    hidden = np.array([200.0, 256.0, 257.0, 300.0, 2000.0, 4016.0])
    truth = np.where(hidden <= 256, 1e-7 + hidden * 6e-11, 2e-7 + hidden * 1e-11)
    assert np.allclose(predict(found, hidden), truth, rtol=1e-9)
    assert np.allclose(corrected(found, hidden, series), truth, rtol=1e-9), "so does the correction"


@pytest.mark.parametrize(("eager_limit_B", "expected_B"), [(8112.0, 8112), (None, 8191), (9e9, 8191)])
def test_of_two_stated_breaks_in_one_gap_it_is_the_eager_limit(
    eager_limit_B: float | None, expected_B: float
) -> None:
    size = np.array([2.0**exponent for exponent in range(6, 20)])
    time = np.where(size <= 8000, 1e-6 + size * 1e-10, 5e-6 + size * 1e-10)
    found = models.get("piecewise")(Series({}, size, time, time, time, eager_limit_B, (8000, 8112, 8192)))
    assert [regime.max_B for regime in found.regimes] == [expected_B, None]


def test_a_stated_break_costs_nothing_where_the_data_show_another() -> None:
    size = np.array([1, 4, 16, 64, 256, 257, 1024, 4096], float)
    time = np.where(size <= 256, 1e-6 + size * 1e-9, 7e-7 + size * 3e-10)
    beside = models.get("piecewise")(Series({}, size, time, time * 0.998, time * 1.002, breaks_B=(256,)))
    assert predict(beside, size) == pytest.approx(time, rel=1e-6)
    # Lines that meet at 1,505 B: there is nothing at 2,112 B.
    size = np.array([4.0**exponent for exponent in range(9)])
    time = np.minimum(1e-6 + size * 1e-9, 2.4e-6 + size * 7e-11)
    unstated: tuple[float, ...] = ()
    for breaks_B in (unstated, (2112.0,)):
        met = models.get("piecewise")(Series({}, size, time, time, time, breaks_B=breaks_B))
        assert predict(met, np.array([1500.0, 2000.0])) == pytest.approx([2.5e-6, 2.54e-6])
