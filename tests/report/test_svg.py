"""Figures that stand together in one document."""

from __future__ import annotations

import re

from matplotlib.figure import Figure

from hockney.report.svg import Inliner, png_file, svg_file


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


def test_the_title_is_escaped() -> None:
    assert '<title id="f1">1 &lt; 2 &amp; "3"</title>' in Inliner().inline(drawn(), '1 < 2 & "3"')


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
