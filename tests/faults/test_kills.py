"""Kills at random instants: no finished record is lost, nothing is left running, and the exit code says it.

The instant is that of the seed, the number in a test's name: a test of the same name has the same instant, as far
as the machine allows.
"""

from __future__ import annotations

import os
import random
import signal
import time
from functools import partial
from pathlib import Path

import pytest
from tests.faults.tool import LEFT_S, SIZES_B, Tool, finished, shared_memory
from tests.processes import left_after

from hockney.records.folder import Campaign
from hockney.runner.mpi import KINDS, Mpi

KILLS = 200
MOMENTS = ("start", "middle")
VICTIMS = {
    "tool": 3.0,
    "supervisor": 0.6,
    "launcher": 0.6,
    "rank": 0.3,
    "tool and supervisor": 0.6,
}
"""Each with about how long it takes, in seconds, from when it is there until the first request."""
SEEDS = -(-KILLS // (len(VICTIMS) * len(MOMENTS) * (len(KINDS) - 1)))
"""So many of each kind on an Open MPI and an MPICH make as many kills; each further MPI adds to them."""


def _kill(tool: Tool, victim: str, moment: str, chance: random.Random) -> tuple[bytes, set[str]] | None:
    """Kill the victim; the whole records and the shared memory of the instant before. None: it was over."""
    if moment == "middle":
        count = chance.randrange(1, len(SIZES_B))
        tool.wait_until(lambda: tool.whole_lines().count(b"\n") >= count)
    pids = [tool.wait_until(partial(tool.part, name)) for name in victim.split(" and ")]
    time.sleep(chance.uniform(0, VICTIMS[victim] if moment == "start" else 0.05))
    before, mapped = tool.whole_lines(), shared_memory(tool.mark)
    try:
        for pid in pids:
            os.kill(pid or tool.process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return None
    return before, mapped


def kill_and_go_on(tool: Tool, victim: str, moment: str, seed: int) -> None:
    """Kill the victim at the moment, judge what is left, and go on with the campaign until it is whole."""
    killed = _kill(tool, victim, moment, random.Random(f"{victim} {moment} {seed}"))
    code, err = tool.ended()
    before, mapped = killed or (tool.whole_lines(), set())
    campaign = Campaign(tool.folder)
    print(f"{before.count(10)} lines before, exit {code}, {campaign.failures()}, {err}")
    assert not left_after(tool.mark, LEFT_S)
    assert tool.whole_lines().startswith(before), "a finished record is lost"
    assert "Traceback" not in err
    if "tool" in victim:
        assert code == (-signal.SIGKILL if killed else 0)
    else:
        # Whoever reads the exit code alone learns whether all is there.
        sizes_B = {record.bytes for record in campaign.records()}
        assert code == (0 if sizes_B == set(SIZES_B) and not campaign.failures() else 4), err
    if victim != "tool and supervisor":  # nobody is left who could remove it
        assert not [path for path in mapped if Path(path).exists()], "shared memory left behind"
    assert finished(tool)["failures"] == []
    assert {record.bytes for record in campaign.records()} == set(SIZES_B)
    assert len(campaign.warnings) <= ("tool" in victim), campaign.warnings


@pytest.mark.parametrize(
    "victim",
    ["tool", "supervisor", pytest.param("launcher", marks=pytest.mark.thorough)],
)
def test_a_kill_in_the_middle_of_a_fake_launch(tmp_path: Path, mark: str, victim: str) -> None:
    kill_and_go_on(Tool(tmp_path / "c", mark, fake=True), victim, "middle", 0)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("victim", VICTIMS)
def test_a_kill_of_a_real_launch(
    mpi: Mpi, tmp_path: Path, mark: str, victim: str, moment: str, seed: int
) -> None:
    kill_and_go_on(Tool(tmp_path / "c", mark, "--mpi", str(mpi.wrapper)), victim, moment, seed)
