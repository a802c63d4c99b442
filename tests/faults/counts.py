"""How many kills there were, of what and when: said at the end of a run of the tests."""

from __future__ import annotations

from collections import Counter

import pytest

KILL = "kill"
"""Property of a test's report: (victim, phase of the campaign)."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line for each victim, if any was killed."""
    counts: dict[str, Counter[str]] = {}
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        if getattr(report, "when", "") == "call":
            for name, value in report.user_properties:
                if name == KILL:
                    counts.setdefault(value[0], Counter())[value[1]] += 1
    if counts:
        total = sum(count for of_victim in counts.values() for count in of_victim.values())
        terminalreporter.write_line(f"kills: {total}")
    for victim, of_victim in counts.items():
        phases = ", ".join(f"{count} {phase}" for phase, count in of_victim.most_common())
        terminalreporter.write_line(f"kills of the {victim}: {of_victim.total()} ({phases})")
