"""Machines that a test makes: whatever MPI this one has is out of sight."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from hockney.runner import find as module
from hockney.runner.launchers.base import JOBS


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without any MPI: nothing in the environment, nothing on PATH but the shell's tools."""
    for name in (*module.HOME_VARIABLES, *JOBS.values(), "MPICC", "LOADEDMODULES", "CRAY_MPICH_DIR"):
        monkeypatch.delenv(name, raising=False)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "cat").symlink_to("/bin/cat")
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setattr(module, "WELL_KNOWN", ())
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path / "venv" / "bin"))
    return tmp_path
