"""What this machine lacks: tests skip for it by name, and the end of a run says which, why and how many.

A skip whose reason is made by `lacking` is this machine's doing; all others are of what does not exist anywhere
(no algorithm for three ranks). The lines of a run are also appended to the file that `HOCKNEY_NOT_TESTED` names,
from which `make` prints those of all its parts last.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("HOCKNEY_SHARED", Path(__file__).parents[2] / "shared"))
"""Published measurements, beside the checkout or where the variable says."""

_LACKING = re.compile(r"lacking (.+)")


def lacking(capability: str, why: str) -> str:
    """The reason of a skip for want of a capability, which has one name everywhere."""
    return f"lacking {capability}: {why}"


def shared(name: str) -> Path:
    """A folder of the published measurements; skips where it is not there."""
    folder = SHARED / "data" / name
    if not folder.is_dir():
        pytest.skip(lacking("shared data", f"no folder data/{name} in HOCKNEY_SHARED"))
    return folder


needs_two_cpus = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason=lacking("a second CPU", "this process may use one")
)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what was not tested for want of something."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        if isinstance(report.longrepr, tuple) and (found := _LACKING.search(report.longrepr[2])):
            reasons[found[1]] += 1
    if file := os.environ.get("HOCKNEY_NOT_TESTED"):
        with Path(file).open("a", encoding="utf-8") as lines:
            lines.writelines(f"{reason}\n" for reason in reasons.elements())
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"not tested: {reason} ({count} tests)")
