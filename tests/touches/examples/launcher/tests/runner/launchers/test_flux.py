"""The command line of `flux run`, from flux-run(1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from hockney.errors import RequestError
from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.mpi import Mpi

MPI = Mpi("mpich", "4.2.0", "4.0", Path("/m/mpicc"), Path("/m/flux"), "flux")


def test_the_command_line() -> None:
    argv, _ = command(MPI, LaunchRequest(4, ppn=2, threads=3))
    assert " ".join(argv) == (
        "/m/flux run --ntasks=4 --cores-per-task=3 --tasks-per-node=2 --setopt=cpu-affinity=per-task"
    )


def test_hosts_are_refused() -> None:
    with pytest.raises(RequestError, match="hosts of its own"):
        command(MPI, LaunchRequest(4, hosts=("a",)))
