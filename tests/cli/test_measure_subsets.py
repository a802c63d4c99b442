"""`hockney measure --operation subsets` on a simulated fat tree whose subsets share a link."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import run_hockney, succeeded

from hockney.campaign.effects.subsets import SHARE, VISITS
from hockney.machine.file import load
from hockney.records import table

# Four hosts on each of two leaves that one link of a host's bandwidth joins.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="ft" prefix="node-" radical="0-7" suffix="" speed="10Gf" bw="1GBps" lat="1us"
           topology="FAT_TREE" topo_parameters="2;4,2;1,1;1,1"/>
</platform>
"""
# SimGrid lets a message slow those of the other way down by a twentieth unless it is told not to.
VARIANT = "alone: --cfg=network/crosstraffic:0"
EXPECTED = {
    # Subsets within a leaf share nothing.
    (2, "blocks"): 1.0,
    (4, "blocks"): 1.0,
    # Pairs across: one message on the link alone, four together.
    (2, "strided"): 4.0,
    # Two ranks on each leaf: in the rounds of `pairwise` one, two and one messages cross, together twice so.
    (4, "strided"): 2.0,
}


@pytest.mark.simulated
def test_subsets_that_share_a_link_are_as_slow_as_it_says(tmp_path: Path) -> None:
    platform, campaign, machine = tmp_path / "ft.xml", tmp_path / "c", tmp_path / "m.json"
    platform.write_text(PLATFORM)
    where = ["--mpi", f"smpi:{platform}", "--ranks", "8", "--variant", VARIANT]
    words = ["--operation", "subsets", "--algorithm", "pairwise", "--rank-counts", "2,4", "--bytes", "16MiB"]
    for asked in (
        ["measure", *where, *words, "-o", str(campaign)],
        ["fit", str(campaign), "-o", str(machine)],
        ["report", str(campaign), "--machine", str(machine), "-o", str(tmp_path / "r.html")],
    ):
        succeeded(*asked)
    (effect,) = load(machine).effects
    found = {(point["ranks"], point["arrangement"]): point["factor"] for point in effect.points}
    # The start-up, which no two share, takes some 40 µs beside 17 ms of bytes.
    assert found == pytest.approx(EXPECTED, rel=0.02)
    assert "subset of the ranks" in (tmp_path / "r.html").read_text(encoding="utf-8")
    # No point of a lone communicator is made of it.
    assert table.load(campaign).empty


def test_a_dry_run_counts_the_questions(tmp_path: Path) -> None:
    words = ["--ranks", "8", "--rank-counts", "4", "--bytes", "1KiB,4KiB", "--budget", "1s"]
    asked = ["--operation", "overlap,subsets", "--algorithm", "pairwise,linear", *words]
    done = run_hockney("measure", *asked, "-o", str(tmp_path / "c"), "--dry-run", "--json")
    told = json.loads(done.stdout)
    # Two algorithms of two sizes in two arrangements, two subsets alone and both together, in each visit.
    questions = 2 * 2 * 2 * 3 * VISITS
    assert told["points"] == told["visits"] == questions + 1
    # Each its share of a point's time, beside the launch (1.5 s) and overlap (5 s).
    assert told["whole_s"] == pytest.approx(SHARE * questions + 6.5)


def test_subsets_come_last_of_all_effects(tmp_path: Path) -> None:
    asked = ["--operation", "effects", "--ranks", "4", "-o", str(tmp_path / "c"), "--dry-run", "--json"]
    assert json.loads(run_hockney("measure", *asked).stdout)["plan"]["effects"][-1] == "subsets"
