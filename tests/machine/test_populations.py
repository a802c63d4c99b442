"""Pairs at different places of one locality: a series each where their times differ, one where they do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.command_line import outcome, succeeded
from tests.factories import campaign as campaign_of
from tests.factories import record

from hockney.machine.build import fitted
from hockney.machine.file import Entry, Machine
from hockney.network.topologies.base import parse_spec
from hockney.records.contents import read

SIZES_B = (0, 8, 64, 512, 4096, 32768)
TREE = "fat-tree:nodes=8,leaf-ports=4:2,spines=2,spine-ports=2"


def measured(folder: Path, locality: str, start_s: dict[str, float], packages: tuple[int, ...] = ()) -> Path:
    """Pairs of eight ranks with these start-ups and 1 GB/s; a rank a host, or all of one host's packages."""
    ranks = [
        {"rank": rank, "host": "n", "package": packages[rank]} if packages else {"rank": rank, "host": f"n{rank}"}
        for rank in range(8)
    ]
    records = [
        record(size_B, start + 1e-9 * size_B, launch="one", locality=locality, pair=pair)
        for pair, start in start_s.items()
        for size_B in SIZES_B
    ]
    return campaign_of(folder, records, {"id": "one", "ranks": ranks})


def entries(machine: Machine, place: str) -> dict[str, Entry]:
    return {entry.other.get(place, ""): entry for entry in machine.point_to_point}


def latency_s(entry: Entry) -> float:
    return entry.fits["piecewise"].parameters["latency_s"].value


LEAVES = {"0-1": 1e-6, "2-3": 1.01e-6, "0-4": 1.5e-6, "1-6": 1.51e-6}
"""Two pairs below one leaf, two hops apart, and two across the spines, four hops apart."""


def test_pairs_at_other_hops_are_series_of_their_own(tmp_path: Path) -> None:
    found = entries(fitted(read(measured(tmp_path / "c", "network", LEAVES)), network=parse_spec(TREE)), "hops")
    assert {word: entry.pairs for word, entry in found.items()} == {
        "": ["0-1", "0-4", "1-6", "2-3"],
        "2": ["0-1", "2-3"],
        "4": ["0-4", "1-6"],
    }
    assert latency_s(found["2"]) == pytest.approx(1.005e-6, rel=1e-3)
    assert latency_s(found["4"]) == pytest.approx(1.505e-6, rel=1e-3)
    assert 1e-6 < latency_s(found[""]) < 1.51e-6


def test_all_pairs_together_say_that_they_differ(tmp_path: Path) -> None:
    """Without a choice the interval holds every pair, and the option that chooses is named."""
    campaign, machine = measured(tmp_path / "c", "network", LEAVES), tmp_path / "m.json"
    assert outcome("fit", campaign, "-o", machine, "--topology", TREE)[0] == 0
    out = succeeded("predict", "pingpong", "--machine", machine, "--bytes", "64")
    asked = ("predict", "pingpong", "--machine", machine, "--bytes", "64", "--json")
    assert "differ by hops: --where hops=WORD takes one of 2, 4" in outcome(*asked)[1]
    assert "1.06 µs to 1.57 µs" in out
    out = succeeded("predict", "pingpong", "--machine", machine, "--bytes", "64", "--where", "hops=4")
    assert "64 B: 1.57 µs" in out
    assert "differ" not in out


@pytest.mark.parametrize(
    ("start_s", "topology"),
    [
        ({"0-1": 1e-6, "2-3": 1.01e-6, "0-4": 1.02e-6, "1-6": 1.03e-6}, TREE),
        # Pairs of one place are as far apart as both places are.
        ({"0-1": 1e-6, "2-3": 1.4e-6, "0-4": 1.2e-6, "1-6": 1.5e-6}, TREE),
        (LEAVES, ""),
    ],
    ids=["alike", "scattered", "places unknown"],
)
def test_places_that_do_not_differ_are_one_series(
    tmp_path: Path, start_s: dict[str, float], topology: str
) -> None:
    campaign = measured(tmp_path / "c", "network", start_s)
    machine = fitted(read(campaign), network=parse_spec(topology) if topology else None)
    assert [entry.other.get("hops") for entry in machine.point_to_point] == [None]


def test_packages_of_one_node(tmp_path: Path) -> None:
    """Two pairs of neighbours in each of two packages, of which the second is slower."""
    start_s = {"0-1": 1e-7, "2-3": 1.02e-7, "4-5": 1.3e-7, "6-7": 1.32e-7}
    campaign = measured(tmp_path / "c", "cache", start_s, (0, 0, 0, 0, 1, 1, 1, 1))
    found = entries(fitted(read(campaign)), "package")
    assert {word: latency_s(entry) for word, entry in found.items()} == {
        "": pytest.approx(1.16e-7, rel=1e-2),
        "0": pytest.approx(1.01e-7, rel=1e-3),
        "1": pytest.approx(1.31e-7, rel=1e-3),
    }
