"""Latencies by hops: planted lines come back; what the pairs cannot tell is said."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import factories
from tests.command_line import run_hockney
from tests.factories import refusing, written

from hockney.errors import RequestError
from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.measured import Pair, by_hops, hosts_of, measured_pairs, nodes_by_name, read_nodes
from hockney.records.folder import Campaign
from hockney.records.journal import LaunchLine
from hockney.records.record import Record

RING = parse_spec("torus:12")


def ring_pairs(latency: Callable[[int], float], count: int = 12) -> list[Pair]:
    """Host h0 with each of the others of a ring of 12, of which the hops are counted here."""
    return [Pair(("h0", f"h{i}"), latency(min(i, 12 - i))) for i in range(1, count)]


def named(pairs: list[Pair]) -> set[str]:
    return {host for pair in pairs for host in pair.hosts}


def fitted(pairs: list[Pair]) -> dict[str, Any]:
    return asdict(by_hops(RING, pairs, nodes_by_name(named(pairs), RING)).fit())


def test_a_planted_line_comes_back() -> None:
    line = fitted(ring_pairs(lambda hops: 1.5e-6 + 0.2e-6 * hops))
    assert line["base_s"]["value"] == pytest.approx(1.5e-6)
    assert line["per_hop_s"]["value"] == pytest.approx(0.2e-6)
    # The farthest of a ring of 12 are six hops apart: L of LogP.
    assert line["largest"] == {"hops": 6, "latency_s": pytest.approx(2.7e-6)}
    assert line["reason"] is None


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(200):
        line = fitted(ring_pairs(lambda hops: 1.5e-6 + 0.2e-6 * hops + generator.normal(0, 0.1e-6)))
        held += line["per_hop_s"]["low"] <= 0.2e-6 <= line["per_hop_s"]["high"]
    # 95 % of 200 with a standard deviation of 3.1: four of them.
    assert 190 - 13 <= held <= 200


def test_one_distance_tells_nothing_of_hops() -> None:
    pairs = [Pair(("h0", "h1"), 2e-6), Pair(("h2", "h3"), 2e-6)]
    line = asdict(by_hops(RING, pairs, nodes_by_name(named(pairs), RING)).fit())
    assert line["identifiable"] is False
    assert "all 2 pairs are 1 hops apart" in line["reason"]


def test_two_pairs_have_no_interval() -> None:
    line = fitted(ring_pairs(lambda hops: 1e-6 * hops, 3))
    assert line["per_hop_s"] == {"value": pytest.approx(1e-6), "low": None, "high": None}
    assert "no interval" in line["reason"]


def test_what_cannot_be_told_from_nothing() -> None:
    generator = np.random.default_rng(1)
    line = fitted(ring_pairs(lambda _: 2e-6 + generator.normal(0, 0.1e-6)))
    assert "may be 0" in line["reason"]


def test_classes_by_hops() -> None:
    pairs = [
        Pair(("h0", "h1"), 1e-6),
        Pair(("h1", "h2"), 3e-6),
        Pair(("h2", "h3"), 4e-6),
        Pair(("h0", "h2"), 9e-6),
    ]
    classes = by_hops(RING, pairs, nodes_by_name(named(pairs), RING)).classes()
    assert [*map(asdict, classes)] == [
        {"hops": 1, "pairs": 3, "least_s": 1e-6, "median_s": 3e-6, "largest_s": 4e-6},
        {"hops": 2, "pairs": 1, "least_s": 9e-6, "median_s": 9e-6, "largest_s": 9e-6},
    ]


def test_hosts_in_the_order_of_their_names() -> None:
    pairs = [Pair(("n10", "n2"), 1e-6), Pair(("n1", "login"), 1e-6)]
    assert nodes_by_name(named(pairs), RING) == {"login": 0, "n1": 1, "n2": 2, "n10": 3}
    with pytest.raises(RequestError, match="4 hosts were used, and the topology has 3"):
        nodes_by_name(named(pairs), parse_spec("torus:3"))


def test_hosts_from_a_file(tmp_path: Path) -> None:
    path = written(tmp_path / "hosts", "a 7\nb 3 # beside\nc 0\n")
    pairs = [Pair(("a", "b"), 1e-6), Pair(("b", "c"), 1e-6)]
    assert by_hops(RING, pairs, read_nodes(path, pairs, RING)).hops.tolist() == [4, 3]
    with pytest.raises(RequestError, match="'d' has no node"):
        read_nodes(path, [*pairs, Pair(("c", "d"), 1e-6)], RING)
    with pytest.raises(RequestError, match="line 1: node 7 of 6"):
        read_nodes(path, pairs, parse_spec("torus:6"))


def record(pair: str, size_B: int, value: float, **more: Any) -> Record:
    return factories.record(size_B, value, **{"locality": "network", "pair": pair, "launch": "one", **more})


def test_pairs_of_a_campaign(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "c", {})
    campaign.append(
        LaunchLine.model_validate({"id": "one", "ranks": [{"rank": i, "host": f"n{i // 2}"} for i in range(6)]})
    )
    campaign.append_all(
        [
            record("0-2", 8, 1e-6),
            # The same two hosts, the other way round: the median of all three.
            record("3-1", 8, 2e-6),
            record("1-2", 8, 6e-6),
            record("0-4", 8, 5e-6),
            record("0-4", 64, 9e-6),
            record("0-1", 8, 1e-7, locality="node"),
            record("2-4", 8, 7e-6, variant="tcp"),
        ]
    )
    assert measured_pairs(campaign, None, "default") == (8, [Pair(("n0", "n1"), 2e-6), Pair(("n0", "n2"), 5e-6)])
    assert hosts_of(campaign.launches()) == {"n0", "n1", "n2"}
    assert measured_pairs(campaign, 64, "default") == (64, [Pair(("n0", "n2"), 9e-6)])
    assert measured_pairs(campaign, 8, "tcp") == (8, [Pair(("n1", "n2"), 7e-6)])
    with refusing("no ping-pong of 16 B", "8, 64 B"):
        measured_pairs(campaign, 16, "default")
    campaign.append(record("0-9", 8, 1e-6))
    with pytest.raises(RequestError, match="'0-9' were"):
        measured_pairs(campaign, None, "default")


def test_hosts_without_a_measured_pair_have_their_place(tmp_path: Path) -> None:
    """Eight hosts of a ring, of which the first and the fourth were measured: three hops, not one."""
    campaign = Campaign.create(tmp_path / "c", {})
    campaign.append(
        LaunchLine.model_validate({"id": "one", "ranks": [{"rank": i, "host": f"n{i}"} for i in range(8)]})
    )
    campaign.append(record("0-3", 8, 1e-6))
    done = run_hockney("network", "locality", str(campaign.path), "--topology", "torus:8", "--json")
    assert json.loads(done.stdout)["classes"][0]["hops"] == 3
    done = run_hockney("network", "locality", str(campaign.path), "--topology", "torus:12")
    assert "8 hosts are taken to be the first of the 12 nodes" in done.stderr


@pytest.mark.simulated
def test_a_simulated_torus_gives_the_latency_of_its_links(tmp_path: Path) -> None:
    platform = tmp_path / "torus.xml"
    platform.write_text(
        "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"
        '<platform version="4.1"><cluster id="t" prefix="node-" suffix=".sim" radical="0-15" speed="1Gf" '
        'bw="10GBps" lat="3us" topology="TORUS" topo_parameters="4,4" sharing_policy="SPLITDUPLEX"/></platform>',
        encoding="utf-8",
    )
    settings = {"smpi/lat-factor": "0:1", "smpi/bw-factor": "0:1", "network/TCP-gamma": "0"}
    settings |= {"network/weight-S": "0", "network/crosstraffic": "0"}
    words = ["--variant", "exact: " + " ".join(f"--cfg={name}:{value}" for name, value in settings.items())]
    words += [
        "--operation",
        "pingpong",
        "--locality",
        "network",
        "--pairs",
        "20",
        "--bytes",
        "8",
        "--ranks",
        "16",
    ]
    words += ["--mpi", f"smpi:{platform}", "-o", str(tmp_path / "c")]
    command = [sys.executable, "-m", "hockney"]
    done = subprocess.run([*command, "measure", *words], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    asked = [
        "network",
        "locality",
        str(tmp_path / "c"),
        "--topology",
        "torus:4x4",
        "--json",
    ]
    done = subprocess.run([*command, *asked], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert {one["hops"] for one in found["classes"]} >= {1, 2, 3}
    # The planted 3 µs of a link. 1 %: a few calls of SMPI's clock, 10 ns each, are in what was timed.
    assert found["fit"]["per_hop_s"]["value"] == pytest.approx(3e-6, rel=0.01)
