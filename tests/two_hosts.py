"""Two hosts of a lab, without shaped links: a test shapes them as it needs.

`docs/how-to/two-hosts-on-one.md` does the same by hand.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from tests.cluster.fixture import made

from hockney.runner import lab
from hockney.runner.lab import DEVICE, NETWORK, Lab

ADDRESSES = (f"{NETWORK}.1", f"{NETWORK}.2")


@dataclass(frozen=True)
class TwoHosts:
    """`lab`: where they are."""

    lab: Lab

    @property
    def names(self) -> list[str]:
        """Of the namespaces and hosts."""
        return self.lab.names

    def inside(self, command: Sequence[str]) -> list[str]:
        """The command as it is run on the first host, from where a launcher reaches the other, over TCP."""
        # Tests name the hosts, with as many slots as they need.
        set_ = [f"{name}={value}" for name, value in self.lab.environment(with_hosts=False).items()]
        return self.lab.inside(["env", *set_, *command])

    def shape(self, rate_bit_per_s: int, burst_B: int) -> None:
        """Both directions pass one token bucket each: `burst_B` at once, the rest at the rate."""
        for name in self.names:
            lab.shape(name, DEVICE, rate_bit_per_s, burst_B)

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
def two_hosts() -> Iterator[TwoHosts]:
    """Two hosts of this test's own, gone afterwards; skips where there cannot be any."""
    found = made("two", 2, None)
    yield TwoHosts(found)
    lab.down(found.name)
