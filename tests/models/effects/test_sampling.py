"""Intervals of effects hold the truth as often as they say, where neighbouring samples resemble each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import lfilter
from tests.answers import answering
from tests.models.effects import test_congestion, test_overlap

from hockney.models.base import Parameter
from hockney.models.effects import _sampling, overlap
from hockney.models.effects._sampling import MOST_STRETCHES, resampled_medians, stretches, widening
from hockney.models.effects.base import effect_models

SAMPLES, GROUP = 400, 16
BEGINS = list(range(0, SAMPLES, GROUP))
NOISE = 0.05
TRIALS = 150


def correlated(lot: np.random.Generator, memory: float) -> NDArray[np.float64]:
    """A process that remembers that share of its last value, around 1 with a deviation of `NOISE`."""
    shocks = lot.standard_normal(SAMPLES) * np.sqrt(1 - memory**2)
    shocks[0] = lot.standard_normal()
    return 1 + NOISE * np.asarray(lfilter([1], [1, -memory], shocks))


def single(_: object, samples: int) -> NDArray[np.int_]:
    """Each sample as a stretch of its own: what is wrong with correlated ones."""
    return np.arange(samples)


@pytest.mark.parametrize("memory", [0.7, *(pytest.param(m, marks=pytest.mark.thorough) for m in (0.0, 0.9))])
def test_medians_of_stretches_cover(memory: float) -> None:
    lot = np.random.default_rng(int(10 * memory))
    held = {"stretches": 0, "single": 0}
    for _ in range(TRIALS):
        samples = correlated(lot, memory)
        for name, stretch in (("stretches", stretches(BEGINS, SAMPLES)), ("single", single(BEGINS, SAMPLES))):
            low, high = np.quantile(resampled_medians(samples, stretch, 200, lot), [0.025, 0.975])
            held[name] += low <= 1 <= high
    assert held["stretches"] >= 0.93 * TRIALS
    assert (held["single"] >= 0.8 * TRIALS) == (memory == 0)


def alpha(lot: np.random.Generator) -> Parameter:
    """The start-up of a pair alone, of windows that take 2 s."""
    empty, *others = test_congestion.alone(0)
    samples_s = (2 * correlated(lot, 0.7)).tolist()
    words = {"samples_s": samples_s, "time_s": float(np.median(samples_s)), "group_begins": BEGINS}
    found = effect_models.get("congestion")([answering(empty, **words), *others])
    return found.parameters["alpha_s"]


def hidden(lot: np.random.Generator) -> Parameter:
    """The overlap of a transfer of 1 ms with a computation of 2 ms, both together 2 ms: all of it."""
    words = {
        "alone_s": (1e-3 * correlated(lot, 0.7)).tolist(),
        "total_s": (2e-3 * correlated(lot, 0.7)).tolist(),
    }
    record = test_overlap.record(2**20, "sender", 0)
    answer = answering(record, computation_s=2e-3, group_begins=BEGINS, **words)
    return effect_models.get("overlap")([answer]).parameters["overlap_send_rendezvous"]


@pytest.mark.thorough
@pytest.mark.parametrize("parameter", [alpha, hidden], ids=lambda parameter: parameter.__name__)
def test_intervals_of_effects_cover_where_samples_are_correlated(
    parameter: Callable[[np.random.Generator], Parameter], monkeypatch: pytest.MonkeyPatch
) -> None:
    def coverage() -> float:
        lot = np.random.default_rng(1)
        found = [parameter(lot) for _ in range(TRIALS)]
        return float(np.mean([each.low is not None and each.low <= 1 <= (each.high or 0) for each in found]))

    assert coverage() >= 0.93
    for module in (_sampling, overlap):
        monkeypatch.setattr(module, "MOST_STRETCHES", SAMPLES)
        monkeypatch.setattr(module, "stretches", single)
    assert coverage() < 0.8


def test_stretches_are_runs_of_whole_groups() -> None:
    begins = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 50, 90]
    stretch = stretches(begins, 100)
    assert np.unique(stretch).size == MOST_STRETCHES
    assert np.all(np.diff(stretch) >= 0)
    assert len(set(stretch[50:90])) == len(set(stretch[90:])) == 1
    # Fewer groups than stretches are no units to draw; samples in a row are.
    assert np.bincount(stretches([0, 50], 100)).tolist() == [10] * 10
    assert stretches([], 3).tolist() == [0, 1, 2]


def test_few_stretches_widen_by_student() -> None:
    # t(4) = 2.776, and replicates of ten have 9/10 of the variance.
    assert widening(10) == pytest.approx(2.776 / 1.96 * np.sqrt(10 / 9), rel=1e-3)
    assert widening(2) == pytest.approx(12.706 / 1.96 * np.sqrt(2), rel=1e-3)
    assert widening(1) == 1


def test_widened_medians_stay_within_what_was_seen() -> None:
    samples = np.array([1.0] * 6 + [2.0] * 4)
    medians = resampled_medians(samples, np.arange(10), 200, np.random.default_rng(0))
    assert (medians.min(), medians.max()) == (1, 2)
