"""`hockney measure --topology`: a simulated fat tree's worst pairing, measured beside its own bound."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hockney.errors import RequestError
from hockney.machine.file import load
from hockney.terminal import application

# Four hosts on each of two leaves that one link of a host's bandwidth joins.
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="ft" prefix="node-" radical="0-7" suffix="" speed="10Gf" bw="1GBps" lat="1us"
           topology="FAT_TREE" topo_parameters="2;4,2;1,1;1,1"/>
</platform>
"""
SPEC = "fat-tree:nodes=8,leaf-ports=4:1,spines=1,spine-ports=2"


@pytest.mark.simulated
def test_the_worst_pairing_of_a_simulated_fat_tree_is_as_slow_as_its_links_say(tmp_path: Path) -> None:
    platform, campaign, machine = tmp_path / "ft.xml", tmp_path / "c", tmp_path / "m.json"
    platform.write_text(PLATFORM)
    asked = ["--mpi", "smpi", "--platform", str(platform), "--ranks", "8", "--topology", SPEC]
    words = ["measure", *asked, "--operation", "congestion", "-o", str(campaign)]
    for one in (words, ["fit", str(campaign), "-o", str(machine)]):
        done = CliRunner().invoke(application(), one)
        assert done.exit_code == 0, done.output
    (effect,) = load(machine).effects
    # Four pairs cross one link.
    assert effect.parameters["topology_bound"].value == 4
    # A window of 2 MiB takes 2 ms: 2α = 12 µs of start-up, part of which overlaps in four that share, are 0.6 %.
    assert effect.parameters["topology_congestion"].value == pytest.approx(4, rel=0.02)
    assert any(SPEC in note for note in effect.notes)


@pytest.mark.parametrize(
    ("operation", "topology", "why"),
    [("congestion", "moebius:8", "names no topology"), ("matching", "torus:8", "congestion")],
)
def test_a_topology_that_means_nothing_is_refused_before_anything_is_measured(
    operation: str, topology: str, why: str, tmp_path: Path
) -> None:
    words = ["measure", "--operation", operation, "--topology", topology, "-o", str(tmp_path / "c")]
    done = CliRunner().invoke(application(), words)
    assert isinstance(done.exception, RequestError)
    assert why in done.exception.message
    assert not (tmp_path / "c").exists()
