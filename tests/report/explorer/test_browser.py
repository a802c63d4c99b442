"""The page in a real browser: what it draws, each control, keyboard, accessibility, print, without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.browser import browser, needs_browser
from tests.factories import not_none, row
from tests.report.explorer.planted import planted

from hockney.records import table
from hockney.report.compare import compare
from hockney.report.explorer.chart import VIEWS, Explored, Selection, View, panel
from hockney.report.explorer.explored import Explorable, explored
from hockney.report.make import make, write_html
from hockney.report.maps import shade
from hockney.units import format_bytes, format_time

pytestmark = [pytest.mark.thorough, *needs_browser]

LINES = [view for view in VIEWS if view.kind == "lines"]
DIGITS = 6e-4
"""The page has times to four digits; a rate is made of such a time."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted(tmp_path_factory.mktemp("page") / "t.csv")


@pytest.fixture(scope="module")
def page(path: Path) -> Path:
    write_html(make(path), path.with_suffix(".html"))
    return path.with_suffix(".html")


@pytest.fixture(scope="module")
def seen(path: Path) -> Explored:
    """What the page shows, made anew of the same table."""
    report = make(path)
    statistics = dict.fromkeys(("barrier", "bcast", "reduce"), "completion")
    assert report.reading is not None
    return not_none(explored([Explorable(path.name, report.reading.frame, report.reading.curves, statistics)]))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as one:
        yield one


@pytest.fixture
def tab(chromium: Any, page: Path) -> Iterator[Any]:
    """The page, opened; whatever it says on its console is an error."""
    yield from _opened(chromium, page)


def _opened(chromium: Any, page: Path, **options: Any) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 1200, "height": 900}, **options)
    one, said = context.new_page(), []
    asked: list[str] = []
    one.on("console", lambda message: said.append(message.text))
    one.on("pageerror", lambda error: said.append(str(error)))
    one.on("request", lambda request: asked.append(request.url))
    one.goto(page.as_uri())
    yield one
    context.close()
    assert said == []
    assert asked == [page.as_uri()]


def shown(tab: Any, view: View) -> dict[str, tuple[list[float], list[float], list[list[float]]]]:
    """What a panel of lines draws: label → x, y and positions in the drawing."""
    lines = tab.eval_on_selector_all(
        f"#panel-{view.name} .plot g.line",
        "all => all.map(one => [one.dataset.label, one.dataset.x, one.dataset.y, one.dataset.at])",
    )

    def numbers(text: str) -> list[float]:
        return [float(word) for word in text.split(",")]

    return {
        label: (numbers(x), numbers(y), [[float(end) for end in pair.split()] for pair in at.split(",")])
        for label, x, y, at in lines
    }


def check(tab: Any, choice: Selection, seen: Explored) -> None:
    """Every panel draws the numbers of the description, at places that follow from them."""
    for view in LINES:
        # 0 B have no rate, nor has an operation that has no others.
        expected = [line for line in panel(view, choice, seen).lines if (line.y > 0).any()]
        drawn = shown(tab, view)
        if view.y == "rate":
            assert tab.locator(f"#panel-{view.name}").is_visible() == bool(expected)
        assert set(drawn) == {line.label for line in expected}
        for line in expected:
            x, y, at = drawn[line.label]
            is_drawn = line.y > 0
            assert x == [*line.x[is_drawn]]
            assert y == pytest.approx(line.y[is_drawn] * (1e6 if view.y == "time" else 1), rel=DIGITS)
            has_x = np.array(x) > 0
            for values, places in ((np.array(x), np.array(at)[:, 0]), (np.array(y), np.array(at)[:, 1])):
                if has_x.sum() > 2 and np.ptp(values[has_x]) > 0:
                    logs = np.log(values[has_x])
                    line_through = np.polyval(np.polyfit(logs, places[has_x], 1), logs)
                    # Places are rounded to a tenth of a pixel.
                    assert np.abs(line_through - places[has_x]).max() < 0.15


def test_the_browser_draws_the_numbers_of_the_description(tab: Any, seen: Explored) -> None:
    first = next(iter(seen.first.values()))
    check(tab, first, seen)
    for operation, choice in seen.first.items():
        tab.select_option("#choose-operation", label=operation)
        check(tab, choice, seen)
    tab.select_option("#choose-operation", label="bcast")
    choice = replace(seen.first["bcast"], held={**seen.first["bcast"].held, "placement": "allocation node"})
    tab.select_option("#choose-placement", label="allocation node")
    check(tab, choice, seen)
    tab.select_option("#choose-ranks", label="8")
    tab.select_option("#choose-bytes", label="64 B")
    check(tab, choice := replace(choice, ranks=8, bytes=64), seen)
    tab.select_option("#choose-by", value="placement")
    tab.select_option("#choose-algorithm", label="chain")
    choice = replace(choice, by="placement", held={**choice.held, "algorithm": "chain"})
    check(tab, choice, seen)
    tab.get_by_role("button", name="Start again").click()
    check(tab, first, seen)


