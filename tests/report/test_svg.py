"""Figures that stand together in one document."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from hockney.report.drawing import Inliner, html_file, png_file, svg_file
from hockney.report.style import drawing_style


def drawn() -> Figure:
    figure = Figure()
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], marker="o")
    axes.set_title("a <b> & c")
    return figure


def test_ids_are_unique_and_resolved() -> None:
    inliner = Inliner()
    text = inliner.inline(drawn(), "one") + inliner.inline(drawn(), "two")
    ids = re.findall(r'id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', text) + re.findall(r"url\(#([^)]+)\)", text)) <= set(ids)


def test_classes_carry_the_styles() -> None:
    inliner = Inliner()
    text = inliner.inline(drawn(), "x")
    assert 'style="' not in text
    for name in re.findall(r'class="(s\d+)"', text):
        assert f".{name}{{" in inliner.css()


def test_nothing_outside_is_named() -> None:
    text = Inliner().inline(drawn(), "x")
    assert "http" not in text
    assert "<metadata" not in text


def test_the_same_figure_gives_the_same_bytes() -> None:
    assert png_file(drawn()) == png_file(drawn())
    assert Inliner().inline(drawn(), "x") == Inliner().inline(drawn(), "x")
    assert b"<dc:date>" not in svg_file(drawn())


@pytest.mark.parametrize(
    "label",
    [
        'x style="}body{background:url(//host/p)}main{display:none}"',
        '"><script>alert(1)</script><text style="fill:url(//host/p)',
        "</style><img src=x onerror=alert(1)>",
        'id="f1" href="#x" url(#y) -->',
        "control \x00\x1b\x0b\ufffe",
    ],
)
@pytest.mark.filterwarnings("ignore:Glyph")
def test_a_label_stays_text_whatever_it_looks_like(label: str) -> None:
    figure = drawn()
    figure.axes[0].set_xlabel(label)
    inliner = Inliner()
    with drawing_style():
        element = ElementTree.fromstring(inliner.inline(figure, label))
    shown = re.sub("[\x00-\x08\x0b\x1b\ufffe]", "\ufffd", label)
    assert shown in {text.text for text in element.iter("text")}
    assert element[0].text == shown
    assert {part.tag for part in element.iter()} <= {
        "svg",
        "title",
        "g",
        "path",
        "defs",
        "use",
        "text",
        "clipPath",
        "rect",
    }
    assert "host" not in inliner.css()
    names = {name for part in element.iter() for name in part.attrib}
    assert not names & {"style", "onerror", "onclick"}


def test_pages_ask_for_nothing_from_outside() -> None:
    page = html_file(drawn(), "t").decode()
    (policy,) = re.findall('http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'")
    assert "script-src" not in policy


def test_dots_that_are_an_image_stay_in_the_page() -> None:
    """Many dots are drawn as an image inside the figure, whose data no identifier replaces."""
    with drawing_style():
        figure = Figure()
        figure.subplots().plot([1, 2, 3], [1, 2, 3], "o", rasterized=True)
        text = Inliner().inline(figure, "dots")
    (image,) = [element for element in ElementTree.fromstring(text).iter() if element.tag == "image"]
    assert image.attrib["href"].startswith("data:image/png;base64,")
    assert len(image.attrib["href"]) > 500
