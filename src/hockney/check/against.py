"""What became slower or faster: campaigns or tables point by point, machine files quantity by quantity.

A time counts as slower where it takes longer than before by more than `least_factor`, and beyond what changes
from launch to launch on both sides and what the machine moves from campaign to campaign: the test of
`hockney diff`, one-sided. Holm's correction keeps the probability of any false alarm below the family-wise error;
what became faster has the same test, turned round, and a correction of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
from scipy import stats

from hockney.check.advised import MOST_ROWS
from hockney.check.cells import LaunchTimes, TimedCall, counterparts, times_of
from hockney.check.judge import LEAST_LAUNCHES, steady
from hockney.check.study import FAMILY_ERROR, LEAST_FACTOR
from hockney.errors import RequestError
from hockney.machine.build import caches_of, fitted
from hockney.machine.file import Machine, is_machine_file, load
from hockney.machine.locality import read
from hockney.machine.provenance import system_of
from hockney.machine.shipped import shipped_machines
from hockney.models.base import Parameter, drift
from hockney.records.contents import Contents
from hockney.records.keys import COLLECTIVES, sizes_are_blocks
from hockney.records.levels import Level, is_same_level
from hockney.records.series import Caches
from hockney.report.views.difference import difference
from hockney.report.views.judgement import Measured, p_value
from hockney.report.views.quantity import QuantityComparison
from hockney.schedule.catalogue import algorithms
from hockney.statistics import TAILS, holm
from hockney.units import counted, format_bytes

Verdict = Literal["slower", "faster", "not slower", "undecided"]
SLOWER_IF_LARGER: Mapping[str, bool] = {"s": True, "s/B": True, "B/s": False, "1/s": False}
"""Units of quantities of which one knows which way is worse."""
ANOTHER_LEVEL = "the machine was at another level"


@dataclass(frozen=True)
class QuantityChange:
    """A quantity before and after; `factor`: how many times as slow it is now, within `low` and `high` (95 %).

    Factor, interval and `p` are None where they are not known; `why` it could not be judged.
    """

    where: str
    quantity: str
    unit: str
    older: float
    newer: float
    factor: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_corrected: float | None = None
    verdict: Verdict = "undecided"
    why: str = ""


@dataclass(frozen=True)
class Changes:
    """All that both sides have of the library, and what only the older one has.

    `yardstick`: times of our own schedules beside it, which are no findings on the library: where they moved, the
    messages did.
    """

    changes: list[QuantityChange] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    yardstick: list[QuantityChange] = field(default_factory=list)

    def of(self, verdict: Verdict) -> list[QuantityChange]:
        """The changes with that verdict."""
        return [change for change in self.changes if change.verdict == verdict]

    @property
    def outcome(self) -> str:
        """How many became slower, how many faster, and by how much at most."""
        counts = Counter(change.verdict for change in self.changes)
        undecided = counts["undecided"]
        return (
            f"{_moved(self.changes)}. {counts['not slower']} did not become slower, "
            f"{undecided} {'is' if undecided == 1 else 'are'} undecided."
        )

    def lines(self) -> Iterator[str]:
        """What there is to say below the tables of what is slower and what is faster."""
        if any(change.verdict in ("slower", "faster") for change in self.yardstick):
            yield (
                f"The yardstick moved: of our own schedules {_moved(self.yardstick)}. "
                "Messages or the machine changed there, not the library's choices."
            )
        if wide := sum(not change.why for change in self.of("undecided")):
            yield f"{counted(wide, 'change')} within the noise between launches: use more launches."
        for reason in dict.fromkeys(change.why for change in self.changes if change.why):
            yield f"not judged: {reason}"
        if self.missing:
            yield f"only in the older: {'; '.join(self.missing[:MOST_ROWS])}"


def _moved(changes: Sequence[QuantityChange]) -> str:
    """How many of them became slower and faster, and by how much at most."""
    said = []
    for verdict, power in (("slower", 1), ("faster", -1)):
        factors = [(change.factor or 1.0) ** power for change in changes if change.verdict == verdict]
        said.append((len(factors), f" (up to × {max(factors):.2f})" if factors else ""))
    (slower, most_slower), (faster, most_faster) = said
    return f"{slower} of {len(changes)} became slower{most_slower}, {faster} faster{most_faster}"


Source = Contents | Machine


def source(path: Path) -> Source:
    """A machine file or a published machine by its name, a campaign folder or a tidy table."""
    if is_machine_file(path) or (not path.exists() and path.stem in shipped_machines()):
        return load(path)
    return read(path)


def against(
    newer: Source,
    older: Source,
    *,
    family_error: float = FAMILY_ERROR,
    least_factor: float = LEAST_FACTOR,
) -> Changes:
    """What is slower now; RequestError where the two have nothing in common.

    A campaign beside a machine file is fitted first.
    """
    yardstick: list[QuantityChange] = []
    if isinstance(newer, Contents) and isinstance(older, Contents):
        found, yardstick, missing = _of_times(newer, older)
    else:
        sides = [side if isinstance(side, Machine) else fitted(side) for side in (older, newer)]
        compared = difference(*sides, points=True)
        found = [change for comparison in compared.comparisons for change in _of_quantity(comparison)]
        missing = compared.only_in_a
    if not found:
        # Who measured nothing else asks about these.
        found, yardstick = yardstick, found
    if not found:
        raise RequestError(
            "the two have no time in common: no call and size of one is in the other",
            "measure both with the same `hockney measure …` command",
        )

    def judged(changes: Sequence[QuantityChange]) -> list[QuantityChange]:
        p = np.array([np.nan if change.p is None else change.p for change in changes])
        tests = zip(changes, holm(p), holm(1 - p), strict=True)
        return [_with_verdict(*test, family_error, least_factor) for test in tests]

    return Changes(judged(found), missing, judged(yardstick))


def _with_verdict(
    change: QuantityChange, p_corrected: float, p_faster: float, family_error: float, least_factor: float
) -> QuantityChange:
    if np.isnan(p_corrected):
        return change
    verdict: Verdict = "undecided"
    if p_corrected <= family_error and change.factor is not None and change.factor > least_factor:
        verdict = "slower"
    elif p_faster <= family_error and change.factor is not None and change.factor < 1 / least_factor:
        verdict = "faster"
    elif change.high is not None and change.high <= least_factor:
        verdict = "not slower"
    return replace(change, p_corrected=float(p_corrected), verdict=verdict)


def _of_quantity(comparison: QuantityComparison) -> Iterator[QuantityChange]:
    """A quantity of two machine files, if it is known which way is worse."""
    unit = comparison.a.unit
    if unit not in SLOWER_IF_LARGER:
        return
    factor, low, high = comparison.ratio, comparison.ratio_low, comparison.ratio_high
    if not SLOWER_IF_LARGER[unit]:
        factor, low, high = (1 / bound if bound else None for bound in (factor, high, low))
    p = comparison.p
    if p is not None and factor is not None:
        p = p / 2 if factor > 1 else 1 - p / 2
    few = "" if p is not None else "launches are too few, or at another level of the machine"
    yield QuantityChange(
        comparison.where,
        comparison.quantity,
        unit,
        comparison.a.value,
        comparison.b.value,
        factor,
        low,
        high,
        p,
        why=few,
    )


def _of_times(newer: Contents, older: Contents) -> tuple[list[QuantityChange], list[QuantityChange], list[str]]:
    """What both have of the library and of our own schedules, and what is missing now."""
    after, before = times_of(newer), times_of(older)
    # A library may have another name after an update, a machine one for each of its hosts.
    there_of = counterparts(before.curves, after.curves, (("system", "mpi"), ("system",), ()))
    found: list[QuantityChange] = []
    yardstick: list[QuantityChange] = []
    missing: list[str] = []
    caches = caches_of(system_of(newer.launches, []))
    ours = {(algorithm.collective, algorithm.name) for algorithm in algorithms()}
    for call in before.curves:
        there = there_of.get(call)
        if there is None:
            missing.append(_called(call))
            continue
        levels = [level.reference_s for level in (_level(older, call), _level(newer, there)) if level is not None]
        # Another library may have another reference by nature.
        is_apart = (
            call.known_setting.get("mpi") == there.known_setting.get("mpi")
            and len(levels) == 2
            and not is_same_level(*levels)
        )
        sides = _measured(before, call, caches), _measured(after, there, caches)
        missing += [
            f"{_called(call)}, {format_bytes(size)}" for size in before.curves[call] if size not in sides[1]
        ]
        # Other programs name algorithms of the library so.
        is_ours = (call.operation, call.algorithm) in ours and call.known_setting.get("source") == "hockney"
        for size_B in sorted(sides[0].keys() & sides[1].keys()):
            change = _of_time(there, size_B, sides[0][size_B], sides[1][size_B], is_apart)
            (yardstick if is_ours else found).append(change)
    return found, yardstick, missing


def _called(call: TimedCall) -> str:
    return ", ".join(filter(None, [call.named(), call.where()]))


def _level(contents: Contents, call: TimedCall) -> Level | None:
    """The level at which the times of a call are, None where nobody says."""
    known = call.known_setting
    ranks = (
        *(known.get(name, "") for name in ("system", "mpi", "variant", "mapping")),
        *(call.nodes, call.ppn, call.ranks),
        known.get("pair", ""),
    )
    levels = contents.levels.get(ranks)
    return contents.choice(levels) if levels else None


def _measured(times: LaunchTimes, call: TimedCall, caches: Caches | None) -> dict[int, Measured]:
    """The median time of each size over launches, with what is known of how launches differ."""
    rows = np.array(list(times.curves[call].values()))
    of_call = times.time_s[rows]
    is_timed = ~np.isnan(of_call).all(axis=0)
    bounds = [matrix[rows][:, is_timed] for matrix in (times.low_s, times.time_s, times.high_s)]
    middle, error, freedom = steady(*bounds)
    factor = np.exp(stats.t.ppf(TAILS[1], freedom) * error)
    low, high = middle / factor, middle * factor
    launches = np.sum(~np.isnan(of_call), axis=1)
    # A collective's buffers are those of all its ranks, an exchange's of two.
    ranks = (call.ranks or 2) / 2 if call.operation in COLLECTIVES else 1.0
    vectors = (call.ranks or 2) * ranks if sizes_are_blocks(call.operation) else ranks
    return {
        size_B: Measured(
            Parameter(value=middle[index], low=_number(low[index]), high=_number(high[index]), unit="s"),
            int(launches[index]),
            _number(freedom[index]),
            is_students=True,
            drift=float(drift(size_B * vectors, caches)),
        )
        for index, size_B in enumerate(times.curves[call])
    }


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _of_time(call: TimedCall, size_B: int, before: Measured, after: Measured, is_apart: bool) -> QuantityChange:
    a, b = before.parameter, after.parameter
    size = format_bytes(size_B)
    change = QuantityChange(_called(call), f"time of {size}", "s", a.value, b.value, b.value / a.value)
    if a.low is None or a.high is None or b.low is None or b.high is None or a.low <= 0:
        return replace(change, why=f"fewer than {LEAST_LAUNCHES} launches")
    change = replace(change, low=b.low / a.high, high=b.high / a.low)
    two_sided = p_value(before, after)
    is_few = min(before.launches or 0, after.launches or 0) < LEAST_LAUNCHES
    if two_sided is None or is_apart or is_few:
        return replace(change, why=ANOTHER_LEVEL if is_apart else f"fewer than {LEAST_LAUNCHES} launches")
    return replace(change, p=two_sided / 2 if b.value > a.value else 1 - two_sided / 2)
