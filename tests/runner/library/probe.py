"""Talks to a program that calls collectives and counts what is sent; see probe.cpp beside this file."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hockney.runner.build import cxx_wrapper
from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.library import launch_environment
from hockney.runner.mpi import Mpi
from hockney.runner.process import Process

RUNNER = Path(__file__).parents[3] / "cpp" / "runner"
SOURCES = [
    *sorted((RUNNER / "library").glob("*.cpp")),
    *(RUNNER / name for name in ("buffers.cpp", "json.cpp", "../schedule/collective.cpp")),
    *sorted(Path(__file__).parent.glob("*.cpp")),
]
MACROS = ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
FLAGS = ["-std=c++17", "-O1", *MACROS, "-Wall", "-Wextra", "-Wshadow", "-Werror"]
LIMIT_S = 60.0


class Conversation:
    """Questions to the probe and its answers; see tests/runner/library/probe.cpp."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def ask(self, line: str) -> dict[str, Any]:
        self._process.send(line)
        while True:
            _, mark, text = self._process.lines(time.monotonic() + LIMIT_S).partition("@hockney ")
            if mark:
                answer: dict[str, Any] = json.loads(text)
                return answer

    def run(self, operation: str, algorithm: str, elements: int, **more: int) -> dict[str, Any]:
        choices = {"segment_B": 0, "radix": 0, "root": 0, "repetitions": 1} | more
        return self.ask(" ".join(["run", operation, algorithm, str(elements), *map(str, choices.values())]))

    def algorithms(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("list")["algorithms"]
        return found


class Probe(NamedTuple):
    """The compiled probe of one MPI."""

    mpi: Mpi
    program: Path

    @contextmanager
    def talk(self, ranks: int, environment: dict[str, str] | None = None) -> Iterator[Conversation]:
        added = launch_environment(self.mpi) | (environment or {})
        crowded = ranks > len(os.sched_getaffinity(0))
        argv, variables = command(self.mpi, LaunchRequest(ranks, oversubscribe=crowded, environment=added))
        with Process([*argv, str(self.program)], {**self.mpi.full_environment(), **variables}) as process:
            yield Conversation(process)
            # Not `quit`: MPICH 4.0 stumbles over its own end when all messages travel by TCP.
            process.kill()


def build(mpi: Mpi, program: Path, *flags: str) -> Path:
    # Nothing is timed, and headers cost more than code: -O0 and one unit compile in a quarter of the time.
    joined = program.with_name(f"{program.name}.cpp")
    joined.write_text("".join(f'#include "{path}"\n' for path in SOURCES), encoding="utf-8")
    argv = [str(cxx_wrapper(mpi.wrapper)), *FLAGS, "-O0", *flags, f"-I{RUNNER}", str(joined)]
    subprocess.run([*argv, "-o", str(program)], env=mpi.full_environment(), check=True)
    return program


@pytest.fixture(scope="session")
def probe(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Probe:
    """The probe of an MPI, compiled once for all tests."""
    return Probe(mpi, build(mpi, tmp_path_factory.mktemp("probe") / "probe"))


def through_tcp(mpi: Mpi) -> dict[str, str]:
    """A launch in which every message between ranks is one that the kernel counts."""
    return {
        "openmpi": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "lo"},
        "mpich": {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ucx", "UCX_TLS": "tcp,self"},
        "intel": {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp"},
    }[mpi.kind]