def test_the_maps_have_the_colours_of_the_description(tab: Any, seen: Explored) -> None:
    tab.select_option("#choose-operation", label="bcast")
    # Neighbours of one colour are one rectangle, as wide as all of them; there are four sizes.
    wide = "[...one.getAttribute('d').matchAll(/h([0-9.]+)v/g)].reduce((sum, found) => sum + Number(found[1]), 0)"
    of = f"one.getAttribute('class').split(' ')[1], Math.round({wide} / ((500 - 74 - 10) / 4))"
    count = f"all => all.map(one => [{of}])"
    costs = dict(tab.eval_on_selector_all("#panel-penalty .cell", count))
    cells = panel(VIEWS[1], seen.first["bcast"], seen).cells
    expected: dict[str, int] = {}
    for cell in cells:
        assert cell.penalty is not None
        expected[f"p-{shade(cell.penalty)}"] = expected.get(f"p-{shade(cell.penalty)}", 0) + 1
    assert costs == expected
    fastest = dict(tab.eval_on_selector_all("#panel-fastest .cell", count))
    assert sorted(fastest.values()) == [10, 10]  # two sizes of four, five numbers of ranks


def _box(tab: Any, name: str) -> dict[str, float]:
    """Where a panel's drawing is in the window."""
    drawing = tab.locator(f"#panel-{name} .plot > svg")
    drawing.scroll_into_view_if_needed()
    box: dict[str, float] = drawing.bounding_box()
    return box


def test_a_pointer_shows_a_value_its_interval_and_origin_and_chooses(tab: Any) -> None:
    tab.select_option("#choose-operation", label="bcast")
    line = tab.locator("#panel-time-against-size g.line[data-label=binomial]")
    x, y = map(float, line.get_attribute("data-at").split(",")[1].split())
    box = _box(tab, "time-against-size")
    at = box["x"] + x * box["width"] / 500, box["y"] + y * box["height"] / 290
    tab.mouse.move(*at)
    tip = tab.locator(".tip").inner_text()
    # 32 ranks, 64 B: 32.064 µs, ± 1 %.
    for words in ("binomial: 32.1 µs", "31.7 µs … 32.4 µs (95 % interval)", "64 B, 32 ranks", "from t.csv"):
        assert words in tip, tip
    tab.mouse.down()
    tab.mouse.up()
    assert tab.locator("#choose-bytes").input_value() == "64"
    assert "64 B" in tab.locator("#panel-time-against-ranks h3").inner_text()


def test_dragging_zooms_and_a_button_shows_all_again(tab: Any) -> None:
    box = _box(tab, "rate-against-size")
    ticks = tab.locator("#panel-rate-against-size .axes").inner_html()
    tab.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 100)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 100, steps=4)
    tab.mouse.up()
    assert tab.locator("#panel-rate-against-size .axes").inner_html() != ticks
    tab.locator("#panel-rate-against-size .reset").click()
    assert tab.locator("#panel-rate-against-size .axes").inner_html() == ticks


def test_the_keyboard_reaches_every_value(tab: Any) -> None:
    tab.select_option("#choose-operation", label="bcast")
    tab.locator("#panel-fastest .plot").focus()
    readout = tab.locator(".readout")
    tab.keyboard.press("ArrowRight")
    first = readout.inner_text()
    assert re.match(r"(binomial|chain): .* µs; .* ranks", first)
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("ArrowUp")
    assert readout.inner_text() != first
    tab.keyboard.press("Enter")
    chosen = re.search(r"(\d+) ranks", readout.inner_text())
    assert chosen
    assert tab.locator("#choose-ranks").input_value() == chosen[1]
    tab.locator("#panel-time-against-size .plot").focus()
    for key in ("ArrowRight", "ArrowDown", "+", "+", "-", "0", "Enter"):
        tab.keyboard.press(key)
        assert readout.inner_text()
    tab.locator("#panel-time-against-ranks .plot").focus()
    tab.keyboard.press("+")
    assert tab.locator("#panel-time-against-ranks .reset").is_visible()
    tab.keyboard.press("Escape")
    assert not tab.locator("#panel-time-against-ranks .reset").is_visible()


def test_a_line_can_be_hidden_and_values_read_as_a_table(tab: Any) -> None:
    tab.select_option("#choose-operation", label="bcast")
    before = len(shown(tab, LINES[0]))
    button = tab.locator(".legend button", has_text="chain")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert len(shown(tab, LINES[0])) == before - 1
    button.click()
    assert len(shown(tab, LINES[0])) == before
    tab.locator("#explorer summary").click()
    tab.wait_for_selector("#explorer tbody tr")
    rows = tab.locator("#explorer tbody tr")
    assert rows.count() == 3 * 4
    assert "binomial" in tab.locator("#explorer tbody").inner_text()


def test_where_all_lines_are_hidden_it_says_so(tab: Any) -> None:
    tab.select_option("#choose-operation", label="barrier")
    for button in tab.locator(".legend button").all():
        button.click()
    assert "all lines are hidden" in tab.locator("#panel-time-against-size .plot").text_content()


