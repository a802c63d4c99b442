"""Planted launch-to-launch variation: it is in the intervals of every effect whose samples are pooled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pytest
from numpy.typing import ArrayLike
from tests.answers import answering, words_of
from tests.factories import holds, not_none
from tests.models.effects import test_congestion, test_datatypes, test_injection, test_matching

from hockney.errors import RequestError
from hockney.models.effects.base import Effect, EffectModel, effect_models
from hockney.records.answers import Answer
from hockney.records.effect_record import EffectRecord

FACTORS = (0.9, 1.0, 1.1)


def _fill(effect: Effect, records: Sequence[EffectRecord]) -> None:
    """Take all samples as independent."""
    samples = np.concatenate([words_of(record)["samples_s"] for record in records])
    if samples.size < 2:
        raise RequestError("one sample", "more")
    value, reach = float(np.mean(samples)), 1.96 * float(np.std(samples, ddof=1)) / np.sqrt(samples.size)
    effect.know("mean_s", value, "s", value - reach, value + reach)
    effect.know("open_s", value, "s")


mean = EffectModel("mean", "", "mean", _fill, widens=True)


def launched(per_launch_s: Iterable[ArrayLike]) -> list[EffectRecord]:
    return [
        EffectRecord(
            effect="mean",
            answer=Answer.model_validate({"samples_s": np.asarray(some).tolist()}),
            repetition=launch,
        )
        for launch, some in enumerate(per_launch_s)
    ]


@pytest.mark.parametrize("launches", [3, *(pytest.param(count, marks=pytest.mark.thorough) for count in (2, 5))])
def test_intervals_hold_the_truth_as_often_as_they_say_whatever_the_launches_do(launches: int) -> None:
    lot = np.random.default_rng(launches)
    held = 0
    for _ in range(80):
        factors = 1 + 0.05 * lot.standard_normal((launches, 1))
        found = mean(launched(factors * (1 + 0.02 * lot.standard_normal((launches, 30))))).parameters["mean_s"]
        held += holds(found, 1)
    # Of 80 intervals of 95 % fewer than 70 hold the truth by chance in 0.2 % of such tests; those of pooled
    # samples hold it in a fifth to a third.
    assert held >= 70


def test_one_launch_and_parameters_without_an_interval_stay_as_they_are() -> None:
    samples = [1.0, 1.1, 0.9]
    assert mean(launched([samples])).notes == []
    found = mean(launched([samples, [2.0, 2.1, 1.9]]))
    assert found.parameters["open_s"].low is None
    assert "2 launches" in found.notes[-1]
    # t(1) = 12.7 times 0.5 reaches below zero.
    assert found.parameters["mean_s"].low == 0
    assert found.parameters["mean_s"].high == pytest.approx(1.5 + 12.706 * 0.5, rel=1e-4)


def test_a_launch_that_has_no_model_of_its_own_is_named() -> None:
    found = mean(launched([[1.0, 1.1, 0.9], [2.0]]))
    assert "fewer than two launches have alone: mean_s" in found.notes[-1]


def _injection(factor: float) -> list[EffectRecord]:
    return test_injection.answers(lambda k, size_B: factor * test_injection.planted_s(k, size_B), (1, 4))


def _congestion(factor: float) -> list[EffectRecord]:
    # α and β grow with the time of a window alone, and congestion with that of the draws.
    made = [*test_congestion.alone(), *test_congestion.draws(test_congestion.planted(8))]
    return [_scaled(one, factor) for one in made if one.parameters["pattern"] != "alone"] + [
        one for one in made if one.parameters["pattern"] == "alone"
    ]


def _datatypes(factor: float) -> list[EffectRecord]:
    made = test_datatypes.records(noise=0.02)
    return [_scaled(one, factor) for one in made if one.parameters["way"] == "pack"]


def _matching(factor: float) -> list[EffectRecord]:
    return [_scaled(one, factor) for one in test_matching.records(lambda ahead: 1e-7 * ahead)]


def _scaled(record: EffectRecord, factor: float) -> EffectRecord:
    def times(value: object) -> object:
        if isinstance(value, list):
            return [factor * one for one in value]
        return factor * value if isinstance(value, float) else value

    scaled = {name: times(value) for name, value in words_of(record).items() if name.endswith("_s")}
    return answering(record, **scaled)


@pytest.mark.parametrize(
    ("effect", "records", "name"),
    [
        ("injection", _injection, "R_C_B_per_s"),
        ("congestion", _congestion, "mean_congestion"),
        ("datatypes", _datatypes, "pack_line_memory_s"),
        ("matching", _matching, "posted_entry_s"),
    ],
)
def test_every_effect_has_the_spread_of_launches_in_its_intervals(
    effect: str, records: Callable[[float], list[EffectRecord]], name: str
) -> None:
    made = [
        one.model_copy(update={"repetition": launch})
        for launch, factor in enumerate(FACTORS)
        for one in records(factor)
    ]
    found = effect_models.get(effect)(made).parameters[name]
    # Launches at 0.9, 1 and 1.1: s = 0.1, t(2) = 4.30, so that ± 0.25 is the interval of their mean.
    assert not_none(found.low) < 0.8 * found.value
    assert not_none(found.high) > 1.2 * found.value
