"""A machine whose messages take 2 µs + n / 1 GB/s."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from hockney.apps.stencil import predict
from hockney.apps.stencil.choice import growth
from hockney.machine.build import build
from hockney.records.folder import Campaign
from hockney.report.app_sections import Basis


@pytest.fixture(scope="session")
def basis(campaign: Path) -> Basis:
    """Fitted to the campaign's messages; its launches have two ranks that share a cache."""
    launches = {launch.id: launch for launch in Campaign(campaign).launches()}
    return Basis(build(campaign), "the machine", launches)


@pytest.fixture
def few_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Communication is followed to 64 ranks: to 4096 it takes ten times as long as what a test is about."""
    monkeypatch.setattr(predict, "growth", partial(growth, most=64))
