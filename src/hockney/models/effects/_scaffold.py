"""What the models of effects share: right answers only, times and factors in formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from hockney.errors import RequestError
from hockney.models.effects.base import Effect
from hockney.records.answers import Answer
from hockney.records.effect_record import EffectRecord, answered
from hockney.units import format_time

PRINTED = 0.005
"""Relative error of a number with three digits."""


def verified(effect: Effect, records: Sequence[EffectRecord]) -> list[EffectRecord]:
    """The records whose payload arrived as sent; a note says how many did not."""
    right = [record for record in records if answered(record, Answer).verified]
    if wrong := len(records) - len(right):
        effect.notes.append(f"{wrong} answers are left out: their payload did not arrive as sent")
    return right


def expect_undamaged(records: Sequence[EffectRecord]) -> None:
    """RequestError where a payload did not arrive as sent."""
    if not all(answered(record, Answer).verified for record in records):
        raise RequestError("messages arrived damaged; nothing is concluded from them")


def channel_of(record: EffectRecord) -> str:
    """The word by which a library states its limits: whether messages leave the node."""
    return "network" if record.locality == "network" else "shared_memory"


def time(seconds: float) -> str:
    """5.2e-9 → `5.2 ns`, 1.3e-6 → `1.3 µs`."""
    return f"{seconds * 1e9:.3g} ns" if abs(seconds) < 0.9995e-6 else format_time(seconds)


def per_byte(seconds: float) -> str:
    """2.67e-9 → `2.67 ns/B`."""
    return f"{seconds * 1e9:.3g} ns/B"


def below(ratios: Iterable[float]) -> float:
    """What a formula is multiplied by to hold all from below, of ratios measured/formula; 1 where it does."""
    least = min(ratios, default=1.0)
    return 1.0 if least >= 1 - PRINTED else _two_digits(least, math.floor)


def above(ratios: Iterable[float]) -> float:
    """The same from above."""
    most = max(ratios, default=1.0)
    return 1.0 if most <= 1 + PRINTED else _two_digits(most, math.ceil)


def _two_digits(value: float, rounding: Callable[[float], int]) -> float:
    scale = 10.0 ** (math.floor(math.log10(value)) - 1)
    return rounding(value / scale) * scale


def times(factor: float, text: str) -> str:
    """0.73, `3 µs + n` → `0.73 · (3 µs + n)`."""
    if factor == 1:
        return text
    return f"{factor:.2g} · ({text})" if " + " in text else f"{factor:.2g} · {text}"
