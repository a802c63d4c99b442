"""All guidelines put to the times of a campaign or a table: what each comparison says, and what mends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from hockney.check.advised import MANY_LAUNCHES, MOST_ROWS, PATIENCE
from hockney.check.cells import LaunchTimes, TimedCall
from hockney.check.guidelines import Bound, Part, guidelines
from hockney.check.judge import LEAST_LAUNCHES, Comparisons, JudgedRatios, comparisons, judge
from hockney.check.power import FACTOR, FOUND, MOST_FACTOR, Power, power
from hockney.errors import RequestError
from hockney.records.keys import COLLECTIVES
from hockney.schedule.catalogue import offered
from hockney.statistics import steady_median
from hockney.units import counted, format_bytes, format_time, grouped, percent

FAMILY_ERROR = 0.05
LEAST_FACTOR = 1.05
"""What is sure to be slower by less than this is not worth a change."""

Verdict = Literal["violated", "kept", "undecided"]


@dataclass(frozen=True)
class CalledPart:
    """A call that is compared with, `count` times one after another."""

    count: int
    operation: str
    algorithm: str
    segment_bytes: int | None
    radix: int | None
    ranks: int | None
    bytes: int


@dataclass(frozen=True)
class Mend:
    """A schedule of ours that took less time in the same place, as a rule of `hockney apply` says it."""

    algorithm: str
    segment_bytes: int
    radix: int
    time_s: float

    def __str__(self) -> str:
        """`pipeline segment 4096 B, 12 µs`."""
        segment = f" segment {self.segment_bytes} B" if self.segment_bytes else ""
        radix = f" radix {self.radix}" if self.radix else ""
        return f"{self.algorithm}{segment}{radix}, {format_time(self.time_s)}"


@dataclass(frozen=True)
class Again:
    """What a second campaign says of a violation; `why` it tells nothing, empty where it does.

    Numbers are None where it did not time all of these calls.
    """

    verdict: Literal["confirmed", "not confirmed", "undecided by the second campaign"]
    why: str = ""
    factor: float | None = None
    factor_low: float | None = None
    factor_high: float | None = None
    p_corrected: float | None = None
    launches: int | None = None


@dataclass(frozen=True)
class GuidelineFinding:
    """One comparison: `bound.slow` takes `factor` (95 % interval) times as long as `bound.fast`, its `parts`.

    Factor, interval and probabilities are None where no launch, or too few, timed both sides. `schedule`: of ours
    the one that took least time in the same place; None where none was faster by the least factor. `again` is
    None where no second campaign was asked.
    """

    bound: Annotated[Bound, Field(exclude=True)]
    guideline: str
    says: str
    operation: str
    ranks: int | None
    nodes: int | None
    ppn: int | None
    root: int | None
    bytes: int
    setting: dict[str, str]
    statistic: str
    verdict: Verdict
    factor: float | None
    factor_low: float | None
    factor_high: float | None
    p: float | None
    p_corrected: float | None
    launches: int
    time_s: float
    replacement_time_s: float
    replacement: str
    parts: list[CalledPart]
    schedule: Mend | None
    schedules_known: tuple[str, ...]
    again: Again | None = None

    @property
    def call(self) -> TimedCall:
        """What is slow, but for its size."""
        return self.bound.slow.call

    @property
    def identity(self) -> tuple[str, Bound]:
        """What the same comparison has in common in two campaigns."""
        return self.guideline, self.bound

    @property
    def stands(self) -> bool:
        """Whether it is a violation that no second campaign refutes."""
        return self.verdict == "violated" and (self.again is None or self.again.verdict != "not confirmed")


@dataclass(frozen=True)
class Checked:
    """What all comparisons of a campaign or a table say, in the order of guidelines, and how they were judged.

    `left_out` and `of_other_statistics`: what the times say of them. `power`: what would have been found; None
    where launches tell nothing.
    """

    findings: list[GuidelineFinding] = field(default_factory=list)
    launches: int = 0
    left_out: int = 0
    of_other_statistics: tuple[str, ...] = ()
    family_error: float = FAMILY_ERROR
    least_factor: float = LEAST_FACTOR
    power: Power | None = None

    def of(self, verdict: Verdict) -> list[GuidelineFinding]:
        """The findings with that verdict."""
        return [finding for finding in self.findings if finding.verdict == verdict]

    @property
    def violations(self) -> list[GuidelineFinding]:
        """What is violated, the largest factor first."""
        return sorted(self.of("violated"), key=lambda finding: -(finding.factor or 0.0))

    @property
    def outcome(self) -> str:
        """How many calls violate a guideline, which may have been measured again, and how many were compared."""
        kept, open_ = len(self.of("kept")), len(self.of("undecided"))
        counts = f"{counted(len(self.findings), 'comparison')}: {kept} kept, {open_} undecided"
        violations = self.violations
        if not violations:
            return f"No guideline is violated. {counts}."
        largest, calls = violations[0], {finding.bound.slow for finding in violations}
        return (
            f"{counted(len(calls), 'call')} violate a guideline, the worst by × {largest.factor or 1:.2f} "
            f"({_called(largest)}). {counts}, {len(violations)} violated."
        )

    @property
    def worst_of_calls(self) -> list[tuple[GuidelineFinding, int]]:
        """Of each violated call and size the worst comparison, the worst first, and how many others it has."""
        of_call = grouped(self.violations, lambda finding: finding.bound.slow)
        return [(found[0], len(found) - 1) for found in of_call.values()]

    def lines(self) -> Iterator[str]:
        """What there is to say below the outcome and the table of violations."""
        yield from _more(len(self.worst_of_calls))
        if any(finding.p is not None for finding in self.findings):
            yield f"Chance of any false alarm: at most {percent(self.family_error)} (Holm)."
        if self.power is not None:
            yield from _power(self.power)
        if few := sum(finding.launches < LEAST_LAUNCHES for finding in self.findings):
            # More launches are no advice where they were made and did not reach these.
            has_enough = (self.launches or 0) >= MANY_LAUNCHES
            more = f"`hockney measure --launches {MANY_LAUNCHES} …`"
            advice = "give launches more --time" if has_enough else more
            yield f"{few} have fewer than {LEAST_LAUNCHES} launches and stay undecided: {advice}"
        if self.left_out:
            yield f"{counted(self.left_out, 'point')} left out: no launch met them at the level that is compared"
        if self.of_other_statistics:
            others = ", ".join(self.of_other_statistics)
            yield f"not compared where they were timed by another statistic than the rest: {others}"
        again = [finding.again for finding in self.violations if finding.again is not None]
        if again:
            counts = Counter(second.verdict for second in again)
            yield f"measured again: {', '.join(f'{counts[verdict]} {verdict}' for verdict in sorted(counts))}"
            for reason in dict.fromkeys(second.why for second in again if second.why):
                yield f"  undecided: {reason}"

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """How many comparisons of each guideline have each verdict."""
        by_name: dict[str, Counter[str]] = {}
        for finding in self.findings:
            by_name.setdefault(finding.guideline, Counter())[finding.verdict] += 1
        return {name: dict(verdicts) for name, verdicts in by_name.items()}


def _called(finding: GuidelineFinding) -> str:
    size = f" of {format_bytes(finding.bytes)}" if finding.bytes else ""
    return f"{finding.call.named()}{size}"


def _power(power: Power) -> Iterator[str]:
    """What would have been noticed, and what it takes to notice a factor in each comparison."""
    yield (
        f"This run would have noticed × {_any(power.median_factor)} in a typical comparison, "
        f"× {_any(power.worst_factor)} in the noisiest (with {percent(FOUND)})."
    )
    if power.found_share is not None:
        share = f"It notices a factor of {FACTOR:g} in {percent(power.found_share)} of them"
        if power.launches is not None and power.launches <= PATIENCE:
            yield f"{share}; all need about {counted(power.launches, 'launch', plural='launches')}."
        else:
            yield f"{share}. In the others noise does not average out in any reasonable time."


def _any(factor: float | None) -> str:
    return f"more than {MOST_FACTOR:g}" if factor is None else f"{factor:.2f}"


def _more(count: int) -> list[str]:
    return [f"and {count - MOST_ROWS} more: `--json` has all"] if count > MOST_ROWS else []


def in_words(bound: Bound) -> str:
    """What a program could call in the place of what is slow: `scatter 512 B + allgather 512 B`."""
    return " + ".join(_in_words(part, bound.slow) for part in bound.fast)


def _in_words(part: Part, of: Part) -> str:
    count = "" if part.times == 1 else f"{part.times} × "
    ranks = "" if part.call.ranks == of.call.ranks else f" on {part.call.ranks} ranks"
    size = f" {format_bytes(part.size_B)}" if _has_size(part.call) else ""
    return f"{count}{part.call.named()}{size}{ranks}"


def _has_size(call: TimedCall) -> bool:
    return call.operation not in COLLECTIVES or COLLECTIVES[call.operation].has_size


def bounds(times: LaunchTimes, names: Sequence[str] = ()) -> Iterator[tuple[str, Bound]]:
    """What guidelines compare of these times, all of them or those named; RequestError for an unknown name."""
    for name in names or guidelines.names():
        for bound in guidelines.get(name).bounds(times.curves):
            yield name, bound


def compared(times: LaunchTimes, found: Iterable[tuple[str, Bound]]) -> Comparisons:
    """The rows of times that are compared."""
    rows, groups = [], []
    for name, bound in found:
        rows.append(
            (_row(times, bound.slow), [(part.times, _row(times, part)) for part in bound.fast]),
        )
        # In what differs from launch to launch, sizes of the same calls are alike.
        groups.append((name, bound.slow.call, tuple((part.times, part.call) for part in bound.fast)))
    return comparisons(rows, groups)


def _row(times: LaunchTimes, part: Part) -> int:
    return times.curves[part.call][part.size_B]


def study(
    times: LaunchTimes,
    names: Sequence[str] = (),
    *,
    family_error: float = FAMILY_ERROR,
    least_factor: float = LEAST_FACTOR,
    only: Iterable[tuple[str, Bound]] | None = None,
    expected: bool = True,
) -> Checked:
    """Put the guidelines, or those named, to the times; `only`: these comparisons and no others.

    RequestError where there is nothing to compare and something was `expected`.
    """
    found = list(bounds(times, names) if only is None else _known(times, only))
    left = times.left_out, times.of_other_statistics
    if not found and not expected:
        return Checked([], times.launches, *left, family_error, least_factor)
    if not found:
        raise RequestError(
            "no guideline applies: each needs two sizes, two operations or two algorithms on the same ranks",
            f"measure some: `hockney measure --operation collectives --launches {MANY_LAUNCHES} -o FOLDER`",
        )
    pairs = compared(times, found)
    judged = judge(pairs, times.time_s, times.low_s, times.high_s)
    middle_s = list(map(float, steady_median(times.time_s)))
    findings = [
        _finding(times, judged, middle_s, index, name, bound, (family_error, least_factor))
        for index, (name, bound) in enumerate(found)
    ]
    violated = sum(finding.verdict == "violated" for finding in findings)
    would_find = power(judged, violated, family_error, least_factor)
    return Checked(findings, times.launches, *left, family_error, least_factor, would_find)


def _finding(
    times: LaunchTimes,
    judged: JudgedRatios,
    middle_s: Sequence[float],
    index: int,
    name: str,
    bound: Bound,
    limits: tuple[float, float],
) -> GuidelineFinding:
    """What became of the comparison of that `index`; `limits`: the family-wise error and the least factor."""
    slow, call, guideline = bound.slow, bound.slow.call, guidelines.get(name)
    verdict = _verdict(judged, index, *limits)
    ratio, low, high, p, p_corrected = (
        float(values[index]) if np.isfinite(values[index]) else None
        for values in (judged.ratio, judged.low, judged.high, judged.p, judged.p_corrected)
    )
    return GuidelineFinding(
        bound=bound,
        guideline=name,
        says=guideline.says,
        operation=call.operation,
        ranks=call.ranks,
        nodes=call.nodes,
        ppn=call.ppn,
        root=call.root,
        bytes=slow.size_B,
        setting=call.known_setting,
        statistic=call.statistic,
        verdict=verdict,
        factor=ratio,
        factor_low=low,
        factor_high=high,
        p=p,
        p_corrected=p_corrected,
        launches=int(judged.launches[index]),
        time_s=middle_s[_row(times, slow)],
        replacement_time_s=sum(part.times * middle_s[_row(times, part)] for part in bound.fast),
        replacement=in_words(bound),
        parts=[
            CalledPart(
                part.times,
                part.call.operation,
                part.call.algorithm,
                part.call.segment_B,
                part.call.radix,
                part.call.ranks,
                part.size_B,
            )
            for part in bound.fast
        ],
        schedule=_mend(times, middle_s, bound, limits[1]) if verdict == "violated" else None,
        schedules_known=guideline.schedules,
    )


def _known(times: LaunchTimes, only: Iterable[tuple[str, Bound]]) -> Iterator[tuple[str, Bound]]:
    for name, bound in only:
        if all(part.size_B in times.curves.get(part.call, ()) for part in (bound.slow, *bound.fast)):
            yield name, bound


def _verdict(judged: JudgedRatios, index: int, family_error: float, least_factor: float) -> Verdict:
    if judged.p_corrected[index] <= family_error and judged.ratio[index] > least_factor:
        return "violated"
    return "kept" if judged.high[index] <= least_factor else "undecided"


def _mend(times: LaunchTimes, middle_s: Sequence[float], bound: Bound, least_factor: float) -> Mend | None:
    """The schedule of ours that took least in the same place; None where it gains too little."""
    slow = bound.slow
    if slow.call.known_setting.get("source") != "hockney":
        # Another program's names are a library's.
        return None
    ours = {algorithm.name for algorithm in offered(slow.call.operation)}
    time_of = {
        call: middle_s[rows[slow.size_B]]
        for call, rows in times.curves.items()
        if call.algorithm in ours and slow.size_B in rows and call.of(call.operation, call.root) == slow.call
    }
    best = min(time_of, key=lambda call: time_of[call], default=None)
    if best is None or time_of[best] * least_factor > middle_s[_row(times, slow)]:
        return None
    return Mend(best.algorithm, best.segment_B or 0, best.radix or 0, time_of[best])
