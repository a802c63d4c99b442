"""Smaller files: platforms, networks, patterns, maps, topologies of nodes, hosts, times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.fuzz.mutation import Format, Table, Text
from tests.fuzz.parser import Parser, parsers, reading
from tests.fuzz.parsers.campaign import INPUTS

from hockney.apps.pinning import topology
from hockney.models.scaling import times
from hockney.network.topologies.base import parse_spec
from hockney.network.traffic.patterns import parse_pattern
from hockney.predict.simulation import read_goal
from hockney.runner.launchers.base import check_hostfile
from hockney.runner.platform import host_names


def _file(
    name: str,
    file: str,
    seeds: list[bytes],
    read: Callable[[Path], object],
    *commands: str,
    of: Format | None = None,
    turn: int = 15,
) -> None:
    parsers.register(name)(Parser(lambda: seeds, of or Text(), reading(file, read), commands, each=16, turn=turn))


_LSCPU = b"# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n0,0,0,0,,0,0,0,0\n1,1,0,0,,1,1,1,0\n"
_file("platform", "p.xml", [(INPUTS / "platform.xml").read_bytes()], host_names, turn=50)
_file(
    "edges",
    "n.txt",
    [(INPUTS / "network.txt").read_bytes()],
    lambda path: parse_spec(f"edges:{path}"),
    "network show --topology edges:FILE,link=10Gbit/s --json",
    "network traffic --topology edges:FILE --pattern alltoall --json",
)
_file(
    "matrix",
    "m.txt",
    [b"# sender receiver bytes\n0 1 1024\n1 0 1e3\n2,3,8\n3 1 0.5\n"],
    lambda path: parse_pattern(f"matrix:{path}"),
    "network map --pattern matrix:FILE --topology torus:4x2 --json",
)
_file(
    "node",
    "node.txt",
    [_LSCPU, b"2 packages x 2 numa x 4 cores x 2 threads", b"2 packages x 4 cores"],
    lambda path: topology.read(str(path)),
    "run pinning --ranks 4 --threads 2 --spread socket --dry-run --node FILE --json",
)
_GOAL = (
    b"num_ranks 2\nrank 0 {\nl1: calc 500 // ticks\nl2: send 8192b to 1 tag 7 cpu 0 nic 0\nl2 requires l1\n}\n"
    b"rank 1 {\nl1: recv 8192b from 0 tag 7\nl2: calc 10\nl2 irequires l1\n}\n"
)
_file(
    "goal",
    "a.goal",
    [_GOAL, b"num_ranks 1 rank 0 { }"],
    read_goal,
    "simulate --goal FILE --loggops L=1us,G=1ns --critical-path --json",
    "simulate --goal FILE --loggops L=1us,S=1KiB",
    turn=50,
)
_file("hosts", "h.txt", [b"# hosts\nn1:4\nn2 slots=2\nn3,n4\nfe80::1\n"], check_hostfile, turn=70)
_file(
    "times",
    "t.csv",
    [(INPUTS / "times.csv").read_bytes(), (INPUTS / "weak.csv").read_bytes()],
    times.curves,
    "scaling fit FILE --json",
    "scaling fit FILE --weak",
    of=Table(),
    turn=10,
)
