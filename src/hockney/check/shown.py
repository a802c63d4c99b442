"""The result of a check in lines; the tables beside them are the verb's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hockney.check.advised import MANY_LAUNCHES, MOST_ROWS, PATIENCE
from hockney.check.against import Changes, QuantityChange
from hockney.check.judge import LEAST_LAUNCHES
from hockney.check.power import FACTOR, FOUND, MOST_FACTOR, Power
from hockney.check.study import Checked, GuidelineFinding
from hockney.units import counted, format_bytes, grouped, percent


def verdict(checked: Checked, violations: Sequence[GuidelineFinding]) -> str:
    """How many calls violate a guideline, which may have been measured again, and how many were compared."""
    kept, open_ = len(checked.of("kept")), len(checked.of("undecided"))
    counts = f"{counted(len(checked.findings), 'comparison')}: {kept} kept, {open_} undecided"
    if not violations:
        return f"No guideline is violated. {counts}."
    largest, calls = violations[0], {finding.bound.slow for finding in violations}
    return (
        f"{counted(len(calls), 'call')} violate a guideline, the worst by × {largest.factor or 1:.2f} "
        f"({_called(largest)}). {counts}, {len(violations)} violated."
    )


def _called(finding: GuidelineFinding) -> str:
    size = f" of {format_bytes(finding.bytes)}" if finding.bytes else ""
    return f"{finding.call.named()}{size}"


def worst_of_calls(violations: Sequence[GuidelineFinding]) -> list[tuple[GuidelineFinding, int]]:
    """Of each violated call and size the worst comparison, the worst first, and how many others it has."""
    of_call = grouped(violations, lambda finding: finding.bound.slow)
    return [(found[0], len(found) - 1) for found in of_call.values()]


def checked_lines(checked: Checked, violations: Sequence[GuidelineFinding]) -> Iterator[str]:
    """What there is to say below the verdict and the table of violations."""
    yield from _more(len(worst_of_calls(violations)))
    if any(finding.p is not None for finding in checked.findings):
        yield f"Chance of any false alarm: at most {percent(checked.family_error)} (Holm)."
    if checked.power is not None:
        yield from _power(checked.power)
    if few := sum(finding.launches < LEAST_LAUNCHES for finding in checked.findings):
        # More launches are no advice where they were made and did not reach these.
        has_enough = (checked.launches or 0) >= MANY_LAUNCHES
        advice = "give launches more --time" if has_enough else f"`hockney measure --launches {MANY_LAUNCHES} …`"
        yield f"{few} have fewer than {LEAST_LAUNCHES} launches and stay undecided: {advice}"
    if checked.left_out:
        yield f"{counted(checked.left_out, 'point')} left out: no launch met them at the level that is compared"
    if checked.of_other_statistics:
        others = ", ".join(checked.of_other_statistics)
        yield f"not compared where they were timed by another statistic than the rest: {others}"
    again = [finding.again for finding in violations if finding.again is not None]
    if again:
        counts = Counter(second.verdict for second in again)
        yield f"measured again: {', '.join(f'{counts[verdict]} {verdict}' for verdict in sorted(counts))}"
        for reason in dict.fromkeys(second.why for second in again if second.why):
            yield f"  undecided: {reason}"


def changes_verdict(changes: Changes) -> str:
    """How many became slower, how many faster, and by how much at most."""
    counts = Counter(change.verdict for change in changes.changes)
    undecided = counts["undecided"]
    return (
        f"{_moved(changes.changes)}. {counts['not slower']} did not become slower, "
        f"{undecided} {'is' if undecided == 1 else 'are'} undecided."
    )


def _moved(changes: Sequence[QuantityChange]) -> str:
    """How many of them became slower and faster, and by how much at most."""
    said = []
    for verdict, power in (("slower", 1), ("faster", -1)):
        factors = [(change.factor or 1.0) ** power for change in changes if change.verdict == verdict]
        said.append((len(factors), f" (up to × {max(factors):.2f})" if factors else ""))
    (slower, most_slower), (faster, most_faster) = said
    return f"{slower} of {len(changes)} became slower{most_slower}, {faster} faster{most_faster}"


def changes_lines(changes: Changes) -> Iterator[str]:
    """What there is to say below the tables of what is slower and what is faster."""
    if any(change.verdict in ("slower", "faster") for change in changes.yardstick):
        yield (
            f"The yardstick moved: of our own schedules {_moved(changes.yardstick)}. "
            "Messages or the machine changed there, not the library's choices."
        )
    if wide := sum(not change.why for change in changes.of("undecided")):
        yield f"{counted(wide, 'change')} within the noise between launches: use more launches."
    for reason in dict.fromkeys(change.why for change in changes.changes if change.why):
        yield f"not judged: {reason}"
    if changes.missing:
        yield f"only in the older: {'; '.join(changes.missing[:MOST_ROWS])}"


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
