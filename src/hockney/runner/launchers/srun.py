"""Slurm's `srun` (srun(1)), for any MPI inside an allocation."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

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

_DISTRIBUTION = {
    "core": "block:block",
    "hwthread": "block:block:block",
    "socket": "block:cyclic",
    "node": "cyclic:block",
}
_CPU_BIND = {"core": "cores", "socket": "sockets", "numa": "ldoms", "hwthread": "threads", "none": "none"}
_INTEL_PMI = ("/usr/lib64/libpmi2.so", "/usr/lib/x86_64-linux-gnu/libpmi2.so", "/opt/slurm/lib64/libpmi2.so")


def _pinning(request: LaunchRequest) -> list[str]:
    """RequestError for what srun cannot deal tasks to."""
    if request.cpus:
        width = f"--cpus-per-task={request.threads or 1}"
        if all(len(cpus) == 1 for cpus in request.cpus):
            return [width, "--cpu-bind=map_cpu:" + ",".join(str(cpu) for (cpu,) in request.cpus)]
        masks = ",".join(f"{sum(1 << cpu for cpu in cpus):#x}" for cpus in request.cpus)
        return [width, f"--cpu-bind=mask_cpu:{masks}"]
    if request.map_by not in _DISTRIBUTION:
        raise RequestError(
            f"srun cannot deal ranks to each {request.map_by}", f"known: {', '.join(sorted(_DISTRIBUTION))}"
        )
    argv = []
    if request.threads is not None:
        argv.append(f"--cpus-per-task={request.threads}")
        if request.binding != "hwthread":
            # Its CPUs are hardware threads, unless only one of each core may be used.
            argv.append("--threads-per-core=1")
    argv.append(f"--distribution={_DISTRIBUTION[request.map_by]}")
    return [*argv, f"--cpu-bind={_CPU_BIND[request.binding]}"]


def command(mpi: Mpi, request: LaunchRequest) -> tuple[list[str], dict[str, str]]:
    """RequestError for hosts with differing slots: srun takes one number of tasks per node."""
    ppn = ranks_per_node(request, "srun")
    plugin = "pmix" if mpi.kind == "openmpi" else "pmi2"
    # Tasks are told apart by rank; only rank 0 reads requests, and one lost rank ends the launch.
    argv = [str(mpi.launcher), f"--mpi={plugin}", f"--ntasks={request.ranks}", "--input=0"]
    argv += ["--kill-on-bad-exit=1", "--export=ALL"]
    if ppn is not None:
        # Of an allocation srun would take all nodes.
        argv += [f"--nodes={-(-request.ranks // ppn)}", f"--ntasks-per-node={ppn}"]
    if request.hosts:
        argv.append("--nodelist=" + bare_hosts(request))
    if request.hostfile is not None:
        argv.append(f"--nodefile={request.hostfile}")
    argv += _pinning(request)
    if request.oversubscribe:
        argv.append("--overcommit")
    environment = dict(mpi.environment)
    if mpi.kind == "intel":
        # srun pins; Intel MPI would pin again inside of it.
        environment["I_MPI_PIN"] = "0"
        library = next((p for p in _INTEL_PMI if Path(p).exists()), None)
        if "I_MPI_PMI_LIBRARY" not in os.environ and library is not None:
            environment["I_MPI_PMI_LIBRARY"] = library
    return [*argv, *request.arguments], {**environment, **request.environment}


_VALUES = words_after(
    """
    A B C D F G J L M N S T W b c d e i m n o p q r t w x account acctg-freq bb bbf bcast begin chdir clusters
    cluster-constraint comment constraint container container-id core-spec cores-per-socket cpu-bind cpu-freq
    cpus-per-gpu cpus-per-task deadline delay-boot dependency distribution epilog error exclude export extra
    extra-node-info gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags het-group
    hint input job-name jobid licenses mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus
    mpi network nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket
    open-mode output partition power prefer priority profile prolog qos relative reservation signal slurmd-debug
    sockets-per-node switches task-epilog task-prolog thread-spec threads-per-core time time-min tmp tres-per-task
    wait wckey
    """,
)


def preload(variables: Mapping[str, str], _names: Sequence[str]) -> list[str]:
    """`--export`: with ALL the processes inherit the rest."""
    return ["--export=" + ",".join(["ALL", *(f"{name}={value}" for name, value in variables.items())])]


launchers.register("srun")(
    Launcher(
        programs=("srun",),
        banner=re.compile(r"^slurm", re.MULTILINE),
        kinds=frozenset({"openmpi", "mpich", "intel", "unknown"}),
        command=command,
        preload=preload,
        values=_VALUES,
        listings=frozenset({"multi-prog"}),
        job=JOBS["slurm"],
    )
)
