"""The card: the report of a machine file alone, measured or published, and a few pages where it is printed."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.factories import VERSION_1

from hockney.machine.file import load
from hockney.report.make import card
from hockney.report.page import Report

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@cache
def card_of(name: str) -> Report:
    """Drawing takes a second."""
    return card(load(VERSION_1 if name == "twin" else Path(name)))


def text_of(name: str) -> str:
    return html.unescape(card_of(name).html).replace("\N{NO-BREAK SPACE}", " ")


def test_the_nearest_and_the_farthest_ranks_come_first() -> None:
    # As measured; the model has 0.19 to 0.21 µs.
    assert [finding.text.partition(" (")[0] for finding in card_of("twin").findings[:4]] == [
        "pingpong, package, default, warm cache: the latency is 0.2 µs",
        "pingpong, package, default, warm cache: the peak bandwidth is 12.4 GB/s",
        "pingpong, network, default, warm cache: the latency is 1.5 µs",
        "pingpong, network, default, warm cache: the peak bandwidth is 12.4 GB/s",
    ]


def test_what_was_published_is_said_to_be() -> None:
    first, second, *_ = card_of("bluegene_p").findings
    assert first.text == "pingpong, network: the latency is 4.5 µs (no interval), as published."
    assert second.text == "pingpong, network: the bandwidth is 375 MB/s (no interval), as published."
    assert "the paper states no intervals" in text_of("bluegene_p")
    # Of 13 configurations the plain ones, nearest and farthest.
    assert [re.findall(r"[\d.]+ µs", each.text) for each in card_of("orfeo_thin").findings[::2]][:2] == [
        ["0.197 µs"],
        ["0.981 µs"],
    ]


def test_formulas_limits_and_what_is_printed_stand_on_the_card() -> None:
    text = text_of("bluegene_p")
    assert "T(n) = 9.8 µs + n / 374.5 MB/s for n > 1 KiB" in text
    assert "the paper prints 374.5 MiB/s" in text, "a note on the fit"
    assert "13 µs + 0.31 µs · log₂P" in text
    assert "P ≥ 2, 0 B ≤ n ≤ 8 B" in text
    assert "None" not in text
    # What is printed, and section 4's C at k = 8: 8 · 5³ as printed, 8⁴/8 exactly.
    assert "T(S, P) ≥ g(P−1) + S · G · ∛P · (∛P/2 + 1)³" in text
    assert "1000 for 512 at k = 8" in text
    assert "not identified: the paper refers to LogGPS and gives no number" in text
    # Of models that nothing was fitted for, no error is said.
    assert "left out" not in text[text.index('id="models-bcast"') : text.index('id="models-allreduce"')]


def test_a_bound_is_said_to_be_one() -> None:
    [alltoall] = [section for section in card_of("bluegene_p").sections if section.id == "models-alltoall"]
    assert [row[2][:2] for row in alltoall.tables[0].rows] == ["4.", "≥ "]


def test_a_card_without_measured_collectives_or_runs_has_no_place_for_them() -> None:
    assert [section.id for section in card_of("twin").sections] == ["pingpong", "bandwidth", "bidirectional"]


def test_without_warnings_nothing_is_said_to_be_calm() -> None:
    assert "No warnings" not in card(load(VERSION_1).model_copy(update={"point_to_point": []})).html


def test_the_same_machine_gives_the_same_bytes() -> None:
    assert card_of("bluegene_p").html == card(load(Path("bluegene_p"))).html


@pytest.mark.parametrize("name", ["bluegene_p", "orfeo_thin", "twin"])
def test_the_document_refers_to_nothing_outside_itself(name: str) -> None:
    assert not re.search(r"<(link|img|iframe)\b|<script[^>]* src|https?://(?!www\.w3\.org)", card_of(name).html)


@pytest.mark.skipif(BROWSER is None, reason=lacking("a browser", "no chromium is on the PATH"))
@pytest.mark.parametrize(("name", "most"), [("bluegene_p", 2), ("twin", 2), ("orfeo_thin", 2)])
def test_a_machine_fits_a_few_printed_pages(name: str, most: int, tmp_path: Path) -> None:
    assert BROWSER is not None
    page, printed = tmp_path / "card.html", tmp_path / "card.pdf"
    page.write_text(card_of(name).html, encoding="utf-8")
    start = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    subprocess.run(
        [*start, f"--print-to-pdf={printed}", "--no-pdf-header-footer", page.as_uri()],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes())) <= most
