"""Models by level: what a machine file holds of the levels of the machine, and what verbs say of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import factories
from tests.command_line import outcome, succeeded
from tests.factories import not_none, references

from hockney.errors import RequestError
from hockney.machine.build import build
from hockney.machine.file import Machine, dumps, load, save
from hockney.machine.levels import at_reference, level_remark
from hockney.models.base import predict
from hockney.records.record import Causes, Record

SIZES = [0, 1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576]
USUAL_S, OTHER_S, RARE_S = 0.2e-6, 0.5e-6, 1.5e-6
"""References of three levels."""
FACTOR = {USUAL_S: 1.0, OTHER_S: 3.2, RARE_S: 7.0}


def law(size_B: int) -> float:
    return 1e-6 + size_B / 1e10


def visit(size_B: int, reference_s: float) -> Record:
    time_s = law(size_B) * FACTOR[reference_s]
    of_pair = {"variant": "default", "locality": "cache", "cache": "warm", "ranks": 2, "pair": "0-1"}
    samples = {"samples": [time_s] * 60, "stop": "interval", "verified": True, "launch": "a"}
    return factories.record(size_B, time_s, within=0.01, **of_pair | samples | references(reference_s, 6, 10))


def campaign(folder: Path, visits: list[Record], **plan: Any) -> Path:
    return factories.campaign(folder, visits, plan=plan)


def everywhere(reference_s: float, times: int) -> list[Record]:
    return [visit(size, reference_s) for _ in range(times) for size in SIZES]


@pytest.fixture
def visits() -> list[Record]:
    """Each size twice at the usual level, once at another, and two of them at a rare third."""
    return [*everywhere(USUAL_S, 2), *everywhere(OTHER_S, 1), visit(8, RARE_S), visit(64, RARE_S)]


def machine_of(folder: Path, visits: list[Record], **plan: Any) -> Machine:
    return build(campaign(folder, visits, **plan))


def at_64KiB(machine: Machine) -> float:
    (entry,) = machine.point_to_point
    return float(predict(entry.fits["piecewise"], np.array([65536.0]))[0])


def test_the_entry_is_of_the_common_level_and_the_others_stand_beside_it(
    tmp_path: Path, visits: list[Record]
) -> None:
    machine = machine_of(tmp_path / "c", visits)
    (entry,) = machine.point_to_point
    assert at_64KiB(machine) == pytest.approx(law(65536), rel=0.01)
    assert entry.level is not None
    assert entry.level.reference_s == pytest.approx(USUAL_S)
    assert entry.level.share == pytest.approx(24 / 38, abs=0.02)
    other, rare = entry.other_levels
    assert rare.level is not None
    assert [not_none(other.level).reference_s, rare.level.reference_s] == pytest.approx([OTHER_S, RARE_S])
    assert other.times_as_long == pytest.approx(3.2)
    time_s = predict(other.fits["piecewise"], np.array([65536.0]))[0]
    assert time_s == pytest.approx(3.2 * law(65536), rel=0.01)
    # Two sizes are points, but no model; of 8 B nothing was measured at the usual level.
    assert [point.size_B for point in rare.points] == [8, 64]
    assert rare.fits == {}
    assert rare.times_as_long == pytest.approx(7)
    assert [point.size_B for point in entry.measurements.points if point.elsewhere] == [8]
    remark = level_remark(entry)
    assert "3.2 × as long in 32 % of it" in remark
    assert "7 × as long in 5.3 % of it" in remark


def test_what_goes_with_a_level_is_said_wherever_the_level_is(tmp_path: Path, visits: list[Record]) -> None:
    usual, other = ({"span_s": 0.5, "involuntary_switches": switches} for switches in (1, 50))
    told = [
        record.model_copy(
            update={"causes": Causes.model_validate(other if record.reference_s[0] == OTHER_S else usual)}
        )
        for record in visits
    ]
    cause = "goes with involuntary context switches (100 per second, 2 per second at the common level)"
    machine, path = machine_of(tmp_path / "c", told), tmp_path / "m.json"
    save(machine, path)
    (entry,) = load(path).point_to_point
    assert [not_none(entry.level).cause, *(level.level.cause for level in entry.other_levels if level.level)] == [
        "",
        cause,
        "cause not seen",
    ]
    remark = f"in 32 % of it, {cause}; 7 × as long in 5.3 % of it, cause not seen"
    assert remark in level_remark(entry)
    (warning,) = (text for text in machine.provenance.warnings if "changed its speed" in text)
    assert f"{cause}, 5.3 % of it 7.5 × as long, cause not seen" in warning
    assert remark in outcome("show", path)[1]
    assert cause in outcome("show", path, "--json")[1]
    _, out, _ = outcome("predict", "pingpong", "--machine", path, "--bytes", "64KiB", "--json")
    assert any(remark in warning for warning in json.loads(out)["warnings"])
    # A machine file of before holds no causes, and says none.
    older = json.loads(path.read_text(encoding="utf-8"))
    for level in older["point_to_point"][0]["other_levels"]:
        del level["level"]["cause"]
    path.write_text(json.dumps(older), encoding="utf-8")
    assert "cause" not in level_remark(load(path).point_to_point[0])


def test_the_quietest_level_where_the_plan_asks_for_it(tmp_path: Path) -> None:
    visits = [*everywhere(OTHER_S, 3), *everywhere(USUAL_S, 1)]
    assert at_64KiB(machine_of(tmp_path / "c", visits)) == pytest.approx(3.2 * law(65536), rel=0.01)
    assert at_64KiB(machine_of(tmp_path / "q", visits, level="quietest")) == pytest.approx(law(65536), rel=0.01)


def test_it_survives_its_file_and_verbs_say_it(tmp_path: Path, visits: list[Record]) -> None:
    machine, path = machine_of(tmp_path / "c", visits), tmp_path / "m.json"
    save(machine, path)
    assert dumps(load(path)) == dumps(machine)
    words = "3.2 × as long in 32 % of it"
    out = succeeded("show", path)
    assert words in out
    _, out, _ = outcome("show", path, "--format", "summary")
    assert [line.split()[0] for line in out.splitlines()[1:]] == [
        "latency",
        "peak",
        "largest",
        "speed",
        "model",
    ]
    assert words in out
    asked = ("predict", "pingpong", "--machine", path, "--bytes", "64KiB")
    _, out, err = outcome(*asked)
    assert words in err
    said = json.loads(outcome(*asked, "--json")[1])
    assert any(words in warning for warning in said["warnings"])


def test_points_of_another_level_are_no_strangers_there(tmp_path: Path) -> None:
    """A single visit without an interval is the same record at its level as at the common one."""
    bare = visit(8, OTHER_S).model_copy(update={"low": None, "high": None})
    (entry,) = machine_of(tmp_path / "c", [*everywhere(USUAL_S, 2), *everywhere(OTHER_S, 1), bare]).point_to_point
    assert [point.size_B for point in entry.measurements.points if point.elsewhere] == [8]
    (other,) = entry.other_levels
    assert not [point for point in other.points if point.elsewhere]


def test_the_summary_is_of_the_model_that_is_asked_for(tmp_path: Path, visits: list[Record]) -> None:
    path = tmp_path / "m.json"
    # Twice as steep from 64 KiB on: one line has another bandwidth than the last of several.
    steeper = [
        visit.model_copy(update={"value": time_s, "low": time_s, "high": time_s, "samples": [time_s] * 60})
        if visit.bytes >= 65536 and (time_s := 3 * visit.value)
        else visit
        for visit in visits
    ]
    save(machine_of(tmp_path / "c", steeper), path)
    usual, straight = (
        outcome("show", path, "--format", "summary", *words)[1].splitlines()
        for words in ((), ("--model", "least_squares"))
    )
    assert ("piecewise" in usual[-1], "least_squares" in straight[-1]) == (True, True)
    assert usual[:-1] == straight[:-1], "what was measured is the same"


def test_modes_that_no_reference_sees_travel_with_the_entry(tmp_path: Path) -> None:
    """Of 64 KiB and more every other visit takes 1.4 times as long, at the same reference."""
    visits = [visit(size, USUAL_S) for _ in range(6) for size in SIZES]
    visits = [
        each.model_copy(update={"value": 1.4 * each.value, "samples": [1.4 * sample for sample in each.samples]})
        if each.bytes >= 65536 and number // len(SIZES) % 2
        else each
        for number, each in enumerate(visits)
    ]
    path = tmp_path / "machine.json"
    machine = machine_of(tmp_path / "c", visits)
    save(machine, path)
    (entry,) = load(path).point_to_point
    (modes,) = entry.modes
    assert (modes.smallest_B, modes.largest_B) == (65536, 1048576)
    assert modes.times_as_long == pytest.approx(1.4)
    assert modes.share == pytest.approx(0.5)
    (said,) = [text for text in machine.provenance.warnings if "a slow state" in text]
    assert "64 KiB to 1 MiB, 1.4 × as long" in said
    assert said in outcome("show", path, "--warnings")[1]


def test_without_references_there_is_no_level(tmp_path: Path) -> None:
    bare = [
        record.model_copy(update={"reference_s": [], "reference_iqr_s": [], "group_begins": []})
        for record in everywhere(USUAL_S, 2)
    ]
    (entry,) = machine_of(tmp_path / "c", bare).point_to_point
    assert (entry.level, entry.other_levels) == (None, [])


def drifting(shares: tuple[float, ...] = (1 / 1.03, 1 / 1.02, 1.0, 1.02, 1.03)) -> list[Record]:
    """Visits of one level whose references drift by these factors, and all times with them."""
    records = []
    for share in shares:
        for record in everywhere(USUAL_S, 1):
            times = {name: share * getattr(record, name) for name in ("value", "low", "high")}
            lists = {
                name: [share * each for each in getattr(record, name)] for name in ("samples", "reference_s")
            }
            records.append(record.model_copy(update=times | lists))
    return records


def test_at_another_reference_of_the_level_times_go_with_it(tmp_path: Path) -> None:
    machine = machine_of(tmp_path / "c", drifting())
    save(machine, tmp_path / "m.json")
    (entry,) = load(tmp_path / "m.json").point_to_point
    assert [point.reference_exponent for point in entry.measurements.points] == pytest.approx([1.0] * len(SIZES))
    there = at_reference(entry, 1.04 * USUAL_S)
    assert there.level == entry.level
    for point in there.measurements.points:
        assert point.time_s == pytest.approx(1.04 * law(point.size_B))
    for name in ("piecewise", "hockney"):
        (time_s,) = predict(there.fits[name], np.array([65536.0]))
        assert time_s == pytest.approx(1.04 * law(65536), rel=1e-3)
    (same,) = predict(at_reference(entry, USUAL_S).fits["piecewise"], np.array([65536.0]))
    assert same == pytest.approx(law(65536), rel=1e-3)


def of_memory(records: list[Record], shares: tuple[float, ...]) -> list[Record]:
    """The visits with a large reference of 4 µs, with which what is longer than 4 KiB goes, by these factors."""
    changed = []
    for place, record in enumerate(records):
        share = shares[place // len(SIZES) % len(shares)]
        factor = share if record.bytes > 4096 else 1.0
        times = {name: factor * getattr(record, name) for name in ("value", "low", "high")}
        times["samples"] = [factor * each for each in record.samples]
        changed.append(record.model_copy(update={**times, "large_reference_s": [4e-6 * share] * 7}))
    return changed


def test_what_is_large_goes_with_the_large_reference(tmp_path: Path) -> None:
    visits = of_memory(everywhere(USUAL_S, 5), (1 / 1.03, 1 / 1.02, 1.0, 1.02, 1.03))
    save(machine_of(tmp_path / "c", visits), tmp_path / "m.json")
    (entry,) = load(tmp_path / "m.json").point_to_point
    assert not_none(entry.level).large_reference_s == pytest.approx(4e-6)
    there = {point.size_B: point for point in at_reference(entry, USUAL_S, 1.1 * 4e-6).measurements.points}
    assert there[65536].time_s == pytest.approx(1.1 * law(65536), rel=1e-3)
    assert there[64].time_s == pytest.approx(law(64), rel=1e-3)
    # How memory is now is not given: large messages stay, in a wider interval where the short one moved.
    unknown = {point.size_B: point for point in at_reference(entry, 1.1 * USUAL_S).measurements.points}
    low_s, high_s = unknown[65536].low_s, unknown[65536].high_s
    assert low_s is not None
    assert high_s is not None
    assert unknown[64].time_s == pytest.approx(1.1 * law(64), rel=1e-3)
    assert low_s < law(65536) < 1.1 * law(65536) < high_s
    with pytest.raises(RequestError, match="another level"):
        at_reference(entry, USUAL_S, 1.3 * 4e-6)


def test_a_reference_of_another_level_and_an_entry_without_references_are_refused(
    tmp_path: Path, visits: list[Record]
) -> None:
    (entry,) = machine_of(tmp_path / "c", visits).point_to_point
    with pytest.raises(RequestError, match="another level"):
        at_reference(entry, 1.3 * USUAL_S)
    bare = [
        record.model_copy(update={"reference_s": [], "reference_iqr_s": [], "group_begins": []})
        for record in visits
    ]
    (entry,) = machine_of(tmp_path / "bare", bare).point_to_point
    with pytest.raises(RequestError, match="without references"):
        at_reference(entry, USUAL_S)
