"""Points of every kind are marked where a reader must not trust them alone, and the marked ones are counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.machine.test_levels import OTHER_S, SIZES, USUAL_S, campaign, everywhere, visit
from tests.machine.test_reservations import bcast, timed

from hockney.machine.build import build
from hockney.machine.file import Entry, Measurements, Point
from hockney.machine.measured import BUSY, DISTURBED, ELSEWHERE, WIDE, marked, marks_of, noise
from hockney.records.answers import Answer
from hockney.records.app_record import AppRecord
from hockney.records.contents import Contents
from hockney.records.effect_record import EffectRecord
from hockney.records.record import Causes, Record
from hockney.records.visits import Settled

TIME_S = 2e-6
QUIET: dict[str, Any] = {"low": 0.95 * TIME_S, "high": 1.05 * TIME_S, "disturbed": 5}
"""Marked by nothing: 5 of 100 samples, ±5 %."""
DOUBTS = [({}, set()), ({"disturbed": 6}, {DISTURBED}), ({"low": 0.8 * TIME_S, "high": 1.01 * TIME_S}, {WIDE})]


def contents(*records: Record, elsewhere: tuple[Record, ...] = (), **more: Any) -> Contents:
    settled = Settled([*records, *elsewhere], [*elsewhere])
    return Contents(Path("c"), pd.DataFrame(), settled.records, settled=settled, **more)


def entry(*points: Point, **overheads: list[Point]) -> Entry:
    return Entry(
        operation="pingpong", fits={}, measurements=Measurements(points=list(points), overheads=overheads)
    )


def point(size_B: int = 8, **doubt: Any) -> Point:
    said = QUIET | doubt
    return Point(
        size_B=size_B,
        time_s=TIME_S,
        low_s=said["low"],
        high_s=said["high"],
        samples=100,
        disturbed=said["disturbed"],
        elsewhere=said.get("elsewhere", False),
    )


def completion(**doubt: Any) -> Record:
    return bcast(8, TIME_S, **{"samples": [TIME_S] * 100, **QUIET, **doubt})


@pytest.mark.parametrize("kind", ["message", "overhead", "collective", "effect", "application"])
@pytest.mark.parametrize(("doubt", "marks"), DOUBTS)
def test_points_of_every_kind_are_marked(kind: str, doubt: dict[str, Any], marks: set[str]) -> None:
    said = QUIET | doubt
    times = {"time_s": TIME_S, "low_s": said["low"], "high_s": said["high"], "samples_s": [TIME_S] * 100}
    answered = timed(**times, disturbed_at=[*range(said["disturbed"])])
    app = AppRecord(
        operation="ring",
        ranks=2,
        parameters={},
        answer=Answer.model_validate({"disturbed_at": answered.disturbed_at}),
        **times,
    )
    effect = EffectRecord(effect="matching").model_copy(update={"answer": answered})
    found = {
        "message": lambda: marks_of([entry(point(**doubt))], contents()),
        "overhead": lambda: marks_of([entry(send_overhead=[point(**doubt)])], contents()),
        "collective": lambda: marks_of([], contents(completion(**doubt))),
        "effect": lambda: marks_of([], contents(effects=[effect])),
        "application": lambda: marks_of([], contents(apps=[app])),
    }[kind]()
    assert [of for _, of in found] == [marks]


def test_points_of_another_level_are_marked() -> None:
    found = marks_of(
        [entry(point(8, elsewhere=True), point(64))], contents(completion(), elsewhere=(completion(root=1),))
    )
    assert found == [
        ("pingpong, 8 B", {ELSEWHERE}),
        ("pingpong, 64 B", set()),
        ("bcast binomial on 2 ranks, 8 B", set()),
        ("bcast binomial on 2 ranks, 8 B", {ELSEWHERE}),
    ]


def test_launches_of_a_collective_are_one_point_with_the_marks_of_all() -> None:
    launches = completion(), completion(repetition=1, disturbed=6), completion(repetition=2, high=3 * TIME_S)
    assert [marks for _, marks in marks_of([], contents(*launches))] == [{DISTURBED, WIDE}]


@pytest.mark.parametrize(("waited_s", "marks"), [((0.5e-3, 2.4e-3), set()), ((0.5e-3, 2.6e-3), {BUSY})])
def test_a_collective_whose_ranks_waited_for_their_processors_is_marked(
    waited_s: tuple[float, float], marks: set[str]
) -> None:
    """Two visits of 40 and 20 ms in a launch of 60 ms: 5 % are 3 ms, though the second alone waited for 12 %."""
    visits = [
        completion(visit=f"v{number}", causes=Causes(span_s=span_s, waited_s=waited))
        for number, (span_s, waited) in enumerate(zip((40e-3, 20e-3), waited_s, strict=True))
    ]
    undisturbed = completion(repetition=1, causes=Causes(span_s=1e-3, waited_s=0.0))
    read = Contents(Path("c"), pd.DataFrame(), [*visits, undisturbed], Settled([visits[0], undisturbed]))
    assert [of for _, of in marks_of([], read)] == [marks]


def test_the_sentence_counts_points_and_each_mark() -> None:
    points = [("a", {DISTURBED, WIDE}), ("b", {ELSEWHERE}), ("c", {WIDE}), ("d", set())]
    assert marked(points) == (
        "3 of 4 points are noisy: 1 at another level of the machine, 1 disturbed, 2 wider than ±10 %."
    )
    assert marked(points[3:]) == marked([]) == ""


def test_the_machine_file_says_it(tmp_path: Path) -> None:
    records = [*everywhere(USUAL_S, 3), visit(8, OTHER_S), *everywhere(OTHER_S, 1)]
    warnings = build(campaign(tmp_path / "c", records)).provenance.warnings
    [said] = [text for text in warnings if "are noisy" in text]
    assert said == f"1 of {len(SIZES) + 1} points are noisy: 1 at another level of the machine."


@pytest.mark.parametrize(
    ("marks", "kind"),
    [
        ([], ""),
        ([set()] * 9 + [{WIDE}], "quiet"),
        ([set()] * 8 + [{DISTURBED}] * 2, "disturbed"),
        ([{DISTURBED}] * 10, "disturbed"),
        ([set()] * 6 + [{WIDE}] * 5, "disturbed"),
        ([set()] * 5 + [{WIDE}] * 3 + [{BUSY}] * 2, "unusable"),
    ],
)
def test_the_kind_of_a_run_goes_by_the_marks_of_its_points(marks: list[set[str]], kind: str) -> None:
    assert noise([(str(number), of) for number, of in enumerate(marks)]) == kind
