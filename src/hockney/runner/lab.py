"""A lab: hosts that are network namespaces of this machine, joined by a bridge, with links as slow as one likes.

An MPI sees a host of its own in each, with its own name and address, and reaches the others over TCP. Where a
link is far slower than the cores, the network decides how long a collective takes, as it does on a cluster. The
lab stands in /run, where namespaces are kept, too: both live until `down`, or until the machine is started anew.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, computed_field

from hockney import reading, writing
from hockney.errors import EnvironmentLack, HockneyError, RequestError
from hockney.registry import did_you_mean
from hockney.runner._lab_exchange import ROUNDS
from hockney.runner.launchers.base import AS_ROOT
from hockney.runner.probe import capture, last_complaint

FOLDER = Path("/run/hockney")
NAMESPACES = Path("/run/netns")
TOOLS = ("ip", "tc", "unshare", "sysctl", "hostname")
DEVICE = "eth0"
"""A host's interface, in its own namespace."""
NETWORK = "10.77.0"
"""Hosts are .1, .2, …; the bridge is in a namespace of its own, so that labs do not see each other."""
MOST_HOSTS = 64
SLOWEST_BIT_PER_S, FASTEST_BIT_PER_S = 1e5, 1e11

FRAME_B = 1514
"""An Ethernet frame; two of them are the least that a token bucket needs."""
LATE_S = 0.5e-3
"""What the kernel's timer may be late by; a bucket holds what the link would have sent meanwhile."""
QUEUE = "16m"
"""What TCP has under way when all hosts send to one, so that nothing is lost."""

EXCHANGE = Path(__file__).with_name("_lab_exchange.py")
FEWEST_B, MOST_B = 65_536, 2**24
"""The largest size of an exchange is four times what a bucket holds, within these."""
EXCHANGE_S = 20.0
"""What all rounds may take on the links: a slow one passes fewer sizes."""
EXCHANGE_LIMIT_S = 60.0
ENDING_S = 5.0
"""Patience with processes that were killed."""
RULED = 0.5
"""The share of an exchange's time that the links account for where they rule it."""
COMMAND_LIMIT_S = 30.0

_AGENT = """#!/bin/sh
# agent [options] HOST COMMAND…: run the command in the host's namespace, under the host's name
while [ "${1#-}" != "$1" ]; do shift; done
name=%s-${1##*[.-]}; shift
exec ip netns exec $name unshare -u sh -c "hostname $name; $*"
"""


