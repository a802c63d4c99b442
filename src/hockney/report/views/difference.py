"""Two machines, or two versions of a library, quantity by quantity: which differences exceed chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median_low
from typing import TypeVar

from hockney.machine.file import Entry, Machine, Point
from hockney.machine.formula import OVERSUBSCRIBED, bandwidth, latency, slope_sizes_B
from hockney.machine.select import UNKNOWN, words
from hockney.models.base import DRIFT, Fit, Parameter, drift, preferred_model
from hockney.models.collectives.base import CollectiveModel
from hockney.models.effects.base import Effect
from hockney.records.exponents import LARGE_B
from hockney.report.views.compared_levels import is_one_machine, levels_to_compare, stands_elsewhere
from hockney.report.views.difference_text import ComparedMachine, Difference
from hockney.report.views.judgement import Measured, corrected, launch_error
from hockney.report.views.quantity import QuantityComparison, compare
from hockney.units import format_bytes

_OF_THE_MACHINE = ("system", "source", "mpi")
_GIVEN_UP = (*_OF_THE_MACHINE, "transport", "nodes", "ppn", "ranks", "mapping")
"""Words in which two comparable entries may differ, in the order in which the comparison drops them."""

REFERENCES = REFERENCE, LARGE_REFERENCE = "reference", f"reference of {format_bytes(LARGE_B)}"
"""The quantities that stand for what is timed as a reference."""

T = TypeVar("T")
_Key = tuple[tuple[str, str], ...]


def difference(
    a: Machine, b: Machine, *, names: tuple[str, str] = ("A", "B"), points: bool = False
) -> Difference:
    """Compare every entry, effect and collective that both have; with `points` every measured size as well.

    Two entries match if operation, locality, variant, cache and all other fixed columns agree. The words of
    `_GIVEN_UP` may differ, with a remark, as long as each machine has at most one such entry. `names`: of the
    files of A and B.
    """
    diff = Difference(ComparedMachine.of(names[0], a), ComparedMachine.of(names[1], b))
    launches = _entries(a, b, diff, points=points) + _effects(a, b, diff)
    _collectives(a, b, diff)
    if any(_is_imported(side) for side in (a, b)):
        diff.comparisons = [replace(each, imported=True) for each in diff.comparisons]
    # One reference stands for many sizes: beside all of these it would hardly ever be told.
    for is_reference in (False, True):
        judged = {
            place: each.p
            for place, each in enumerate(diff.comparisons)
            if each.p is not None and (each.quantity in REFERENCES) == is_reference
        }
        for place, p_corrected in zip(judged, corrected([*judged.values()]), strict=True):
            diff.comparisons[place] = replace(diff.comparisons[place], p_corrected=p_corrected)
    if diff.comparisons:
        diff.warnings.a = _warnings(a, {launch for of_a, _ in launches for launch in of_a})
        diff.warnings.b = _warnings(b, {launch for _, of_b in launches for launch in of_b})
    return diff


def _is_imported(machine: Machine) -> bool:
    launches = machine.provenance.launches
    return bool(launches) and all(launch.imported for launch in launches)


def _warnings(machine: Machine, compared: set[str]) -> list[str]:
    """The machine's warnings, less those that launches gave none of whose numbers was compared."""
    of_launches: dict[str, set[str]] = {}
    for launch in machine.provenance.launches:
        for text in launch.warnings:
            of_launches.setdefault(text, set()).add(launch.id)
    texts = dict.fromkeys([*machine.provenance.warnings, *of_launches])
    return [text for text in texts if text not in of_launches or of_launches[text] & compared]


_Launches = list[tuple[Sequence[str], Sequence[str]]]
"""The ids of launches in A and in B behind each thing that both have."""


