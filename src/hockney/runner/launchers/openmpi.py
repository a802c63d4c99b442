"""Open MPI's `mpirun`, 4.1 and 5 (mpirun(1); in 5 the options are PRRTE's, prterun-map and prterun-bind)."""

from __future__ import annotations

import os
import re

from hockney.errors import RequestError
from hockney.runner.launchers.base import Launcher, LaunchRequest, host_slots, launchers
from hockney.runner.mpi import Mpi

_WIDTH = ("hwthread", "core", "numa", "socket", "node")
"""Narrowest first."""


def command(mpi: Mpi, request: LaunchRequest) -> tuple[list[str], dict[str, str]]:
    """RequestError for a binding wider than the mapping, which Open MPI 5 refuses."""
    five = int(mpi.version.split(".")[0] or 5) >= 5
    words = {"socket": "package"} if five else {}
    binding, mapping = request.binding, request.map_by
    if five and binding != "none" and _WIDTH.index(binding) > _WIDTH.index(mapping):
        raise RequestError(
            f"Open MPI {mpi.version} cannot bind to {binding} what it maps by {mapping}: the binding is wider",
            f"add --map-by {binding}" if binding == "socket" else "choose --bind-to core or none",
        )
    argv = [str(mpi.launcher)]
    if os.geteuid() == 0:
        argv.append("--allow-run-as-root")
    argv += ["-n", str(request.ranks)]
    by = words.get(mapping, mapping)
    if request.ppn is not None and not request.hosts:
        if mapping not in ("core", "node"):
            raise RequestError(
                f"ranks per node together with --map-by {mapping} needs hosts",
                "name the hosts, or map by core or node",
            )
        by = f"ppr:{request.ppn}:node"
    argv += ["--map-by", by + (":OVERSUBSCRIBE" if request.oversubscribe else "")]
    argv += ["--bind-to", words.get(binding, binding)]
    if "hwthread" in (mapping, binding):
        argv.append("--use-hwthread-cpus")
    if request.hosts:
        argv += ["--host", ",".join(host_slots(request))]
    if request.hostfile is not None:
        argv += ["--hostfile", str(request.hostfile)]
    # Ranks on other nodes inherit nothing that is not named.
    for name in (*mpi.environment, *request.environment):
        argv += ["-x", name]
    return [*argv, *request.arguments], {**mpi.environment, **request.environment}


launchers.register("openmpi")(
    Launcher(
        programs=("mpirun", "mpiexec"),
        banner=re.compile(r"Open MPI|OpenRTE|PRRTE"),
        kinds=frozenset({"openmpi"}),
        command=command,
    )
)
