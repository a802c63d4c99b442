"""Hydra's `mpiexec`, of MPICH and of Intel MPI.

MPICH pins by `-bind-to` and `-map-by`. Intel's Hydra accepts `-bind-to` and ignores it (seen with 2021.18: ranks
stay pinned under `-bind-to none`); it pins by the variables `I_MPI_PIN…`. Both pass the whole environment on.
"""

from __future__ import annotations

import re

from hockney.errors import RequestError
from hockney.runner.launchers.base import Launcher, LaunchRequest, launchers
from hockney.runner.mpi import Mpi

_INTEL_DOMAIN = {"core": "core", "socket": "socket", "numa": "numa", "hwthread": "1:compact"}


def _intel_pinning(request: LaunchRequest) -> dict[str, str]:
    if request.binding == "none":
        return {"I_MPI_PIN": "0"}
    order = "scatter" if request.map_by == "socket" else "compact"
    return {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": _INTEL_DOMAIN[request.binding], "I_MPI_PIN_ORDER": order}


def _without_slots(request: LaunchRequest) -> tuple[int, tuple[str, ...]]:
    """Intel's `-hosts` takes `name:slots` for a host name; its slots are the ranks per node."""
    names, _, slots = zip(*(host.partition(":") for host in request.hosts), strict=True)
    if len(set(slots)) > 1:
        raise RequestError(
            "Intel MPI's -hosts puts the same number of ranks on each", "list them in a --hostfile"
        )
    return int(slots[0]), names


def command(mpi: Mpi, request: LaunchRequest) -> tuple[list[str], dict[str, str]]:
    argv = [str(mpi.launcher), "-n", str(request.ranks)]
    pinning: dict[str, str] = {}
    if mpi.kind == "intel":
        pinning = _intel_pinning(request)
    elif request.binding == "none":
        argv += ["-bind-to", "none"]
    else:
        # Hydra deals ranks to nodes before it maps within one; "node" is no object to map by.
        within = "core" if request.map_by == "node" else request.map_by
        argv += ["-bind-to", request.binding, "-map-by", within]
    ppn, hosts = request.ppn, request.hosts
    if mpi.kind == "intel" and any(":" in host for host in hosts):
        ppn, hosts = _without_slots(request)
    if request.map_by == "node":
        ppn = 1
    if ppn is not None:
        argv += ["-ppn", str(ppn)]
    if hosts:
        argv += ["-hosts", ",".join(hosts)]
    if request.hostfile is not None:
        argv += ["-f", str(request.hostfile)]
    return [*argv, *request.arguments], {**mpi.environment, **pinning, **request.environment}


launchers.register("hydra")(
    Launcher(
        programs=("mpiexec.hydra", "mpiexec", "mpirun"),
        banner=re.compile(r"HYDRA build details|Intel\(R\) MPI Library"),
        kinds=frozenset({"mpich", "intel"}),
        command=command,
    )
)
