"""Kills at random instants: no finished record is lost, nothing is left running, and the exit code says it.

The instant is that of the seed, the number in a test's name: a test of the same name has the same instant, as far
as the machine allows.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from tests.faults.counts import KILL
from tests.faults.tool import ANOTHER_LEVEL, LEFT_S, SIZES_B, Tool, failures_of_the_rest, shared_memory
from tests.processes import began, holding, left_after, outliving

from hockney.records.folder import Campaign
from hockney.runner.mpi import KINDS, Mpi
from hockney.runner.supervisor import descendants

Note = Callable[[str, object], None]

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
"""So many of each on an Open MPI and an MPICH make as many kills; each further MPI adds to them."""
MOST_TRIES = 10
"""Of a kill that comes in time: a campaign that was over before is another that has ended well."""


@dataclass(frozen=True)
class Killed:
    """What was there before a kill: whole records, mapped shared memory, processes with when each began."""

    records: bytes
    mapped: set[str]
    processes: dict[int, str]
    phase: str


def _phase(tool: Tool, events: str) -> str:
    if events:
        return "measuring" if events.count("!") < len(SIZES_B) else "at the end"
    return "starting the launch" if tool.part("supervisor") else "preparing"


def _kill(tool: Tool, victim: str, moment: str, chance: random.Random) -> Killed | None:
    """Kill the victim; what was there before. None: it was over."""
    if moment == "middle":
        count = chance.randrange(1, len(SIZES_B))
        # By what was answered: the file of records may lag behind.
        tool.wait_until(lambda: tool.events.count("!") >= count)
    pids = [tool.wait_until(partial(tool.part, name)) for name in victim.split(" and ")]
    time.sleep(chance.uniform(0, VICTIMS[victim] if moment == "start" else 0.05))
    events = tool.events
    assert tool.records_kept() >= _answered(events), "an answer is not on disk when the next one is asked for"
    below = descendants(tool.process.pid) | holding(tool.mark)
    killed = Killed(
        tool.whole_lines(), shared_memory(tool.mark), {pid: began(pid) for pid in below}, _phase(tool, events)
    )
    if not all(pid and began(pid) for pid in pids):
        return None
    try:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return None
    return killed


def _answered(events: str) -> int:
    """Answers that must be on disk: that of the last one is written before the next request."""
    return events.removesuffix("!").count("!")


def kill_and_go_on(tool: Tool, victim: str, moment: str, chance: random.Random, note: Note) -> bool:
    """Kill the victim at the moment, judge what is left, and go on with the campaign until it is whole.

    Whether the kill came in time.
    """
    killed = _kill(tool, victim, moment, chance)
    code, err = tool.ended()
    if "tool" in victim and code == 0:
        killed = None
    if killed:
        note(KILL, (victim, killed.phase))
    before = killed.records if killed else tool.whole_lines()
    campaign = Campaign(tool.folder)
    print(f"{before.count(10)} lines before, exit {code}, {campaign.failures()}, {err}")
    assert not left_after(tool.mark, LEFT_S)
    assert not outliving(killed.processes if killed else {}, LEFT_S)
    assert tool.whole_lines().startswith(before), "a finished record is lost"
    assert tool.records_kept() >= _answered(tool.events), "an answered measurement is lost"
    assert "Traceback" not in err
    if "tool" in victim:
        assert code == (-signal.SIGKILL if killed else 0)
    else:
        # Whoever reads the exit code alone learns whether all is there.
        sizes_B = {record.bytes for record in campaign.records()}
        is_all_there = sizes_B == set(SIZES_B) and not campaign.failures() and ANOTHER_LEVEL not in err
        assert code == (0 if is_all_there else 4), err
    if killed and victim != "tool and supervisor":  # nobody is left who could remove it
        assert not [path for path in killed.mapped if Path(path).exists()], "shared memory left behind"
    assert failures_of_the_rest(tool) == []
    assert {record.bytes for record in campaign.records()} == set(SIZES_B)
    assert len(campaign.warnings) <= ("tool" in victim), campaign.warnings
    return killed is not None


@pytest.mark.parametrize(
    "victim",
    ["tool", "supervisor", pytest.param("launcher", marks=pytest.mark.thorough)],
)
def test_a_kill_in_the_middle_of_a_fake_launch(
    tmp_path: Path, mark: str, victim: str, record_property: Note
) -> None:
    tools = (Tool(tmp_path / f"c{i}", mark, fake="stubborn", notes=True) for i in range(MOST_TRIES))
    chance = random.Random(victim)
    assert any(kill_and_go_on(tool, victim, "middle", chance, record_property) for tool in tools)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("victim", VICTIMS)
def test_a_kill_of_a_real_launch(
    mpi: Mpi, tmp_path: Path, mark: str, victim: str, moment: str, seed: int, record_property: Note
) -> None:
    chance = random.Random(f"{victim} {moment} {seed}")
    tools = (Tool(tmp_path / f"c{i}", mark, "--mpi", str(mpi.wrapper), notes=True) for i in range(MOST_TRIES))
    assert any(kill_and_go_on(tool, victim, moment, chance, record_property) for tool in tools)
