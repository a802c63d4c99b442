"""Two hosts as network namespaces joined by a veth pair, with a shaped link where a test asks for one.

`docs/how-to/two-hosts-on-one.md` does the same by hand.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.capabilities import lacking

from hockney.runner.mpi import Mpi

ADDRESSES = ("10.77.0.1", "10.77.0.2")
DEVICE = "veth"

AGENT = {
    "openmpi-4": "--mca plm_rsh_agent {}",
    "openmpi-5": "--prtemca plm_ssh_agent {}",
    "mpich": "-launcher-exec {}",
}
"""What tells each launcher to use a remote shell of ours instead of ssh."""

TCP = {"openmpi": "--mca pml ob1 --mca btl tcp,self", "mpich": "-genv UCX_TLS tcp,self"}
"""What keeps a library to TCP where it would look for something faster between two hosts that are one."""

AGENT_SCRIPT = """#!/bin/sh
# agent [options] HOST COMMAND…: run the command in the host's namespace, under the host's name
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
case $host in %s) name=%s;; *) name=%s;; esac
exec ip netns exec $name unshare -u sh -c "hostname $name; $*"
"""


@dataclass(frozen=True)
class TwoHosts:
    """`names`: of the namespaces and hosts; `agent`: the remote shell that reaches the second from the first."""

    names: tuple[str, str]
    agent: Path

    def variant(self, mpi: Mpi) -> str:
        """Launcher arguments that reach the other host, over TCP; skips where none are known."""
        kind = f"openmpi-{mpi.version.split('.')[0]}" if mpi.kind == "openmpi" else mpi.kind
        if kind not in AGENT:
            pytest.skip(f"no remote shell of ours for {kind}")
        return f"{AGENT[kind].format(self.agent)} {TCP.get(mpi.kind, '')}".strip()

    def inside(self, command: Sequence[str], host: int = 0) -> list[str]:
        """The command as it is run on a host, under the host's name."""
        under = f'hostname {self.names[host]}; exec "$@"'
        return ["ip", "netns", "exec", self.names[host], "unshare", "-u", "sh", "-c", under, "sh", *command]

    def shape(self, rate_bit_per_s: int, burst_B: int) -> None:
        """Both directions pass one token bucket each: `burst_B` at once, the rest at the rate."""
        words = ["rate", f"{rate_bit_per_s}bit", "burst", f"{burst_B}", "limit", "16m"]
        for name in self.names:
            _run("tc", "-n", name, "qdisc", "replace", "dev", DEVICE, "root", "tbf", *words)

    def share(self, rate_bit_per_s: int, flow_bit_per_s: int, burst_B: int, ports: Sequence[int]) -> None:
        """From the first host to the second: `rate` for all, `flow` for what goes to or from each TCP port."""
        name, here = self.names[0], ["dev", DEVICE]
        bucket = ["burst", f"{burst_B}", "cburst", f"{burst_B}", "quantum", "1514"]
        self.unshape()
        _run("tc", "-n", name, "qdisc", "add", *here, "root", "handle", "1:", "htb", "default", "0")
        whole = [f"{rate_bit_per_s}bit", "ceil", f"{rate_bit_per_s}bit", *bucket]
        _run("tc", "-n", name, "class", "add", *here, "parent", "1:", "classid", "1:1", "htb", "rate", *whole)
        # A connection is known by the port that one of its ends listens on.
        ends = [(direction, port) for direction in ("sport", "dport") for port in ports]
        for number, (direction, port) in enumerate(ends, start=16):
            # What no other flow uses may be used, but no more than a flow's own rate.
            least = rate_bit_per_s // len(ends)
            words = ["rate", f"{least}bit", "ceil", f"{flow_bit_per_s}bit", *bucket]
            which = ["parent", "1:1", "classid", f"1:{number:x}"]
            _run("tc", "-n", name, "class", "add", *here, *which, "htb", *words)
            match = ["u32", "match", "ip", direction, f"{port}", "0xffff", "flowid", f"1:{number:x}"]
            _run("tc", "-n", name, "filter", "add", *here, "parent", "1:", "protocol", "ip", *match)

    def unshape(self) -> None:
        """The bare link again."""
        for name in self.names:
            command = ["tc", "-n", name, "qdisc", "del", "dev", DEVICE, "root"]
            subprocess.run(command, check=False, capture_output=True)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


@pytest.fixture(scope="module")
def two_hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoHosts]:
    """Two hosts of this test's own, gone afterwards; skips where there cannot be any."""
    missing = [tool for tool in ("ip", "tc", "unshare") if shutil.which(tool) is None]
    if missing or os.geteuid() != 0:
        pytest.skip(lacking("network namespaces", f"they need {', '.join(['root', *missing])}"))
    # Other test processes have hosts of their own.
    names = (f"hockney-a-{os.getpid()}", f"hockney-b-{os.getpid()}")
    try:
        for name in names:
            _run("ip", "netns", "add", name)
        ends = [DEVICE, "netns", names[0], "type", "veth", "peer", "name", DEVICE, "netns", names[1]]
        _run("ip", "link", "add", *ends)
        for name, address in zip(names, ADDRESSES, strict=True):
            _run("ip", "-n", name, "addr", "add", f"{address}/24", "dev", DEVICE)
            _run("ip", "-n", name, "link", "set", "lo", "up")
            _run("ip", "-n", name, "link", "set", DEVICE, "up")
            # BBR paces itself below the rate, which would hide the shaper; every kernel has Reno.
            _run("ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno")
        script = tmp_path_factory.mktemp("agent") / "agent"
        script.write_text(AGENT_SCRIPT % (ADDRESSES[0], *names), encoding="utf-8")
        script.chmod(0o755)
        yield TwoHosts(names, script)
    except subprocess.CalledProcessError as error:
        pytest.skip(lacking("network namespaces", error.stderr.strip()))
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
