"""`hockney doctor`: what it says and how it ends, where things work and where nothing does."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from tests.command_line import run_hockney

from hockney.runner.mpi import Mpi


def _doctor(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    with patch.dict(os.environ, environment):
        return run_hockney("doctor", *arguments)


def test_fails_without_anything(tmp_path: Path, install: Callable[..., Path]) -> None:
    """A wrapper is there, but no C++ wrapper: exit 3, and the one thing to do."""
    wrapper = install(tmp_path / "opt")
    done = _doctor("--mpi", str(wrapper))
    assert done.returncode == 3
    assert "✗ Open MPI 5.0.7, MPI 3.1" in done.stdout
    assert "has no C++ wrapper beside it: install" in done.stdout
    assert "nothing to measure with yet" in done.stdout
    assert done.stderr == ""


def test_partitions_are_listed_with_their_batch_system(
    tmp_path: Path, install: Callable[..., Path], script: Callable[..., Path]
) -> None:
    """Of a batch system that is a fake program: here LSF's."""
    wrapper = str(install(tmp_path / "opt"))
    script(tmp_path / "bqueues", "QUEUE_NAME PRIO STATUS\nfast 30 Open:Active\nold 20 Closed:Active")
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = _doctor("--mpi", wrapper, PATH=path)
    assert "\nPartitions, for --site partition=NAME\n" in done.stdout
    assert "  lsf: fast\n  lsf: old: takes no jobs now\n" in done.stdout
    answer = json.loads(_doctor("--mpi", wrapper, "--json", PATH=path).stdout)
    told = [
        (one["system"], one["name"], one["takes_jobs"]) for one in answer["partitions"] if one["system"] == "lsf"
    ]
    assert told == [("lsf", "fast", True), ("lsf", "old", False)]


def test_a_failing_wrapper_is_one_line(tmp_path: Path, script: Callable[..., Path]) -> None:
    wrapper = script(tmp_path / "mpicc", "mpicc: error: licence expired", code=1, to=2)
    done = _doctor("--mpi", str(wrapper))
    assert done.returncode == 3
    assert done.stderr.startswith("error: ")
    assert "licence expired" in done.stderr.splitlines()[0]
    assert "Traceback" not in done.stderr


def test_each_mpi_here_runs(mpi: Mpi) -> None:
    done = _doctor("--mpi", str(mpi.wrapper), "--run", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = json.loads(done.stdout)["mpis"]
    assert found["works"] is True
    assert (found["kind"], found["version"]) == (mpi.kind, mpi.version)
    assert found["trial"].startswith("2 ranks started")
    said = found["transports"]
    assert "ob1" in said["components"]["pml"] if mpi.kind == "openmpi" else mpi.kind != "mpich" or said["device"]
    assert found["variants"] == []


@pytest.mark.thorough
def test_variants_are_ready_to_measure(mpi: Mpi) -> None:
    done = _doctor("--mpi", str(mpi.wrapper), "--transports", "--json")
    (found,) = json.loads(done.stdout)["mpis"]
    starts = [one["variant"] for one in found["variants"] if not one["why_not"]]
    assert "default:" in starts
    assert len(starts) > 1
    lines = _doctor("--mpi", str(mpi.wrapper), "--transports").stdout
    assert f"--variant {shlex.quote(starts[1])}" in lines


def test_hosts_are_for_variants() -> None:
    done = _doctor("--hosts", "n1,n2")
    assert done.returncode == 2
    assert "--hosts means nothing without --transports" in done.stderr


def test_text_shows_the_order_of_the_search() -> None:
    done = _doctor()
    of_search = ("Python environment", "MPI_HOME", "PATH", "well-known prefixes")
    for word in (*of_search, "The node, all of it", "interface lo: loopback", "This machine", "C++ compiler"):
        assert word in done.stdout
    assert ("ready to measure" in done.stdout) == (done.returncode == 0)
