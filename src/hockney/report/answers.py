"""Which findings of all sections a page begins with."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.report.findings import Finding

MOST = 10
"""Answers that a page begins with."""


def weightiest(findings: Iterable[Finding], about: Iterable[str] = ()) -> list[Finding]:
    """The answers that matter most, at most `MOST`, the weightiest first; of equal ones, in their order.

    Those `about` these operations and applications come before all others.
    """
    ids = tuple(f"{before}{name}" for name in about for before in ("", "app-", "figure-", "figure-app-"))

    def place(finding: Finding) -> tuple[bool, float]:
        return not finding.anchor.startswith(ids), -finding.weight

    return sorted(findings, key=place)[:MOST]
