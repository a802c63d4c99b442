"""Intervals of the runner hold the true median as often as they say, even where a narrow one ended the visit."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import lfilter
from tests.cpp.test_statistics import compiled
from tests.factories import draws, record

from hockney import _core
from hockney.campaign.plan import Plan
from hockney.records.levels import common
from hockney.records.visits import LEAST_SAMPLES, levels_of, samples_at

Array = NDArray[np.float64]

STREAMS, LENGTH = draws(4000), 2000
SPREAD = 0.05
"""Of each stream, relatively: so wide that the tolerances below are met after some hundred samples."""


class Kind(NamedTuple):
    """Streams of unit size: their median and density there are known, and how neighbours are correlated."""

    deviations: Array
    median: float
    density: float
    correlation: float = 0.0

    def oracle_width(self, count: Array) -> Array:
        """The 95 % interval of who knows the kind, after so many samples (asymptotic variance of a median)."""
        inflation = np.ones_like(count)
        for index, n in enumerate(count):
            lag = np.arange(1, n)
            # Orthant probabilities: signs of normal values with correlation r have correlation (2/π) asin r.
            inflation[index] += 2 * np.sum((1 - lag / n) * np.arcsin(self.correlation**lag) * 2 / np.pi)
        width: Array = 2 * 1.96 * np.sqrt(inflation / count) / (2 * self.density)
        return width


def streams(kind: str) -> Kind:
    rng = np.random.default_rng(17)
    shape = (STREAMS, LENGTH)
    if kind == "independent":
        return Kind(rng.exponential(size=shape), np.log(2), 0.5)
    if kind == "heavy_tailed":
        # |t| with two degrees of freedom has no variance; its median is √(2/3), its density there 2·0.2297.
        return Kind(np.abs(rng.standard_t(2, size=shape)), np.sqrt(2 / 3), 2 * 0.229655)
    correlation = float(kind)
    noise = rng.normal(size=shape)
    noise[:, 1:] *= np.sqrt(1 - correlation**2)
    return Kind(lfilter([1], [1, -correlation], noise, axis=1), 0.0, 1 / np.sqrt(2 * np.pi), correlation)


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("coverage"), ["-O2"])


def stopped(harness: Path, path: Path, samples: Array, tolerance: float) -> tuple[Array, Array, Array]:
    """After how many samples the runner ended each stream, and the interval that it had then."""
    samples.tofile(path)
    least = Plan.model_fields["least_samples"].default
    words = f"stop_each {path} {LENGTH} {tolerance} {least}\n"
    done = subprocess.run([harness], input=words, text=True, capture_output=True, check=True)
    after, low, high = (np.array(json.loads(done.stdout)[each]) for each in ("after", "low_s", "high_s"))
    return after, low, high


@pytest.mark.parametrize(
    "tolerance", [0.05, *(pytest.param(tolerance, marks=pytest.mark.thorough) for tolerance in (0.02, 0.01))]
)
@pytest.mark.parametrize(
    "name", ["independent", "heavy_tailed", "0.7", pytest.param("0.9", marks=pytest.mark.thorough)]
)
def test_intervals_cover_after_stopping(harness: Path, tmp_path: Path, name: str, tolerance: float) -> None:
    kind = streams(name)
    after, low, high = stopped(harness, tmp_path / "streams", 1 + SPREAD * kind.deviations, tolerance)
    true = 1 + SPREAD * kind.median
    covers = float(np.mean((low <= true) & (true <= high)))
    width = float(np.median((high - low) / (SPREAD * kind.oracle_width(after))))
    print(f"{name}, tolerance {tolerance}: {covers:.1%}, {width:.2f} times as wide, after {np.median(after):.0f}")
    assert len(after) == STREAMS
    assert covers >= 0.935
    assert width <= 1.5


GROUP = 10
SLOWER = 1.4
STAY = 40
"""Groups, on average, that the usual level lasts; the other lasts half as long."""


def two_levels(rng: np.random.Generator) -> tuple[Array, Array]:
    """Samples, shape (STREAMS, LENGTH), and references between their groups, of a machine with two levels."""
    count = LENGTH // GROUP + 1
    is_slow = np.empty((STREAMS, count), dtype=bool)
    is_slow[:, 0] = rng.random(STREAMS) < 1 / 3
    for place in range(1, count):
        leaves = rng.random(STREAMS) < np.where(is_slow[:, place - 1], 2, 1) / STAY
        is_slow[:, place] = is_slow[:, place - 1] ^ leaves
    factor = np.where(is_slow, SLOWER, 1.0)
    # A group in which the level changes is half at one and half at the other.
    of_samples = np.concatenate(
        [np.repeat(factor[:, side, None], GROUP // 2, axis=2) for side in (slice(0, -1), slice(1, None))], axis=2
    ).reshape(STREAMS, LENGTH)
    samples = of_samples * (1 + SPREAD * rng.exponential(size=(STREAMS, LENGTH)))
    return samples, 1e-7 * factor * np.exp(0.01 * rng.standard_normal(factor.shape))


def test_intervals_at_a_level_cover_after_stopping(harness: Path, tmp_path: Path) -> None:
    """The runner stops by all samples, whatever their level; what counts are those of the common one."""
    samples, references_s = two_levels(np.random.default_rng(17))
    after, _, _ = stopped(harness, tmp_path / "streams", samples, 0.05)
    visits = []
    for stream, count in enumerate(after.astype(int)):
        begins = list(range(0, count, GROUP))
        boundaries = references_s[stream, : len(begins) + 1].tolist()
        visits.append(
            record(
                8,
                1.0,
                pair="0-1",
                samples=samples[stream, :count].tolist(),
                group_begins=begins,
                reference_s=boundaries,
                reference_iqr_s=[0.01 * reference_s for reference_s in boundaries],
            )
        )
    levels = levels_of(visits[:50])
    (of_ranks,) = levels.values()
    assert [round(level.reference_s / 1e-7, 1) for level in of_ranks] == [1.0, SLOWER]
    at_level = [at for visit in visits if (at := samples_at(visit, levels, common)).size >= LEAST_SAMPLES]
    assert len(at_level) > STREAMS / 2
    intervals = np.array([_core.median_interval(at.tolist()) for at in at_level])
    true = 1 + SPREAD * np.log(2)
    covers = float(np.mean((intervals[:, 1] <= true) & (true <= intervals[:, 2])))
    # The asymptotic variance of a median of exponentials, as for the independent streams.
    oracle = 2 * 1.96 * SPREAD / np.sqrt([at.size for at in at_level])
    width = float(np.median((intervals[:, 2] - intervals[:, 1]) / oracle))
    print(f"two levels: {covers:.1%}, {width:.2f} times as wide, of {np.median([a.size for a in at_level]):.0f}")
    assert covers >= 0.935
    assert width <= 1.5
