"""SimGrid's `smpirun`: a virtual cluster in one process, described by a platform file; times are simulated."""

from __future__ import annotations

import re

from hockney.errors import RequestError
from hockney.runner.launchers.base import Launcher, LaunchRequest, launchers
from hockney.runner.mpi import Mpi
from hockney.runner.platform import hostfile

QUIET = (
    "--cfg=smpi/simulate-computation:no",
    # What the runner does between measurements must not flood the simulation: its default sends all to all.
    "--cfg=smpi/coll-selector:ompi",
    "--log=root.thres:critical",
)
"""Only communication takes time: what the simulating host computes meanwhile would be noise of its own."""

QUICK = ("--cfg=smpi/bcast:binomial_tree", "--cfg=smpi/allreduce:rdb")
"""Options for applications. From 256 ranks on, the selector's choices send so many messages that creating a
communicator takes seconds. These options come first, so a variant's arguments override them."""


def command(mpi: Mpi, request: LaunchRequest) -> tuple[list[str], dict[str, str]]:
    if request.platform is None:
        raise RequestError(
            "SimGrid simulates the cluster of a platform file, and none was given",
            "write --mpi smpi:PLATFORM.xml",
        )
    if request.hosts:
        raise RequestError(
            "the hosts of a simulation are those of its platform", "write a file of some of them: --hosts ./FILE"
        )
    hosts = request.hostfile or hostfile(request.platform, request.ranks)
    argv = [str(mpi.launcher), "-np", str(request.ranks), "-platform", str(request.platform)]
    argv += ["-hostfile", str(hosts)]
    return [*argv, *QUIET, *request.arguments], {**mpi.environment, **request.environment}


launchers.register("smpi")(
    Launcher(
        programs=("smpirun",),
        banner=re.compile(r"SimGrid|smpirun"),
        kinds=frozenset({"smpi"}),
        command=command,
    )
)
