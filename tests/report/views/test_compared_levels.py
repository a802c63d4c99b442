"""`diff` compares level with level: planted machines that were at one level, at several, or at different ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import outcome

from hockney.machine.file import (
    Entry,
    EntryLevel,
    Host,
    Machine,
    MeasuredSystem,
    Measurements,
    OtherLevel,
    Point,
    Provenance,
    save,
    series_of,
)
from hockney.models.base import models
from hockney.report.views.difference import difference
from hockney.report.views.quantity import QuantityComparison
from hockney.terminal import say

SIZES_B = (0, 64, 1024, 16384, 262144, 4194304)
FAST_S, SLOW_S = 0.16e-6, 0.21e-6
"""References of two levels; everything takes twice as long at the second."""
FACTOR = {FAST_S: 1.0, SLOW_S: 2.0}


def points(reference_s: float, factor: float = 1.0) -> list[Point]:
    """Three launches, all within 1 %."""
    times_s = {size: factor * FACTOR[reference_s] * (1e-6 + size / 1e10) for size in SIZES_B}
    return [
        Point(size_B=size, time_s=time_s, low_s=0.99 * time_s, high_s=1.01 * time_s, records=3)
        for size, time_s in times_s.items()
    ]


def fits(measured: list[Point]) -> dict[str, Any]:
    return {"hockney": models.get("hockney")(series_of(measured))}


def other(measured: list[Point], level: EntryLevel | None) -> OtherLevel:
    return OtherLevel(level=level, times_as_long=2.0, fits=fits(measured), points=measured)


def level(reference_s: float, share: float) -> EntryLevel:
    return EntryLevel(reference_s=reference_s, share=share, stay=9)


def entry(reference_s: float, share: float = 1.0, other_s: float | None = None, **more: Any) -> Entry:
    """A ping-pong measured at a level, and for the rest of the time at another."""
    measured = points(reference_s)
    others = [] if other_s is None else [other(points(other_s), level(other_s, 1 - share))]
    return Entry(
        **{
            "operation": "pingpong",
            "locality": "cache",
            "pairs": ["0-1"],
            "fits": fits(measured),
            "measurements": Measurements(launches=["x", "y", "z"], points=measured),
            "level": level(reference_s, share),
            "other_levels": others,
            **more,
        }
    )


def machine(*entries: Entry, name: str = "twin", hosts: tuple[str, ...] = ()) -> Machine:
    return Machine(
        hockney_version="0",
        created="",
        system=MeasuredSystem(name=name, hosts=[Host(host=host) for host in hosts]),
        mpi=[],
        point_to_point=list(entries),
        provenance=Provenance(),
    )


def ratios(comparisons: list[QuantityComparison]) -> set[float | None]:
    return {round(x.ratio, 6) if x.ratio and x.quantity != "bandwidth" else None for x in comparisons} - {None}


def references_s(comparisons: list[QuantityComparison]) -> set[tuple[float, ...]]:
    return {tuple(of.reference_s for of in (x.level_a, x.level_b) if of is not None) for x in comparisons}


def test_the_common_levels_are_compared_where_they_are_the_same() -> None:
    b = entry(FAST_S, level=level(1.07 * FAST_S, 1.0))
    found = difference(machine(entry(FAST_S, 0.88, SLOW_S)), machine(b), points=True)
    assert ratios(found.comparisons) == {1.0}
    assert found.level_warning == ""
    # What the other level would change is told beside it.
    assert found.remarks == [
        "pingpong, locality cache: A at the machine's usual speed (88 % of the time); 2 × as long in 12 % of it"
    ]


@pytest.mark.parametrize(("exponent", "ratio"), [(1.0, 1.0), (0.5, 1.05 / 1.05**0.5), (0.0, 1.05)])
def test_within_a_level_both_are_compared_at_one_reference(exponent: float, ratio: float) -> None:
    a, b = entry(FAST_S), entry(FAST_S, level=level(1.05 * FAST_S, 1.0))
    for side in (a, b):
        for point in side.measurements.points:
            point.reference_exponent, point.reference_exponent_error = exponent, 0.05
    for point in b.measurements.points:
        point.time_s *= 1.05
        point.low_s, point.high_s = 0.99 * point.time_s, 1.01 * point.time_s
    b.fits = fits(b.measurements.points)
    found = difference(machine(a), machine(b), points=True)
    times = [comparison for comparison in found.comparisons if comparison.quantity != "reference"]
    assert ratios(times) == {round(ratio, 6)}
    assert [x.ratio for x in found.comparisons if x.quantity == "reference"] == [pytest.approx(1.05)]
    assert {x.at_reference_s for x in found.comparisons} == {FAST_S}
    assert found.remarks == [
        "pingpong, locality cache: the reference of 8 B is 5 % longer in B (0.168 µs), and times are compared "
        "at that of A (0.16 µs): messages of 8 B differ so because of the machine, or of the library"
    ]
    # Each is named at the reference at which it was measured.
    assert references_s(found.comparisons) == {(FAST_S, 1.05 * FAST_S)}


def drifted(references: float, times: float, error: float) -> tuple[Machine, Machine]:
    """A machine, and itself with references and times so many times as long, which go as the reference does."""
    a, b = entry(FAST_S), entry(FAST_S, level=level(references * FAST_S, 1.0))
    for point in a.measurements.points:
        point.reference_exponent, point.reference_exponent_error, point.freedom = 1.0, error, 8.0
    for point in b.measurements.points:
        point.reference_exponent, point.reference_exponent_error, point.freedom = 1.0, error, 8.0
        point.time_s *= times
        point.low_s, point.high_s = 0.99 * point.time_s, 1.01 * point.time_s
    b.fits = fits(b.measurements.points)
    return machine(a), machine(b)


@pytest.mark.parametrize(
    ("references", "times", "error", "differs"),
    [
        (1.05, 1.05, 0.05, False),  # the machine drifted, and all went with it
        (1.00, 1.07, 0.05, True),  # it kept still: 7 % are three standard deviations of two drifts of 1.5 %
        (1.03, 1.00, 0.05, False),  # 3 % that did not go with it, less than one and a half
        (1.07, 0.99, 0.05, True),  # against the drift
        (1.07, 0.99, 0.50, False),  # where nobody knows whether times go with it: 3.4 % more on the side of B
    ],
)
def test_what_differs_at_one_reference_is_judged_by_what_is_left_of_the_drift(
    references: float, times: float, error: float, *, differs: bool
) -> None:
    found = difference(*drifted(references, times, error), points=True)
    small = [x for x in found.comparisons if x.quantity.startswith("time of") and not x.quantity.endswith("MiB")]
    assert len(small) == len(SIZES_B) - 1
    assert {x.verdict for x in small} == {"differs" if differs else "undecided"}


def with_large(reference: float, large_s: float, memory: float) -> Machine:
    """A machine whose short reference is so many times `FAST_S`; above 1 KiB all takes `memory` times as long."""
    side = entry(FAST_S, level=level(reference * FAST_S, 1.0).model_copy(update={"large_reference_s": large_s}))
    for point in side.measurements.points:
        is_large = point.size_B > 1024
        point.reference_exponent, point.reference_exponent_error = 1.0, 0.05
        point.large_reference_exponent, point.large_reference_exponent_error = float(is_large), 0.05
        point.time_s *= memory if is_large else reference
        point.low_s, point.high_s, point.freedom = 0.99 * point.time_s, 1.01 * point.time_s, 8.0
    side.fits = fits(side.measurements.points)
    return machine(side)


def test_a_machine_that_drifted_differs_in_its_references_alone() -> None:
    a, b = with_large(1.0, 4e-6, 1.0), with_large(1.09, 1.15 * 4e-6, 1.15)
    found = difference(a, b, points=True)
    assert found.level_warning == ""
    times = [x for x in found.comparisons if x.quantity.startswith("time of")]
    assert ratios(times) == {1.0}
    assert {(x.at_reference_s, x.at_large_reference_s) for x in times} == {(FAST_S, 4e-6)}
    # 9 and 15 % are 2.4 and 4 standard deviations of two campaigns, 2.5 % each.
    assert [x.quantity for x in found.having("differs")] == ["reference", "reference of 64 KiB"]
    assert found.remarks == [
        "pingpong, locality cache: the reference of 8 B is 9 % longer in B (0.174 µs), and times are compared "
        "at that of A (0.16 µs): messages of 8 B differ so because of the machine, or of the library",
        "pingpong, locality cache: the reference of 64 KiB is 15 % longer in B (4.6 µs), and times are compared "
        "at that of A (4 µs): messages of 64 KiB and more differ so because of the machine, or of the library",
    ]


@pytest.mark.parametrize("slower", [1.1, 1.2, 1.24])
def test_a_loss_of_bandwidth_that_the_reference_shares_is_told_by_the_reference(slower: float) -> None:
    found = difference(with_large(1.0, 4e-6, 1.0), with_large(1.0, slower * 4e-6, slower), points=True)
    # However many sizes are compared beside it, and however far their launches lie apart.
    assert [x.quantity for x in found.having("differs")] == ["reference of 64 KiB"]
    (said,) = found.remarks
    assert "messages of 64 KiB and more differ so because of the machine, or of the library" in said


def test_large_references_too_far_apart_for_a_drift_move_nothing() -> None:
    found = difference(with_large(1.0, 4e-6, 1.0), with_large(1.0, 8e-6, 2.0), points=True)
    times = [x for x in found.comparisons if x.quantity.startswith("time of")]
    assert ratios(times) == {1.0, 2.0}
    assert {x.at_large_reference_s for x in times} == {None}
    assert found.remarks == [
        "pingpong, locality cache: the reference of 64 KiB is 100 % longer in B (8 µs) than in A (4 µs), too "
        "far for a drift: times are not brought to it"
    ]


@pytest.mark.parametrize("swapped", [False, True])
def test_another_level_of_one_side_is_compared_with_the_common_one_of_the_other(*, swapped: bool) -> None:
    several, one = machine(entry(FAST_S, 0.88, SLOW_S)), machine(entry(SLOW_S))
    found = difference(one, several, points=True) if swapped else difference(several, one, points=True)
    assert ratios(found.comparisons) == {1.0}
    assert references_s(found.comparisons) == {(SLOW_S, SLOW_S)}
    assert found.level_warning == ""
    sides = [
        "{} at its level of 0.21 µs, which held 12 % of the time",
        "{} at its common level of 0.21 µs",
    ]
    sides = sides[::-1] if swapped else sides
    said = ", compared with ".join(text.format(letter) for letter, text in zip("AB", sides, strict=True))
    assert found.remarks == [f"pingpong, locality cache: {said}"]


def test_a_level_without_models_is_not_compared() -> None:
    several = entry(FAST_S, 0.88, SLOW_S)
    several.other_levels[0].fits = {}
    found = difference(machine(several), machine(entry(SLOW_S)))
    assert references_s(found.comparisons) == {(FAST_S, SLOW_S)}
    assert found.level_warning


def test_of_several_levels_in_common_the_one_that_held_longest_is_compared() -> None:
    a, b = entry(FAST_S, 0.6, SLOW_S), entry(SLOW_S, 0.9, FAST_S)
    found = difference(machine(a), machine(b))
    # A held the slow one for 40 %, B the fast one for 10 %.
    assert references_s(found.comparisons) == {(SLOW_S, SLOW_S)}


def test_without_a_level_in_common_a_warning_begins_with_what_to_do() -> None:
    found = difference(machine(entry(FAST_S)), machine(entry(SLOW_S)), points=True)
    assert ratios(found.comparisons) == {2.0}
    assert found.level_warning == (
        "Measure A and B again, in turns: the machine was at different levels, and differences may be the "
        "machine's. What is timed as a reference took 0.16 µs in A and 0.21 µs in B (pingpong, locality cache)."
    )


@pytest.mark.parametrize("kind", ["system", "hosts", "library", "without references"])
def test_references_that_differ_by_nature_say_nothing_about_levels(kind: str) -> None:
    a, b = entry(FAST_S, 0.88, SLOW_S), entry(SLOW_S)
    sides = {
        "system": lambda: (machine(a), machine(b, name="other")),
        "hosts": lambda: (machine(a, hosts=("n1",)), machine(b, hosts=("n2",))),
        "library": lambda: (machine(a), machine(b.model_copy(update={"other": {"mpi": "Open MPI 6.0"}}))),
        "without references": lambda: (machine(a), machine(b.model_copy(update={"level": None}))),
    }
    found = difference(*sides[kind]())
    assert ratios(found.comparisons) == {2.0}
    assert found.level_warning == ""


def test_a_host_in_common_is_the_same_machine() -> None:
    sides = machine(entry(FAST_S), hosts=("n1", "n2")), machine(entry(SLOW_S), hosts=("n2", "n3"))
    assert difference(*sides).level_warning


def test_a_point_of_another_level_is_not_judged_and_marked() -> None:
    a, b = machine(entry(FAST_S)), machine(entry(FAST_S))
    for side, place in ((a, 1), (b, 1), (b, 2)):
        side.point_to_point[0].measurements.points[place].elsewhere = True
    found = difference(a, b, points=True)
    verdicts = {x.quantity: x.verdict for x in found.comparisons}
    assert [name for name, verdict in verdicts.items() if verdict == "not judged"] == [
        "time of 64 B",
        "time of 1 KiB",
    ]
    assert found.judged == 6
    # The launches are enough, so that nothing is said of them.
    assert found.not_judged_because == (
        "2 not judged, because no launch met them at the level that is compared: 1 of A and 2 of B\n"
        "  visit them again: `hockney measure -o CAMPAIGN --resume`, then `hockney fit CAMPAIGN`"
    )
    assert found.summary.count("no launch met them") == 1
    marks = {x.quantity: (x.elsewhere_a, x.elsewhere_b) for x in found.comparisons}
    assert (marks["time of 64 B"], marks["time of 1 KiB"]) == ((True, True), (False, True))
    assert marks["latency"] == (False, False)


def test_models_that_rest_on_points_of_another_level_are_not_judged() -> None:
    a, b = machine(entry(FAST_S)), machine(entry(FAST_S))
    # Two sizes are too few for a model, so that it was fitted to all.
    for point in b.point_to_point[0].measurements.points[2:]:
        point.elsewhere = True
    assert {x.verdict for x in difference(a, b).comparisons} == {"not judged"}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "a.json", tmp_path / "b.json"
    save(machine(entry(FAST_S, 0.88, SLOW_S)), paths[0])
    save(machine(entry(FAST_S)), paths[1])
    return paths


def test_json_names_the_levels(files: tuple[Path, Path]) -> None:
    data = json.loads(outcome("diff", *files, "--json")[1])
    assert data["level_warning"] == ""
    level_s = {"reference_s": FAST_S, "large_reference_s": None, "stay": 9.0, "cause": ""}
    assert data["comparisons"][0]["level_a"] == {**level_s, "share": 0.88}
    assert data["comparisons"][0]["level_b"] == {**level_s, "share": 1.0}


def test_the_warning_and_the_marks_are_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(say.out, "width", 160)
    paths = tmp_path / "a.json", tmp_path / "b.json"
    b = entry(SLOW_S)
    b.measurements.points[0].elsewhere = True
    for path, side in zip(paths, (entry(FAST_S), b), strict=True):
        save(machine(side), path)
    code, out, err = outcome("diff", *paths, "--points")
    assert code == 0
    assert "Measure A and B again, in turns" in " ".join(err.split())
    assert "(B at another level)" in " ".join(out.split())
