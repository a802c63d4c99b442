"""By how much a collective on a subset of the ranks is slower while the other subsets do the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.models.effects._launches import over_launches
from hockney.models.effects._streams import REPLICATES, bootstrapped, levels_of, verified, windows
from hockney.models.effects.base import Cell, Effect, Plot, effect_models
from hockney.models.views import Statement, Views
from hockney.records.effect_answers.subsets import SubsetsAnswer
from hockney.records.effect_record import EffectRecord, answered
from hockney.records.visits import Levels
from hockney.statistics import Array
from hockney.units import format_bytes, format_time

SOURCE = "the same calls alone and together, of one launch"


class Call(NamedTuple):
    """What was called, and on which subsets."""

    of: str
    algorithm: str
    segment_B: int
    radix: int
    ranks: int
    arrangement: str

    @property
    def words(self) -> str:
        """What was called, without the subsets: `bcast pipeline, segments of 4 KiB`."""
        parts = [f"{self.of} {self.algorithm}"]
        parts += [f"segments of {format_bytes(self.segment_B)}"] if self.segment_B else []
        parts += [f"radix {self.radix}"] if self.radix else []
        return ", ".join(parts)

    @property
    def name(self) -> str:
        """As parameters are called: `alltoall_default_4_strided`."""
        parts = [self.of, self.algorithm]
        parts += [f"segment{self.segment_B}B"] if self.segment_B else []
        parts += [f"radix{self.radix}"] if self.radix else []
        return "_".join([*parts, str(self.ranks), self.arrangement])


@dataclass(frozen=True)
class _Ratio:
    """A time together over a time alone, with replicates of it; None of simulations, which have no spread."""

    value: float
    replicates: Array | None

    def parameter(self) -> Parameter:
        return bootstrapped(self.value, self.replicates, "1")


@dataclass(frozen=True)
class _Point:
    """One call of one size: seconds alone (mean over the subsets measured), together, and of the slowest."""

    call: Call
    size_B: int
    subsets: int
    measured_alone: int
    alone_s: float
    together_s: float
    slowest_s: float
    factor: _Ratio
    slowest: _Ratio


@effect_models.register(
    "subsets", "How much slower a collective is on a subset of the ranks while the other subsets do the same."
)
@over_launches
def fit(records: Sequence[EffectRecord]) -> Effect:
    """A factor for each call at its largest size, the greatest of all, and that of the slowest subset.

    Intervals: 95 %, by bootstrap of stretches of samples. RequestError where no call was measured both alone and
    together.
    """
    good, notes = verified(records)
    levels = levels_of(good)
    lot = np.random.default_rng(0)
    visits: dict[tuple[Call, int], list[EffectRecord]] = {}
    for record in good:
        visits.setdefault((_call(record), int(record.parameters["bytes"])), []).append(record)
    points = [
        point
        for (call, size_B), of_point in sorted(visits.items())
        if (point := _point(call, size_B, of_point, levels, lot)) is not None
    ]
    if not points:
        raise RequestError("no subset was measured alone and together", "measure again, with --resume")
    largest = {point.call: point for point in points}  # the last of a call, as sizes ascend
    parameters = {f"factor_{call.name}": point.factor.parameter() for call, point in largest.items()}
    parameters |= {f"slowest_{call.name}": point.slowest.parameter() for call, point in largest.items()}
    worst = max(points, key=lambda point: point.factor.value)
    parameters["greatest_factor"] = worst.factor.parameter()
    return Effect(
        effect="subsets",
        parameters=parameters,
        views=_views(points, list(largest.values()), worst),
        points=[_row(point) for point in points],
        plots=[
            Plot(
                x="bytes",
                y="factor",
                by="subsets_of",
                where={"call": call},
                title=f"{call}: time with the other subsets over the time alone",
                log_y=False,
            )
            for call in dict.fromkeys(point.call.words for point in points)
        ],
        notes=[*notes, *_notes(good, points)],
    )


def _call(record: EffectRecord) -> Call:
    asked = record.parameters
    return Call(
        str(asked["of"]),
        str(asked["algorithm"]),
        int(asked.get("segment_B", 0)),
        int(asked.get("radix", 0)),
        int(asked["ranks"]),
        str(asked["arrangement"]),
    )


def _point(
    call: Call, size_B: int, records: Sequence[EffectRecord], levels: Levels, lot: np.random.Generator
) -> _Point | None:
    """None where it was not measured both alone and together."""
    alone: dict[tuple[int, ...], list[EffectRecord]] = {}
    together: list[EffectRecord] = []
    for record in records:
        if record.parameters["part"] == "together":
            together.append(record)
        else:
            alone.setdefault(tuple(record.members), []).append(record)
    if not alone or not together:
        return None
    lone = [windows(visits, levels) for visits in alone.values()]
    every, slowest = windows(together, levels), windows([_slowest(record) for record in together], levels)
    alone_s = float(np.mean([np.median(one.time_s) for one in lone]))
    together_s, slowest_s = float(np.median(every.time_s)), float(np.median(slowest.time_s))
    is_spread = any(one.time_s.size > 1 for one in (*lone, every))
    alones_s = np.mean([one.medians(lot) for one in lone], axis=0) if is_spread else np.full(REPLICATES, alone_s)
    factor, last = (
        _Ratio(time_s / alone_s, one.medians(lot) / alones_s if is_spread else None)
        for time_s, one in ((together_s, every), (slowest_s, slowest))
    )
    subsets = len(together[0].members) // call.ranks
    return _Point(call, size_B, subsets, len(lone), alone_s, together_s, slowest_s, factor, last)


def _slowest(record: EffectRecord) -> EffectRecord:
    """The record with the slowest subset's samples in place of the means."""
    answer = answered(record, SubsetsAnswer)
    return record.model_copy(update={"answer": answer.model_copy(update={"samples_s": answer.slowest_s})})


