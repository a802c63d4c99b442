"""All guidelines put to the times of a campaign or a table: what each comparison says, and what mends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from hockney.check.advised import MANY_LAUNCHES
from hockney.check.cells import SETTING, Call, Times
from hockney.check.guidelines.base import Bound, Part, guidelines
from hockney.check.judge import Comparisons, Judged, comparisons, judge
from hockney.check.power import Power, power
from hockney.errors import RequestError
from hockney.records.keys import COLLECTIVES
from hockney.schedule.catalogue import offered
from hockney.statistics import steady_median
from hockney.units import format_bytes

FAMILY_ERROR = 0.05
LEAST_FACTOR = 1.05
"""What is sure to be slower by less than this is not worth a change."""

Verdict = Literal["violated", "kept", "cannot be told"]


@dataclass(frozen=True)
class Finding:
    """One comparison: `bound.slow` takes `factor` (within `low` and `high`, 95 %) times as long as `bound.fast`.

    Factor, interval and probabilities are None where no launch, or too few, timed both sides. `mend`: of our
    schedules the one that took least time in the same place, `mend_s` seconds; None where none was faster by the
    least factor.
    """

    guideline: str
    bound: Bound
    factor: float | None
    low: float | None
    high: float | None
    p: float | None
    p_corrected: float | None
    launches: int
    slow_s: float
    fast_s: float
    verdict: Verdict
    mend: Call | None = None
    mend_s: float = 0.0

    @property
    def call(self) -> Call:
        """What is slow, but for its size."""
        return self.bound.slow.call

    @property
    def identity(self) -> tuple[str, Bound]:
        """What the same comparison has in common in two campaigns."""
        return self.guideline, self.bound

    def replacement(self) -> str:
        """What does the same in less time, in words."""
        return in_words(self.bound)

    def as_json(self) -> dict[str, Any]:
        """Plain data; what is not known is None."""
        call = self.call
        return {
            "guideline": self.guideline,
            "says": guidelines.get(self.guideline).says,
            "operation": call.operation,
            "ranks": call.ranks,
            "nodes": call.nodes,
            "ppn": call.ppn,
            "root": call.root,
            "bytes": self.bound.slow.size_B,
            "setting": {name: word for name, word in zip(SETTING, call.setting, strict=False) if word},
            "statistic": call.statistic,
            "verdict": self.verdict,
            "factor": self.factor,
            "factor_low": self.low,
            "factor_high": self.high,
            "p": self.p,
            "p_corrected": self.p_corrected,
            "launches": self.launches,
            "time_s": self.slow_s,
            "replacement_time_s": self.fast_s,
            "replacement": self.replacement(),
            "parts": [
                {
                    "count": part.times,
                    "operation": part.call.operation,
                    "algorithm": part.call.algorithm,
                    "segment_bytes": part.call.segment_B,
                    "radix": part.call.radix,
                    "ranks": part.call.ranks,
                    "bytes": part.size_B,
                }
                for part in self.bound.fast
            ],
            "schedule": self._mend(),
            "schedules_known": list(guidelines.get(self.guideline).schedules),
        }

    def _mend(self) -> dict[str, Any] | None:
        """What a rule of `hockney apply` says of it."""
        if self.mend is None:
            return None
        return {
            "algorithm": self.mend.algorithm,
            "segment_bytes": self.mend.segment_B or 0,
            "radix": self.mend.radix or 0,
            "time_s": self.mend_s,
        }


@dataclass(frozen=True)
class Study:
    """What all comparisons of a campaign or a table say, in the order of guidelines, and how they were judged.

    `left_out` and `of_other_statistics`: what `Times` says of them. `power`: what would have been found; None
    where launches tell nothing.
    """

    findings: list[Finding] = field(default_factory=list)
    launches: int = 0
    left_out: int = 0
    of_other_statistics: tuple[str, ...] = ()
    family_error: float = FAMILY_ERROR
    least_factor: float = LEAST_FACTOR
    power: Power | None = None

    def of(self, verdict: Verdict) -> list[Finding]:
        """The findings with that verdict."""
        return [finding for finding in self.findings if finding.verdict == verdict]

    @property
    def violations(self) -> list[Finding]:
        """What is violated, the largest factor first."""
        return sorted(self.of("violated"), key=lambda finding: -(finding.factor or 0.0))

    @property
    def counts(self) -> dict[str, Counter[str]]:
        """How many comparisons of each guideline have each verdict."""
        counted: dict[str, Counter[str]] = {}
        for finding in self.findings:
            counted.setdefault(finding.guideline, Counter())[finding.verdict] += 1
        return counted


def in_words(bound: Bound) -> str:
    """What a program could call in the place of what is slow: `scatter 512 B + allgather 512 B`."""
    return " + ".join(_in_words(part, bound.slow) for part in bound.fast)


def _in_words(part: Part, of: Part) -> str:
    count = "" if part.times == 1 else f"{part.times} × "
    ranks = "" if part.call.ranks == of.call.ranks else f" on {part.call.ranks} ranks"
    size = f" {format_bytes(part.size_B)}" if _has_size(part.call) else ""
    return f"{count}{part.call.named()}{size}{ranks}"


def _has_size(call: Call) -> bool:
    return call.operation not in COLLECTIVES or COLLECTIVES[call.operation].has_size


def bounds(times: Times, names: Sequence[str] = ()) -> Iterator[tuple[str, Bound]]:
    """What guidelines compare of these times, all of them or those named; RequestError for an unknown name."""
    for name in names or guidelines.names():
        for bound in guidelines.get(name).bounds(times.curves):
            yield name, bound


def compared(times: Times, found: Iterable[tuple[str, Bound]]) -> Comparisons:
    """The rows of times that are compared."""
    rows, groups = [], []
    for name, bound in found:
        rows.append(
            (_row(times, bound.slow), [(part.times, _row(times, part)) for part in bound.fast]),
        )
        # In what differs from launch to launch, sizes of the same calls are alike.
        groups.append((name, bound.slow.call, tuple((part.times, part.call) for part in bound.fast)))
    return comparisons(rows, groups)


def _row(times: Times, part: Part) -> int:
    return times.curves[part.call][part.size_B]


def study(
    times: Times,
    names: Sequence[str] = (),
    *,
    family_error: float = FAMILY_ERROR,
    least_factor: float = LEAST_FACTOR,
    only: Iterable[tuple[str, Bound]] | None = None,
    expected: bool = True,
) -> Study:
    """Put the guidelines, or those named, to the times; `only`: these comparisons and no others.

    RequestError where there is nothing to compare and something was `expected`.
    """
    found = list(bounds(times, names) if only is None else _known(times, only))
    left = times.left_out, times.of_other_statistics
    if not found and not expected:
        return Study([], times.launches, *left, family_error, least_factor)
    if not found:
        raise RequestError(
            "no guideline compares anything here: it needs an operation of the library's own choice at two "
            "sizes, or two operations or algorithms on the same ranks",
            f"measure some: `hockney measure --operation collectives --launches {MANY_LAUNCHES} -o FOLDER`",
        )
    pairs = compared(times, found)
    judged = judge(pairs, times.time_s, times.low_s, times.high_s)
    middle_s = _medians(times)
    findings = []
    for index, (name, bound) in enumerate(found):
        slow_s = middle_s[_row(times, bound.slow)]
        fast_s = sum(part.times * middle_s[_row(times, part)] for part in bound.fast)
        verdict = _verdict(judged, index, family_error, least_factor)
        findings.append(
            Finding(
                name,
                bound,
                _known_number(judged.ratio[index]),
                _known_number(judged.low[index]),
                _known_number(judged.high[index]),
                _known_number(judged.p[index]),
                _known_number(judged.p_corrected[index]),
                int(judged.launches[index]),
                float(slow_s),
                float(fast_s),
                verdict,
                *(_mend(times, middle_s, bound, least_factor) if verdict == "violated" else (None, 0.0)),
            )
        )
    violated = sum(finding.verdict == "violated" for finding in findings)
    would_find = power(judged, violated, family_error, least_factor)
    return Study(findings, times.launches, *left, family_error, least_factor, would_find)


def _known(times: Times, only: Iterable[tuple[str, Bound]]) -> Iterator[tuple[str, Bound]]:
    for name, bound in only:
        if all(part.size_B in times.curves.get(part.call, ()) for part in (bound.slow, *bound.fast)):
            yield name, bound


def _verdict(judged: Judged, index: int, family_error: float, least_factor: float) -> Verdict:
    if judged.p_corrected[index] <= family_error and judged.ratio[index] > least_factor:
        return "violated"
    return "kept" if judged.high[index] <= least_factor else "cannot be told"


def _known_number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _medians(times: Times) -> list[float]:
    """The steady median over launches of each cell, in seconds; each has one launch at least."""
    return list(map(float, steady_median(times.time_s)))


def _mend(
    times: Times, middle_s: Sequence[float], bound: Bound, least_factor: float
) -> tuple[Call | None, float]:
    """The schedule of ours that took least in the same place, and its time; None where it gains too little."""
    slow = bound.slow
    if dict(zip(SETTING, slow.call.setting, strict=False)).get("source") != "hockney":
        # Another program's names are a library's.
        return None, 0.0
    ours = {algorithm.name for algorithm in offered(slow.call.operation)}
    found = {
        call: middle_s[rows[slow.size_B]]
        for call, rows in times.curves.items()
        if call.algorithm in ours and slow.size_B in rows and call.of(call.operation, call.root) == slow.call
    }
    best = min(found, key=lambda call: found[call], default=None)
    if best is None or found[best] * least_factor > middle_s[_row(times, slow)]:
        return None, 0.0
    return best, found[best]
