"""Hydra's `mpiexec`, of MPICH and of Intel MPI.

MPICH pins by `-bind-to` and `-map-by`. Intel's Hydra accepts `-bind-to` and ignores it (seen with 2021.18: ranks
stay pinned under `-bind-to none`); it pins by the variables `I_MPI_PIN…`. Both pass the whole environment on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hockney.errors import RequestError
from hockney.runner.launchers.base import Launcher, LaunchRequest, launchers, words_after
from hockney.runner.mpi import Mpi

_WITHIN = {"node": "core", "cache": "l3cache"}
"""Hydra deals ranks to nodes before it maps within one; "node" is no object to map by."""
_INTEL_DOMAIN = {"core": "core", "socket": "socket", "numa": "numa", "hwthread": "1:compact"}


def _intel_pinning(request: LaunchRequest) -> dict[str, str]:
    if request.binding == "none":
        return {"I_MPI_PIN": "0"}
    if request.cpus:
        masks = ",".join(f"{sum(1 << cpu for cpu in cpus):x}" for cpus in request.cpus)
        return {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": f"[{masks}]"}
    order = "scatter" if request.map_by in ("socket", "numa", "cache") else "compact"
    if request.threads is None:
        return {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": _INTEL_DOMAIN[request.binding], "I_MPI_PIN_ORDER": order}
    # A domain of OMP_NUM_THREADS cells.
    cell = "unit" if request.binding == "hwthread" else "core"
    return {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": "omp", "I_MPI_PIN_CELL": cell, "I_MPI_PIN_ORDER": order}


def _hydra_pinning(request: LaunchRequest) -> list[str]:
    if request.cpus:
        return ["-bind-to", "user:" + ",".join("+".join(map(str, cpus)) for cpus in request.cpus)]
    if request.binding == "none":
        return ["-bind-to", "none"]
    within = _WITHIN.get(request.map_by, request.map_by)
    width = f":{request.threads}" if (request.threads or 1) > 1 else ""
    # What lies beside each other is mapped in steps of what is bound.
    step = width if within == request.binding else ""
    return ["-bind-to", request.binding + width, "-map-by", within + step]


def _without_slots(request: LaunchRequest) -> tuple[int, tuple[str, ...]]:
    """Intel's `-hosts` takes `name:slots` for a host name; its slots are the ranks per node."""
    hosts, _, slots = zip(*(host.partition(":") for host in request.hosts), strict=True)
    if len(set(slots)) > 1:
        raise RequestError(
            "Intel MPI's -hosts puts the same number of ranks on each", "list them in a file: --hosts ./FILE"
        )
    return int(slots[0]), hosts


def command(mpi: Mpi, request: LaunchRequest) -> tuple[list[str], dict[str, str]]:
    argv = [str(mpi.launcher), "-n", str(request.ranks)]
    pinning: dict[str, str] = {}
    if mpi.kind == "intel":
        pinning = _intel_pinning(request)
    else:
        argv += _hydra_pinning(request)
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


_VALUES = words_after(
    """
    n np f hosts host hostfile machinefile machine ppn perhost grr rr rankmap wdir path umask arch configfile
    genvlist envlist memory-alloc-kinds launcher launcher-exec bootstrap bootstrap-exec rmk topolib bind-to map-by
    membind demux errfile-pattern outfile-pattern prepend-pattern gpus-per-proc iface localhost nameserver
    order-nodes usize gtool gtoolfile tune trace-pt2pt trace-collectives
    """,
    "genv env",
)


def preload(variables: Mapping[str, str], _names: Sequence[str]) -> list[str]:
    """`-genv`: the processes inherit the rest."""
    return [word for name, value in variables.items() for word in ("-genv", name, value)]


launchers.register("hydra")(
    Launcher(
        programs=("mpiexec.hydra", "mpiexec", "mpirun"),
        banner=re.compile(r"HYDRA build details|Intel\(R\) MPI Library"),
        kinds=frozenset({"mpich", "intel"}),
        command=command,
        preload=preload,
        values=_VALUES,
        listings=frozenset({"configfile"}),
    )
)