def _entries(a: Machine, b: Machine, diff: Difference, *, points: bool) -> _Launches:
    matched = _matched(a.point_to_point, b.point_to_point, words, diff)
    on_one_machine = is_one_machine(a, b)
    for where, in_a, in_b in matched:
        for side, entry in (("A", in_a), ("B", in_b)):
            if entry.oversubscribed:
                diff.remarks.append(f"{where}: {OVERSUBSCRIBED} in {side}")
        chosen = levels_to_compare(in_a, in_b, on_one_machine=on_one_machine)
        diff.remarks += [f"{where}: {remark}" for remark in chosen.remarks]
        of_a, of_b = chosen.levels
        if chosen.apart and of_a is not None and of_b is not None:
            diff.apart.append((where, of_a.reference_s, of_b.reference_s))
        comparisons = _models(where, chosen.a, chosen.b, diff)
        comparisons += _points(where, chosen.a, chosen.b) if points else []
        if chosen.at_reference_s is not None:
            assert of_a is not None
            assert of_b is not None
            both = [(REFERENCE, of_a.reference_s, of_b.reference_s)]
            if of_a.large_reference_s is not None and of_b.large_reference_s is not None:
                both.append((LARGE_REFERENCE, of_a.large_reference_s, of_b.large_reference_s))
            comparisons += [
                compare(where, name, _reference(in_a, a_s), _reference(in_b, b_s)) for name, a_s, b_s in both
            ]
        diff.comparisons += [
            replace(
                comparison,
                level_a=of_a,
                level_b=of_b,
                at_reference_s=chosen.at_reference_s,
                at_large_reference_s=chosen.at_large_reference_s,
            )
            for comparison in comparisons
        ]
    return [(in_a.measurements.launches, in_b.measurements.launches) for _, in_a, in_b in matched]


def _models(where: str, a: Entry, b: Entry, diff: Difference) -> list[QuantityComparison]:
    """The latencies and bandwidths of two entries by the model that stands for both."""
    model = preferred_model(name for name in a.fits if name in b.fits)
    if model is None:
        diff.remarks.append(f"{where}: no model is fitted in both")
        return []
    fits = a.fits[model], b.fits[model]
    latencies = _of_fit(a, latency(fits[0]), 0), _of_fit(b, latency(fits[1]), 0)
    comparisons = [compare(where, "latency", *latencies)]
    rates = bandwidth(a, fits[0]), bandwidth(b, fits[1])
    if rates[0] is not None and rates[1] is not None:
        sides = _of_fit(a, rates[0], _slope_B(a, fits[0])), _of_fit(b, rates[1], _slope_B(b, fits[1]))
        comparisons.append(compare(where, "bandwidth", *sides))
    elsewhere = stands_elsewhere(a), stands_elsewhere(b)
    return [_judged_at_levels(comparison, elsewhere) for comparison in comparisons]


def _points(where: str, a: Entry, b: Entry) -> list[QuantityComparison]:
    """The times of every size that both measured."""
    times = _times(a), _times(b)
    missed = [{point.size_B for point in entry.measurements.points if point.elsewhere} for entry in (a, b)]
    return [
        _judged_at_levels(
            compare(where, f"time of {format_bytes(size_B)}", times[0][size_B], times[1][size_B]),
            (size_B in missed[0], size_B in missed[1]),
        )
        for size_B in sorted(times[0].keys() & times[1].keys())
    ]


def _judged_at_levels(comparison: QuantityComparison, elsewhere: tuple[bool, bool]) -> QuantityComparison:
    """The comparison, not judged where a side of it is of another level."""
    if not any(elsewhere):
        return comparison
    of_a, of_b = elsewhere
    return replace(comparison, elsewhere_a=of_a, elsewhere_b=of_b, p=None, p_corrected=None)


def _reference(entry: Entry, time_s: float) -> Measured:
    """What is timed as a reference, beside which other times are compared: it may be what differs."""
    return replace(_of_fit(entry, Parameter(value=time_s, low=time_s, high=time_s, unit="s"), 0), drift=DRIFT)


def _slope_B(entry: Entry, fit: Fit) -> float:
    """The mean of the sizes that the bandwidth rests on; 0 where none was measured."""
    return fmean(slope_sizes_B(entry, fit) or [0])


def _of_fit(entry: Entry, parameter: Parameter, size_B: float) -> Measured:
    """A number of a fit: launches and freedom as most of its points have, and what these have in common.

    `size_B`: the size with which it drifts.
    """
    points = [*_times(entry).values()]
    counts = [point.launches for point in points if point.launches is not None]
    launches = median_low(counts) if counts else len(entry.measurements.launches) or None
    freedoms = [point.freedom for point in points if point.freedom is not None]
    freedom = median_low(freedoms) if freedoms else None
    moves = _drift(entry, size_B)
    return Measured(parameter, launches, freedom, launch_error=launch_error(points), drift=moves)


def _times(entry: Entry) -> dict[int, Measured]:
    times = {}
    for point in entry.measurements.points:
        parameter = Parameter(value=point.time_s, low=point.low_s, high=point.high_s, unit="s")
        alone = Measured(
            parameter,
            _launches(entry, point),
            point.freedom,
            is_students=bool(point.freedom),
            drift=_drift(entry, point.size_B),
        )
        times[point.size_B] = alone if point.freedom else replace(alone, launch_error=launch_error([alone]))
    return times


