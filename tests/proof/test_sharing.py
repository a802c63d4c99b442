"""Where the truth is known: links of SimGrid's platforms that pairs share, recovered from streams.

Factors of latency and bandwidth are 1, TCP's and cross traffic's influence none, overheads 0, so that a stream
gets its max-min share of the links on its way. Within 3 %.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import succeeded
from tests.factories import written

pytestmark = pytest.mark.simulated

RANKS = 64
LINK_B_PER_S = 1e9
SETTINGS = {
    "smpi/bw-factor": "0:1",
    "smpi/lat-factor": "0:1",
    "network/TCP-gamma": "0",
    "network/weight-S": "0",
    "network/crosstraffic": "0",
    "smpi/os": "0:0:0",
    "smpi/ois": "0:0:0",
    "smpi/or": "0:0:0",
}
HEAD = (
    '<?xml version=\'1.0\'?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
)
DUPLEX = 'latency="1us" sharing_policy="SPLITDUPLEX"'


def star(path: Path, hosts: int, backbone_GB_per_s: float) -> Path:
    """Hosts with a link each on one backbone that all share."""
    path.write_text(
        f'{HEAD}<cluster id="star" prefix="node-" radical="0-{hosts - 1}" suffix="" speed="10Gf" bw="1GBps" '
        f'lat="1us" sharing_policy="SPLITDUPLEX" bb_bw="{backbone_GB_per_s}GBps" bb_lat="1us" '
        'bb_sharing_policy="SHARED"/>'
        "</platform>",
        encoding="utf-8",
    )
    return path


def two_switches(path: Path, trunk_GB_per_s: float) -> Path:
    """Half of the hosts on either switch, a trunk between the two."""
    half = RANKS // 2
    parts = [f'<host id="node-{i}" speed="10Gf"/>' for i in range(RANKS)] + ['<router id="s0"/><router id="s1"/>']
    parts += [f'<link id="l{i}" bandwidth="1GBps" {DUPLEX}/>' for i in range(RANKS)]
    parts += [f'<link id="trunk" bandwidth="{trunk_GB_per_s}GBps" {DUPLEX}/>']
    ways = [(f"node-{i}", f"s{i // half}", f"l{i}") for i in range(RANKS)] + [("s0", "s1", "trunk")]
    for a, b, link in ways:
        for source, target, direction in ((a, b, "UP"), (b, a, "DOWN")):
            way = f'<link_ctn id="{link}" direction="{direction}"/>'
            parts.append(f'<route src="{source}" dst="{target}" symmetrical="NO">{way}</route>')
    path.write_text(f'{HEAD}<zone id="two" routing="Floyd">{"".join(parts)}</zone></platform>', encoding="utf-8")
    return path


def hockney(*words: str) -> None:
    succeeded(*words)


def effect(tmp_path: Path, name: str, platform: Path, *words: str, ranks: int = RANKS) -> dict[str, Any]:
    """The effect in the machine file that is fitted to what is measured on the platform."""
    variant = "exact: " + " ".join(f"--cfg={key}:{value}" for key, value in SETTINGS.items())
    campaign, machine = str(tmp_path / "campaign"), tmp_path / "machine.json"
    where = ["--mpi", f"smpi:{platform}", "--ranks", str(ranks), "--variant", variant]
    hockney("measure", "--operation", name, *where, *words, "-o", campaign)
    hockney("fit", campaign, "-o", str(machine))
    (found,) = json.loads(machine.read_text(encoding="utf-8"))["effects"]
    return dict(found)


def values(found: dict[str, Any]) -> dict[str, float]:
    return {name: one["value"] for name, one in found["parameters"].items()}


def test_a_shared_backbone_is_what_pairs_at_once_inject(tmp_path: Path) -> None:
    platform = star(tmp_path / "star.xml", RANKS, 6)
    found = effect(tmp_path, "injection", platform, "--bytes", "8,64KiB,256KiB,1MiB")
    wanted = {"R_C_B_per_s": LINK_B_PER_S, "R_N_B_per_s": 6e9, "k_bandwidth": 6}
    recovered = values(found)
    assert {name: recovered[name] for name in wanted} == pytest.approx(wanted, rel=0.03)


def test_the_link_of_a_node_is_what_its_ranks_share(tmp_path: Path) -> None:
    # A backbone that is no limit; four ranks on either of two hosts, whose links a pair alone fills.
    hosts = written(tmp_path / "hosts", "node-0\nnode-1\n" * 4)
    platform = star(tmp_path / "pair.xml", 2, 100)
    words = ["--bytes", "64KiB,1MiB", "--locality", "network", "--hosts", str(hosts)]
    found = effect(tmp_path, "injection", platform, *words, ranks=8)
    wanted = {"R_C_B_per_s": LINK_B_PER_S, "R_N_B_per_s": LINK_B_PER_S, "k_bandwidth": 1}
    recovered = values(found)
    assert {name: recovered[name] for name in wanted} == pytest.approx(wanted, rel=0.03)
    assert max(row["pairs"] for row in found["points"]) == 4


def test_a_shared_backbone_is_the_effective_bisection_bandwidth(tmp_path: Path) -> None:
    found = values(effect(tmp_path, "congestion", star(tmp_path / "star.xml", RANKS, 6)))
    wanted = {
        "effective_bisection_bandwidth_B_per_s": 6e9,
        "effective_fraction": 6 / 32,
        "mean_congestion": 32 / 6,
        "worst_congestion": 32 / 6,
        "beta_s_per_B": 1 / LINK_B_PER_S,
        "alpha_s": 3e-6,
    }
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=0.03)


def test_random_bisections_meet_on_the_trunk_as_counted(tmp_path: Path) -> None:
    trunk, half = 4, RANKS // 2
    found = effect(tmp_path, "congestion", two_switches(tmp_path / "two.xml", trunk))
    lines = (tmp_path / "campaign" / "effects.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [json.loads(line)["parameters"] for line in lines]
    congestion = []
    for one in asked:
        if one["pattern"] != "random":
            continue
        ends = np.array([int(word) for word in one["pairs"].split(",")]).reshape(-1, 2) // half
        # Pairs of one direction that cross share the trunk evenly, and end together.
        crossing = [np.sum((ends[:, 0] == a) & (ends[:, 1] == 1 - a)) for a in (0, 1)]
        congestion.append([max(1.0, crossing[a] / trunk) if a != b else 1.0 for a, b in ends])
    wanted = {
        "effective_fraction": float(np.mean(1 / np.array(congestion))),
        "mean_congestion": float(np.mean(congestion)),
        # All of one half send to the other.
        "worst_congestion": half / trunk,
    }
    recovered = values(found)
    assert {name: recovered[name] for name in wanted} == pytest.approx(wanted, rel=0.03)
    assert wanted["effective_fraction"] < 0.9
    bounds = found["parameters"]["effective_fraction"]
    assert bounds["low"] < recovered["effective_fraction"] < bounds["high"]
