"""Command lines of `flux run`, from flux-run(1) and flux-shell-options(7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.factories import not_none

from hockney.errors import RequestError
from hockney.runner.find import with_launcher
from hockney.runner.launchers.base import LaunchRequest, command, launchers
from hockney.runner.mpi import Mpi


def _line(kind: str, version: str, **request: Any) -> str:
    mpi = Mpi(kind, version, "4.0", Path("/m/mpicc"), Path("/m/flux"), "flux")
    argv, _ = command(mpi, LaunchRequest(**{"ranks": 4, **request}))
    return " ".join(argv)


ONE_EACH, THREE_EACH = "--ntasks=4 --cores-per-task=1", "--nodes=2 --ntasks=4 --cores-per-task=3"
PER_TASK, OFF, MAPPED = (f"-o cpu-affinity={how}" for how in ("per-task", "off", "map:0,8;4"))
DEALT = f"--taskmap=cyclic {OFF}"
SHARED: dict[str, Any] = {"oversubscribe": True, "ppn": 2, "arguments": ("--queue=fast",)}


@pytest.mark.parametrize(
    ("kind", "version", "request_", "size", "options"),
    [
        ("openmpi", "5.0.7", {}, ONE_EACH, f"-o pmi=pmix {PER_TASK}"),
        # Before 5 its own plugin speaks what Flux offers by default, as MPICH does.
        ("openmpi", "4.1.4", {}, ONE_EACH, PER_TASK),
        ("mpich", "4.2", {"ppn": 2, "map_by": "node", "bind_to": "none"}, f"--nodes=2 {ONE_EACH}", DEALT),
        ("mpich", "4.2", {"hosts": ("a:2", "b:2"), "threads": 3}, THREE_EACH, f"--requires=hosts:a,b {PER_TASK}"),
        # Fewer ranks than one node takes.
        ("mpich", "4.2", {"ppn": 8}, f"--nodes=1 {ONE_EACH}", PER_TASK),
        ("mpich", "4.2", {"oversubscribe": True, "ppn": 8}, "--nodes=1 --tasks-per-node=4", OFF),
        # Tasks with a core each would never get so many.
        ("mpich", "4.2", {"oversubscribe": True}, "--nodes=1 --tasks-per-node=4", OFF),
        ("mpich", "4.2", SHARED, "--nodes=2 --tasks-per-node=2", f"{OFF} --queue=fast"),
        ("mpich", "4.2", {"cpus": ((0, 8), (4,)), "ranks": 2}, "--ntasks=2 --cores-per-task=1", MAPPED),
    ],
)
def test_flux_run(kind: str, version: str, request_: dict[str, Any], size: str, options: str) -> None:
    line = f"/m/flux run {size} --input=0 --unbuffered -o exit-on-error {options}"
    assert _line(kind, version, **request_) == line


def test_flux_expands_names_in_what_it_is_told_to_set() -> None:
    preload = not_none(launchers.get("flux").preload)
    assert preload({"LD_PRELOAD": "/a$b.so"}, ("HOCKNEY",)) == ["--env=LD_PRELOAD=/a$$b.so"]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"hosts": ("a:2", "b:1")}, "same number of ranks"),
        ({"oversubscribe": True, "ppn": 3}, "4 are not 3 each"),
        # flux-run(1): tasks are distributed evenly, 2 and 2 here.
        ({"ppn": 3}, "4 are not 3 each"),
        ({"hosts": ("a:3", "b:3")}, "4 are not 3 each"),
        ({"hostfile": Path("/h")}, "reads no host file"),
        ({"map_by": "socket"}, "flux run cannot deal ranks to each socket"),
        ({"bind_to": "numa"}, "flux run cannot bind ranks to a numa"),
    ],
)
def test_what_flux_cannot_be_asked_for(request_: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        _line("mpich", "4.2", **request_)


@pytest.mark.parametrize(("kind", "pinned"), [("intel", {"I_MPI_PIN": "0"}), ("mpich", {})])
def test_variables_reach_the_ranks(kind: str, pinned: dict[str, str]) -> None:
    """Flux pins: Intel MPI must not pin again inside of it."""
    mpi = Mpi(kind, "2021.18", "4.0", Path("/m/mpicc"), Path("/m/flux"), "flux", {"I_MPI_ROOT": "/i"})
    _, variables = command(mpi, LaunchRequest(4, environment={"X": "1"}))
    assert variables == {"I_MPI_ROOT": "/i", "X": "1", **pinned}


def test_it_starts_any_mpi_but_a_simulated_one() -> None:
    for kind in ("openmpi", "mpich", "intel", "unknown", "smpi"):
        mpi = Mpi(kind, "1.0", "4.0", Path("/m/mpicc"), Path("/m/flux"), "flux")
        if kind != "smpi":
            assert with_launcher(mpi, "flux") == mpi
        else:
            with pytest.raises(RequestError, match="does not start"):
                with_launcher(mpi, "flux")
