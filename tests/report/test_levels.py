"""A report of a machine with levels: of the common one, with what the others would change, or of the mixture."""

from __future__ import annotations

import json
import math
import re
from html import unescape
from pathlib import Path

import pytest
from tests.command_line import outcome
from tests.machine.test_levels import OTHER_S, SIZES, USUAL_S, campaign, everywhere, law, visit

from hockney.machine.build import build
from hockney.machine.file import save

CHANGE = "3.2 times as long at the level that held"
MIXTURE = "At any level: times are medians of all that was measured"


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
    assert MIXTURE not in page(tmp_path / "r.html")


@pytest.mark.parametrize("with_file", [False, True])
def test_any_level_is_the_mixture_and_says_so(measured: Path, tmp_path: Path, *, with_file: bool) -> None:
    save(build(measured), tmp_path / "m.json")
    words = ("--machine", tmp_path / "m.json") if with_file else ()
    asked = ("report", measured, "-o", tmp_path / "r.html", "--any-level", "--csv", tmp_path, "--json")
    _, out, _ = outcome(*asked, *words)
    assert largest_B_per_s(out) == pytest.approx(SIZES[-1] / (math.sqrt(3.2) * law(SIZES[-1])))
    warnings = json.loads(out)["warnings"]
    assert sum(text.startswith(MIXTURE) for text in warnings) == 1
    assert any("0.5 µs (2.5 times as long) for 50%" in text for text in warnings)
    text = page(tmp_path / "r.html")
    assert MIXTURE in text
    assert CHANGE not in text


@pytest.mark.parametrize("of_file", [False, True])
def test_a_card_too(measured: Path, tmp_path: Path, *, of_file: bool) -> None:
    if of_file:
        save(build(measured), tmp_path / "m.json")
    source = tmp_path / "m.json" if of_file else measured
    usual, mixed = (
        json.loads(outcome("report", "--card", source, "-o", tmp_path / f"{name}.html", "--json", *words)[1])
        for name, words in (("usual", ()), ("mixed", ("--any-level",)))
    )
    assert CHANGE in page(tmp_path / "usual.html")
    assert MIXTURE in page(tmp_path / "mixed.html")
    assert [figure["value"] for figure in usual["key"]] != [figure["value"] for figure in mixed["key"]]


@pytest.mark.parametrize("words", [(), ("--card",)])
def test_one_level_has_no_mixture(tmp_path: Path, words: tuple[str, ...]) -> None:
    one = campaign(tmp_path / "c", everywhere(USUAL_S, 3))
    code, _, err = outcome("report", one, "-o", tmp_path / "r.html", "--any-level", *words)
    assert code == 2
    assert "one level of the machine only" in err
    assert not (tmp_path / "r.html").exists()


def test_marked_points_are_counted_and_listed(tmp_path: Path) -> None:
    stranger = visit(8, OTHER_S)
    source = campaign(tmp_path / "c", [*everywhere(USUAL_S, 3), *everywhere(OTHER_S, 1), stranger])
    _, out, _ = outcome("report", source, "-o", tmp_path / "r.html", "--json")
    count = f"1 of {len(SIZES) + 1} points are marked; 1 of another level of the machine than the rest."
    said = f"Rely on no marked point alone, the report lists them: {count}"
    assert json.loads(out)["warnings"].count(said) == 1
    text = page(tmp_path / "r.html")
    assert text.count(said) == 1
    assert "pingpong, locality cache, cache warm, 8 B another level" in text.split("Marked points")[-1]


def test_without_marked_points_there_is_no_such_section(measured: Path, tmp_path: Path) -> None:
    outcome("report", measured, "-o", tmp_path / "r.html")
    assert "Marked points" not in page(tmp_path / "r.html")
