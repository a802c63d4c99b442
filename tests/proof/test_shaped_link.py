"""Over TCP between two namespaces, the rate of the link comes back, and the max-rate model's two limits.

A frame of 1,514 bytes carries 1,448 of a message (Ethernet 14, IPv4 20, TCP with time stamps 32). A message's
first `burst` bytes pass the shaper at once: that moves the intercept of a line and not its slope, so the rate is
the slope of a plain line, whose intercept may be negative. The burst holds a packet of 64 KiB as the kernel hands
it over, and what the shaper would have sent while its timer is late.

Ranks share cores with each other and with whatever else runs: up to three launches, one of which must agree.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.two_hosts import ADDRESSES, TwoHosts

from hockney.models.base import Parameter
from hockney.models.effects.base import Effect
from hockney.runner.mpi import Mpi

WITHIN = 0.03
LAUNCHES = 3
PAYLOAD = 1448 / 1514
PORT = 12000


def machine(hosts: TwoHosts, mpi: Mpi, folder: Path, slots: int, variant: str, words: Sequence[str]) -> Any:
    """The machine file of a measurement on both hosts."""
    where = ",".join(f"{address}:{slots}" for address in ADDRESSES)
    told = f"tcp: {variant}"
    hockney, campaign, path = [sys.executable, "-m", "hockney"], str(folder / "c"), folder / "m.json"
    measure = [*hockney, "measure", "--mpi", str(mpi.wrapper), "--hosts", where, "--ranks", str(2 * slots)]
    measure += ["--bind-to", "none", "--variant", told, "-o", campaign, "--json", *words]
    for command in (hosts.inside(measure), [*hockney, "fit", campaign, "-o", str(path), "--json"]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
        # 4: the machine left its common level for longer than the verb waits.
        assert done.returncode in (0, 4), done.stdout + done.stderr
    return json.loads(path.read_text(encoding="utf-8"))


def agrees(tmp_path: Path, measured: Callable[[Path], dict[str, float]], expected: dict[str, float]) -> None:
    found = []
    for attempt in range(LAUNCHES):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        found.append(measured(folder))
        print(f"expected {expected}, found {found[-1]}")
        if found[-1] == pytest.approx(expected, rel=WITHIN):
            return
    pytest.fail(f"{expected} expected, found {found}")


@pytest.mark.parametrize(
    ("rate_bit_per_s", "burst_B", "sizes"),
    [(10**9, 262_144, "1MiB,8MiB,16MiB,32MiB"), (200 * 10**6, 70_000, "1MiB,2MiB,4MiB,8MiB")],
)
def test_the_slope_of_a_pingpong_is_the_rate_of_the_link(
    rate_bit_per_s: int, burst_B: int, sizes: str, mpi: Mpi, two_hosts: TwoHosts, tmp_path: Path
) -> None:
    two_hosts.shape(rate_bit_per_s, burst_B)

    def measured(folder: Path) -> dict[str, float]:
        words = ["--operation", "pingpong", "--bytes", sizes, "--largest", "32MiB", "--budget", "1.5s"]
        words += ["--visits", "1"]
        (entry,) = machine(two_hosts, mpi, folder, 1, "", words)["point_to_point"]
        assert entry["locality"] == "network"
        return {"slope": entry["fits"]["least_squares"]["parameters"]["bandwidth_B_per_s"]["value"]}

    agrees(tmp_path, measured, {"slope": rate_bit_per_s / 8 * PAYLOAD})


def test_one_flow_alone_and_all_together_are_told_apart(mpi: Mpi, two_hosts: TwoHosts, tmp_path: Path) -> None:
    if mpi.kind != "openmpi":
        pytest.skip(f"no way is known to tell the connections of {mpi.kind} apart by their ports")
    pairs, flow_bit_per_s, link_bit_per_s = 6, 60 * 10**6, 200 * 10**6
    two_hosts.share(link_bit_per_s, flow_bit_per_s, 16_384, range(PORT, PORT + pairs))

    def measured(folder: Path) -> dict[str, float]:
        words = ["--operation", "injection", "--bytes", "128KiB,512KiB", "--quick", "--locality", "network"]
        ports = f"--mca btl_tcp_port_min_v4 {PORT}"
        effects = [
            Effect.model_validate(one) for one in machine(two_hosts, mpi, folder, pairs, ports, words)["effects"]
        ]
        (found,) = (one for one in effects if one.locality == "network")
        assert {point["pairs"] for point in found.points} == {1, 2, 3, 4, pairs}
        limits: dict[str, Parameter] = found.parameters
        return {name: limits[f"{name}_B_per_s"].value for name in ("R_C", "R_N") if f"{name}_B_per_s" in limits}

    share = PAYLOAD / 8
    agrees(tmp_path, measured, {"R_C": flow_bit_per_s * share, "R_N": link_bit_per_s * share})
