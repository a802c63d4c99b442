"""Which findings of all sections a page begins with, and how far the page is to be trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hockney.records.keys import COLLECTIVES
from hockney.records.levels import Level, in_words
from hockney.records.record import Record
from hockney.report.findings import Finding
from hockney.units import counted

MOST = 10
"""Answers that a page begins with."""
MOST_OF_A_KIND = 3
"""Answers of one kind that come before the others of it: ten collectives have a default each."""


FIRST = 1.0
"""Weight of what all other answers are to be read with."""


def weightiest(findings: Iterable[Finding], about: Iterable[str] = ()) -> list[Finding]:
    """The answers that matter most, at most `MOST`, the weightiest first; of equal ones, in their order.

    Those `about` these operations and applications come before all others but those of weight `FIRST`; of one
    kind, `MOST_OF_A_KIND` do.
    """
    ids = tuple(f"{before}{name}" for name in about for before in ("", "app-", "figure-", "figure-app-"))
    ordered = sorted(findings, key=lambda finding: -finding.weight)
    before = Counter[str]()
    place = []
    for finding in ordered:
        before[finding.kind] += 1
        is_repeated = bool(finding.kind) and before[finding.kind] > MOST_OF_A_KIND
        place.append((finding.weight < FIRST and not finding.anchor.startswith(ids), is_repeated))
    chosen = [finding for _, finding in sorted(zip(place, ordered, strict=True), key=lambda pair: pair[0])]
    return chosen[:MOST]


def is_crowded(launch: Mapping[str, Any]) -> bool:
    """Whether ranks of a launch shared cores, and waited for these: a network may be slower than that."""
    return bool(launch.get("oversubscribed")) and len(launch.get("hosts", ())) < 2


def are_crowded(launches: Sequence[Mapping[str, Any]]) -> bool:
    """Whether every launch was."""
    return bool(launches) and all(map(is_crowded, launches))


def of_results(records: Iterable[Record], anchor: str) -> list[Finding]:
    """Whether each checked result was right: all that can be said where every launch was crowded."""
    checked = [one for one in records if one.verified is not None]
    if not checked:
        return []
    wrong = sorted({f"{one.operation} {one.algorithm}" for one in checked if not one.verified})
    said = f"wrong are those of {', '.join(wrong)}" if wrong else "all are right"
    points = {(one.operation, one.algorithm, one.ranks, one.bytes) for one in checked}
    algorithms = {point[:2] for point in points if point[0] in COLLECTIVES}
    of = f" of {counted(len(algorithms), 'algorithm')} of collectives" if algorithms else ""
    text = f"Results were checked at {counted(len(points), 'point')}{of}: {said}."
    return [Finding(text, anchor, 0.99)]


def of_trust(
    levels: Iterable[Sequence[Level]],
    missing: str,
    warnings: Sequence[str],
    launches: Sequence[Mapping[str, Any]] = (),
) -> list[Finding]:
    """How steady the machine was, what was not measured (`missing`, a sentence), and what is to be read first."""
    anchor = "warnings" if warnings else "provenance"
    known = [of_ranks for of_ranks in levels if of_ranks]
    found = [Finding(missing, anchor, 0.78)] if missing else []
    if crowded := sum(map(is_crowded, launches)):
        text = (
            f"Ranks shared cores in {crowded} of {counted(len(launches), 'launch', plural='launches')}: where "
            "more ranks than cores take part, times say that results are right, not what anything takes."
        )
        found.append(Finding(text, anchor, FIRST))
    if known:
        changing = [of_ranks for of_ranks in known if len(of_ranks) > 1]
        shown = max(changing or known, key=len)
        steady = (
            "the machine changed its speed" if changing else "the machine kept one level of speed"
        ) + f" ({len(changing)} of {len(known)} sets of ranks saw several levels)" * bool(changing)
        found.append(Finding(f"Level: {steady}; {in_words(shown)}.", anchor, 0.76))
    if warnings:
        many = f"{len(warnings)} warnings stand" if len(warnings) > 1 else "A warning stands"
        found.append(Finding(f"{many} before the numbers; the first: {warnings[0]}", anchor, 0.74))
    return found
