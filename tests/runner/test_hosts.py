"""Two hosts as network namespaces joined by a veth pair: the launch crosses a network, the locality says so."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hockney.runner.mpi import Mpi

NAMES = ("hockney-a", "hockney-b")
ADDRESSES = ("10.77.0.1", "10.77.0.2")

# What tells each launcher to use a remote shell of ours instead of ssh.
AGENT = {
    "openmpi-4": "--mca plm_rsh_agent {}",
    "openmpi-5": "--prtemca plm_ssh_agent {}",
    "mpich": "-launcher-exec {}",
}

AGENT_SCRIPT = """#!/bin/sh
# agent [options] HOST COMMAND…: run the command in the host's namespace, under the host's name
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
case $host in %s) name=%s;; *) name=%s;; esac
exec ip netns exec $name unshare -u sh -c "hostname $name; $*"
"""


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


def forget() -> None:
    for name in NAMES:
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two namespaces and a remote shell between them; gone afterwards."""
    if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("unshare") is None:
        pytest.skip("network namespaces need root, iproute2 and unshare")
    forget()
    try:
        for name in NAMES:
            ip("netns", "add", name)
        ip(
            "link",
            "add",
            "veth-a",
            "netns",
            NAMES[0],
            "type",
            "veth",
            "peer",
            "name",
            "veth-b",
            "netns",
            NAMES[1],
        )
        for name, device, address in zip(NAMES, ("veth-a", "veth-b"), ADDRESSES, strict=True):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", device)
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", device, "up")
    except subprocess.CalledProcessError as error:
        forget()
        pytest.skip(f"no network namespaces here: {error.stderr.strip()}")
    script = tmp_path_factory.mktemp("agent") / "agent"
    script.write_text(AGENT_SCRIPT % (ADDRESSES[0], *NAMES))
    script.chmod(0o755)
    yield script
    forget()


def test_two_hosts_are_measured_across_their_network(mpi: Mpi, agent: Path, tmp_path: Path) -> None:
    kind = f"openmpi-{mpi.version.split('.')[0]}" if mpi.kind == "openmpi" else mpi.kind
    if kind not in AGENT:
        pytest.skip(f"no remote shell of ours for {kind}")
    campaign = tmp_path / "c"
    hosts = ",".join(f"{address}:1" for address in ADDRESSES)
    network = " --mca pml ob1 --mca btl tcp,self" if mpi.kind == "openmpi" else ""
    measure = [sys.executable, "-m", "hockney", "measure", "--quick", "--mpi", str(mpi.wrapper), "--hosts", hosts]
    measure += ["--bind-to", "none", "--variant", f"net: {AGENT[kind].format(agent)}{network}"]
    measure += ["--operations", "pingpong", "--sizes", "8,64KiB", "-o", str(campaign), "--json"]
    inside = [
        "ip",
        "netns",
        "exec",
        NAMES[0],
        "unshare",
        "-u",
        "sh",
        "-c",
        f'hostname {NAMES[0]}; exec "$@"',
        "sh",
    ]
    done = subprocess.run([*inside, *measure], capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    warnings = json.loads(done.stdout)["warnings"]
    assert any("are one machine" in text for text in warnings), "namespaces must not pass for real hosts"
    records = [json.loads(line) for line in (campaign / "records.jsonl").read_text().splitlines()]
    assert {record["locality"] for record in records} == {"network"}
    assert {(record["bytes"], record["nodes"], record["ppn"]) for record in records} == {(8, 2, 1), (65536, 2, 1)}
    launch = json.loads((campaign / "launches.jsonl").read_text().splitlines()[0])
    assert [place["host"] for place in launch["ranks"]] == list(NAMES)
