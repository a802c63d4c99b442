"""`hockney scaling`: one JSON object, text to read, one clear line for a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.command_line import Run

# T(p) = 8 s · (0.25 + 0.75/p)
AMDAHL = "ranks,time_s\n1,8\n2,5\n4,3.5\n8,2.75\n16,2.375\n32,2.1875\n"


hockney = Run("scaling")


@pytest.fixture
def times(tmp_path: Path) -> str:
    (tmp_path / "times.csv").write_text(AMDAHL, encoding="utf-8")
    return str(tmp_path / "times.csv")


def test_amdahl_keeps_seventy_percent_up_to_five() -> None:
    data = hockney.answers("amdahl", "0.1", "--efficiency", "0.7")
    assert data["max_processes"] == 5
    assert data["max_processes_bound"] == pytest.approx(37 / 7)  # (1/0.7 − 0.9)/0.1
    assert (data["serial_fraction"], data["speedup_limit"]) == (0.1, 10)


def test_work_that_grows_keeps_its_share() -> None:
    assert hockney.answers("gustafson", "0.1", "--ranks", "8")["points"] == [
        {"processes": 8, "speedup": 7.3, "efficiency": 0.9125}
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("usl", "0.1"), "usl takes its contention and its coherency, not 1 numbers"),
        (("amdahl", "0.1", "0"), "not 2 numbers"),
        (("law", "0.1"), "names none"),
    ],
)
def test_a_law_takes_its_own_parameters(words: tuple[str, ...], said: str) -> None:
    err = hockney.refuses(*words)
    assert said in err


def test_usl_peaks() -> None:
    assert hockney.answers("usl", "0.19", "0.0001")["peak_processes"] == pytest.approx(90)  # √(0.81/0.0001)


def test_without_a_limit_there_is_null() -> None:
    data = hockney.answers("amdahl", "0", "--efficiency", "0.5")
    assert data["speedup_limit"] is data["max_processes"] is data["max_processes_bound"] is None
    assert "any number" in hockney("amdahl", "0", "--efficiency", "0.5")[1]


def test_text_of_a_law() -> None:
    _, out, _ = hockney("amdahl", "0.1", "--efficiency", "0.7", "--ranks", "1,5,6")
    assert "up to 5 processes (p ≤ 5.28571)" in out
    assert "71 %" in out  # 1/(0.5 + 0.9)


def test_fit_recovers_the_serial_fraction(times: str) -> None:
    data = hockney.answers("fit", times)
    found = data["laws"]["amdahl"]["parameters"]["serial_fraction"]
    assert found["value"] == pytest.approx(0.25, rel=1e-6)
    assert found["low"] <= 0.25 <= found["high"]
    assert data["preferred"] == "amdahl"
    assert data["points"][-1]["speedup"] == pytest.approx(8 / 2.1875)
    text = hockney("fit", times)[1]
    assert "serial fraction 0.25 (95 %: 0.25 to 0.25)" in text
    assert "amdahl is preferred" in text


@pytest.mark.parametrize(
    ("ending", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("html", b"<!doctype html>")]
)
def test_the_figure_is_what_its_name_says(times: str, tmp_path: Path, ending: str, start: bytes) -> None:
    path = tmp_path / f"scaling.{ending}"
    assert hockney.answers("fit", times, "--figure", str(path))["figure"] == str(path)
    assert path.read_bytes().startswith(start)