def _row(point: _Point) -> dict[str, Cell]:
    call, factor, slowest = point.call, point.factor.parameter(), point.slowest.parameter()
    return {
        "call": call.words,
        "subsets_of": f"{point.subsets} × {call.ranks} {call.arrangement}",
        "operation": call.of,
        "algorithm": call.algorithm,
        "segment_bytes": call.segment_B or None,
        "radix": call.radix or None,
        "arrangement": call.arrangement,
        "subsets": point.subsets,
        "ranks": call.ranks,
        "bytes": point.size_B,
        "alone_s": point.alone_s,
        "together_s": point.together_s,
        "factor": factor.value,
        "low": factor.low,
        "high": factor.high,
        "slowest_s": point.slowest_s,
        "slowest_factor": slowest.value,
        "slowest_low": slowest.low,
        "slowest_high": slowest.high,
    }


def _notes(records: Sequence[EffectRecord], points: Sequence[_Point]) -> list[str]:
    notes = [
        "a sample is the mean over the subsets of each one's completion, last exit minus first entry; `slowest`"
        " is the last of them, which is also the one that was disturbed most"
    ]
    if any(point.measured_alone < point.subsets for point in points):
        notes.append("of many subsets some were measured alone, evenly spread over all")
    late = sum(answered(record, SubsetsAnswer).late for record in records)
    if late:
        notes.append(f"{late} repetitions that a rank came too late for were done again")
    if any(record.oversubscribed for record in records):
        notes.append("ranks share cores: together the subsets share these as well, and the factor is of both")
    return notes


def _views(points: Sequence[_Point], largest: Sequence[_Point], worst: _Point) -> Views:
    least = min(points, key=lambda point: point.factor.value)
    return Views(
        asymptotic=[
            Statement(
                text="T_k(P, n) = Θ(T_1(P, n))",
                latex=r"T_k(P, n) = \Theta(T_1(P, n))",
                where="a fixed number k of subsets of P ranks each",
            )
        ],
        dominant=[
            Statement(
                text=f"T_k = {point.factor.value:.3g} · T_1",
                latex=rf"T_k = {point.factor.value:.3g} \cdot T_1",
                where=_where(point),
                source=SOURCE,
            )
            for point in largest
        ],
        bounded=[
            Statement(
                text=f"{least.factor.value:.3g} · T_1 ≤ T_k ≤ {worst.factor.value:.3g} · T_1",
                latex=rf"{least.factor.value:.3g}\,T_1 \le T_k \le {worst.factor.value:.3g}\,T_1",
                where="the calls measured, medians",
                source=SOURCE,
            )
        ],
        exact=[
            Statement(
                text=f"T_k = {format_time(point.together_s)}, T_1 = {format_time(point.alone_s)}",
                latex=rf"T_k / T_1 = {point.factor.value:.4g}",
                where=_where(point),
                source=SOURCE,
            )
            for point in points
        ],
    )


def _where(point: _Point) -> str:
    call = point.call
    how = "consecutive ranks" if call.arrangement == "blocks" else f"every {point.subsets}. rank"
    return (
        f"{call.words}, n = {format_bytes(point.size_B)}, k = {point.subsets} subsets of P = {call.ranks}, {how}"
    )
