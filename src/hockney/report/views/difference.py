"""Two machines, or two versions of a library, quantity by quantity: which differences exceed their intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from hockney.machine.file import Entry, Machine
from hockney.machine.select import UNKNOWN, words
from hockney.machine.summary import OVERSUBSCRIBED, bandwidth, latency
from hockney.models.base import Parameter, preferred_model
from hockney.models.collectives.base import CollectiveModel
from hockney.models.effects.base import Effect
from hockney.units import format_bytes

Verdict = Literal["differs", "cannot be told", "no interval", "equal"]
"""Intervals apart; intervals that overlap; one of them missing; the same number without an interval."""

LEVEL = 0.05
"""Share of 95 % intervals that miss their value: at most this share of equal pairs lie apart by chance."""

_OF_THE_MACHINE = ("system", "source", "mpi")
_GIVEN_UP = (*_OF_THE_MACHINE, "transport", "nodes", "ppn", "ranks", "mapping")
"""Words in which two comparable entries may differ, in the order in which the comparison drops them."""

T = TypeVar("T")
_Key = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class QuantityComparison:
    """One quantity in both machines; `ratio` is b / a, and lies between `low` and `high`.

    `ratio` is None if a is not positive or the quotient overflows. `low` and `high` are b.low / a.high and
    b.high / a.low: they hold whether or not the errors of a and b are correlated.
    """

    where: str
    name: str
    a: Parameter
    b: Parameter
    verdict: Verdict
    ratio: float | None
    low: float | None
    high: float | None

    def as_json(self) -> dict[str, Any]:
        """Plain data; what is not known is None."""
        return {
            "where": self.where,
            "quantity": self.name,
            "a": self.a.model_dump(mode="json"),
            "b": self.b.model_dump(mode="json"),
            "ratio": self.ratio,
            "ratio_low": self.low,
            "ratio_high": self.high,
            "verdict": self.verdict,
        }


@dataclass
class Difference:
    """The comparisons of two machines, what only one of them has, and remarks."""

    comparisons: list[QuantityComparison] = field(default_factory=list)
    only_in_a: list[str] = field(default_factory=list)
    only_in_b: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def of(self, verdict: Verdict) -> list[QuantityComparison]:
        """The comparisons with this verdict."""
        return [comparison for comparison in self.comparisons if comparison.verdict == verdict]

    @property
    def judged(self) -> int:
        """The number of comparisons with an interval on both sides."""
        return len(self.of("differs")) + len(self.of("cannot be told"))

    @property
    def by_chance(self) -> float:
        """The most differences to expect by chance if nothing differed."""
        return LEVEL * self.judged


def difference(a: Machine, b: Machine, *, points: bool = False) -> Difference:
    """Compare every entry, effect and collective that both have; with `points` every measured size as well.

    Two entries match if operation, locality, variant, cache and all other fixed columns agree. The words of
    `_GIVEN_UP` may differ, with a remark, as long as each machine has at most one such entry.
    """
    diff = Difference()
    _entries(a, b, diff, points=points)
    _effects(a, b, diff)
    _collectives(a, b, diff)
    return diff


def compare(where: str, name: str, a: Parameter, b: Parameter) -> QuantityComparison:
    """Compare `a` and `b`, which have the same unit; they differ if their 95 % intervals are apart."""
    ratio = _ratio(b.value, a.value)
    if a.low is None or a.high is None or b.low is None or b.high is None:
        verdict: Verdict = "equal" if a.value == b.value else "no interval"
        return QuantityComparison(where, name, a, b, verdict, ratio, None, None)
    apart = a.high < b.low or b.high < a.low
    positive = a.low > 0 and b.low >= 0
    return QuantityComparison(
        where,
        name,
        a,
        b,
        "differs" if apart else "cannot be told",
        ratio,
        _ratio(b.low, a.high) if positive else None,
        _ratio(b.high, a.low) if positive else None,
    )


def _ratio(over: float, under: float) -> float | None:
    """The quotient; None if `under` is not positive or the quotient overflows."""
    ratio = over / under if under > 0 else math.inf
    return ratio if math.isfinite(ratio) else None


def _entries(a: Machine, b: Machine, diff: Difference, *, points: bool) -> None:
    for where, in_a, in_b in _matched(a.point_to_point, b.point_to_point, words, diff):
        for side, entry in (("A", in_a), ("B", in_b)):
            if entry.oversubscribed:
                diff.remarks.append(f"{where}: {OVERSUBSCRIBED} in {side}")
        model = preferred_model(name for name in in_a.fits if name in in_b.fits)
        if model is None:
            diff.remarks.append(f"{where}: no model is fitted in both")
        else:
            fits = in_a.fits[model], in_b.fits[model]
            diff.comparisons.append(compare(where, "latency", latency(fits[0]), latency(fits[1])))
            rates = bandwidth(in_a, fits[0]), bandwidth(in_b, fits[1])
            if rates[0] is not None and rates[1] is not None:
                diff.comparisons.append(compare(where, "bandwidth", rates[0], rates[1]))
        if points:
            times = _times(in_a), _times(in_b)
            for size_B in sorted(times[0].keys() & times[1].keys()):
                name = f"time of {format_bytes(size_B)}"
                diff.comparisons.append(compare(where, name, times[0][size_B], times[1][size_B]))


def _times(entry: Entry) -> dict[int, Parameter]:
    return {
        point.size_B: Parameter(value=point.time_s, low=point.low_s, high=point.high_s, unit="s")
        for point in entry.measurements.points
    }


def _effects(a: Machine, b: Machine, diff: Difference) -> None:
    def identity(effect: Effect) -> dict[str, str]:
        return {
            "effect": effect.effect,
            "locality": effect.locality or UNKNOWN,
            "variant": effect.variant,
            "mapping": effect.mapping,
            "ranks": "" if effect.ranks is None else str(effect.ranks),
            "mpi": effect.mpi,
        }

    for where, in_a, in_b in _matched(a.effects, b.effects, identity, diff):
        for side, effect in (("A", in_a), ("B", in_b)):
            if effect.not_measurable:
                diff.remarks.append(f"{where}: not measurable in {side}: {effect.not_measurable}")
        _parameters(where, in_a.parameters, in_b.parameters, diff)


def _collectives(a: Machine, b: Machine, diff: Difference) -> None:
    def identity(model: CollectiveModel) -> dict[str, str]:
        return {"collective": model.operation, "algorithm": model.algorithm}

    for where, in_a, in_b in _matched(a.collectives, b.collectives, identity, diff):
        _parameters(where, in_a.parameters, in_b.parameters, diff)


def _parameters(where: str, a: Mapping[str, Parameter], b: Mapping[str, Parameter], diff: Difference) -> None:
    for name in dict.fromkeys([*a, *b]):
        if name not in b:
            diff.only_in_a.append(f"{where}: {name}")
        elif name not in a:
            diff.only_in_b.append(f"{where}: {name}")
        elif a[name].unit != b[name].unit:
            diff.remarks.append(f"{where}: {name} is in {a[name].unit} in A, in {b[name].unit} in B")
        else:
            diff.comparisons.append(compare(where, name, a[name], b[name]))


def _matched(
    a: Sequence[T], b: Sequence[T], identity: Callable[[T], Mapping[str, str]], diff: Difference
) -> list[tuple[str, T, T]]:
    """(title, of a, of b) of what both have, in the order of a; the others go to `diff`."""
    dropped = _droppable(a, b, identity)
    by_key = [{_key(identity(item), dropped): item for item in side} for side in (a, b)]
    diff.only_in_a += [_title(key) for key in by_key[0] if key not in by_key[1]]
    diff.only_in_b += [_title(key) for key in by_key[1] if key not in by_key[0]]
    both = [(_title(key), item, by_key[1][key]) for key, item in by_key[0].items() if key in by_key[1]]
    for where, in_a, in_b in both:
        of_a, of_b = identity(in_a), identity(in_b)
        for name in dropped:
            word_a, word_b = of_a.get(name, ""), of_b.get(name, "")
            if name not in _OF_THE_MACHINE and word_a and word_b and word_a != word_b:
                diff.remarks.append(f"{where}: {name} {word_a} in A, {name} {word_b} in B")
    return both


def _droppable(a: Sequence[T], b: Sequence[T], identity: Callable[[T], Mapping[str, str]]) -> list[str]:
    """Names without which the items of either side remain distinct."""
    dropped: list[str] = []
    for name in _GIVEN_UP:
        candidate = [*dropped, name]
        if all(len({_key(identity(item), candidate) for item in side}) == len(side) for side in (a, b)):
            dropped = candidate
    return dropped


def _key(identity: Mapping[str, str], dropped: Sequence[str]) -> _Key:
    # A source that names no variant means the default.
    named = {**identity, "variant": identity.get("variant") or "default"}
    return tuple((name, word) for name, word in named.items() if word and name not in dropped)


def _title(key: _Key) -> str:
    """`pingpong, locality cache, variant tcp`; the first word needs no name beside it."""
    (_, first), *rest = key
    silent = {("locality", UNKNOWN), ("variant", "default")}
    return ", ".join([first, *(f"{name} {word}" for name, word in rest if (name, word) not in silent)])
