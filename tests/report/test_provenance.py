"""Tables of provenance from whatever a launch tells."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from hockney.records.journal import LaunchLine
from hockney.report.provenance import lead, tables
from hockney.units import in_ranges


def expanded(text: str) -> set[int]:
    """A list of CPUs as Linux reads it."""
    result: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        result |= set(range(int(first), int(last or first) + 1))
    return result


@given(st.sets(st.integers(0, 300)))
def test_cpu_ranges_hold_every_cpu(cpus: set[int]) -> None:
    assert expanded(in_ranges(list(cpus))) == cpus


def test_cpu_ranges_are_short() -> None:
    assert in_ranges([0, 1, 2, 8]) == "0-2,8"


def test_launches_that_place_alike_share_a_table(launch: Callable[..., LaunchLine]) -> None:
    other = launch("c", 2, "tcp")
    other.ranks[1] = other.ranks[1].model_copy(update={"cpu": 7})
    captions = [table.caption for table in tables([launch("a", 0, "x"), launch("b", 1, "x"), other])]
    assert captions.count("Placement of the ranks in launch 0 x, 1 x") == 1
    assert captions.count("Placement of the ranks in launch 2 tcp") == 1
    assert captions.count("Settings of the library") == 1
    captions = [table.caption for table in tables([launch("a", 0, "x"), other.with_fields(mapping="node")])]
    assert "Placement of the ranks in launch 2 tcp by node" in captions


def test_starts_of_one_launch_share_a_row(launch: Callable[..., LaunchLine]) -> None:
    first, second, other = (launch(name, index, "x") for name, index in (("a", 0), ("b", 0), ("c", 1)))
    second, first = (
        second.with_fields(time="2026-01-01T00:00:00Z"),
        first.with_fields(time="2026-01-01T00:01:00Z"),
    )
    found = {table.caption: table for table in tables([first, second, other])}
    starts = [dict(zip(found["Launches"].columns, row, strict=True)) for row in found["Launches"].rows]
    assert [(row["launch"], row["starts"]) for row in starts] == [("0", "2"), ("1", "1")]
    assert starts[0]["time (UTC)"] == "2026-01-01T00:00:00Z to 2026-01-01T00:01:00Z"
    # A start whose time is not known does not stand for the last.
    first = first.with_fields(time="")
    found = {table.caption: table for table in tables([first, second])}
    assert "2026-01-01T00:00:00Z" in found["Launches"].rows[0]
    # Where another is placed otherwise, a launch is named once.
    other.ranks[1] = other.ranks[1].model_copy(update={"cpu": 7})
    captions = [table.caption for table in tables([first, second, other])]
    assert "Placement of the ranks in launch 0 x" in captions


def test_settings_and_limits(launch: Callable[..., LaunchLine]) -> None:
    (settings,) = [t for t in tables([launch("a", 0, "x")]) if t.caption.startswith("Settings")]
    assert list(settings.rows) == [("eager limit, shared memory", "4 KiB"), ("pml", "ob1")]


def test_imports_tell_their_headers() -> None:
    line = LaunchLine(id="1", imported="f.out", tool="IMB 2019", records=3, metadata={"date": "x", "empty": None})
    assert lead([], [], [line]) == ["imported from 1 file (IMB 2019)"]
    (table,) = tables([line])
    assert table.rows == [["f.out", "IMB 2019", "3", "date: x; empty: —"]]


def test_a_launch_that_tells_nothing() -> None:
    (launches,) = tables([LaunchLine()])
    assert launches.caption == "Launches"
    assert set(launches.rows[0]) == {"—", "1", "— / —"}
    assert tables([]) == []
