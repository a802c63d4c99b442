"""What is drawn again for intervals: stretches of neighbouring samples, as samples resemble those beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hockney.statistics import NORMAL, Array, t_reach

MOST_STRETCHES = 10
"""Few and long ones hold what neighbours share; `widening` is then 1.5."""


def stretches(group_begins: Sequence[int], samples: int) -> NDArray[np.int_]:
    """The number of the stretch of each sample, shape (samples,): ten, or as many as there are samples.

    A stretch is a run of whole groups between references; of samples, where fewer than ten groups were recorded.
    """
    begins = np.asarray(group_begins) if len(group_begins) >= MOST_STRETCHES else np.arange(samples)
    group = np.searchsorted(begins, np.arange(samples), side="right") - 1
    return np.asarray(group * min(MOST_STRETCHES, begins.size) // max(begins.size, 1))


def widening(stretches: int) -> float:
    """By how much the deviations of replicates, drawn from so few stretches, are too small for a 95 % interval.

    Their variance is (n − 1)/n of what it should be, and an estimate itself: for medians with half of the n − 1
    degrees of freedom (Student's t), as tests/models/effects/test_resampling.py shows. 1 for a single stretch, of
    which nothing follows.
    """
    if stretches < 2:
        return 1.0
    return t_reach(1.0, max(1, (stretches - 1) // 2)) / NORMAL * math.sqrt(stretches / (stretches - 1))


def places(stretch: NDArray[np.int_]) -> list[NDArray[np.int_]]:
    """The indices of the samples of each stretch."""
    return [np.flatnonzero(stretch == number) for number in np.unique(stretch)]


def draw(places: Sequence[NDArray[np.int_]], lot: np.random.Generator) -> NDArray[np.int_]:
    """Indices of the samples of as many whole stretches as there are, drawn with replacement."""
    return np.concatenate([places[chosen] for chosen in lot.integers(len(places), size=len(places))])


def resampled_medians(
    samples: Array, stretch: NDArray[np.int_], replicates: int, lot: np.random.Generator
) -> Array:
    """Medians of draws of whole stretches, shape (replicates,), widened, but not beyond what was seen.

    `samples`, all positive, and the `stretch` of each have shape (n,).
    """
    of_stretch = places(stretch)
    medians = np.array([np.median(samples[draw(of_stretch, lot)]) for _ in range(replicates)])
    centre = float(np.median(samples))
    widened = centre * (medians / centre) ** widening(len(of_stretch))
    return np.clip(widened, samples.min(), samples.max())
