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

from hockney.campaign.plan import Plan

Array = NDArray[np.float64]

STREAMS, LENGTH = 4000, 2000
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


@pytest.mark.parametrize(
    "tolerance", [0.05, *(pytest.param(tolerance, marks=pytest.mark.thorough) for tolerance in (0.02, 0.01))]
)
@pytest.mark.parametrize("name", ["independent", "heavy_tailed", "0.7", "0.9"])
def test_intervals_cover_after_stopping(harness: Path, tmp_path: Path, name: str, tolerance: float) -> None:
    kind = streams(name)
    path = tmp_path / "streams"
    (1 + SPREAD * kind.deviations).tofile(path)
    least = Plan.model_fields["least_samples"].default
    done = subprocess.run(
        [harness],
        input=f"stop_each {path} {LENGTH} {tolerance} {least}\n",
        text=True,
        capture_output=True,
        check=True,
    )
    after, low, high = (np.array(json.loads(done.stdout)[each]) for each in ("after", "low_s", "high_s"))
    true = 1 + SPREAD * kind.median
    covers = float(np.mean((low <= true) & (true <= high)))
    width = float(np.median((high - low) / (SPREAD * kind.oracle_width(after))))
    print(f"{name}, tolerance {tolerance}: {covers:.1%}, {width:.2f} times as wide, after {np.median(after):.0f}")
    assert len(after) == STREAMS
    assert covers >= 0.935
    assert width <= 1.5
