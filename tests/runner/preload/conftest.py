"""The environment in which a user of an MPI types: Intel's wheel needs variables that its own script sets."""

from __future__ import annotations

import pytest

from hockney.runner.mpi import Mpi


@pytest.fixture(autouse=True)
def environment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of the MPI that a test runs on, if any."""
    if "mpi" not in request.fixturenames:
        return
    mpi: Mpi | None = request.getfixturevalue("mpi")
    for name, value in (mpi.environment if mpi else {}).items():
        monkeypatch.setenv(name, value)
