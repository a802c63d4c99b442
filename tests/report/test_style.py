"""Curves are told apart by more than colour."""

from __future__ import annotations

import re

import matplotlib as mpl

from hockney.models.base import models
from hockney.report.page import template
from hockney.report.style import DEFAULT_STYLE, Looks, drawing_style, model_styles, styles


def test_styles_differ_in_colour_dashes_and_marker() -> None:
    for made in (model_styles(models.names()), styles(list("abcdef"))):
        for attribute in ("colour", "dashes", "marker"):
            assert len({getattr(style, attribute) for style in made.values()}) == len(made)


def test_more_curves_than_colours_still_differ() -> None:
    made = styles([str(number) for number in range(40)])
    assert len({(style.colour, style.dashes, style.marker) for style in made.values()}) == 40


def test_the_best_model_is_the_solid_line() -> None:
    assert model_styles(models.names())["piecewise"].dashes == ()


def test_global_settings_are_left_as_they_were() -> None:
    before = dict(mpl.rcParams)
    with drawing_style():
        assert mpl.rcParams["svg.fonttype"] == "none"
    assert dict(mpl.rcParams) == before


def colours(css: str) -> list[dict[str, str]]:
    """The named colours of each `:root`: by day, then in the dark."""
    return [dict(re.findall(r"(--\w+): (#\w+)", one)) for one in re.findall(r":root \{([^}]*)\}", css)]


def contrast(one: str, other: str) -> float:
    """Of two colours, as WCAG 2 defines it: 1 to 21."""

    def luminance(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
        parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_a_page_can_be_read_by_day_and_in_the_dark() -> None:
    _, css = template("hockney.report", "page")
    by_day, in_the_dark = colours(css)
    assert by_day.keys() == in_the_dark.keys()
    assert not re.search(r"#[0-9a-f]{3,6}", re.sub(r":root \{[^}]*\}", "", css)), (
        "a colour that stays in the dark"
    )
    for colour in (by_day, in_the_dark):
        # What WCAG 2 asks for between letters and paper.
        assert min(contrast(colour[name], colour["--paper"]) for name in ("--ink", "--quiet", "--accent")) >= 4.5
        assert contrast(colour["--alarming"], colour["--alarmed"]) >= 4.5
        assert contrast(colour["--ink"], colour["--alarmed"]) >= 4.5


def test_a_name_keeps_its_look_on_a_page() -> None:
    looks = Looks()
    first = looks.of(["chain", "linear", "default"])
    # Another figure, another order, and more names.
    second = looks.of(["binary", "linear", "default", "chain"])
    assert all(second[name] == look for name, look in first.items())
    assert first["default"] == DEFAULT_STYLE


def test_names_of_a_figure_differ_in_colour_while_there_are_enough() -> None:
    looks = Looks()
    for start in range(40):
        made = looks.of([str(number) for number in range(start, start + 3)])
        assert len({(one.colour, one.dashes, one.marker) for one in made.values()}) == 3
    fresh = Looks().of([str(number) for number in range(7)])
    assert len({one.colour for one in fresh.values()}) == 7


def test_segments_of_an_algorithm_have_its_colour_and_more_names_than_styles_do_not_fail() -> None:
    looks = Looks()
    made = looks.of(["chain", "linear", "chain, segment 512 B", "chain, segment 1024 B", "linear, radix 2"])
    assert made["chain"].colour == made["chain, segment 512 B"].colour == made["chain, segment 1024 B"].colour
    assert made["linear"].colour == made["linear, radix 2"].colour != made["chain"].colour
    assert len({(one.dashes, one.marker) for name, one in made.items() if name.startswith("chain")}) == 3
    assert len(looks.of([f"name {number}" for number in range(300)])) == 300