def test_sizes_and_times_read_as_elsewhere_on_the_page(chromium: Any, tmp_path: Path) -> None:
    """Sizes that are no round multiple keep all digits; microseconds reach from 10 ns to a millisecond."""
    sizes_B = (1023, 1024, 1280, 1536, 4095, 65537, 1000000, 3 * 2**30)
    times_s = (2.134e-9, 9.991e-9, 1.34e-7, 4.5e-5, 9.993e-4, 9.998e-4, 0.25, 1234.0)
    rows = [
        row(size_B, 4, time_s, algorithm=algorithm)
        for algorithm in ("default", "binomial", "chain")
        for size_B, time_s in zip(sizes_B, times_s, strict=True)
    ]
    table.write(pd.DataFrame(rows), tmp_path / "t.csv")
    write_html(make(tmp_path / "t.csv"), tmp_path / "t.html")
    for tab in _opened(chromium, tmp_path / "t.html"):
        assert tab.locator("#choose-bytes option").all_inner_texts() == [*map(format_bytes, sizes_B)]
        tab.locator("#explorer summary").click()
        tab.wait_for_selector("#explorer tbody tr")
        written = tab.locator("#explorer tbody tr td:nth-child(4)").all_inner_texts()
        assert written == 3 * [*map(format_time, times_s)]
        # All three take as long: the default counts as the fastest.
        tab.locator("#panel-fastest .plot").focus()
        assert tab.locator(".readout").inner_text().endswith("and 2 more as fast; it is the default")


def test_the_default_is_not_set_against_itself(chromium: Any, tmp_path: Path) -> None:
    """It may have a segment in its name."""
    frame = table.load(planted(tmp_path / "t.csv"))
    is_default = (frame["algorithm"] == "default") & (frame["operation"] == "bcast")
    for name in ("time_s", "low_s", "high_s"):
        frame.loc[is_default, name] /= 10
    frame["segment_bytes"] = pd.Series(4096, frame.index, dtype="Int64").where(is_default)
    table.write(frame, tmp_path / "t.csv")
    write_html(make(tmp_path / "t.csv"), tmp_path / "t.html")
    for tab in _opened(chromium, tmp_path / "t.html"):
        tab.select_option("#choose-operation", label="bcast")
        tab.locator("#panel-fastest .plot").focus()
        said = tab.locator(".readout").inner_text()
        assert said.startswith("default")
        assert said.endswith("; it is the default")


def test_figures_lead_to_their_choice(tab: Any) -> None:
    tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    for button in tab.locator("button.explore").all():
        button.click()
    tab.locator("#figure-reduce-fastest button.explore").click()
    assert tab.locator("#choose-operation option:checked").inner_text() == "reduce"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(chromium: Any, page: Path, scheme: str) -> None:
    axe = import_module("axe_playwright_python.sync_playwright").Axe()
    for tab in _opened(chromium, page, color_scheme=scheme, bypass_csp=True):
        tab.locator("#explorer summary").click()
        found = axe.run(tab).response["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert [(one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in serious] == []


@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_is_wider_than_the_window(chromium: Any, page: Path, width: int) -> None:
    for tab in _opened(chromium, page):
        tab.set_viewport_size({"width": width, "height": 800})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_without_scripts_the_figures_for_print_stand(chromium: Any, page: Path) -> None:
    for tab in _opened(chromium, page, java_script_enabled=False):
        assert not tab.locator("#explorer").is_visible()
        assert tab.locator("#figure-bcast-fastest svg").is_visible()


def test_it_prints_to_a_few_pages(chromium: Any, page: Path) -> None:
    for tab in _opened(chromium, page):
        pdf = tab.pdf(format="A4")
        pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
        assert 1 <= pages <= 8


@pytest.mark.parametrize("mappings", [("core", "node"), ("core",)])
def test_a_section_prints_its_first_figure(
    chromium: Any, path: Path, tmp_path: Path, mappings: tuple[str, ...]
) -> None:
    """The one that leads, which the explorer stands for on a screen."""
    rows = table.load(path)
    one = tmp_path / "one.csv"
    table.write(rows[(rows["operation"] == "pingpong") & rows["mapping"].isin(mappings)], one)
    write_html(make(one), tmp_path / "one.html")
    for tab in _opened(chromium, tmp_path / "one.html"):
        tab.emulate_media(media="print")
        figures = tab.locator("section[aria-labelledby=pingpong] figure")
        shown = [figures.nth(place).is_visible() for place in range(figures.count())]
        assert (len(shown) > 1, shown[0], sum(shown)) == (True, True, 1)


def test_campaigns_compared_share_a_figure(chromium: Any, tmp_path: Path) -> None:
    a, b = planted(tmp_path / "a.csv"), planted(tmp_path / "b.csv", factor=2.0)
    write_html(compare([a, b]), tmp_path / "both.html")
    for tab in _opened(chromium, tmp_path / "both.html"):
        tab.select_option("#choose-operation", label="bcast")
        drawn = shown(tab, LINES[0])
        assert set(drawn) == {"a.csv", "b.csv"}
        assert drawn["b.csv"][1] == pytest.approx(np.multiply(2.0, drawn["a.csv"][1]), rel=2 * DIGITS)
