"""A study of two campaigns that needs no MPI."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.campaign.fake_campaign import fake_launch
from tests.factories import written

from hockney.studies import perform

TWO = """
question = "What does a message cost?"
compares = "Models."
shows = "Times."
needs = ["pingpong", "bandwidth"]

[[steps]]
verb = "measure"
options = { operation = "pingpong", bytes = "8,64,512,4KiB,32KiB", launches = 1, visits = 1, budget = "20ms" }

[[steps]]
verb = "measure"
options = { operation = "bandwidth", bytes = "8,64,512,4KiB,32KiB", launches = 1, visits = 1, budget = "20ms" }
"""


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study of two campaigns, on a runner that needs no MPI."""
    monkeypatch.setattr(perform, "launches", lambda _: [fake_launch("good")])
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return written(tmp_path / "two.toml", TWO)
