"""The folder of a trace: what is removed for a new one, and what it may be called."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney.errors import RequestError
from hockney.runner.traced import MAGIC, clear, folder_of, trace_of


def test_only_files_of_traces_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "run.trace"
    folder.mkdir()
    (folder / "0.events").write_bytes(MAGIC + b"x")
    (folder / "1.events").write_bytes(b"")
    (folder / "2.events").write_bytes(b"a diary")
    clear(folder)
    assert [path.name for path in folder.iterdir()] == ["2.events"]
    other = tmp_path / "other.trace"
    other.symlink_to(folder)
    (folder / "3.events").write_bytes(MAGIC)
    clear(other)
    assert (folder / "3.events").exists()


def test_names_of_profiles_and_their_traces(tmp_path: Path) -> None:
    assert folder_of(tmp_path / "heat.json") == tmp_path / "heat.trace"
    assert folder_of(tmp_path / "run.16") == tmp_path / "run.16.trace"
    with pytest.raises(RequestError, match="the name of its trace"):
        folder_of(tmp_path / "heat.trace")
    folder = tmp_path / "run.16.trace"
    folder.mkdir()
    assert trace_of(tmp_path / "run.16") is None
    (folder / "0.events").touch()
    assert trace_of(tmp_path / "run.16") == trace_of(folder) == folder
