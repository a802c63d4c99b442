"""Session folders of Open MPI's `mpirun`, named by process ids: none is left, and none is in the way."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hockney.runner.process import Process

RANGE = 600
"""Process ids from the newest on, among which the launcher's will be: other tests start processes meanwhile."""
LAUNCHER = """
import os, pathlib, sys
folder = pathlib.Path(os.environ["TMPDIR"], f"ompi.{os.getpid()}")
print(os.getpid(), folder.exists())
if sys.argv[1]:
    folder.mkdir()
    (folder / sys.argv[1]).write_text("")
    (folder / "0").mkdir()
sys.stdout.flush()
os.kill(os.getpid(), 9)
"""


def launched(tmp_path: Path, file: str = "") -> tuple[int, bool]:
    """Id of a launcher that is killed, and whether it found its folder, which it then makes with that file."""
    process = Process([sys.executable, "-S", "-c", LAUNCHER, file], {**os.environ, "TMPDIR": str(tmp_path)})
    with process:
        pid, found = process.lines(time.monotonic() + 20.0).split()
    return int(pid), found == "True"


def test_a_launcher_that_is_killed_leaves_no_session(tmp_path: Path) -> None:
    assert not launched(tmp_path, "pmix.vm.tool")[1]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_no_session_stays(tmp_path: Path) -> None:
    launched(tmp_path, "notes.txt")
    (folder,) = tmp_path.iterdir()
    assert (folder / "notes.txt").exists()


@pytest.mark.parametrize(("file", "there"), [("pmix.vm.tool", False), ("notes.txt", True)])
def test_the_session_of_a_dead_launcher_of_the_same_id_is_not_in_the_way(
    tmp_path: Path, file: str, there: bool
) -> None:
    most = int(Path("/proc/sys/kernel/pid_max").read_text(encoding="utf-8"))
    newest = subprocess.Popen(["true"])
    newest.wait()
    taken = {(newest.pid + step) % most for step in range(RANGE)}
    for pid in taken:
        (tmp_path / f"ompi.{pid}").mkdir()
        (tmp_path / f"ompi.{pid}" / file).touch()
    pid, found = launched(tmp_path)
    assert pid in taken
    assert found == there
