"""Curves are told apart by more than colour."""

from __future__ import annotations

import matplotlib as mpl

from hockney.models.base import models
from hockney.report.style import drawing_style, model_styles, styles


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