class Lab(BaseModel):
    """A lab that is up; its file has what follows from the rest, too, which is not read."""

    model_config = ConfigDict(extra="ignore")

    name: str
    hosts: int = Field(ge=2, le=MOST_HOSTS)
    link_bit_per_s: float | None = None
    burst_B: int | None = Field(default=None, description="what a link lets pass at once after a rest")
    exchange_s: dict[int, float] = Field(
        default_factory=dict, description="by bytes: each host sends so many to the next, all at once"
    )

    @computed_field
    @property
    def names(self) -> list[str]:
        """Names of the hosts, which are those of their namespaces."""
        return [f"{_prefix(self.name)}-{number}" for number in range(1, self.hosts + 1)]

    @computed_field
    @property
    def addresses(self) -> list[str]:
        """IPv4 addresses of the hosts, by which launchers know them."""
        return [f"{NETWORK}.{number}" for number in range(1, self.hosts + 1)]

    @property
    def folder(self) -> Path:
        """Where the agent and the host files are."""
        return FOLDER / self.name

    @computed_field
    @property
    def rules_from_B(self) -> int | None:
        """From this size on the links take at least half of an exchange's time; None where they never do."""
        if self.link_bit_per_s is None or self.burst_B is None:
            return None
        found: int | None = None
        for size_B, time_s in sorted(self.exchange_s.items(), reverse=True):
            if size_B <= self.burst_B or size_B * 8 / self.link_bit_per_s < RULED * time_s:
                break
            found = size_B
        return found

    def environment(self, *, with_hosts: bool = True) -> dict[str, str]:
        """Variables by which launchers reach the hosts, and MPIs keep to TCP and yield while they wait.

        `with_hosts`: the launcher takes them all, one rank each, unless others are named.
        """
        agent, openmpi, hydra = (str(self.folder / name) for name in ("agent", "hosts.openmpi", "hosts.hydra"))
        set_ = {
            "OMPI_MCA_plm_rsh_agent": agent,
            "PRTE_MCA_plm_ssh_agent": agent,
            "HYDRA_LAUNCHER": "ssh",
            "HYDRA_LAUNCHER_EXEC": agent,
            "I_MPI_HYDRA_BOOTSTRAP": "ssh",
            "I_MPI_HYDRA_BOOTSTRAP_EXEC": agent,
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl": "tcp,self",
            "OMPI_MCA_mpi_yield_when_idle": "1",
            **AS_ROOT,
            "UCX_TLS": "tcp,self",
            "FI_PROVIDER": "tcp",
        }
        if with_hosts:
            set_ |= {
                "OMPI_MCA_orte_default_hostfile": openmpi,
                "PRTE_MCA_prte_default_hostfile": openmpi,
                "HYDRA_HOST_FILE": hydra,
                "I_MPI_HYDRA_HOST_FILE": hydra,
            }
        return set_

    def inside(self, command: Sequence[str], *, host: int = 0) -> list[str]:
        """The command as it is run on a host (0 is the first), under the host's name."""
        name = self.names[host]
        under = f'hostname {name}; exec "$@"'
        return ["ip", "netns", "exec", name, "unshare", "-u", "sh", "-c", under, "sh", *command]


def called() -> str:
    """The name of the lab; only tests, which have several at a time, say another."""
    return os.environ.get("HOCKNEY_LAB", "lab")


def up(name: str, hosts: int, link_bit_per_s: float | None) -> Lab:
    """Make a lab and see from which size on its links rule.

    RequestError where one of that name is up or numbers are absurd, EnvironmentLack without root, a tool, or what
    the kernel must have; nothing is left of it then.
    """
    _check(name, hosts, link_bit_per_s)
    expect_able()
    if (FOLDER / name).exists() or _namespaces(name):
        raise RequestError(f"the lab {name!r} is up", "`hockney lab down` takes it away")
    burst_B = None if link_bit_per_s is None else max(2 * FRAME_B, round(LATE_S * link_bit_per_s / 8))
    lab = Lab(name=name, hosts=hosts, link_bit_per_s=link_bit_per_s, burst_B=burst_B)
    try:
        # First, so that what a kill leaves is known for half a lab.
        writing.make_folder(lab.folder)
        _join(lab)
        if burst_B is not None:
            lab = lab.model_copy(
                update={"exchange_s": _exchange(lab, _sizes_B(lab.link_bit_per_s or 0.0, burst_B))}
            )
        _write(lab)
    except BaseException as error:
        try:
            _end(name)
            down(name)
        except HockneyError as left:
            raise EnvironmentLack(
                f"{error}; what was made of the lab is still there: {left.message}",
                "`hockney lab down`",
            ) from error
        raise
    return lab


def find(name: str) -> Lab:
    """The lab of that name; RequestError where none is up."""
    _check_name(name)
    path, remade = FOLDER / name / "lab.json", "`hockney lab down`, then `hockney lab up`"
    if not path.is_file():
        if path.parent.exists() or _namespaces(name):
            raise RequestError(f"the lab {name!r} was never finished", remade)
        names = sorted(folder.name for folder in FOLDER.glob("*") if (folder / "lab.json").is_file())
        hint = f"{did_you_mean(name, names)}up: {', '.join(names)}" if names else "`hockney lab up` makes one"
        raise RequestError(f"no lab {name!r} is up", hint)
    try:
        lab = Lab.model_validate(reading.json_file(path, remade))
    except ValidationError as error:
        raise RequestError(f"{path} describes no lab", remade) from error
    if missing := sorted(set(lab.names) - set(_namespaces(name))):
        raise RequestError(f"the lab {name!r} has lost its hosts {', '.join(missing)}", remade)
    return lab