def _drift(entry: Entry, size_B: float) -> float:
    measured = entry.measurements
    is_at_reference = bool(measured.points) and measured.series.is_at_reference
    return float(drift(size_B, measured.caches, is_at_reference=is_at_reference))


def _launches(entry: Entry, point: Point) -> int | None:
    """How many launches measured a point; None where nobody says."""
    if point.records is None:
        return len(entry.measurements.launches) or None
    return point.records // max(1, len(entry.pairs))


def _effects(a: Machine, b: Machine, diff: Difference) -> _Launches:
    def identity(effect: Effect) -> dict[str, str]:
        return {
            "effect": effect.effect,
            "locality": effect.locality or UNKNOWN,
            "variant": effect.variant,
            "mapping": effect.mapping,
            "ranks": "" if effect.ranks is None else str(effect.ranks),
            "mpi": effect.mpi,
        }

    matched = _matched(a.effects, b.effects, identity, diff)
    for where, in_a, in_b in matched:
        for side, effect in (("A", in_a), ("B", in_b)):
            if effect.not_measurable:
                diff.remarks.append(f"{where}: not measurable in {side}: {effect.not_measurable}")
        counts = len(in_a.launches) or None, len(in_b.launches) or None
        _parameters(where, in_a.parameters, in_b.parameters, counts, diff)
    return [(in_a.launches, in_b.launches) for _, in_a, in_b in matched]


def _collectives(a: Machine, b: Machine, diff: Difference) -> None:
    def identity(model: CollectiveModel) -> dict[str, str]:
        named = {"collective": model.operation, "algorithm": model.name if model.is_fitted else model.algorithm}
        return {**named, "mapping": model.mapping, **model.other}

    for where, in_a, in_b in _matched(a.collectives, b.collectives, identity, diff):
        counts = in_a.launches, in_b.launches
        if not (in_a.is_fitted and in_b.is_fitted) or _has_same_form(in_a, in_b):
            _parameters(where, in_a.parameters, in_b.parameters, counts, diff)
        else:
            diff.remarks.append(f"{where}: the models have other terms or ranges; their times are compared")
        for name, at_a, at_b in _common_times(in_a, in_b):
            diff.comparisons.append(compare(where, name, Measured(at_a, counts[0]), Measured(at_b, counts[1])))


def _parameters(
    where: str,
    a: Mapping[str, Parameter],
    b: Mapping[str, Parameter],
    launches: tuple[int | None, int | None],
    diff: Difference,
) -> None:
    for name in dict.fromkeys([*a, *b]):
        if name not in b:
            diff.only_in_a.append(f"{where}: {name}")
        elif name not in a:
            diff.only_in_b.append(f"{where}: {name}")
        elif a[name].unit != b[name].unit:
            diff.remarks.append(f"{where}: {name} is in {a[name].unit} in A, in {b[name].unit} in B")
        else:
            sides = Measured(a[name], launches[0]), Measured(b[name], launches[1])
            diff.comparisons.append(compare(where, name, *sides))


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


def _has_same_form(a: CollectiveModel, b: CollectiveModel) -> bool:
    """Whether two models have the same terms and ranges, whatever their numbers."""
    forms = [[each.model_dump(exclude={"min_ranks", "max_ranks"}) for each in model.regimes] for model in (a, b)]
    return forms[0] == forms[1]


def _common_times(a: CollectiveModel, b: CollectiveModel) -> list[tuple[str, Parameter, Parameter]]:
    """Times that both measured, on the fewest and most ranks: of the smallest, a middle and the largest size.

    Nothing of published models.
    """
    if not (a.is_fitted and b.is_fitted):
        return []
    sides = [{(int(row["ranks"] or 0), int(row["bytes"] or 0)): row for row in model.points} for model in (a, b)]
    both = sorted(sides[0].keys() & sides[1].keys())
    chosen = []
    for ranks in dict.fromkeys((both[0][0], both[-1][0])) if both else ():
        sizes = [size_B for count, size_B in both if count == ranks]
        chosen += [(ranks, size_B) for size_B in dict.fromkeys((sizes[0], sizes[len(sizes) // 2], sizes[-1]))]
    times = [
        {
            at: Parameter.model_validate(
                {"value": row["time_s"], "low": row.get("low_s"), "high": row.get("high_s"), "unit": "s"}
            )
            for at, row in side.items()
        }
        for side in sides
    ]
    return [(f"{at[0]} ranks, {format_bytes(at[1])}", times[0][at], times[1][at]) for at in chosen]
