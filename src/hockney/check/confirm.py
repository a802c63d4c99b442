"""Violations measured again in fresh launches: which stand in a campaign that was not searched for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hockney.campaign.plan import Plan
from hockney.check.cells import DEFAULT, Times, counterparts
from hockney.check.guidelines.base import Bound, Part
from hockney.check.judge import LEAST_LAUNCHES
from hockney.check.study import FAMILY_ERROR, Finding, Study, study
from hockney.errors import RequestError

Verdict = Literal["confirmed", "not confirmed", "not told by the second campaign"]

MORE_LAUNCHES = 2
"""As many as before would find what lies just at its threshold but every second time: what was found looked
larger than it is, or its launches more alike, by luck."""


@dataclass(frozen=True)
class Confirmation:
    """Violations beside what another campaign says of the same comparisons, `again`, tested among themselves.

    There any factor above 1 counts: one just above the least factor that is searched for would be found but every
    second time.
    """

    violations: list[Finding] = field(default_factory=list)
    again: dict[Any, Finding] = field(default_factory=dict)

    def verdict(self, finding: Finding) -> Verdict:
        """What the second campaign says of a violation."""
        found = self.again.get(finding.identity)
        if found is None or found.p_corrected is None:
            return "not told by the second campaign"
        return "confirmed" if found.verdict == "violated" else "not confirmed"

    def why(self, finding: Finding) -> str:
        """Why the second campaign tells nothing of a violation; empty where it does."""
        if self.verdict(finding) != "not told by the second campaign":
            return ""
        if finding.identity not in self.again:
            return "it did not time all of these calls, with the same library and placement"
        return "its launches are too few"

    def of(self, verdict: Verdict) -> list[Finding]:
        """The violations with that verdict."""
        return [finding for finding in self.violations if self.verdict(finding) == verdict]


def confirm(violations: Sequence[Finding], times: Times, family_error: float = FAMILY_ERROR) -> Confirmation:
    """Put violations to the times of another campaign, maybe of other hosts; one that lacks them says nothing."""
    calls = dict.fromkeys(part.call for one in violations for part in (one.bound.slow, *one.bound.fast))
    there = counterparts(calls, times.curves, (("system",), ()))

    def of(part: Part) -> Part:
        return part._replace(call=there.get(part.call, part.call))

    wanted = {
        (one.guideline, Bound(of(one.bound.slow), tuple(map(of, one.bound.fast)))): one.identity
        for one in violations
    }
    try:
        found: Study = study(times, family_error=family_error, least_factor=1.0, only=wanted)
    except RequestError:
        return Confirmation(list(violations))
    return Confirmation(list(violations), {wanted[one.identity]: one for one in found.findings})


def plan_of(plan: Plan, violations: Iterable[Finding], launches: int) -> Plan:
    """The plan that times the calls of violations again, as the campaign's own plan timed them.

    One plan asks for every size, number of ranks and algorithm that any of them has, in `MORE_LAUNCHES` times the
    campaign's `launches`, and enough that a machine that changes between two levels leaves as many at one of them
    as a test takes.
    """
    parts = [part for finding in violations for part in (finding.bound.slow, *finding.bound.fast)]
    calls = [part.call for part in parts]
    operations = dict.fromkeys(call.operation for call in calls)
    ranks = sorted({call.ranks for call in calls if call.ranks is not None})
    return plan.model_copy(
        update={
            "operations": list(operations),
            "effects": [],
            "algorithms": list(dict.fromkeys([DEFAULT, *(call.algorithm for call in calls)])),
            "rank_counts": ranks,
            "sizes_B": sorted({part.size_B for part in parts}),
            "segments_B": sorted({call.segment_B or 0 for call in calls}),
            "radices": sorted({call.radix or 0 for call in calls}),
            "launches": max(MORE_LAUNCHES * launches, 2 * LEAST_LAUNCHES),
            "adaptive": False,
            "topology": "",
            "time_s": None,
        }
    )
