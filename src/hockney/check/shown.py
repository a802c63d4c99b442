"""The result of a check in lines; the tables beside them are the verb's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hockney.check.advised import MANY_LAUNCHES, MOST_ROWS
from hockney.check.against import Changes
from hockney.check.claims import ClaimFinding
from hockney.check.judge import LEAST_LAUNCHES
from hockney.check.power import FACTOR, FOUND, MOST_FACTOR, MOST_LAUNCHES, Power
from hockney.check.study import Checked, GuidelineFinding
from hockney.records.keys import COLLECTIVES
from hockney.units import format_bytes


def checked_lines(checked: Checked, violations: Sequence[GuidelineFinding]) -> Iterator[str]:
    """What there is to say beside the table of violations, which may have been measured again."""
    yield from _more(len(violations))
    yield (
        f"{len(checked.findings)} comparisons by {len(checked.counts)} guidelines over {checked.launches} "
        f"launch{'es' if checked.launches > 1 else ''}: {len(violations)} violated by a factor above "
        f"{checked.least_factor:g}, {len(checked.of('kept'))} kept, "
        f"{len(checked.of('cannot be told'))} cannot be told"
    )
    if any(finding.p is not None for finding in checked.findings):
        yield (
            f"if all guidelines were kept, a check would raise any alarm with a probability of at most "
            f"{checked.family_error:.2g} (Holm)"
        )
    if checked.power is not None:
        yield from _power(checked.power)
    if few := sum(finding.launches < LEAST_LAUNCHES for finding in checked.findings):
        many = f"; {MANY_LAUNCHES} find most factors of {FACTOR:g}" if checked.least_factor < FACTOR else ""
        yield (
            f"{few} were timed in fewer than {LEAST_LAUNCHES} launches, which tell nothing{many}: "
            f"`hockney measure --launches {MANY_LAUNCHES} …`"
        )
    if checked.left_out:
        yield f"{checked.left_out} points left out: no launch met them at the level that is compared"
    if checked.of_other_statistics:
        others = ", ".join(checked.of_other_statistics)
        yield f"not compared where they were timed by another statistic than the rest: {others}"
    again = [finding.again for finding in violations if finding.again is not None]
    if again:
        counts = Counter(second.verdict for second in again)
        counted = [f"{counts[verdict]} {verdict}" for verdict in sorted(counts)]
        yield f"measured again: {', '.join(counted)}"
        for reason in dict.fromkeys(second.why for second in again if second.why):
            yield f"  not told: {reason}"


def changes_lines(changes: Changes) -> Iterator[str]:
    """What there is to say beside the table of what is slower."""
    counts = Counter(change.verdict for change in changes.changes)
    yield from _more(counts["slower"])
    yield (
        f"{len(changes.changes)} compared with the older: {counts['slower']} slower, {counts['not slower']} "
        f"not slower, {counts['cannot be told']} cannot be told"
    )
    if wide := sum(not change.why for change in changes.of("cannot be told")):
        yield (
            f"{wide} were judged, but what differs from launch to launch, or what the machine moves by itself, "
            "hides so small a change: more launches on both sides tell more"
        )
    for reason in dict.fromkeys(change.why for change in changes.changes if change.why):
        yield f"not judged: {reason}"
    if changes.missing:
        yield f"only in the older: {'; '.join(changes.missing[:MOST_ROWS])}"


def claims_lines(findings: Sequence[ClaimFinding]) -> Iterator[str]:
    """What the claims come to, a line for each call and for each size at which one fails."""
    for claim, call in dict.fromkeys((finding.claim, finding.call) for finding in findings):
        of_call = [finding for finding in findings if (finding.claim, finding.call) == (claim, call)]
        counts = Counter(finding.verdict for finding in of_call)
        counted = [f"{counts[verdict]} {verdict}" for verdict in sorted(counts, reverse=True)]
        where = f" ({call.where()})" if call.where() else ""
        yield f"{claim}{where}: {len(of_call)} sizes, {', '.join(counted)}"
        yield from (f"  {failure(finding)}" for finding in of_call if finding.verdict == "violated")
        yield from (f"  not told: {why}" for why in dict.fromkeys(finding.why for finding in of_call) if why)


def failure(finding: ClaimFinding) -> str:
    """From where a violated claim fails, and by which factor."""
    size = f"{format_bytes(finding.bytes)}: " if COLLECTIVES[finding.operation].has_size else ""
    return (
        f"{size}fails from P = {finding.fails_from_ranks} on (to {finding.most_ranks}): {finding.factor:.2f} "
        f"times ({finding.factor_low:.2f} to {finding.factor_high:.2f}) what fewer ranks and the claim allow"
    )


def _power(power: Power) -> Iterator[str]:
    """What would have been found, and what it takes to find a factor in each comparison."""
    yield (
        f"a true factor is found with a probability of {FOUND:.0%} from {_any(power.median_factor)} on in the "
        f"median comparison, from {_any(power.worst_factor)} on in the worst"
    )
    if power.found_share is not None:
        takes = f"more than {MOST_LAUNCHES:,}" if power.launches is None else f"about {power.launches:,}"
        yield (
            f"a factor of {FACTOR:g} is found in {100 * power.found_share:.3g} of 100 comparisons; "
            f"each finds it with {FOUND:.0%} from {takes} launches on"
        )


def _any(factor: float | None) -> str:
    return f"more than {MOST_FACTOR:g}" if factor is None else f"{factor:.2f}"


def _more(count: int) -> list[str]:
    return [f"and {count - MOST_ROWS} more: `--json` has all"] if count > MOST_ROWS else []
