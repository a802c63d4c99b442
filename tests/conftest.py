"""The MPIs of this machine as test parameters: `mpi` runs a test once for each one found.

`HOCKNEY_TEST_MPIS` lists more of them, prefixes or wrappers, separated by ':'. `make test` runs on the newest
Open MPI and the newest MPICH; `HOCKNEY_TEST_ALL=1` (`make test-all`) runs on every MPI.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import cast
from unittest.mock import patch

import hypothesis
import pytest
from tests.capabilities import lacking, pytest_terminal_summary  # noqa: F401 - a hook

from hockney.errors import HockneyError
from hockney.runner.find import find, find_all
from hockney.runner.mpi import KINDS, TITLES, Mpi

pytest_plugins = [
    "tests.known_campaign",
    "tests.processes",
    "tests.cluster.fixture",
    "tests.slurm.fixture",
    "tests.two_hosts",
    "tests.runner.library.probe",
    "tests.faults.counts",
]

# As the command line has it; numpy is not imported yet.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
gc.set_threshold(20_000)
# Ranks of MPICH that share cores take whole time slices to wait for each other: here a wait that is not over soon
# sleeps for a microsecond. Open MPI 5 waits a second in MPI_Init for libfabric, which carries no message within a
# node, neither as a BTL nor as an MTL. `make test-all` has both as users do.
if "HOCKNEY_TEST_ALL" not in os.environ:
    os.environ.setdefault("MPIR_CVAR_CH4_PROGRESS_THROTTLE", "1")
    os.environ.setdefault("MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT", "100")
    os.environ.setdefault("OMPI_MCA_btl", "^ofi")
    os.environ.setdefault("OMPI_MCA_mtl", "^ofi")
# Workers of pytest-xdist have it from nobody's terminal.
os.environ.pop("COLUMNS", None)


# A change is judged by what it changes, not by a new draw of examples; `make test-all` draws anew each time, and
# twice as many. How long an example takes is no matter of either.
hypothesis.settings.register_profile("of a change", derandomize=True, deadline=None, max_examples=50)
hypothesis.settings.register_profile("all", deadline=None)
hypothesis.settings.load_profile("all" if "HOCKNEY_TEST_ALL" in os.environ else "of a change")


@cache
def _mpis() -> tuple[Mpi, ...]:
    found = [m for m in find_all() if isinstance(m, Mpi)]
    for request in filter(None, os.environ.get("HOCKNEY_TEST_MPIS", "").split(":")):
        try:
            found.append(find(request))
        except HockneyError as error:
            raise pytest.UsageError(f"HOCKNEY_TEST_MPIS: {error.message}") from error
    return tuple({m.wrapper: m for m in found}.values())


def _version(mpi: Mpi) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]+", mpi.version))


@cache
def _of_this_run() -> tuple[tuple[Mpi, ...], dict[str, str]]:
    """The MPIs that tests run on, and why there is none of a kind."""
    found = _mpis()
    absent = {kind: lacking(TITLES[kind], "none is found; name one in HOCKNEY_TEST_MPIS") for kind in KINDS}
    if "HOCKNEY_TEST_ALL" not in os.environ:
        newest = {m.kind: m for m in sorted(found, key=_version)}
        if {"mpich", "intel"} <= newest.keys():
            del newest["intel"]
            absent["intel"] = lacking(TITLES["intel"], "MPICH stands for it; HOCKNEY_TEST_ALL=1 tests both")
        found = tuple(newest.values())
    # Open MPI comes first: ranks of MPICH that share cores do not give way to each other while they wait.
    return tuple(sorted(found, key=lambda m: [*KINDS, m.kind].index(m.kind))), absent


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise `mpi`; a kind that is absent shows as a skipped test of its name."""
    if "mpi" not in metafunc.fixturenames:
        return
    mark = pytest.mark.mpi
    found, absent = _of_this_run()
    values = [pytest.param(m, id=f"{m.kind}-{m.version}", marks=mark) for m in found]
    for kind in KINDS:
        if kind not in {m.kind for m in found}:
            skip = pytest.mark.skip(reason=absent[kind])
            values.append(pytest.param(None, id=kind, marks=(mark, skip)))
    metafunc.parametrize("mpi", values, indirect=True, scope="session")


def _is_on_a_further_mpi(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    mpi = callspec.params.get("mpi") if callspec else None
    return mpi is not None and mpi != _of_this_run()[0][0]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Simulated clusters and hosts in network namespaces take long; the former skip by name without SimGrid."""
    for item in items:
        simulated = item.get_closest_marker("simulated") is not None
        if simulated and shutil.which("smpicc") is None:
            item.add_marker(pytest.mark.skip(reason=lacking("SimGrid", "smpicc is not on the PATH")))
        if simulated or {"two_hosts", "cluster", "slurm"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.thorough)
        if item.get_closest_marker("one_mpi") and _is_on_a_further_mpi(item):
            item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="session")
def mpi(request: pytest.FixtureRequest) -> Mpi:
    """An MPI of this machine."""
    return cast("Mpi", request.param)


Script = Callable[..., Path]
"""(path, text, *, code=0, to=1): an executable that prints a text to a descriptor and ends with a code."""


@pytest.fixture(scope="session")
def script() -> Script:
    """Make shell scripts that behave like wrappers and launchers, well or badly."""

    def make(path: Path, text: str, *, code: int = 0, to: int = 1) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\ncat >&{to} <<'END'\n{text}\nEND\nexit {code}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    return make


OPENMPI_MACROS = "hockney_standard 3 1 hockney_end\nhockney_kind openmpi 5 0 7 hockney_end"
OPENMPI_BANNER = "mpirun (Open MPI) 5.0.7"


@pytest.fixture(scope="session")
def install(script: Script) -> Callable[..., Path]:
    """Make prefixes with a wrapper whose header says `macros` and a launcher whose `--version` says `banner`."""

    def make(prefix: Path, macros: str = OPENMPI_MACROS, banner: str = OPENMPI_BANNER, suffix: str = "") -> Path:
        script(prefix / "bin" / f"mpirun{suffix}", banner)
        return script(prefix / "bin" / f"mpicc{suffix}", macros)

    return make


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines as long as they are: a test reads a sentence, and paths of its own are long."""
    monkeypatch.setenv("COLUMNS", "400")


def _undrawn() -> Iterator[None]:
    """Pages without pictures and simulated steps, which take most of their time: a test reads what pages say."""
    no_pictures = patch("hockney.report.page._pictures", lambda drawings, _: {each.name: "" for each in drawings})
    with no_pictures, patch("hockney.report.collective_analysis.reproductions", return_value=({}, [])):
        yield


undrawn = pytest.fixture(scope="module")(_undrawn)
undrawn_here = pytest.fixture(_undrawn)
"""The same for one test."""
