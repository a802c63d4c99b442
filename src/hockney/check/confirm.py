"""Violations measured again in fresh launches: which stand in a campaign that was not searched for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from hockney.campaign.plan import Plan
from hockney.check.cells import DEFAULT, LaunchTimes, counterparts
from hockney.check.guidelines import Bound, Part
from hockney.check.judge import LEAST_LAUNCHES
from hockney.check.study import FAMILY_ERROR, Again, GuidelineFinding, study

NOT_TOLD: Final = "undecided by the second campaign"

MORE_LAUNCHES = 2
"""As many as before would find what lies just at its threshold but every second time: what was found looked
larger than it is, or its launches more alike, by luck."""


def confirm(
    findings: Sequence[GuidelineFinding], times: LaunchTimes, family_error: float = FAMILY_ERROR
) -> list[GuidelineFinding]:
    """Findings, the violations among them with what another campaign, maybe of other hosts, says of the same.

    These are tested among themselves, and any factor above 1 counts: one just above the least factor that is
    searched for would be found but every second time.
    """
    violations = [finding for finding in findings if finding.verdict == "violated"]
    calls = dict.fromkeys(part.call for each in violations for part in (each.bound.slow, *each.bound.fast))
    others = counterparts(calls, times.curves, (("system",), ()))

    def counterpart(part: Part) -> Part:
        return part._replace(call=others.get(part.call, part.call))

    wanted = {
        (
            each.guideline,
            Bound(counterpart(each.bound.slow), tuple(map(counterpart, each.bound.fast))),
        ): each.identity
        for each in violations
    }
    again = study(times, family_error=family_error, least_factor=1.0, only=wanted, expected=False)
    by_identity = {wanted[finding.identity]: finding for finding in again.findings}
    return [
        replace(finding, again=_again(by_identity.get(finding.identity)))
        if finding.verdict == "violated"
        else finding
        for finding in findings
    ]


def _again(second: GuidelineFinding | None) -> Again:
    """The verdict of the second campaign's comparison; None where it has none."""
    if second is None:
        return Again(NOT_TOLD, "it did not time all of these calls, with the same library and placement")
    numbers = (second.factor, second.factor_low, second.factor_high, second.p_corrected, second.launches)
    if second.p_corrected is None:
        return Again(NOT_TOLD, "its launches are too few", *numbers)
    return Again("confirmed" if second.verdict == "violated" else "not confirmed", "", *numbers)


def plan_of(plan: Plan, violations: Iterable[GuidelineFinding], launches: int) -> Plan:
    """The plan that times the calls of violations again, as the campaign's own plan timed them.

    One plan asks for every size, number of ranks and algorithm that any of them has, in `MORE_LAUNCHES` times the
    campaign's `launches`, and enough that a machine that changes between two levels leaves as many at one of them
    as a test takes.
    """
    parts = [part for finding in violations for part in (finding.bound.slow, *finding.bound.fast)]
    calls = [part.call for part in parts]
    return plan.of_others(
        operations=list(dict.fromkeys(call.operation for call in calls)),
        algorithms=list(dict.fromkeys([DEFAULT, *(call.algorithm for call in calls)])),
        rank_counts=sorted({call.ranks for call in calls if call.ranks is not None}),
        sizes_B=sorted({part.size_B for part in parts}),
        segments_B=sorted({call.segment_B or 0 for call in calls}),
        radices=sorted({call.radix or 0 for call in calls}),
        launches=max(MORE_LAUNCHES * launches, 2 * LEAST_LAUNCHES),
    )
