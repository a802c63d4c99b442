"""Flux's `flux run` (flux-run(1)), for any MPI inside a Flux instance."""

from __future__ import annotations

import re

from hockney.errors import RequestError
from hockney.runner.launchers.base import Launcher, LaunchRequest, launchers
from hockney.runner.mpi import Mpi

_AFFINITY = {"core": "per-task", "none": "off"}


def command(mpi: Mpi, request: LaunchRequest) -> tuple[list[str], dict[str, str]]:
    """RequestError for what Flux does not take: it places ranks on consecutive cores of hosts it chooses."""
    if request.hosts or request.hostfile or request.map_by != "core" or request.binding not in _AFFINITY:
        raise RequestError("Flux places ranks by core, on hosts of its own choice", "leave the placement to it")
    argv = [str(mpi.launcher), "run", f"--ntasks={request.ranks}", f"--cores-per-task={request.threads or 1}"]
    if request.ppn is not None:
        argv.append(f"--tasks-per-node={request.ppn}")
    argv.append(f"--setopt=cpu-affinity={_AFFINITY[request.binding]}")
    return [*argv, *request.arguments], {**mpi.environment, **request.environment}


launchers.register("flux")(
    Launcher(
        programs=("flux",),
        banner=re.compile(r"^libflux-core:", re.MULTILINE),
        kinds=frozenset({"openmpi", "mpich", "intel"}),
        command=command,
    )
)
