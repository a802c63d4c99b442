"""What a user does gives back the platform that SimGrid's SMPI was given: `hockney measure`, then `hockney fit`.

A message of n bytes takes o_s(n) + L + (n + 16)/B + o_r(n) while it is shorter than the detached threshold, and
L + (n + 16)/B from there on (SimGrid 3.32: 16 bytes of envelope; a sender that waits is charged neither o_s nor
o_r). SMPI's factors that bend latency and bandwidth by size are 1, TCP's window and cross traffic have no
influence, and reading the clock takes no time. Exact but for the envelope: 3 % is the promise to users.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import succeeded
from tests.factories import written

pytestmark = pytest.mark.simulated

WITHIN = 0.03
EXACT = {
    "smpi/wtime": "0",
    "smpi/bw-factor": "0:1",
    "smpi/lat-factor": "0:1",
    "network/TCP-gamma": "0",
    "network/weight-S": "0",
    "network/crosstraffic": "0",
}


@dataclass(frozen=True)
class Platform:
    """One wire and SMPI's costs: `o_s` and `o_r` constant and per byte; from `detached_B` on senders wait.

    `step`: from more than `step[0]` bytes on, sending costs `step[1]` seconds instead.
    """

    latency_s: float
    bandwidth_B_per_s: float
    o_s: tuple[float, float]
    o_r: tuple[float, float]
    detached_B: int
    sharing: str
    step: tuple[int, float] | None = None

    def write(self, path: Path, hosts: int = 2) -> Path:
        named = "".join(f'<host id="node-{number}" speed="10Gf"/>' for number in range(hosts))
        wire = f'<link id="wire" bandwidth="{self.bandwidth_B_per_s:.0f}Bps" latency="{self.latency_s:.3e}s"'
        way = ' direction="UP"' if self.sharing == "SPLITDUPLEX" else ""
        routes = "".join(
            f'<route src="node-{a}" dst="node-{b}"><link_ctn id="wire"{way}/></route>'
            for a in range(hosts)
            for b in range(a + 1, hosts)
        )
        path.write_text(
            f"{HEAD}<zone id='flat' routing='Full'>{named}{wire} sharing_policy='{self.sharing}'/>{routes}"
            "</zone></platform>",
            encoding="utf-8",
        )
        return path

    def settings(self) -> dict[str, str]:
        step = f";{self.step[0]}:{self.step[1]}:0" if self.step else ""
        sending, receiving = (f"0:{constant}:{slope}" for constant, slope in (self.o_s, self.o_r))
        return {
            "smpi/os": sending + step,
            "smpi/ois": sending + step,
            "smpi/or": receiving,
            # Data may go before its receive is posted, as far as it may without its sender.
            "smpi/async-small-thresh": str(self.detached_B),
            "smpi/send-is-detached-thresh": str(self.detached_B),
        }


HEAD = (
    "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\"><platform version='4.1'>"
)
NEVER_B = 10**9
PLATFORMS = {
    "plain": Platform(5e-6, 1e9, (1.5e-6, 0), (0.8e-6, 0), NEVER_B, "SHARED"),
    "ethernet": Platform(20e-6, 125e6, (6e-6, 0), (3e-6, 0), 2048, "SPLITDUPLEX"),
    "copying": Platform(1e-6, 12.5e9, (2e-6, 1e-10), (0.6e-6, 5e-11), 65536, "SPLITDUPLEX"),
}
STEPPED = Platform(3e-6, 2e9, (1e-6, 0), (0.5e-6, 0), NEVER_B, "FATPIPE", (3000, 4e-6))
LOGGP = "pingpong,bandwidth,send_overhead,receive_overhead"


def machine(folder: Path, platform: Path, settings: dict[str, str], *words: str) -> dict[str, Any]:
    """The machine file that `hockney measure` and `hockney fit` make."""
    folder.mkdir(exist_ok=True)
    variant = "given: " + " ".join(f"--cfg={name}:{value}" for name, value in (EXACT | settings).items())
    where = ["--mpi", f"smpi:{platform}", "-o", str(folder / "c"), "--variant", variant]
    for command in (["measure", *where, *words], ["fit", str(folder / "c"), "-o", str(folder / "m.json")]):
        succeeded(*command, "--json")
    made: dict[str, Any] = json.loads((folder / "m.json").read_text(encoding="utf-8"))
    return made


def fitted(folder: Path, platform: Path, settings: dict[str, str], *words: str) -> dict[str, dict[str, Any]]:
    """The fits of each operation."""
    entries = machine(folder, platform, settings, *words)["point_to_point"]
    assert {entry["locality"] for entry in entries} == {"network"}
    return {entry["operation"]: entry["fits"] for entry in entries}


def agree(fit: dict[str, Any], given: dict[str, float]) -> None:
    """The parameters of a fit are those given; `pytest -rP` shows both."""
    found = {name: fit["parameters"][name]["value"] for name in given}
    for name, value in given.items():
        print(f"{fit['model']} {name}: given {value:.6g}, found {found[name]:.6g}")
    assert found == pytest.approx(given, rel=WITHIN)


def lines_agree(fit: dict[str, Any], given: list[tuple[float, float]], breaks_B: list[int]) -> None:
    """The regimes of a fit have these α and β, and a break between each size given and the next byte."""
    found = [(one["alpha_s"]["value"], one["beta_s_per_B"]["value"]) for one in fit["regimes"]]
    ends_B = [int(one["max_B"]) for one in fit["regimes"][:-1]]
    print(f"{fit['model']} breaks_B: given {breaks_B}, found {ends_B}")
    assert ends_B == breaks_B
    for line, expected in zip(found, given, strict=True):
        print(f"{fit['model']} (alpha_s, beta_s_per_B): given {expected}, found {line}")
        assert line == pytest.approx(expected, rel=WITHIN)


@pytest.mark.parametrize("ranks", [2, 64])
@pytest.mark.parametrize("name", PLATFORMS)
def test_the_parameters_of_a_platform_come_back(name: str, ranks: int, tmp_path: Path) -> None:
    given = PLATFORMS[name]
    platform = given.write(tmp_path / "p.xml", ranks)
    words = ["--operation", LOGGP, "--ranks", str(ranks), "--largest", "1MiB"]
    found = fitted(tmp_path, platform, given.settings(), *words)["pingpong"]

    per_byte_s = 1 / given.bandwidth_B_per_s
    loggp = {
        "L": given.latency_s,
        "o_s": given.o_s[0],
        "o_r": given.o_r[0],
        # The sender is the slower end of these platforms; where it copies, that is slower than the wire.
        "g": given.o_s[0],
        "G": max(per_byte_s, given.o_s[1]),
    }
    agree(found["loggp"], loggp)

    one_way_s = given.o_s[0] + given.latency_s + given.o_r[0]
    expected = [(one_way_s, per_byte_s + given.o_s[1] + given.o_r[1])]
    breaks_B = []
    if given.detached_B < NEVER_B:
        breaks_B = [given.detached_B - 1]
        expected.append((given.latency_s, per_byte_s))
    lines_agree(found["piecewise"], expected, breaks_B)
    if not breaks_B:
        line = {"latency_s": one_way_s, "bandwidth_B_per_s": given.bandwidth_B_per_s}
        agree(found["hockney"], line)


def test_the_size_from_which_sending_costs_more_is_found_to_the_byte(tmp_path: Path) -> None:
    platform = STEPPED.write(tmp_path / "p.xml")
    found = fitted(tmp_path, platform, STEPPED.settings(), "--operation", "pingpong", "--ranks", "2")["pingpong"]
    assert STEPPED.step is not None
    lines = [
        (cost + STEPPED.latency_s + STEPPED.o_r[0], 1 / STEPPED.bandwidth_B_per_s)
        for cost in (STEPPED.o_s[0], STEPPED.step[1])
    ]
    lines_agree(found["piecewise"], lines, [STEPPED.step[0]])


@pytest.mark.parametrize("ranks", [2, 64])
def test_the_sizes_that_travel_early_and_that_wait_are_found_to_the_byte(ranks: int, tmp_path: Path) -> None:
    given = Platform(5e-6, 1e9, (1e-6, 0), (0.5e-6, 0), 9000, "SPLITDUPLEX")
    settings = given.settings() | {"smpi/async-small-thresh": "3000"}
    words = ["--operation", "synchronisation", "--ranks", str(ranks), "--largest", "64KiB"]
    (effect,) = machine(tmp_path, given.write(tmp_path / "p.xml", ranks), settings, *words)["effects"]
    # Both settings are the first size that is treated otherwise.
    found_B = {name: effect["parameters"][name]["value"] for name in ("S_B", "arrived_B")}
    print(f"largest without waiting, largest that travels early: given 8999, 2999, found {found_B}")
    assert found_B == {"S_B": 8999, "arrived_B": 2999}


@pytest.mark.parametrize(("sharing", "directions"), [("SHARED", 2), ("SPLITDUPLEX", 1)])
def test_what_the_directions_of_a_link_share_is_told(sharing: str, directions: int, tmp_path: Path) -> None:
    given = Platform(5e-6, 1e9, (1e-6, 0), (0.5e-6, 0), NEVER_B, sharing)
    words = ["--operation", "bandwidth,bidirectional", "--ranks", "2", "--bytes", "64KiB,256KiB,1MiB"]
    found = fitted(tmp_path, given.write(tmp_path / "p.xml"), given.settings(), *words)
    per_byte_s = {name: fits["hockney"]["regimes"][0]["beta_s_per_B"]["value"] for name, fits in found.items()}
    expected = {"bandwidth": 1 / given.bandwidth_B_per_s, "bidirectional": directions / given.bandwidth_B_per_s}
    print(f"seconds per byte: given {expected}, found {per_byte_s}")
    assert per_byte_s == pytest.approx(expected, rel=WITHIN)


@pytest.mark.parametrize(("second", "links"), [(1, 2), (8, 4)])
def test_every_hop_of_a_fat_tree_is_counted(second: int, links: int, tmp_path: Path) -> None:
    latency_s, bandwidth_B_per_s, o_s, o_r = 2e-6, 2e9, 1e-6, 0.5e-6
    platform = tmp_path / "p.xml"
    platform.write_text(
        f"{HEAD}<cluster id='tree' prefix='node-' radical='0-63' suffix='' speed='10Gf' topology='FAT_TREE'"
        f" bw='{bandwidth_B_per_s:.0f}Bps' lat='{latency_s}s' topo_parameters='2;8,8;1,8;1,1'/></platform>",
        encoding="utf-8",
    )
    # The pair that is measured is that of the first two ranks: under one leaf switch, or under two.
    order = [0, second, *(number for number in range(1, 64) if number != second)]
    hosts = written(tmp_path / "hosts", "".join(f"node-{number}\n" for number in order))
    given = Platform(links * latency_s, bandwidth_B_per_s, (o_s, 0), (o_r, 0), NEVER_B, "SPLITDUPLEX")
    words = ["--operation", LOGGP, "--ranks", "64", "--hosts", str(hosts), "--bytes", "0,8,1KiB,64KiB,1MiB"]
    found = fitted(tmp_path, platform, given.settings(), *words)["pingpong"]
    loggp = {"L": given.latency_s, "o_s": o_s, "o_r": o_r, "g": o_s, "G": 1 / bandwidth_B_per_s}
    agree(found["loggp"], loggp)
    line = {"latency_s": given.latency_s + o_s + o_r, "bandwidth_B_per_s": bandwidth_B_per_s}
    agree(found["hockney"], line)
