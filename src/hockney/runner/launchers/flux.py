"""`flux run` (flux-run(1), flux-shell-options(7)), inside a job of Flux. Not tried on a Flux."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hockney.errors import RequestError
from hockney.runner.launchers.base import (
    JOBS,
    Launcher,
    LaunchRequest,
    bare_hosts,
    launchers,
    ranks_per_node,
    words_after,
)
from hockney.runner.mpi import Mpi
from hockney.units import counted


def _size(request: LaunchRequest) -> list[str]:
    """Flux deals cores, so that tasks share those of nodes only.

    RequestError for hosts with differing slots, and ranks that are not as many on each node.
    """
    ppn = ranks_per_node(request, "flux run")
    each = min(ppn or request.ranks, request.ranks)
    if request.ranks % each:
        # It would deal them evenly, and keep neither number.
        raise RequestError(
            f"flux run puts as many ranks on each node, and {request.ranks} are not {each} each",
            f"choose a multiple of {counted(each, 'rank')}, or another number on each node",
        )
    nodes = f"--nodes={request.ranks // each}"
    if request.oversubscribe:
        return [nodes, f"--tasks-per-node={each}"]
    dealt = [f"--ntasks={request.ranks}", f"--cores-per-task={request.threads or 1}"]
    return dealt if ppn is None else [nodes, *dealt]


def _pinning(request: LaunchRequest) -> list[str]:
    if request.cpus:
        return ["-o", "cpu-affinity=map:" + ";".join(",".join(map(str, cpus)) for cpus in request.cpus)]
    if request.map_by not in ("core", "node"):
        raise RequestError(f"flux run cannot deal ranks to each {request.map_by}", "known: core, node")
    if request.binding not in ("core", "none"):
        raise RequestError(f"flux run cannot bind ranks to a {request.binding}", "known: core, none")
    argv = ["--taskmap=cyclic"] if request.map_by == "node" else []
    return [*argv, "-o", "cpu-affinity=" + ("off" if request.binding == "none" else "per-task")]


def command(mpi: Mpi, request: LaunchRequest) -> tuple[list[str], dict[str, str]]:
    """RequestError for hosts with differing slots, and a host file, which Flux does not read."""
    if request.hostfile is not None:
        raise RequestError("flux run reads no host file", "name the hosts: --hosts")
    # Tasks are told apart by rank; only rank 0 reads requests, at once, and one lost rank ends the launch.
    argv = [str(mpi.launcher), "run", *_size(request), "--input=0", "--unbuffered", "-o", "exit-on-error"]
    if request.hosts:
        argv.append("--requires=hosts:" + bare_hosts(request))
    if mpi.kind == "openmpi" and not mpi.version.startswith(("3", "4")):
        # Before 5 it asks PMI by a plugin of its own; the others speak what Flux offers by default.
        argv += ["-o", "pmi=pmix"]
    argv += _pinning(request)
    environment = dict(mpi.environment)
    if mpi.kind == "intel":
        # Flux pins; Intel MPI would pin again inside of it.
        environment["I_MPI_PIN"] = "0"
    return [*argv, *request.arguments], {**environment, **request.environment}


_VALUES = words_after(
    """
    N nodes n ntasks c cores-per-task g gpus-per-task cores tasks-per-node gpus-per-node tasks-per-core q queue B
    bank t time-limit job-name flags input output error requires dependency env env-remove env-file rlimit cwd
    urgency o setopt S setattr add-file begin-time signal taskmap wait-event conf
    """,
)


def preload(variables: Mapping[str, str], _names: Sequence[str]) -> list[str]:
    """`--env`, in whose values `$` names a variable; the processes inherit the rest."""
    return [f"--env={name}={value.replace('$', '$$')}" for name, value in variables.items()]


launchers.register("flux")(
    Launcher(
        programs=("flux",),
        banner=re.compile(r"^libflux-core:", re.MULTILINE),
        kinds=frozenset({"openmpi", "mpich", "intel", "unknown"}),
        command=command,
        preload=preload,
        values=_VALUES,
        job=JOBS["flux"],
        words=2,
    )
)
