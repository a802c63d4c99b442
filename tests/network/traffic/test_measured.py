"""Latencies by hops: intervals hold a planted line; hosts are nodes in the order of their names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import factories

from hockney.errors import RequestError
from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.measured import HopLines, between_nodes, links_between, nodes_by_name
from hockney.records.journal import LaunchLine
from hockney.records.record import Record

HOPS = np.minimum(np.arange(1, 12), 12 - np.arange(1, 12))
"""Of a ring of 12, from the first host to each other."""


def fitted(time_s: Any) -> HopLines:
    return HopLines.fitted(HOPS[: len(time_s)], np.zeros(1), np.asarray(time_s)[:, None])


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(200):
        line = fitted(1.5e-6 + 0.2e-6 * HOPS + generator.normal(0, 0.1e-6, HOPS.size)).per_hop
        assert line.low is not None
        assert line.high is not None
        held += line.low <= 0.2e-6 <= line.high
    # 95 % of 200 with a standard deviation of 3.1: four of them.
    assert 190 - 13 <= held <= 200


def test_two_pairs_have_no_interval() -> None:
    line = fitted([1e-6, 2e-6]).per_hop
    assert line.value == pytest.approx(1e-6)
    assert line.low is line.high is None


def launch(hosts: int, ranks_of_each: int = 1) -> LaunchLine:
    ranks = [{"rank": rank, "host": f"n{rank // ranks_of_each}"} for rank in range(hosts * ranks_of_each)]
    return LaunchLine.model_validate({"id": "one", "ranks": ranks})


def test_hosts_in_the_order_of_their_names() -> None:
    hosts = {"n10", "n2", "n1", "login"}
    assert nodes_by_name(hosts, parse_spec("torus:12")) == {"login": 0, "n1": 1, "n2": 2, "n10": 3}
    with pytest.raises(RequestError, match="4 hosts were used, and the topology has 3"):
        nodes_by_name(hosts, parse_spec("torus:3"))


def test_hosts_without_a_measured_pair_have_their_place() -> None:
    assert links_between([launch(8)], parse_spec("torus:8"))("n0", "n3") == 3


def record(pair: str, size_B: int, value: float, **more: Any) -> Record:
    return factories.record(size_B, value, **{"locality": "network", "pair": pair, "launch": "one", **more})


def test_pairs_of_ranks_are_those_of_their_hosts() -> None:
    records = [
        record("0-2", 8, 1e-6),
        # The same two hosts, the other way round: the median of all three.
        record("3-1", 8, 2e-6),
        record("1-2", 8, 6e-6),
        record("0-4", 8, 5e-6),
        record("0-4", 64, 9e-6),
        record("0-1", 8, 1e-7, locality="node"),
    ]
    times = between_nodes(records, [launch(3, 2)])
    assert times[8].to_dict() == {("n0", "n1"): 2e-6, ("n0", "n2"): 5e-6}
    assert times[64].dropna().to_dict() == {("n0", "n2"): 9e-6}
    with pytest.raises(RequestError, match="'0-9' were"):
        between_nodes([record("0-9", 8, 1e-6)], [launch(3, 2)])


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
    machine = tmp_path / "m.json"
    asked = ["fit", str(tmp_path / "c"), "--topology", "torus:4x4", "-o", str(machine)]
    done = subprocess.run([*command, *asked], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    (effect,) = (each for each in json.loads(machine.read_text())["effects"] if each["effect"] == "hops")
    assert effect["parameters"]["most_hops"]["value"] >= 3
    # The planted 3 µs of a link. 1 %: a few calls of SMPI's clock, 10 ns each, are in what was timed.
    assert effect["parameters"]["per_hop_s"]["value"] == pytest.approx(3e-6, rel=0.01)
