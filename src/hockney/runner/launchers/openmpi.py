"""Open MPI's `mpirun`, 4.1 and 5 (mpirun(1); in 5 the options are PRRTE's, prterun-map and prterun-bind)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import get_args

from hockney.errors import RequestError
from hockney.runner.cache import kept_text
from hockney.runner.launchers.base import BindTo, Launcher, LaunchRequest, host_slots, launchers, words_after
from hockney.runner.mpi import Mpi

_WIDTH = ("hwthread", "core", "cache", "numa", "socket", "node")
"""Narrowest first."""


def _mapping(mpi: Mpi, request: LaunchRequest, five: bool) -> list[str]:
    words = {"cache": "l3cache", **({"socket": "package"} if five else {})}
    binding, mapping, several = request.binding, request.map_by, (request.threads or 1) > 1
    if five and binding != "none" and _WIDTH.index(binding) > _WIDTH.index(mapping):
        raise RequestError(
            f"Open MPI {mpi.version} cannot bind to {binding} what it maps by {mapping}: the binding is wider",
            f"add --map-by {binding}, or --bind-to {mapping if mapping in get_args(BindTo) else 'core'}",
        )
    by = words.get(mapping, mapping)
    if several and mapping in ("core", "hwthread"):
        # Several cores cannot be mapped to one core; slots are filled in the order of the cores.
        by = "slot"
    if request.ppn is not None and not request.hosts:
        if mapping not in ("core", "node"):
            raise RequestError(
                f"ranks per node together with --map-by {mapping} needs hosts",
                "name the hosts, or map by core or node",
            )
        by = f"ppr:{request.ppn}:node"
    by += f":PE={request.threads}" if several and binding != "none" else ""
    argv = ["--map-by", by + (":OVERSUBSCRIBE" if request.oversubscribe else "")]
    argv += ["--bind-to", words.get(binding, binding)]
    if five and mapping in ("socket", "numa", "cache"):
        # Open MPI 5 numbers the ranks of one object first, 4 deals them out.
        argv += ["--rank-by", "slot"]
    if "hwthread" in (mapping, binding):
        argv.append("--use-hwthread-cpus")
    return argv


def _rankfile(request: LaunchRequest, five: bool) -> list[str]:
    """A file of the CPUs of each rank, kept under the digest of its text; EnvironmentLack where it cannot be."""
    text = "".join(
        f"rank {rank}=localhost slot={','.join(map(str, cpus))}\n" for rank, cpus in enumerate(request.slots)
    )
    path = kept_text("rankfiles", text, ".txt")
    argv = ["--map-by", f"rankfile:FILE={path}"] if five else ["--rankfile", str(path)]
    return [*argv, "--use-hwthread-cpus"] if request.binding == "hwthread" else argv


def command(mpi: Mpi, request: LaunchRequest) -> tuple[list[str], dict[str, str]]:
    """RequestError for a binding wider than the mapping, which Open MPI 5 refuses."""
    five = int(mpi.version.split(".")[0] or 5) >= 5
    argv = [str(mpi.launcher)]
    if os.geteuid() == 0:
        argv.append("--allow-run-as-root")
    argv += ["-n", str(request.ranks)]
    argv += _rankfile(request, five) if request.slots else _mapping(mpi, request, five)
    if request.hosts:
        argv += ["--host", ",".join(host_slots(request))]
    if request.hostfile is not None:
        argv += ["--hostfile", str(request.hostfile)]
    # Ranks on other nodes inherit nothing that is not named.
    for name in (*mpi.environment, *request.environment):
        argv += ["-x", name]
    return [*argv, *request.arguments], {**mpi.environment, **request.environment}


_VALUES = words_after(
    """
    n np c N npernode npersocket H host add-host hostfile machinefile default-hostfile add-hostfile x wdir wd path
    app am tune map-by rank-by bind-to ppr cpus-per-proc cpus-per-rank cpu-set cpu-list slot-list rf rankfile
    stdin output output-filename output-directory xterm display report-uri report-events prefix pmix-prefix
    app-pmix-prefix preload-files preload-files-dest-dir personality timeout spawn-timeout runtime-options
    max-restarts max-vm-size dvm dvm-uri ompi-server server-wait-time hnp launch-agent debugger pset
    stream-buffering memory-alloc-kinds
    """,
    "mca gmca omca gomca pmixmca gpmixmca prtemca",
)


def preload(variables: Mapping[str, str], names: Sequence[str]) -> list[str]:
    """`-x`, once for each: what the processes get, and what they inherit on every node."""
    settings = [f"{name}={value}" for name, value in variables.items()]
    return [word for name in (*settings, *names) for word in ("-x", name)]


launchers.register("openmpi")(
    Launcher(
        programs=("mpirun", "mpiexec"),
        banner=re.compile(r"Open MPI|OpenRTE|PRRTE"),
        kinds=frozenset({"openmpi"}),
        command=command,
        preload=preload,
        values=_VALUES,
        listings=frozenset({"app"}),
    )
)