def down(name: str) -> int:
    """Take a lab away, whole or not; the number of namespaces that were deleted.

    RequestError where there is none, or where processes still run on its hosts. EnvironmentLack without root.
    """
    _check_name(name)
    expect_able()
    names = _namespaces(name)
    if not names and not (FOLDER / name).exists():
        raise RequestError(f"no lab {name!r} is up", "nothing is to be done")
    running = [pid for name in names for pid in _run("ip", "netns", "pids", name).split()]
    if running:
        raise RequestError(
            f"{len(running)} processes still run on hosts of the lab {name!r}: {', '.join(running[:10])}",
            f"end them, for example `kill {' '.join(running[:10])}`",
        )
    for one in names:
        _run("ip", "netns", "del", one)
    try:
        shutil.rmtree(FOLDER / name)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise EnvironmentLack(
            f"{FOLDER / name} cannot be removed: {error.strerror}", "remove it by hand"
        ) from error
    return len(names)


def _end(name: str) -> None:
    """Kill what runs on the hosts of a lab that nobody has been told of, and wait until it is gone."""
    end_s = time.monotonic() + ENDING_S
    while time.monotonic() < end_s:
        running = [int(pid) for space in _namespaces(name) for pid in _run("ip", "netns", "pids", space).split()]
        if not running:
            return
        for pid in running:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def _check_name(name: str) -> None:
    # It becomes part of a path that is removed.
    if not re.fullmatch(r"[a-z0-9_-]{1,32}", name):
        raise RequestError(f"{name!r} is no name of a lab", "write up to 32 small letters, digits, - or _")


def _check(name: str, hosts: int, link_bit_per_s: float | None) -> None:
    _check_name(name)
    if not 2 <= hosts <= MOST_HOSTS:
        raise RequestError(f"a lab has from 2 to {MOST_HOSTS} hosts, not {hosts}", "for example --nodes 8")
    if link_bit_per_s is not None and not SLOWEST_BIT_PER_S <= link_bit_per_s <= FASTEST_BIT_PER_S:
        raise RequestError(
            f"a link of {link_bit_per_s:g} bit/s is not between 100 kbit/s and 100 Gbit/s",
            "for example --link 100Mbit/s",
        )


def expect_able() -> None:
    """EnvironmentLack where this user or machine cannot have labs."""
    if os.geteuid() != 0:
        raise EnvironmentLack("only root can make, enter or remove network namespaces", "try again with sudo")
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        raise EnvironmentLack(
            f"no {', '.join(missing)} on PATH",
            "install it (Debian: apt-get install iproute2 util-linux procps hostname)",
        )


def _prefix(name: str) -> str:
    return f"hockney-{name}"


def _namespaces(name: str) -> list[str]:
    """Namespaces that are there of a lab, its switch among them."""
    number = re.compile(rf"{re.escape(_prefix(name))}-(\d+|switch)")
    return sorted(path.name for path in NAMESPACES.glob("*") if number.fullmatch(path.name))


def _run(*words: str) -> str:
    done = capture(list(words), os.environ, COMMAND_LIMIT_S)
    if done.returncode != 0:
        raise EnvironmentLack(
            f"`{' '.join(words)}` failed: {last_complaint(done.stderr) or f'exit code {done.returncode}'}",
            "a lab needs root, and a kernel with namespaces, veth, bridge and tbf (containers may lack them)",
        )
    return done.stdout


