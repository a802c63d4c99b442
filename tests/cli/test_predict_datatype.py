"""`hockney predict datatype`, as a user runs it, on machines that come with hockney and on changed ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import Run
from tests.factories import written

from hockney.machine.file import load

VECTOR = ("--layout", "vector:1000x24B/100B")
ROWS = [row for one in load(Path("ci_2core")).effects if one.effect == "datatypes" for row in one.points]


def on(machine: str | Path) -> Run:
    return Run("predict", "datatype", "--machine", machine)


run = on("ci_2core")


def edited(tmp_path: Path, **effect: Any) -> Path:
    """The shipped machine with its effect `datatypes` changed; a file of that."""
    data = load(Path("ci_2core")).model_dump(mode="json")
    for one in data["effects"]:
        if one["effect"] == "datatypes":
            one.update(effect)
    return written(tmp_path / "edited.json", json.dumps(data))


def measured(way: str, layout: str, **numbers: int) -> dict[str, Any]:
    (found,) = [
        row for row in ROWS if (row["way"], row["layout"]) == (way, layout) and numbers.items() <= row.items()
    ]
    return found


@pytest.mark.parametrize(
    ("words", "layout", "numbers"),
    [
        (("--layout", "x:64x64x64"), "face_x", {}),
        (("--layout", "y:64x64x64/8B"), "face_y", {}),
        (
            ("--layout", "vector:2048x8/16B"),
            "vector",
            {"blocks": 2048, "stride_B": 16},
        ),
        (
            ("--layout", "irregular:2048x8B/1KiB"),
            "irregular",
            {"blocks": 2048, "stride_B": 1024},
        ),
    ],
)
def test_a_measured_layout_is_answered_by_its_measurement(
    words: tuple[str, ...], layout: str, numbers: dict[str, int]
) -> None:
    made = run.answers(*words)
    assert list(made["ways"]) == ["send", "hand", "receive", "pack", "unpack"]
    for way, one in made["ways"].items():
        row = measured(way, layout, **numbers)
        assert one["measured"]
        assert [one[name] for name in ("time_s", "low_s", "high_s")] == [
            row[name] for name in ("time_s", "low_s", "high_s")
        ]
    # The fit has said so of the same two times.
    assert made["verdict"]["answer"] == measured("hand", layout, **numbers)["faster"]
    assert made["layout"]["level"] == measured("hand", layout, **numbers)["level"]


def test_the_model_is_the_file_s() -> None:
    made = run.answers("--layout", "x:64x64x64")
    for way, one in made["ways"].items():
        # Rebuilt from the same points: the solver's rounding.
        assert one["model_s"] == pytest.approx(measured(way, "face_x")["model_s"], rel=1e-6)
        assert sum(one[f"{part}_s"] for part in ("contiguous", "fixed", "blocks", "lines")) == pytest.approx(
            one["model_s"]
        )


def test_what_was_not_measured_has_an_interval_and_a_verdict() -> None:
    made = run.answers(*VECTOR)
    assert (made["operation"], made["locality"], made["mpi"]) == ("datatypes", "cache", "Open MPI 5.0.11")
    assert (made["layout"]["bytes"], made["layout"]["extent_B"]) == (24000, 99924)
    for one in made["ways"].values():
        assert not one["measured"]
        assert one["low_s"] < one["time_s"] < one["high_s"]
    verdict = made["verdict"]
    assert verdict["low"] < verdict["factor"] < verdict["high"]
    assert (verdict["answer"] == "library") == (verdict["high"] < 1)
    assert any("only 16 layouts were predicted" in note for note in made["notes"])


def test_text_has_a_row_for_each_way_and_the_verdict() -> None:
    code, out, err = run("--layout", "y:64x64x64")
    assert (code, err) == (0, "")
    assert "face_y: 32 KiB in 64 blocks of 512 B, 512 cache lines in L2, spanning 2016.5 KiB" in out
    rows = {line.split()[0]: line for line in out.splitlines() if line}
    assert "5.04 µs" in rows["send"]
    assert "measured" in rows["send"]
    # 8.15 µs by hand and 5.04 µs by the library.
    assert "library: an MPI datatype is 1.62 times as fast as packing by hand (1.61 to 1.62)" in out
    _, out, _ = run("--layout", "irregular:2048x8B/1KiB")
    # 10.235 µs and 5.853 µs.
    assert "by hand: packing by hand is 1.75 times as fast as an MPI datatype" in out
    assert "expected of blocks at random places" in out
    _, out, _ = run("--layout", "vector:16x8B/16B")
    assert "undecided: an MPI datatype takes" in out
    assert "the cost of a line in L1 was not measured" in out
    _, out, _ = run("--layout", "z:64x64x64")
    assert "face_z: 32 KiB, contiguous" in out
    assert "nothing to pack" in out


def test_a_lower_bound_is_marked(tmp_path: Path) -> None:
    near = [row for row in ROWS if row["level"] != "memory"]
    words = ("--layout", "vector:8192x8B/16KiB")
    made = on(edited(tmp_path, points=near)).answers(*words)
    assert made["ways"]["send"]["lower_bound"]
    assert made["ways"]["send"]["high_s"] is None
    assert made["verdict"]["answer"] == "undecided"
    assert any("the cost of a line in memory was not measured" in note for note in made["notes"])
    assert "≥ " in on(tmp_path / "edited.json").prints(*words)


def test_a_machine_without_the_effect_says_how_it_is_measured(tmp_path: Path) -> None:
    data = load(Path("ci_2core")).model_dump(mode="json")
    data["effects"] = [one for one in data["effects"] if one["effect"] != "datatypes"]
    file = written(tmp_path / "without.json", json.dumps(data))
    message, hint = on(file).explains(*VECTOR).split("\n")
    assert message == "datatypes was not measured on this machine"
    assert "hockney measure --operation datatypes" in hint


def test_published_machines_say_what_they_lack() -> None:
    message, _ = on("orfeo_thin").explains(*VECTOR).split("\n")
    assert message == "datatypes has no measurements: contiguous messages only: measure datatypes"
    message, _ = on("bluegene_p").explains(*VECTOR).split("\n")
    assert message.startswith("of datatypes only single times are known (Hoefler et al. 2010")
    assert "extent_B" not in message, "a word of the machine file, not of people"


def test_a_model_without_its_points_does_not_tell_its_notes_as_the_reason(tmp_path: Path) -> None:
    told = on(edited(tmp_path, points=[])).explains(*VECTOR)
    assert "has no measurements: its points are not in the machine file\n" in told


def test_an_effect_that_is_not_measurable_says_why(tmp_path: Path) -> None:
    file = edited(tmp_path, points=[], not_identified={}, notes=[], not_measurable="one core")
    assert "has no measurements: one core\n" in on(file).explains(*VECTOR)


def test_caches_of_another_host_are_refused(tmp_path: Path) -> None:
    data = load(Path("ci_2core")).model_dump(mode="json")
    data["system"]["hosts"][0]["caches"] = []
    file = written(tmp_path / "other.json", json.dumps(data))
    assert "no host's caches" in on(file).explains(*VECTOR)
