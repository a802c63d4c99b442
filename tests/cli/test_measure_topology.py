"""`hockney measure --topology`: a simulated fat tree's worst pairing, measured beside its own bound."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.test_measure_subsets import PLATFORM
from tests.command_line import refusal, succeeded

from hockney.machine.file import load

SPEC = "fat-tree:nodes=8,leaf-ports=4:1,spines=1,spine-ports=2"


@pytest.mark.simulated
def test_the_worst_pairing_of_a_simulated_fat_tree_is_as_slow_as_its_links_say(tmp_path: Path) -> None:
    platform, campaign, machine = tmp_path / "ft.xml", tmp_path / "c", tmp_path / "m.json"
    platform.write_text(PLATFORM)
    asked = ["--mpi", f"smpi:{platform}", "--ranks", "8", "--topology", SPEC]
    words = ["measure", *asked, "--operation", "congestion", "-o", str(campaign)]
    succeeded(*words)
    succeeded("fit", campaign, "-o", machine)
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
    assert why in refusal("measure", "--operation", operation, "--topology", topology, "-o", tmp_path / "c")
    assert not (tmp_path / "c").exists()
