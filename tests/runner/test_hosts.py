"""Two hosts as network namespaces joined by a veth pair: the launch crosses a network, the locality says so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.command_line import campaign_answer
from tests.two_hosts import ADDRESSES, TwoHosts

from hockney.runner.mpi import Mpi


def test_two_hosts_are_measured_across_their_network(mpi: Mpi, two_hosts: TwoHosts, tmp_path: Path) -> None:
    campaign = tmp_path / "c"
    hosts = ",".join(f"{address}:1" for address in ADDRESSES)
    measure = [sys.executable, "-m", "hockney", "measure", "--quick", "--mpi", str(mpi.wrapper), "--hosts", hosts]
    measure += ["--bind-to", "none"]
    measure += ["--operation", "pingpong", "--bytes", "8,64KiB", "-o", str(campaign), "--json"]
    done = subprocess.run(two_hosts.inside(measure), capture_output=True, text=True, timeout=600, check=False)
    warnings = campaign_answer(done)["warnings"]
    assert any("are one machine" in text for text in warnings), "namespaces must not pass for real hosts"
    records = [json.loads(line) for line in (campaign / "records.jsonl").read_text().splitlines()]
    assert {record["locality"] for record in records} == {"network"}
    assert {(record["bytes"], record["nodes"], record["ppn"]) for record in records} == {(8, 2, 1), (65536, 2, 1)}
    launch = json.loads((campaign / "launches.jsonl").read_text().splitlines()[0])
    assert [place["host"] for place in launch["ranks"]] == list(two_hosts.names)
