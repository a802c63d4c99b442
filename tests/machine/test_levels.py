"""Models by level: what a machine file holds of the levels of the machine, and what verbs say of them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import factories
from tests.command_line import outcome
from tests.factories import references

from hockney.errors import RequestError
from hockney.machine.build import build
from hockney.machine.file import Machine, dumps, load, save
from hockney.machine.levels import at_any_level, at_reference, level_remark
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
    assert other.level is not None
    assert rare.level is not None
    assert [other.level.reference_s, rare.level.reference_s] == pytest.approx([OTHER_S, RARE_S])
    assert other.times_as_long == pytest.approx(3.2)
    time_s = predict(other.fits["piecewise"], np.array([65536.0]))[0]
    assert time_s == pytest.approx(3.2 * law(65536), rel=0.01)
    # Two sizes are points, but no model; of 8 B nothing was measured at the usual level.
    assert [point.size_B for point in rare.points] == [8, 64]
    assert rare.fits == {}
    assert rare.times_as_long == pytest.approx(7)
    assert [point.size_B for point in entry.measurements.points if point.elsewhere] == [8]
    remark = level_remark(entry)
    assert "3.2 times as long at the level that held 32% of the time" in remark
    assert "7 times as long at the level that held 5% of the time" in remark


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
    assert entry.level is not None
    assert [entry.level.cause, *(level.level.cause for level in entry.other_levels if level.level)] == [
        "",
        cause,
        "cause not seen",
    ]
    remark = (
        f"held 32% of the time, {cause}; 7 times as long at the level that held 5% of the time, cause not seen"
    )
    assert remark in level_remark(entry)
    (warning,) = (text for text in machine.provenance.warnings if "changed its speed" in text)
    assert f"for 32%, {cause}, 1.5 µs (7.5 times as long) for 5%, cause not seen" in warning
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


def test_any_level_is_the_mixture(tmp_path: Path) -> None:
    visits = [*everywhere(USUAL_S, 2), *everywhere(OTHER_S, 2)]
    (mixture,) = at_any_level(machine_of(tmp_path / "c", visits))
    # The median of two times and two that are 3.2 times as long is their geometric mean.
    assert at_64KiB(mixture) == pytest.approx(math.sqrt(3.2) * law(65536), rel=0.01)


def test_it_survives_its_file_and_verbs_say_it(tmp_path: Path, visits: list[Record]) -> None:
    machine, path = machine_of(tmp_path / "c", visits), tmp_path / "m.json"
    save(machine, path)
    assert dumps(load(path)) == dumps(machine)
    words = "3.2 times as long at the level that held"
    code, out, _ = outcome("show", path)
    assert code == 0
    assert words in out
    _, out, _ = outcome("show", path, "--format", "summary")
    assert [line.split()[0] for line in out.splitlines()[1:]] == [
        "latency",
        "bandwidth",
        "eager",
        "level",
        "trust",
    ]
    assert words in out
    asked = ("predict", "pingpong", "--machine", path, "--bytes", "64KiB")
    _, out, _ = outcome(*asked)
    assert words in out
    said = json.loads(outcome(*asked, "--json")[1])
    assert any(words in warning for warning in said["warnings"])
    _, out, _ = outcome(*asked, "--any-level", "--json")
    mixed = json.loads(out)
    assert not any(words in warning for warning in mixed["warnings"])
    # Two times of three are the usual one: the median stays, its interval holds the others.
    usual, any_ = said["predictions"][0], mixed["predictions"][0]
    assert any_["high_s"] - any_["low_s"] > 3 * (usual["high_s"] - usual["low_s"])


@pytest.mark.parametrize("words", [("show",), ("predict", "pingpong", "--bytes", "8", "--machine")])
def test_where_there_is_one_level_any_level_says_so(tmp_path: Path, words: tuple[str, ...]) -> None:
    path = tmp_path / "m.json"
    save(machine_of(tmp_path / "c", everywhere(USUAL_S, 3)), path)
    code, _, err = outcome(*words, path, "--any-level")
    assert code == 2
    assert "one level of the machine only" in err


def test_points_of_another_level_are_no_strangers_there(tmp_path: Path) -> None:
    """A single visit without an interval is the same record at its level as at the common one."""
    bare = visit(8, OTHER_S).model_copy(update={"low": None, "high": None})
    (entry,) = machine_of(tmp_path / "c", [*everywhere(USUAL_S, 2), *everywhere(OTHER_S, 1), bare]).point_to_point
    assert [point.size_B for point in entry.measurements.points if point.elsewhere] == [8]
    (other,), mixture = entry.other_levels, entry.any_level
    assert mixture is not None
    assert not [point for point in (*other.points, *mixture.points) if point.elsewhere]


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
    assert (usual[0].split("— ")[1], straight[0].split("— ")[1]) == ("piecewise", "least_squares")
    assert usual[1:3] != straight[1:3]


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
    (said,) = [text for text in machine.provenance.warnings if "two modes" in text]
    assert "between 64 KiB and 1 MiB times fall in two modes, 1.4 times apart" in said
    code, _, err = outcome("show", path)
    assert code == 0
    assert "two modes" in err


def test_without_references_there_is_no_level(tmp_path: Path) -> None:
    bare = [
        record.model_copy(update={"reference_s": [], "reference_iqr_s": [], "group_begins": []})
        for record in everywhere(USUAL_S, 2)
    ]
    (entry,) = machine_of(tmp_path / "c", bare).point_to_point
    assert (entry.level, entry.other_levels, entry.any_level) == (None, [], None)


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
    assert entry.level is not None
    assert entry.level.large_reference_s == pytest.approx(4e-6)
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
    command = ("predict", "pingpong", "--bytes", "64KiB", "--machine", str(tmp_path / "m.json"), "--json")
    _, printed, _ = outcome(*command, "--reference", "0.2us", "--large-reference", "4.4us")
    assert json.loads(printed)["predictions"][0]["time_s"] == pytest.approx(1.1 * law(65536), rel=5e-3)
    code, _, said = outcome(*command[:-1], "--large-reference", "4.4us")
    assert code == 2
    assert "--large-reference goes with --reference" in said


def test_a_reference_nearer_to_another_level_is_refused(tmp_path: Path, visits: list[Record]) -> None:
    near = [
        record.model_copy(update={"reference_s": [1.2 * USUAL_S] * 7})
        if record.reference_s[0] == OTHER_S
        else record
        for record in visits
    ]
    save(machine_of(tmp_path / "c", near), tmp_path / "m.json")
    command = ("predict", "pingpong", "--bytes", "64KiB", "--machine", str(tmp_path / "m.json"), "--reference")
    assert outcome(*command, "0.21us")[0] == 0
    code, _, said = outcome(*command, "0.235us")
    assert code == 2
    assert "nearer to another level of the machine" in said


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


def test_predict_answers_for_the_reference_at_which_the_machine_is_now(tmp_path: Path) -> None:
    save(machine_of(tmp_path / "c", drifting()), tmp_path / "m.json")
    command = ("predict", "pingpong", "--bytes", "64KiB", "--machine", str(tmp_path / "m.json"), "--json")
    answers = (outcome(*command, *more) for more in ((), ("--reference", "0.208us")))
    as_it_was_s, slower_s = (json.loads(printed)["predictions"][0]["time_s"] for _, printed, _ in answers)
    assert slower_s == pytest.approx(1.04 * as_it_was_s, rel=1e-3)
    heading = outcome(*command[:-1], "--reference", "0.208us")[1].splitlines()[0]
    assert heading.endswith("where the reference takes 0.208 µs")
    for words, said in (
        (("--reference", "0.5us"), "another level"),
        (("--reference", "0.208us", "--model", "least_squares"), "--reference does not go with the model"),
    ):
        code, printed, _ = outcome(*command, *words)
        assert code == 2
        assert said in printed
