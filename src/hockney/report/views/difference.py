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
"""Share of 95 % intervals that miss their value: the most that two of one value lie apart by chance."""

_OF_THE_MACHINE = ("system", "source", "mpi")
_GIVEN_UP = (*_OF_THE_MACHINE, "transport", "nodes", "ppn", "ranks", "mapping")
"""Words that may differ between two machines without making the entries different things, given up in turn."""

T = TypeVar("T")
_Key = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Comparison:
    """One quantity in both machines; `ratio` is b / a, with what it lies between.

    None where a is not positive, or the ratio more than a number holds.

    The ends of the ratio are b.low / a.high and b.high / a.low: they hold whatever the two have in common.
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
        """Plain data; None where something is not known."""
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
    """All that two machines have in common, what only one of them has, and what else must be said."""

    comparisons: list[Comparison] = field(default_factory=list)
    only_in_a: list[str] = field(default_factory=list)
    only_in_b: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def of(self, verdict: Verdict) -> list[Comparison]:
        """The comparisons that ended so."""
        return [one for one in self.comparisons if one.verdict == verdict]

    @property
    def judged(self) -> int:
        """Comparisons with an interval on both sides."""
        return len(self.of("differs")) + len(self.of("cannot be told"))

    @property
    def by_chance(self) -> float:
        """The most differences that would be expected if there were none."""
        return LEVEL * self.judged


def difference(a: Machine, b: Machine, *, points: bool = False) -> Difference:
    """Every entry, effect and collective that both have; with `points` every measured size of the entries too.

    Two are of one kind where operation, locality, variant, cache and everything else held fixed agree; words of
    `_GIVEN_UP` may differ (a remark says so) as long as that leaves one of a kind in each machine.
    """
    found = Difference()
    _entries(a, b, found, points=points)
    _effects(a, b, found)
    _collectives(a, b, found)
    return found


def compare(where: str, name: str, a: Parameter, b: Parameter) -> Comparison:
    """`a` and `b` of one unit; they differ where their 95 % intervals are apart."""
    ratio = _ratio(b.value, a.value)
    if a.low is None or a.high is None or b.low is None or b.high is None:
        verdict: Verdict = "equal" if a.value == b.value else "no interval"
        return Comparison(where, name, a, b, verdict, ratio, None, None)
    apart = a.high < b.low or b.high < a.low
    positive = a.low > 0 and b.low >= 0
    return Comparison(
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
    """None where there is none, or none that a number can hold."""
    ratio = over / under if under > 0 else math.inf
    return ratio if math.isfinite(ratio) else None


def _entries(a: Machine, b: Machine, found: Difference, *, points: bool) -> None:
    for where, mine, yours in _matched(a.point_to_point, b.point_to_point, words, found):
        for side, entry in (("A", mine), ("B", yours)):
            if entry.oversubscribed:
                found.remarks.append(f"{where}: {OVERSUBSCRIBED} in {side}")
        model = preferred_model(name for name in mine.fits if name in yours.fits)
        if model is None:
            found.remarks.append(f"{where}: no model is fitted in both")
        else:
            fits = mine.fits[model], yours.fits[model]
            found.comparisons.append(compare(where, "latency", latency(fits[0]), latency(fits[1])))
            rates = bandwidth(mine, fits[0]), bandwidth(yours, fits[1])
            if rates[0] is not None and rates[1] is not None:
                found.comparisons.append(compare(where, "bandwidth", rates[0], rates[1]))
        if points:
            times = _times(mine), _times(yours)
            for size_B in sorted(times[0].keys() & times[1].keys()):
                name = f"time of {format_bytes(size_B)}"
                found.comparisons.append(compare(where, name, times[0][size_B], times[1][size_B]))


def _times(entry: Entry) -> dict[int, Parameter]:
    return {
        point.size_B: Parameter(value=point.time_s, low=point.low_s, high=point.high_s, unit="s")
        for point in entry.measurements.points
    }


def _effects(a: Machine, b: Machine, found: Difference) -> None:
    def identity(effect: Effect) -> dict[str, str]:
        return {
            "effect": effect.effect,
            "locality": effect.locality or UNKNOWN,
            "variant": effect.variant,
            "mapping": effect.mapping,
            "ranks": "" if effect.ranks is None else str(effect.ranks),
            "mpi": effect.mpi,
        }

    for where, mine, yours in _matched(a.effects, b.effects, identity, found):
        for side, one in (("A", mine), ("B", yours)):
            if one.not_measurable:
                found.remarks.append(f"{where}: not measurable in {side}: {one.not_measurable}")
        _parameters(where, mine.parameters, yours.parameters, found)


def _collectives(a: Machine, b: Machine, found: Difference) -> None:
    def identity(model: CollectiveModel) -> dict[str, str]:
        return {"collective": model.operation, "algorithm": model.algorithm}

    for where, mine, yours in _matched(a.collectives, b.collectives, identity, found):
        _parameters(where, mine.parameters, yours.parameters, found)


def _parameters(where: str, a: Mapping[str, Parameter], b: Mapping[str, Parameter], found: Difference) -> None:
    for name in dict.fromkeys([*a, *b]):
        if name not in b:
            found.only_in_a.append(f"{where}: {name}")
        elif name not in a:
            found.only_in_b.append(f"{where}: {name}")
        elif a[name].unit != b[name].unit:
            found.remarks.append(f"{where}: {name} is in {a[name].unit} in A, in {b[name].unit} in B")
        else:
            found.comparisons.append(compare(where, name, a[name], b[name]))


def _matched(
    a: Sequence[T], b: Sequence[T], identity: Callable[[T], Mapping[str, str]], found: Difference
) -> list[tuple[str, T, T]]:
    """(title, of a, of b) of what both have, in the order of a; the rest goes to `found`."""
    dropped = _droppable(a, b, identity)
    by_key = [{_key(identity(one), dropped): one for one in side} for side in (a, b)]
    found.only_in_a += [_title(key) for key in by_key[0] if key not in by_key[1]]
    found.only_in_b += [_title(key) for key in by_key[1] if key not in by_key[0]]
    both = [(_title(key), one, by_key[1][key]) for key, one in by_key[0].items() if key in by_key[1]]
    for where, mine, yours in both:
        of_a, of_b = identity(mine), identity(yours)
        for name in dropped:
            here, there = of_a.get(name, ""), of_b.get(name, "")
            if name not in _OF_THE_MACHINE and here and there and here != there:
                found.remarks.append(f"{where}: {name} {here} in A, {name} {there} in B")
    return both


def _droppable(a: Sequence[T], b: Sequence[T], identity: Callable[[T], Mapping[str, str]]) -> list[str]:
    """Names that both sides can do without and still tell their own apart."""
    dropped: list[str] = []
    for name in _GIVEN_UP:
        tried = [*dropped, name]
        if all(len({_key(identity(one), tried) for one in side}) == len(side) for side in (a, b)):
            dropped = tried
    return dropped


def _key(identity: Mapping[str, str], dropped: Sequence[str]) -> _Key:
    # What a source does not name is the default.
    said = {**identity, "variant": identity.get("variant") or "default"}
    return tuple((name, word) for name, word in said.items() if word and name not in dropped)


def _title(key: _Key) -> str:
    """`pingpong, locality cache, variant tcp`: the first word speaks for itself."""
    (_, first), *rest = key
    silent = {("locality", UNKNOWN), ("variant", "default")}
    return ", ".join([first, *(f"{name} {word}" for name, word in rest if (name, word) not in silent)])
