"""Ask a compiler wrapper which MPI it belongs to, by preprocessing a header probe: nothing of MPI is run."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hockney import writing
from hockney.errors import EnvironmentLack
from hockney.runner.supervisor import descendants

PROBE = """\
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
hockney_standard MPI_VERSION MPI_SUBVERSION hockney_end
#if defined(I_MPI_VERSION)
hockney_kind intel I_MPI_VERSION hockney_end
#elif defined(OMPI_MAJOR_VERSION)
hockney_kind openmpi OMPI_MAJOR_VERSION OMPI_MINOR_VERSION OMPI_RELEASE_VERSION hockney_end
#elif defined(MPICH_VERSION)
hockney_kind mpich MPICH_VERSION hockney_end
#elif defined(SMPI_H)
hockney_kind smpi 0 hockney_end
#endif
"""
PROBE_LIMIT_S = 60.0
NO_COMPILER = re.compile(
    r"unable to find the specified compiler|command not found|cc1plus|No such file or directory: ?$"
    r"|: not found$|exec: .*not found",
    re.MULTILINE,
)
COMPILER_HINT = "install a C and C++ compiler (apt-get install g++, dnf install gcc-c++)"


class Killed(EnvironmentLack):
    """A program was killed from outside."""


@dataclass(frozen=True)
class Identity:
    """Kind, version and standard of an MPI, from its header."""

    kind: str
    version: str
    standard: str


def last_complaint(text: str) -> str:
    """The last line that names an error, else the last line at all; what a failing tool meant to say."""
    # Open MPI's wrappers break this one sentence before the name that matters.
    text = re.sub(r"(specified compiler)\s+", r"\1 ", text)
    lines = [line.strip() for line in text.splitlines() if line.strip(" -\t")]
    named = [line for line in lines if re.search(r"error|unable|not found", line, re.IGNORECASE)]
    return (named or lines or [""])[-1]


def capture(
    argv: list[str], environment: Mapping[str, str], limit_s: float, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run to the end with nothing on standard input.

    EnvironmentLack where it cannot start or takes too long; Killed where somebody ended it before it was done.
    """
    try:
        with subprocess.Popen(
            argv,
            env=dict(environment),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,
        ) as process:
            try:
                out, err = process.communicate(timeout=limit_s)
            except BaseException:
                _end_group(process.pid)
                raise
    except subprocess.TimeoutExpired as error:
        message = f"{argv[0]} did not end within {limit_s:g} s"
        raise EnvironmentLack(message, f"run it by hand: {' '.join(argv)}") from error
    except OSError as error:
        raise EnvironmentLack(
            f"{argv[0]} cannot be run: {error.strerror}", "check the path and its mode"
        ) from error
    if -process.returncode in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        raise Killed(
            f"{argv[0]} was killed ({signal.Signals(-process.returncode).name}) before it ended",
            "try again; where memory is short the system kills programs",
        )
    return subprocess.CompletedProcess(argv, process.returncode, out, err)


def end_captured() -> None:
    """End what other threads capture now."""
    for pid in descendants(os.getpid()):
        _end_group(pid)


def _end_group(leader: int) -> None:
    """Kill a process and what it started (a wrapper's compiler), if it leads a group of its own."""
    with contextlib.suppress(ProcessLookupError):
        if os.getpgid(leader) == leader:
            os.killpg(leader, signal.SIGKILL)


def identify(wrapper: Path, environment: Mapping[str, str]) -> Identity:
    """Kind, version and standard of the MPI whose wrapper this is; EnvironmentLack with its last error line."""
    with tempfile.TemporaryDirectory(prefix="hockney-probe-") as folder:
        source = Path(folder, "probe.c")
        writing.replace(source, PROBE)
        done = capture([os.fspath(wrapper), "-E", os.fspath(source)], environment, PROBE_LIMIT_S)
    if done.returncode != 0:
        complaint = last_complaint(done.stderr) or last_complaint(done.stdout) or f"exit code {done.returncode}"
        hint = (
            COMPILER_HINT
            if NO_COMPILER.search(done.stderr)
            else f"try {wrapper} by hand, or choose another --mpi"
        )
        raise EnvironmentLack(f"the MPI compiler wrapper {wrapper} fails: {complaint}", hint)
    # Some wrappers force an include, and line markers then fall between the words of one line.
    text = " ".join(line for line in done.stdout.splitlines() if not line.startswith("#"))
    standard = re.search(r"hockney_standard\s+(\d+)\s+(\d+)\s+hockney_end", text)
    if standard is None:
        raise EnvironmentLack(
            f"{wrapper} compiles, but its mpi.h declares no version of the MPI standard",
            "give the compiler wrapper of an MPI (mpicc) to --mpi",
        )
    kind = re.search(r"hockney_kind\s+(\w+)\s+(.+?)\s+hockney_end", text)
    version = ".".join(kind[2].replace('"', "").split()) if kind else ""
    return Identity(kind[1] if kind else "unknown", version, f"{standard[1]}.{standard[2]}")


MPI_T_PROBE = """\
#include <mpi.h>
int main(void) {
  int provided, variables;
  MPI_T_cvar_handle handle;
  (void)handle;
  return MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) + MPI_T_cvar_get_num(&variables);
}
"""


def has_mpi_t(wrapper: Path, environment: Mapping[str, str]) -> bool:
    """Whether a program that uses the tool interface compiles; SimGrid's SMPI has none."""
    return _compiles(wrapper, environment, "mpi_t.c", MPI_T_PROBE, "-c")


OPENMP_FLAG = "-fopenmp"
OPENMP_PROBE = """\
#include <omp.h>
int main() {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  ++threads;
  return threads == omp_get_max_threads() ? 0 : 1;
}
"""


def has_openmp(wrapper: Path, environment: Mapping[str, str]) -> bool:
    """Whether a C++ program with OpenMP compiles and links; clang without its `libomp` fails at either."""
    return _compiles(wrapper, environment, "openmp.cpp", OPENMP_PROBE, OPENMP_FLAG)


def _compiles(wrapper: Path, environment: Mapping[str, str], name: str, text: str, flag: str) -> bool:
    with tempfile.TemporaryDirectory(prefix="hockney-probe-") as folder:
        source = Path(folder, name)
        writing.replace(source, text)
        argv = [os.fspath(wrapper), flag, os.fspath(source), "-o", os.fspath(source.with_suffix(".out"))]
        return capture(argv, environment, PROBE_LIMIT_S).returncode == 0