def _join(lab: Lab) -> None:
    """Make the namespaces, the bridge between them, and the links."""
    switch = f"{_prefix(lab.name)}-switch"
    _run("ip", "netns", "add", switch)
    _run("ip", "-n", switch, "link", "add", "bridge", "type", "bridge")
    _run("ip", "-n", switch, "link", "set", "bridge", "up")
    for number, (host, address) in enumerate(zip(lab.names, lab.addresses, strict=True), start=1):
        port = f"port{number}"
        _run("ip", "netns", "add", host)
        ends = [DEVICE, "netns", host, "type", "veth", "peer", "name", port, "netns", switch]
        _run("ip", "link", "add", *ends)
        _run("ip", "-n", switch, "link", "set", port, "master", "bridge", "up")
        _run("ip", "-n", host, "addr", "add", f"{address}/24", "dev", DEVICE)
        _run("ip", "-n", host, "link", "set", "lo", "up")
        _run("ip", "-n", host, "link", "set", DEVICE, "up")
        # BBR paces itself below the rate, which would hide the shaper; every kernel has Reno. A stream that
        # rested keeps its window, so that what a message takes does not depend on the time since the last.
        settings = ("net.ipv4.tcp_congestion_control=reno", "net.ipv4.tcp_slow_start_after_idle=0")
        _run("ip", "netns", "exec", host, "sysctl", "-qw", *settings)
        if lab.link_bit_per_s is not None and lab.burst_B is not None:
            # What leaves the host, and what leaves the switch for it.
            shape(host, DEVICE, lab.link_bit_per_s, lab.burst_B)
            shape(switch, port, lab.link_bit_per_s, lab.burst_B)


def shape(namespace: str, device: str, rate_bit_per_s: float, burst_B: int) -> None:
    """What leaves a device passes a token bucket: `burst_B` at once, the rest at the rate."""
    bucket = ["rate", f"{rate_bit_per_s:.0f}bit", "burst", str(burst_B), "limit", QUEUE]
    _run("tc", "-n", namespace, "qdisc", "replace", "dev", device, "root", "tbf", *bucket)


def _write(lab: Lab) -> None:
    writing.make_folder(lab.folder)
    agent = lab.folder / "agent"
    writing.replace(agent, _AGENT % _prefix(lab.name))
    agent.chmod(0o755)
    for launcher, slot in (("openmpi", " slots=1"), ("hydra", ":1")):
        writing.replace(lab.folder / f"hosts.{launcher}", "".join(f"{host}{slot}\n" for host in lab.addresses))
    # Last: with it the lab is whole.
    writing.replace(lab.folder / "lab.json", lab.model_dump_json(indent=2) + "\n")


_TIMES = TypeAdapter(dict[int, float])
"""What the exchange prints: seconds by size."""


def _sizes_B(link_bit_per_s: float, burst_B: int) -> list[int]:
    """Powers of four from 256 B to well beyond a bucket, as far as the links pass them in `EXCHANGE_S`."""
    sizes_B = [256]
    left_s = EXCHANGE_S
    while (size_B := 4 * sizes_B[-1]) <= min(max(4 * burst_B, FEWEST_B), MOST_B):
        left_s -= ROUNDS * size_B * 8 / link_bit_per_s
        if left_s < 0:
            break
        sizes_B.append(size_B)
    return sizes_B


def _exchange(lab: Lab, sizes_B: Sequence[int]) -> dict[int, float]:
    """Seconds in which each host sends so many bytes to the next and has those of the one before, all at once.

    EnvironmentLack where the hosts do not reach each other.
    """
    words = [sys.executable, "-I", "-S", str(EXCHANGE), ",".join(map(str, sizes_B)), ",".join(lab.addresses)]
    hosts = [shlex.join(lab.inside([*words, str(host)], host=host)) for host in range(lab.hosts)]
    done = capture(["sh", "-c", " & ".join(hosts) + " & wait"], os.environ, EXCHANGE_LIMIT_S)
    try:
        return _TIMES.validate_json(done.stdout)
    except ValidationError as error:
        why = last_complaint(done.stderr) or "no answer"
        raise EnvironmentLack(
            f"the hosts of the lab do not reach each other: {why}", "is a firewall in the way?"
        ) from error
