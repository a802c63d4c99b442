"""A report of a machine with levels: of the common one, with what the others would change, or of the mixture."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from tests.command_line import outcome
from tests.machine.test_levels import OTHER_S, SIZES, USUAL_S, campaign, everywhere, law, visit

pytestmark = pytest.mark.usefixtures("undrawn")

CHANGE = "3.2 × as long in "


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """Each size twice at two levels, of which the second takes 3.2 times as long: the middle takes 2.1 times."""
    return campaign(tmp_path / "c", [*everywhere(USUAL_S, 2), *everywhere(OTHER_S, 2)])


def page(path: Path) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", path.read_text(encoding="utf-8"))).split())


def largest_B_per_s(out: str) -> float:
    return float(json.loads(out)["headline"][0]["highest_throughput_B_per_s"])


def test_the_report_is_of_the_common_level_and_says_what_others_change(measured: Path, tmp_path: Path) -> None:
    _, out, _ = outcome("report", measured, "-o", tmp_path / "r.html", "--json")
    assert largest_B_per_s(out) == pytest.approx(SIZES[-1] / law(SIZES[-1]))
    assert CHANGE in page(tmp_path / "r.html")


def test_marked_points_are_counted_and_listed(tmp_path: Path) -> None:
    stranger = visit(8, OTHER_S)
    source = campaign(tmp_path / "c", [*everywhere(USUAL_S, 3), *everywhere(OTHER_S, 1), stranger])
    _, out, _ = outcome("report", source, "-o", tmp_path / "r.html", "--json")
    said = f"1 of {len(SIZES) + 1} points are noisy: 1 at another level of the machine."
    assert json.loads(out)["warnings"].count(said) == 1
    text = page(tmp_path / "r.html")
    assert text.count(said) == 1
    assert "pingpong, locality cache, cache warm, 8 B another level" in text.split("Marked points")[-1]


def test_without_marked_points_there_is_no_such_section(measured: Path, tmp_path: Path) -> None:
    outcome("report", measured, "-o", tmp_path / "r.html")
    assert "Marked points" not in page(tmp_path / "r.html")
