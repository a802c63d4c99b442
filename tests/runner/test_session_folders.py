"""Session folders of Open MPI's `mpirun`, named by process ids: none is left, and none is in the way."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import patch

import pytest

from hockney.runner.process import Process
from hockney.runner.supervisor import forget_session

HOST = os.uname().nodename
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


def forget(tmp_path: Path, owner: int) -> None:
    """Forget the session of a process 1 that belongs to `owner`."""
    folder = tmp_path / "ompi.1"
    folder.mkdir(exist_ok=True)
    (folder / f"pmix.{HOST}.tool").touch()
    os.chown(folder, owner, owner)
    with patch.dict(os.environ, TMPDIR=str(tmp_path)):
        forget_session(1)


def taken_by(tmp_path: Path, file: str) -> set[int]:
    """The next process ids, each with a session folder that holds this file."""
    most = int(Path("/proc/sys/kernel/pid_max").read_text(encoding="utf-8"))
    newest = subprocess.Popen(["true"])
    newest.wait()
    taken = {(newest.pid + step) % most for step in range(RANGE)}
    for pid in taken:
        (tmp_path / f"ompi.{pid}").mkdir(exist_ok=True)
        (tmp_path / f"ompi.{pid}" / file).touch()
    return taken


def test_a_launcher_that_is_killed_leaves_no_session(tmp_path: Path) -> None:
    assert not launched(tmp_path, f"pmix.{HOST}.tool")[1]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_no_session_stays(tmp_path: Path) -> None:
    launched(tmp_path, "notes.txt")
    (folder,) = tmp_path.iterdir()
    assert (folder / "notes.txt").exists()


@pytest.mark.parametrize(
    ("file", "there"), [(f"pmix.{HOST}.tool", False), ("pmix.elsewhere.tool", True), ("notes.txt", True)]
)
def test_the_session_of_a_dead_launcher_of_the_same_id_is_not_in_the_way(
    tmp_path: Path, file: str, there: bool
) -> None:
    taken = taken_by(tmp_path, file)
    pid, found = launched(tmp_path)
    if pid not in taken:
        # Others started very many processes meanwhile.
        taken |= taken_by(tmp_path, file)
        pid, found = launched(tmp_path)
    assert pid in taken
    assert found == there


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes folders of others")
def test_the_folder_of_another_user_stays(tmp_path: Path) -> None:
    forget(tmp_path, owner=12345)
    assert (tmp_path / "ompi.1" / f"pmix.{HOST}.tool").exists()
    forget(tmp_path, owner=0)
    assert not (tmp_path / "ompi.1").exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / f"pmix.{HOST}.tool").touch()
    (tmp_path / "ompi.1").symlink_to(tmp_path / "mine")
    with patch.dict(os.environ, TMPDIR=str(tmp_path)):
        forget_session(1)
    assert (tmp_path / "mine" / f"pmix.{HOST}.tool").exists()
