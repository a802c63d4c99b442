"""The terminal on README shows README's commands, and what they print."""

from __future__ import annotations

import math
import re

import pytest
from bench.tour.record import PICTURE, commands, drawn, lines_of, recorded

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
TOLERANCE = 0.02
"""Fits end where their optimiser stops, and versions of numpy and scipy differ in the third digit."""


def test_the_picture_has_the_commands_of_readme() -> None:
    shown = "\n".join(lines_of(PICTURE.read_text(encoding="utf-8")))
    assert len(commands()) > 2
    assert [command for command in commands() if f"$ {command}" not in shown] == [], "run bench/tour"


def test_the_picture_fetches_nothing() -> None:
    text = PICTURE.read_text(encoding="utf-8")
    assert re.findall(r"https?://[^\"<) ]+", text) == ["http://www.w3.org/2000/svg"]
    assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", text)


@pytest.mark.thorough
def test_the_picture_shows_what_is_printed() -> None:
    shown, made = (lines_of(text) for text in (PICTURE.read_text(encoding="utf-8"), drawn(recorded())))
    words = [[" ".join(NUMBER.sub("#", line).split()) for line in lines] for lines in (shown, made)]
    assert words[0] == words[1], "run bench/tour"
    numbers = [
        [float(one.replace(",", "")) for line in lines for one in NUMBER.findall(line)] for lines in (shown, made)
    ]
    assert all(math.isclose(a, b, rel_tol=TOLERANCE) for a, b in zip(*numbers, strict=True)), "run bench/tour"
