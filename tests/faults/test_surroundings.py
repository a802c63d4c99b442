"""A machine that gives less than a campaign needs: no finished record is lost, and the end says why."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.faults.tool import ANOTHER_LEVEL, LEFT_S, SIZES_B, Tool, failures_of_the_rest
from tests.mounts import file_system, remount
from tests.processes import left_after

from hockney.records.folder import Campaign
from hockney.runner.mpi import Mpi

SOMEBODY = 54321
"""A user of no other process."""


def _ends_well(tool: Tool, *codes: int) -> str:
    """Standard error of a campaign that ended with one of these codes, 0 only where all of it is there."""
    code, err = tool.ended()
    print(f"exit {code}, {err}")
    assert not left_after(tool.mark, LEFT_S)
    assert "Traceback" not in err
    assert code in codes
    # A size is visited again where the machine changed its level meanwhile.
    sizes_B = {record.bytes for record in Campaign(tool.folder).records()}
    is_whole = sizes_B == set(SIZES_B)
    assert is_whole if code == 0 else not is_whole or ANOTHER_LEVEL in err
    return err


def _goes_on(tool: Tool) -> None:
    """What was there is there, and the rest is measured."""
    before = tool.whole_lines()
    assert failures_of_the_rest(tool) == []
    assert tool.whole_lines().startswith(before)
    assert {record.bytes for record in Campaign(tool.folder).records()} == set(SIZES_B)


@pytest.mark.thorough
def test_a_full_disk_keeps_what_is_finished(tmp_path: Path, mark: str) -> None:
    with file_system(tmp_path / "small", "size=24k") as small:
        tool = Tool(small / "c", mark, fake="good")
        err = _ends_well(tool, 4)
        assert "records.jsonl" in err
        assert "--resume" in err
        assert 0 < tool.whole_lines().count(b"\n") < len(SIZES_B)
        remount(small, "size=4m")
        _goes_on(tool)


@pytest.mark.thorough
def test_a_file_that_may_not_grow_keeps_what_is_finished(tmp_path: Path, mark: str) -> None:
    tool = Tool(tmp_path / "c", mark, fake="good", under=("prlimit", "--fsize=9000"))
    assert "records.jsonl" in _ends_well(tool, 4)
    assert 0 < tool.whole_lines().count(b"\n") < len(SIZES_B)
    _goes_on(tool)


@pytest.mark.thorough
def test_a_read_only_folder_is_said_and_left_as_it_is(tmp_path: Path, mark: str) -> None:
    with file_system(tmp_path / "kept", "size=4m") as folder:
        tool = Tool(folder / "c", mark, fake="good")
        _ends_well(tool, 0)
        before = {path.name: path.read_bytes() for path in tool.folder.iterdir()}
        remount(folder, "ro")
        again = Tool(folder / "c", mark, fake="good", resumes=True)
        code, err = again.ended()
        assert (code, "Read-only file system" in err) == (4, True), err
        assert {path.name: path.read_bytes() for path in tool.folder.iterdir()} == before


@pytest.mark.thorough
def test_a_new_campaign_is_not_begun_in_a_read_only_folder(tmp_path: Path, mark: str) -> None:
    with file_system(tmp_path / "empty", "ro") as folder:
        assert "Read-only file system" in _ends_well(Tool(folder / "c", mark, fake="good"), 2)


@pytest.mark.parametrize(
    "limit",
    [
        "--nofile=12",
        *(
            pytest.param(limit, marks=pytest.mark.thorough)
            for limit in ("--nofile=9", "--nofile=14", "--nofile=16", "--nofile=18", "--as=2000000000")
        ),
    ],
)
def test_low_limits_are_said_and_lose_nothing(tmp_path: Path, mark: str, limit: str) -> None:
    """Of open files and of memory: those of a shell (`ulimit`), for the tool and all it starts."""
    tool = Tool(tmp_path / "c", mark, fake="good", under=("prlimit", limit))
    _ends_well(tool, 0, 4)
    _goes_on(tool)


@pytest.mark.thorough
@pytest.mark.parametrize("count", range(1, 6))
def test_a_low_limit_of_processes_is_said_and_loses_nothing(tmp_path: Path, mark: str, count: int) -> None:
    """Root has none: another user, who may read what root may, measures in its place."""
    under = ["prlimit", f"--nproc={count}"]
    if os.geteuid() == 0:
        reads = "dac_override"
        under = ["setpriv", f"--reuid={SOMEBODY}", f"--inh-caps=+{reads}", f"--ambient-caps=+{reads}", *under]
        if subprocess.run([*under, "true"], capture_output=True, check=False).returncode != 0:
            pytest.skip(lacking("a user with a limit of processes", "this is root, and setpriv is refused"))
    tool = Tool(tmp_path / "c", mark, fake="good", under=under)
    _ends_well(tool, 0, 3, 4)


@pytest.mark.thorough
@pytest.mark.parametrize("limit", ["--nofile=12", "--nofile=20", "--nofile=30", "--nofile=60", "--as=600000000"])
def test_a_real_launch_under_a_low_limit(mpi: Mpi, tmp_path: Path, mark: str, limit: str) -> None:
    tool = Tool(tmp_path / "c", mark, "--mpi", str(mpi.wrapper), under=("prlimit", limit))
    _ends_well(tool, 0, 3, 4)
    _goes_on(tool)


@pytest.mark.thorough
@pytest.mark.parametrize("options", ["ro", "size=64k", "mode=000"])
def test_a_real_launch_without_shared_memory(mpi: Mpi, tmp_path: Path, mark: str, options: str) -> None:
    """In a mount namespace of its own, whose /dev/shm is full or not to be written."""
    alone = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o {options} tmpfs /dev/shm && exec "$@"', "sh"]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip(lacking("a root that may mount", "unshare or mount is refused"))
    tool = Tool(tmp_path / "c", mark, "--mpi", str(mpi.wrapper), under=alone)
    _ends_well(tool, 0, 4)
    _goes_on(tool)
