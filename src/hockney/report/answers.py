"""Which findings of all sections a page begins with, and how far the page is to be trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from hockney.records.levels import Level, in_words
from hockney.report.findings import Finding

MOST = 10
"""Answers that a page begins with."""
MOST_OF_A_KIND = 3
"""Answers of one kind that come before the others of it: ten collectives have a default each."""


def weightiest(findings: Iterable[Finding], about: Iterable[str] = ()) -> list[Finding]:
    """The answers that matter most, at most `MOST`, the weightiest first; of equal ones, in their order.

    Those `about` these operations and applications come before all others; of one kind, `MOST_OF_A_KIND` do.
    """
    ids = tuple(f"{before}{name}" for name in about for before in ("", "app-", "figure-", "figure-app-"))
    ordered = sorted(findings, key=lambda finding: -finding.weight)
    before = Counter[str]()
    place = []
    for finding in ordered:
        before[finding.kind] += 1
        is_repeated = bool(finding.kind) and before[finding.kind] > MOST_OF_A_KIND
        place.append((not finding.anchor.startswith(ids), is_repeated))
    chosen = [finding for _, finding in sorted(zip(place, ordered, strict=True), key=lambda pair: pair[0])]
    return chosen[:MOST]


def of_trust(levels: Iterable[Sequence[Level]], missing: str, warnings: Sequence[str]) -> list[Finding]:
    """How steady the machine was, what was not measured (`missing`, a sentence), and what is to be read first."""
    anchor = "warnings" if warnings else "provenance"
    known = [of_ranks for of_ranks in levels if of_ranks]
    found = [Finding(missing, anchor, 0.78)] if missing else []
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
