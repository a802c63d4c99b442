"""A PATH with fake commands of batch systems, and no job."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest
from tests.batch.fake import Fake, fake

from hockney.batch.base import batch_systems


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Makes them, before all others on the PATH."""
    folder = tmp_path / "fakes"
    folder.mkdir()
    for _, system in batch_systems:
        monkeypatch.delenv(system.variable, raising=False)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return partial(fake, folder)


@pytest.fixture
def only_command(command: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Makes them where no others are, but for those that they call."""
    needed = tmp_path / "needed"
    needed.mkdir()
    for name in ("sh", "cat"):
        (needed / name).symlink_to(f"/bin/{name}")
    monkeypatch.setenv("PATH", f"{tmp_path / 'fakes'}:{needed}")
    return command
