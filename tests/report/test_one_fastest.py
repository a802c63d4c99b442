"""A page, its map, its tables and `tune` name one fastest algorithm for each size of planted campaigns."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import succeeded
from tests.factories import frame, row

from hockney.units import parse_bytes

pytestmark = pytest.mark.usefixtures("undrawn")

SIZES = (16, 256, 4096, 65536, 1048576)
NAMES = ("default", "tuned:basic_linear", "tuned:chain", "tuned:binomial", "tuned:binary_tree")
Named = dict[int, str]
"""Bytes → the algorithm that an answer calls the fastest."""


def planted(seed: int, path: Path) -> None:
    """A broadcast whose algorithms differ by nothing, by noise, or by far, with intervals narrow and wide."""
    random = np.random.default_rng(seed)
    rows = []
    for size_B in SIZES:
        for name in NAMES:
            factor = random.choice([1.0, 1.0, 1.01, 1.04, 1.15, 2.0]) * np.exp(random.normal(0.0, 0.02))
            times = {"time_s": 1e-5 * factor, "within": random.choice([0.01, 0.03, 0.15])}
            rows.append(row(size_B, 8, algorithm=name, mpi="Open MPI 5.0.11", source="osu", **times))
    frame(rows, path)


def sentences(html: str) -> Named:
    """What the answers say of sizes from here to there."""
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))
    found: Named = {}
    size = r"(\d+ (?:B|KiB|MiB))"
    for name, first, last in re.findall(rf"(\S+) is fastest (?:at|from) {size}(?: to {size})?", text):
        ends = parse_bytes(first), parse_bytes(last or first)
        found |= {size_B: name for size_B in SIZES if ends[0] <= size_B <= ends[1]}
    return found


def in_table(html: str) -> Named:
    """What the table of the fastest says."""
    (table,) = re.findall(r"<table(?:(?!</table>).)*Fastest bcast.*?</table>", html, re.DOTALL)
    lines = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, re.DOTALL) for line in table.split("<tr")]
    headings = next(line for line in lines if "fastest" in line)
    rows = [dict(zip(headings, line, strict=True)) for line in lines if len(line) == len(headings)]
    return {parse_bytes(one["size"]): one["fastest"] for one in rows if one["size"] != "size"}


def on_map(html: str) -> Named:
    """What the cells of the map say, which the page draws."""
    (data,) = re.findall(r'id="explorer-data">(.*?)</script>', html, re.DOTALL)
    whole = json.loads(data)
    cells = whole["cells"]
    return dict(zip(cells["bytes"], (whole["words"]["algorithm"][best] for best in cells["best"]), strict=True))


@pytest.mark.parametrize("seed", [0, 1, pytest.param(2, marks=pytest.mark.thorough)])
def test_all_answers_name_one_fastest_algorithm_for_a_size(seed: int, tmp_path: Path) -> None:
    source, page = tmp_path / "t.csv", tmp_path / "page.html"
    planted(seed, source)
    succeeded("report", source, "-o", page)
    html = page.read_text(encoding="utf-8")
    tuned = json.loads(succeeded("tune", source, "--for", "openmpi-v2", "-o", tmp_path / "rules", "--json"))
    rules = {cell["bytes"]: cell["algorithm"] or "default" for cell in tuned["cells"]}
    assert set(rules) == {*SIZES}
    assert in_table(html) == rules
    assert on_map(html) == rules
    said = sentences(html)
    assert said
    assert said.items() <= rules.items()
    for size_B, name in rules.items():
        found = [
            rule["algorithm"]
            for rule in tuned["rules"]
            if rule["least_bytes"] <= size_B <= (rule["most_bytes"] or size_B)
        ]
        assert found == ([] if name == "default" else [name])
