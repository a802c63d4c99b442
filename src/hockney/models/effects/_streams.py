"""What the models of streams share: samples of equal questions together, intervals by bootstrap, words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hockney.models.base import Parameter
from hockney.models.effects._resampling import MOST_STRETCHES, resampled_medians, stretches
from hockney.records.answers import StreamsAnswer
from hockney.records.effect_record import EffectRecord, answered
from hockney.records.levels import Level
from hockney.records.visits import Levels, Ranks, is_at, levels_by
from hockney.statistics import TAILS, Array

REPLICATES = 200
"""The ends of a 95 % interval are then the fifth of the replicates from either end."""


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


def per_byte(seconds: float) -> str:
    """2.67e-9 → `2.67 ns/B`."""
    return f"{seconds * 1e9:.3g} ns/B"


def latex(quantity: str) -> str:
    """A number with its unit: `2.67 ns/B` → `2.67\\,\\mathrm{ns/B}`."""
    number, _, unit = quantity.partition(" ")
    unit = unit.replace("µ", r"\mu ")
    return rf"{number}\,\mathrm{{{unit}}}" if unit else number


def verified(records: Sequence[EffectRecord]) -> tuple[list[EffectRecord], list[str]]:
    """The records whose payload arrived as sent, and a note on those that did not."""
    good = [record for record in records if answered(record, StreamsAnswer).verified]
    wrong = len(records) - len(good)
    return good, [f"{wrong} answers are left out: their payload did not arrive as sent"] if wrong else []
