"""The section on pinning: what is wrong with each launch, in words."""

from __future__ import annotations

from typing import Any

from tests.factories import app_run, pinning_answer

from hockney.apps.pinning.section import section as pinning
from hockney.apps.pinning.topology import regular
from hockney.report.app_sections import Runs

NODE = regular(1, 1, 1, 2, 1)


def _answer(*cpus: int) -> dict[str, Any]:
    """A rank of one thread on each of these CPUs."""
    return pinning_answer(NODE, *([([cpu], [cpu])] for cpu in cpus)).as_said()


def test_a_launch_says_what_is_wrong() -> None:
    fine, shared = (
        app_run("pinning", 2, 0.01, answer=_answer(0, 1)),
        app_run("pinning", 2, 0.01, answer=_answer(1, 1)),
    )
    made = pinning(Runs([fine, shared]))
    (table,) = made.sections[0].tables
    assert [row[table.columns.index("threads")] for row in table.rows] == ["2", "2"]
    told = [row[-1] for row in table.rows]
    assert told[0] == "nothing"
    assert "0.0" in told[1]
    assert "1.0" in told[1]
    assert made.timed == []  # nobody reads its times
    good, bad = made.findings
    head = "Pinning on 2 ranks, mapping core: "
    assert good.text == f"{head}each of 2 threads kept a core of its own while it was looked at."
    assert bad.text.startswith(f"{head}a is oversubscribed: 2 threads on 1 CPUs")
    assert bad.weight > good.weight


def test_a_record_of_another_version_is_listed() -> None:
    made = pinning(Runs([app_run("pinning", 2, 0.01)]))
    assert [table.caption for table in made.sections[0].tables] == ["Runs"]
    assert made.warnings
