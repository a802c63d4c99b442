"""The real launchers, told by hwloc that the node is another one: their own map must be the plan.

Open MPI prints its map without launching, Hydra what it would bind to. hwloc makes the node from HWLOC_SYNTHETIC
(hwloc's manual, "Synthetic topologies"), so that nodes of 64 CPUs can be mapped on any machine.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

import pytest
from tests.processes import captured

from hockney.apps.pinning.plan import PinningPlan, plan, wish
from hockney.apps.pinning.recipes import is_listed, request, target_of
from hockney.apps.pinning.topology import regular
from hockney.runner.launchers.base import command
from hockney.runner.mpi import Mpi
from hockney.runner.process import Process

CASES = [
    # node, ranks, threads, spread
    ("pack:2 numa:2 l3:1 core:4 pu:2", 4, 2, "socket"),
    ("pack:2 numa:2 l3:1 core:4 pu:2", 6, 2, "numa"),
    ("pack:2 numa:2 l3:1 core:4 pu:2", 8, 2, "core"),
    ("pack:2 numa:2 l3:1 core:4 pu:2", 5, 4, "compact"),
    ("pack:2 numa:2 l3:1 core:4 pu:2", 4, 2, "scatter"),
    ("pack:2 numa:2 l3:1 core:4 pu:2", 4, 3, "scatter"),
    ("pack:2 numa:2 l3:1 core:4 pu:2", 4, 3, "socket"),
    ("pack:2 numa:2 l3:1 core:4 pu:2", 3, 1, "socket"),
    ("pack:1 numa:1 l3:4 core:4 pu:1", 6, 2, "cache"),
    ("pack:1 numa:1 l3:4 core:4 pu:1", 16, 1, "core"),
    ("pack:2 numa:1 l3:1 core:14 pu:2", 2, 4, "socket"),
    ("pack:2 numa:1 l3:1 core:14 pu:2", 8, 3, "core"),
    ("pack:2 numa:1 l3:1 core:14 pu:2", 5, 3, "compact"),
]
LIMIT_S = 60.0


def _mapped(mpi: Mpi, made: PinningPlan, node: str, ranks: int) -> dict[int, set[int]]:
    """The CPUs of each rank, as the launcher has them."""
    argv, added = command(mpi, request(made, target_of(mpi)))
    environment = {
        **mpi.full_environment(),
        **added,
        "HWLOC_SYNTHETIC": node,
        "HYDRA_TOPO_DEBUG": "1",
    }
    five = mpi.kind == "openmpi" and not mpi.version.startswith("4")
    if mpi.kind == "openmpi" and not five:
        # Else it finds that a synthetic node cannot bind; nothing is launched.
        environment["HWLOC_THISSYSTEM"] = "1"
    if mpi.kind == "openmpi":
        argv += ["--display", "map"] if five else ["--display-devel-map", "-H", "localhost:64"]
        argv.append("--do-not-launch")
    else:
        return _bound_by_hydra(argv, environment, ranks)
    done = captured([*argv, "true"], env=environment, timeout=LIMIT_S)
    text = done.stdout + done.stderr
    pattern = r"App.rank: (\d+).*?Binding: *([^\n]*)"
    return {
        int(rank): _of_five(where, made)
        if five
        else {n for n, c in enumerate(re.sub("[^B.]", "", where)) if c == "B"}
        for rank, where in re.findall(pattern, text, re.DOTALL)
    }


def _bound_by_hydra(argv: list[str], environment: Mapping[str, str], ranks: int) -> dict[int, set[int]]:
    """What Hydra says of each rank while rank 0 waits for input: what a job says at its end can be lost."""
    bound: dict[int, set[int]] = {}
    with Process([*argv, "cat"], environment) as job:
        deadline_s = time.monotonic() + LIMIT_S
        while len(bound) < ranks:
            if said := re.search(r"process (\d+) binding: ([01]+)", job.lines(deadline_s)):
                bound[int(said[1])] = {cpu for cpu, bit in enumerate(said[2]) if bit == "1"}
        job.kill()
    return bound


def _of_five(where: str, made: PinningPlan) -> set[int]:
    """`package[0][core:L0-1]`, or `hwt`: numbers of cores or hardware threads, in the order of hwloc."""
    cpus: set[int] = set()
    for kind, numbers in re.findall(r"\[(core|hwt):L([\d,-]+)\]", where):
        for part in numbers.split(","):
            low, _, high = part.partition("-")
            for number in range(int(low), int(high or low) + 1):
                cpus |= set(made.topology.cores[number]) if kind == "core" else {number}
    return cpus


@pytest.mark.parametrize(("node", "ranks", "threads", "spread"), CASES)
def test_the_launcher_maps_as_planned(mpi: Mpi, node: str, ranks: int, threads: int, spread: str) -> None:
    if mpi.kind not in ("openmpi", "mpich"):
        pytest.skip("its launcher does not tell what it maps before it runs")
    shape = (int(part.partition(":")[2]) for part in node.split())
    made = plan(regular(*shape), wish(ranks, threads, spread))
    if target_of(mpi) == "openmpi4" and is_listed(made, "openmpi4"):
        pytest.skip("Open MPI 4 reads no rank file for a synthetic node")
    mapped = _mapped(mpi, made, node, ranks)
    assert mapped == {rank: set(made.cpus(rank)) for rank in range(ranks)}, str(request(made, target_of(mpi)))
