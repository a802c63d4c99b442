"""The card as a document: self-contained, escaped, with all facts, and a few pages where a browser prints it."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.capabilities import lacking
from tests.factories import not_none

from hockney.machine.file import Machine, load
from hockney.models.base import Parameter
from hockney.models.effects.base import Effect
from hockney.models.views import VIEWS, Statement, Views
from hockney.report.card.content import content
from hockney.report.card.figures import collectives
from hockney.report.card.page import render

TWIN = load(Path(__file__).parents[2] / "machine" / "data" / "version1.json")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


FORMULA = Statement(text="T(n) = 1 µs + n / 1 GB/s", latex="", where="n > 4 KiB")


def full() -> Machine:
    """Much of everything."""
    effects = [
        Effect(
            effect=name,
            locality=locality,
            parameters={f"cost_{i}_s": Parameter(value=1e-6, low=9e-7, high=1.2e-6, unit="s") for i in range(6)},
            views=Views(**dict.fromkeys(VIEWS, [FORMULA] * 2)),
            not_identified={"R_N": "two more pairs on four more cores, measured at the same time"},
            notes=["a note that says what this model leaves out, and for which reason " * 3],
        )
        for name in ("overlap", "synchronisation", "datatypes", "matching", "injection", "congestion")
        for locality in ("cache", "network")
    ]
    entries = [
        entry.model_copy(update={"variant": f"{entry.variant}-{index}" if index else entry.variant})
        for index in range(5)
        for entry in TWIN.point_to_point
    ]
    collectives = load(Path("bluegene_p")).collectives * 3
    return TWIN.model_copy(update={"effects": effects, "point_to_point": entries, "collectives": collectives})


MACHINES = {
    "bluegene_p": load(Path("bluegene_p")),
    "orfeo_thin": load(Path("orfeo_thin")),
    "twin": TWIN,
    "thin": TWIN.model_copy(update={"point_to_point": TWIN.point_to_point[:1]}),
    "full": full(),
    "effects alone": full().model_copy(update={"point_to_point": []}),
    "nothing": TWIN.model_copy(update={"point_to_point": []}),
}


@cache
def rendered(name: str) -> str:
    """Drawing takes half a second."""
    return render(MACHINES[name])


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_the_document_refers_to_nothing_outside_itself(name: str) -> None:
    text = rendered(name)
    assert not re.search(r"<(script|link|img|iframe)\b|https?://(?!www\.w3\.org)", text)


def test_the_same_machine_gives_the_same_bytes() -> None:
    assert rendered("bluegene_p") == render(MACHINES["bluegene_p"])


def test_text_of_the_file_is_escaped() -> None:
    system = TWIN.system.model_copy(update={"name": "<b>a & b</b>"})
    text = render(TWIN.model_copy(update={"system": system}))
    assert "<h1>MPI on &lt;b&gt;a &amp; b&lt;/b&gt;</h1>" in text


def test_what_is_printed_and_what_is_right_stand_beside_each_other() -> None:
    text = html.unescape(rendered("bluegene_p"))
    assert "T(S, P) ≥ g(P−1) + S · G · ∛P · (∛P/2 + 1)³" in text
    assert "max((P−1)/6, C)" in text
    assert "B ≥ 374.5 MB/s · (2/3) / ∛P" in text


@pytest.mark.skipif(BROWSER is None, reason=lacking("a browser", "no chromium is on the PATH"))
@pytest.mark.parametrize(("name", "most"), [("bluegene_p", 4), ("twin", 3), ("thin", 2)])
def test_a_machine_fits_a_few_printed_pages(name: str, most: int, tmp_path: Path) -> None:
    assert BROWSER is not None
    page, printed = tmp_path / "card.html", tmp_path / "card.pdf"
    page.write_text(rendered(name), encoding="utf-8")
    start = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    subprocess.run(
        [*start, f"--print-to-pdf={printed}", "--no-pdf-header-footer", page.as_uri()],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes())) <= most


@pytest.mark.parametrize("name", ["bluegene_p", "full", "effects alone"])
def test_every_number_and_limit_stands_on_the_card(name: str) -> None:
    card, text = content(MACHINES[name]), html.unescape(rendered(name)).replace("\N{NO-BREAK SPACE}", " ")
    for model in [*card.messages, *card.effects, *card.collectives, *card.closed_forms]:
        assert model.title in text
        assert all(number.value in text and number.interval in text for number in model.numbers)
        views = ("exact",) if model in card.messages else VIEWS
        assert all(one.text in text for one in model.formulas if one.view in views)
    plain = [line for line in [*card.limits, *card.provenance] if "`" not in line]
    assert all(line in text for line in plain)


def test_rates_of_large_vectors_stand_beside_times_of_small_ones() -> None:
    """BlueGene/P: six links of 374.5 MB/s carry a broadcast, allreduce takes 2.68 times as long."""
    drawing = not_none(collectives(load(Path("bluegene_p")).collectives))
    times, rates = drawing.figure.axes
    lines = {str(line.get_label()): np.asarray(line.get_ydata()) for line in rates.get_lines()}
    assert lines["bcast"][0] == pytest.approx(2247.2, rel=1e-3)
    assert lines["allreduce"] == pytest.approx(lines["bcast"][0] / 2.68, rel=1e-3)
    # A barrier has no rate. One colour is one collective in both.
    assert set(lines) == {"bcast", "allreduce", "alltoall"}
    assert np.all(np.diff(lines["alltoall"][2:]) < 0)
    colours = {
        (str(line.get_label()), str(line.get_color())) for axes in (times, rates) for line in axes.get_lines()
    }
    assert len(colours) == 4
    assert collectives([]) is None
