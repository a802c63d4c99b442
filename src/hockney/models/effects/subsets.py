"""By how much a collective on a subset of the ranks is slower while the other subsets do the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.models.effects._scaffold import verified
from hockney.models.effects.base import Cell, Effect, Plot, effect_models
from hockney.records.effect_answers import SubsetsAnswer
from hockney.records.effect_record import EffectRecord, answered
from hockney.statistics import MOST_REACH, Array, mean_reach
from hockney.units import counted, format_bytes, format_time, grouped, in_pieces

SOURCE = "the same subsets alone and together, visit by visit"


class SubsetCall(NamedTuple):
    """What was called, and on which subsets."""

    of: str
    algorithm: str
    segment_B: int
    radix: int
    ranks: int
    arrangement: str

    @property
    def title(self) -> str:
        """What was called, without the subsets: `bcast pipeline, segments of 4 KiB`."""
        return in_pieces(f"{self.of} {self.algorithm}", self.segment_B, self.radix)

    @property
    def name(self) -> str:
        """As parameters are called: `alltoall_default_4_strided`."""
        parts = [self.of, self.algorithm]
        parts += [f"segment{self.segment_B}B"] if self.segment_B else []
        parts += [f"radix{self.radix}"] if self.radix else []
        return "_".join([*parts, str(self.ranks), self.arrangement])


class _SubsetsVisit(NamedTuple):
    """Medians in seconds of the subsets that were measured alone, shape (n,): each alone, and with all others."""

    launch: int
    alone_s: Array
    together_s: Array
    late: int


@dataclass(frozen=True)
class _SubsetsPoint:
    """One call of one size: of the subsets measured alone their mean and their slowest, alone and together.

    Times in seconds are geometric means over visits. `late`: samples that a rank came too late for.
    """

    call: SubsetCall
    size_B: int
    subsets: int
    measured_alone: int
    launches: int
    visits: int
    alone_s: float
    together_s: float
    slowest_alone_s: float
    slowest_s: float
    factor: Parameter
    slowest: Parameter
    late: int


@effect_models.register(
    "subsets", "How much slower a collective is on a subset of the ranks while the other subsets do the same."
)
def fit(effect: Effect, records: Sequence[EffectRecord]) -> None:
    """A factor for each call at one size, the greatest of all points, and that of the slowest subset.

    Alone and together are the same subsets, within a visit: each visit gives a factor. Intervals: 95 %, Student's
    t of the logarithms of visits, and of launches where there are several. The size of a call is the largest that
    most launches have. RequestError where no visit measured a call both alone and together.
    """
    good = verified(effect, records)
    questions = grouped(good, lambda record: (_call(record), int(record.parameters["bytes"])))
    points = [point for question in sorted(questions) if (point := _point(*question, questions[question]))]
    if not points:
        raise RequestError("no subset was measured alone and together", "measure again, with --resume")
    # The last of a call: the largest size of those that most launches measured.
    chosen = {point.call: point for point in sorted(points, key=lambda point: (point.launches, point.size_B))}
    effect.parameters = {f"factor_{call.name}": point.factor for call, point in chosen.items()}
    effect.parameters |= {f"slowest_{call.name}": point.slowest for call, point in chosen.items()}
    most = max(point.launches for point in points)
    worst = max((point for point in points if point.launches == most), key=lambda point: point.factor.value)
    effect.parameters["greatest_factor"] = worst.factor
    effect.points = [_row(point) for point in points]
    effect.plots = [
        Plot(
            x="bytes",
            y="factor",
            by="subsets_of",
            where={"call": call},
            title=f"{call}: time with the other subsets over the time alone",
            log_y=False,
        )
        for call in dict.fromkeys(point.call.title for point in points)
    ]
    effect.notes += _notes(good, points)
    _state(effect, points, list(chosen.values()))


def _call(record: EffectRecord) -> SubsetCall:
    question = record.parameters
    return SubsetCall(
        str(question["of"]),
        str(question["algorithm"]),
        int(question.get("segment_B", 0)),
        int(question.get("radix", 0)),
        int(question["ranks"]),
        str(question["arrangement"]),
    )


def _point(call: SubsetCall, size_B: int, records: Sequence[EffectRecord]) -> _SubsetsPoint | None:
    """None where no visit measured it both alone and together."""
    alone: dict[tuple[int, int], dict[tuple[int, ...], SubsetsAnswer]] = {}
    together: dict[tuple[int, int], EffectRecord] = {}
    for record in records:
        visit = (record.repetition, int(record.parameters.get("visit", 0)))
        if record.parameters["part"] == "together":
            together[visit] = record
        else:
            alone.setdefault(visit, {})[tuple(record.members)] = answered(record, SubsetsAnswer)
    # A visit that was cut off lacks some of them, and its mean would be of others.
    places = sorted({place for of_visit in alone.values() for place in of_visit})
    visits = []
    for visit, record in together.items():
        answer, members = answered(record, SubsetsAnswer), record.members
        firsts = range(0, len(members), call.ranks)
        among = {
            tuple(members[first : first + call.ranks]): time_s
            for first, time_s in zip(firsts, answer.subset_s, strict=False)
        }
        lone = alone.get(visit, {})
        if places and all(place in lone and place in among for place in places):
            alone_s = np.array([lone[place].subset_s[0] for place in places])
            together_s = np.array([among[place] for place in places])
            late = answer.late_kept + sum(lone[place].late_kept for place in places)
            visits.append(_SubsetsVisit(visit[0], alone_s, together_s, late))
    if not visits:
        return None
    launch = [visit.launch for visit in visits]
    mean_alone_s = np.array([visit.alone_s.mean() for visit in visits])
    mean_s = np.array([visit.together_s.mean() for visit in visits])
    last_alone_s = np.array([visit.alone_s.max() for visit in visits])
    last_s = np.array([visit.together_s.max() for visit in visits])
    return _SubsetsPoint(
        call,
        size_B,
        subsets=max(len(record.members) for record in together.values()) // call.ranks,
        measured_alone=len(places),
        launches=len(set(launch)),
        visits=len(visits),
        alone_s=_typical(mean_alone_s, launch, "s").value,
        together_s=_typical(mean_s, launch, "s").value,
        slowest_alone_s=_typical(last_alone_s, launch, "s").value,
        slowest_s=_typical(last_s, launch, "s").value,
        factor=_typical(mean_s / mean_alone_s, launch, "1"),
        slowest=_typical(last_s / last_alone_s, launch, "1"),
        late=sum(visit.late for visit in visits),
    )


def _typical(of_visits: Array, launch: Sequence[int], unit: str) -> Parameter:
    """The geometric mean over launches of that over their visits, shape (n,); one visit has no interval."""
    logarithms, numbers = np.log(of_visits), np.array(launch)
    of_launches = np.array([logarithms[numbers == number].mean() for number in dict.fromkeys(launch)])
    value = math.exp(of_launches.mean())
    if logarithms.size < 2:
        return Parameter(value=value, unit=unit)
    # Visits of one launch share what that launch has drawn.
    reach = max(mean_reach(each) for each in (logarithms, of_launches) if each.size > 1)
    factor = math.exp(min(reach, MOST_REACH))
    return Parameter(value=value, low=value / factor, high=value * factor, unit=unit)


def _row(point: _SubsetsPoint) -> dict[str, Cell]:
    call, factor, slowest = point.call, point.factor, point.slowest
    return {
        "call": call.title,
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
        "slowest_alone_s": point.slowest_alone_s,
        "slowest_s": point.slowest_s,
        "slowest_factor": slowest.value,
        "slowest_low": slowest.low,
        "slowest_high": slowest.high,
        "measured_alone": point.measured_alone,
        "launches": point.launches,
        "visits": point.visits,
        "late": point.late,
    }


def _notes(records: Sequence[EffectRecord], points: Sequence[_SubsetsPoint]) -> list[str]:
    notes = [
        "the time of a subset is its last exit minus its first entry. `factor` compares the means of the same "
        "subsets together and alone, `slowest` the slowest"
    ]
    if any(point.measured_alone < point.subsets for point in points):
        notes.append(
            "of many subsets some were measured alone, evenly spread over all; the others' times do not count"
        )
    launches = max(point.launches for point in points)
    if launches > 1:
        notes.append(f"{launches} launches: intervals hold the spread between them (Student's t)")
    fewer = sum(point.launches < launches for point in points)
    if fewer:
        notes.append(
            f"{counted(fewer, 'point')} of fewer launches: their intervals hold the spread between those"
        )
    late = sum(answered(record, SubsetsAnswer).late for record in records)
    if late:
        notes.append(f"{counted(late, 'repetition')} that a rank came too late for were done again")
    kept = sum(answered(record, SubsetsAnswer).late_kept for record in records)
    if kept:
        notes.append(f"{counted(kept, 'sample')} that a rank came too late for at every try count nevertheless")
    if any(record.oversubscribed for record in records):
        notes.append("ranks share cores: together the subsets share these as well, and the factor is of both")
    return notes


def _state(effect: Effect, points: Sequence[_SubsetsPoint], chosen: Sequence[_SubsetsPoint]) -> None:
    """The four views; dominant are the points that parameters are of."""
    factors = [point.factor.value for point in points]
    least, most = f"{min(factors):.3g}", f"{max(factors):.3g}"
    effect.state("asymptotic", "T_k(P, n) = Θ(T_1(P, n))", "a fixed number k of subsets of P ranks each")
    for point in chosen:
        effect.state("dominant", f"T_k = {point.factor.value:.3g} · T_1", _where(point), SOURCE)
    effect.state("bounded", f"{least} · T_1 ≤ T_k ≤ {most} · T_1", "the calls measured", SOURCE)
    for point in points:
        text = f"T_k = {format_time(point.together_s)}, T_1 = {format_time(point.alone_s)}"
        effect.state("exact", text, _where(point), SOURCE, rf"T_k / T_1 = {point.factor.value:.4g}")


def _where(point: _SubsetsPoint) -> str:
    call = point.call
    how = "consecutive ranks" if call.arrangement == "blocks" else f"every {point.subsets}. rank"
    return (
        f"{call.title}, n = {format_bytes(point.size_B)}, k = {point.subsets} subsets of P = {call.ranks}, {how}"
    )
