"""Samples of equal questions together, and intervals by bootstrap of stretches of neighbouring ones.

Samples resemble those beside them: stretches of them are drawn again, not single ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hockney.models.base import Parameter
from hockney.records.answers import StreamsAnswer
from hockney.records.effect_record import EffectRecord, answered
from hockney.records.levels import Level
from hockney.records.visits import Levels, Ranks, is_at, levels_by
from hockney.statistics import NORMAL, TAILS, Array, t_reach

MOST_STRETCHES = 10
"""Few and long ones hold what neighbours share; `widening` is then 1.5."""
REPLICATES = 200
"""The ends of a 95 % interval are then the fifth of the replicates from either end."""


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
    degrees of freedom (Student's t), as tests/models/effects/test_sampling.py shows. 1 for a single stretch, of
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


@dataclass(frozen=True)
class Windows:
    """Times in seconds, shape (n,), and the stretch that each was measured in."""

    time_s: Array
    stretch: NDArray[np.int_]

    def medians(self, lot: np.random.Generator) -> Array:
        """Replicates of the median, shape (REPLICATES,)."""
        return resampled_medians(self.time_s, self.stretch, REPLICATES, lot)


def levels_of(records: Sequence[EffectRecord]) -> dict[Ranks, list[Level]]:
    """The levels of each group of members, as the references between their samples tell them."""
    return levels_by(
        (_members(record), answered(record, StreamsAnswer)) for record in records if not record.oversubscribed
    )


def windows(records: Sequence[EffectRecord], levels: Levels, *, per_message: bool = False) -> Windows:
    """Times of windows, or of each of their messages, without the samples that the runner set aside.

    The records are visits of one question. Samples at the common level of their members count, or all of them
    where no visit met it undisturbed.
    """
    answers = [answered(record, StreamsAnswer) for record in records]
    kept = []
    for record, answer in zip(records, answers, strict=True):
        of_members = () if record.oversubscribed else levels.get(_members(record), ())
        kept.append(is_at(answer, len(answer.samples_s), of_members))
        kept[-1][answer.disturbed_at] = False
    is_met = any(map(np.any, kept))
    times_s, places = [], []
    for number, (record, answer, at_level) in enumerate(zip(records, answers, kept, strict=True)):
        samples = np.asarray(answer.samples_s, dtype=np.float64)
        samples /= float(record.parameters["window"]) if per_message else 1.0
        place = stretches(answer.group_begins, samples.size) + MOST_STRETCHES * number
        counts = at_level.copy() if is_met else np.ones_like(at_level)
        counts[answer.disturbed_at] = False
        times_s.append(samples[counts])
        places.append(place[counts])
    return Windows(np.concatenate(times_s), np.concatenate(places))


def _members(record: EffectRecord) -> Ranks:
    return (record.variant, *record.members)


def bootstrapped(value: float, replicates: Array | None, unit: str) -> Parameter:
    """The value with the 2.5 and 97.5 % quantiles of its replicates; without any, without an interval."""
    if replicates is None:
        return Parameter(value=value, unit=unit)
    low, high = np.nanquantile(replicates, TAILS)
    # The interval holds the value that is used.
    return Parameter(value=value, low=min(value, float(low)), high=max(value, float(high)), unit=unit)
