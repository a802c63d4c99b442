"""A machine whose messages take 2 µs + n / 1 GB/s."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney.machine.build import build
from hockney.records.folder import Campaign
from hockney.report.app_sections import Basis


@pytest.fixture(scope="session")
def basis(campaign: Path) -> Basis:
    """Fitted to the campaign's messages; its launches have two ranks that share a cache."""
    launches = {launch.id: launch for launch in Campaign(campaign).launches()}
    return Basis(build(campaign), "the machine", launches)
