"""What a launcher is: it turns one launch request into a command line, for the programs it recognises."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv6Address
from pathlib import Path
from typing import Literal, get_args

from hockney import reading
from hockney.errors import RequestError
from hockney.fields import named
from hockney.registry import Registry
from hockney.runner.mpi import Mpi

MapBy = Literal["core", "socket", "numa", "cache", "node", "hwthread"]
BindTo = Literal["core", "socket", "numa", "hwthread", "none"]


BESIDE = {"SLURM_OVERLAP": "1"}
"""For a launch that runs beside another of the same allocation: steps of Slurm, by which mpirun and Hydra start
their daemons there, too, otherwise wait for each other (srun(1), from 20.11 on; before, they never did)."""


JOBS = {"slurm": "SLURM_JOB_ID", "pbs": "PBS_JOBID", "lsf": "LSB_JOBID", "flux": "FLUX_URI"}
"""The variable that each batch system sets in its jobs alone, or nearly so."""
AS_ROOT = {f"{of}_ALLOW_RUN_AS_ROOT{again}": "1" for of in ("OMPI", "PRTE") for again in ("", "_CONFIRM")}
"""What lets Open MPI, 4 and 5, start ranks for root, as in a container: it wants to hear it twice."""


@dataclass(frozen=True)
class LaunchRequest:
    """One launch, in words that hold for every launcher.

    `map_by` places consecutive ranks on consecutive cores or hardware threads (`core`, `hwthread`), or deals
    them round-robin to sockets, NUMA domains, last-level caches or nodes. `bind_to` is what each rank is pinned
    to. `hosts` are `name` or `name:slots`; `hostfile` is in the launcher's own format; `ppn` limits ranks per
    node. `arguments` and `environment` are a variant's, passed through. `oversubscribe` says that there are more
    ranks than cores: ranks are then allowed to share cores and are not pinned.

    `threads` are the OpenMP threads of a rank, each of which gets a core of its own (a hardware thread where
    ranks are bound to those); None leaves their number to the environment. `cpus` pins each rank of this one
    host to these CPUs, as the operating system numbers them, in place of `map_by`; `slots` says the same by
    numbers of cores (of hardware threads where `bind_to` says so) in hwloc's order, which Open MPI counts in.
    """

    ranks: int
    map_by: MapBy = "core"
    bind_to: BindTo = "core"
    hosts: tuple[str, ...] = ()
    hostfile: Path | None = None
    ppn: int | None = None
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    oversubscribe: bool = False
    threads: int | None = None
    cpus: tuple[tuple[int, ...], ...] = ()
    slots: tuple[tuple[int, ...], ...] = ()
    platform: Path | None = None
    """Platform file of a simulated cluster."""

    @property
    def binding(self) -> BindTo:
        """What ranks are really pinned to: nothing where they outnumber the cores."""
        return "none" if self.oversubscribe else self.bind_to


def ranks_per_node(request: LaunchRequest, launcher: str) -> int | None:
    """Ranks on each node, from `ppn` or the slots of hosts; RequestError where slots differ."""
    slots = {int(count) for _, _, count in (host.partition(":") for host in request.hosts) if count}
    if len(slots) > 1:
        raise RequestError(
            f"{launcher} puts the same number of ranks on each node", "give each host the same slots, or none"
        )
    return request.ppn if request.ppn is not None else next(iter(slots), None)


def bare_hosts(request: LaunchRequest) -> str:
    """The hosts without their slots, with commas."""
    return ",".join(host.partition(":")[0] for host in request.hosts)


def openmp(threads: int, binding: BindTo) -> dict[str, str]:
    """What gives each thread of a rank a place of its own inside of what the launcher pins the rank to."""
    count = {"OMP_NUM_THREADS": str(threads)}
    if binding == "none":
        # Ranks that see the same CPUs would all put their threads on the first of them.
        return {**count, "OMP_PROC_BIND": "false"}
    places = "threads" if binding == "hwthread" else "cores"
    return {**count, "OMP_PLACES": places, "OMP_PROC_BIND": "close"}


CommandFunction = Callable[[Mpi, LaunchRequest], tuple[list[str], dict[str, str]]]
"""(argv up to the program, variables to add to the present environment); the program and its arguments follow."""


PreloadFunction = Callable[[Mapping[str, str], Sequence[str]], list[str]]
"""Options that set variables in the processes of a launch alone, given those variables and the names of others,
which stand in the launcher's own environment and must reach the processes."""


@dataclass(frozen=True)
class Launcher:
    """`programs` are the file names it goes by, `banner` matches its `--version`, `kinds` the MPIs it starts.

    `preload` is None where its processes cannot have a library preloaded. `values` are how many words follow an
    option, written without its dashes, that are neither an option nor the program; none where it is not there.
    `listings` are the options by which a file names the programs. `job` is the variable of the jobs in which it
    is taken before an MPI's own launcher, and outside of which no search finds it; empty of those launchers. Its
    options begin after so many `words` of a line.
    """

    programs: tuple[str, ...]
    banner: re.Pattern[str]
    kinds: frozenset[str]
    command: CommandFunction
    preload: PreloadFunction | None = None
    values: Mapping[str, int] = field(default_factory=dict)
    listings: frozenset[str] = frozenset()
    job: str = ""
    words: int = 1


def words_after(one: str, two: str = "") -> dict[str, int]:
    """`values` of a launcher, from the options that one word follows, and those that two follow."""
    return dict.fromkeys(one.split(), 1) | dict.fromkeys(two.split(), 2)


launchers: Registry[Launcher] = Registry("launcher", "hockney.runner.launchers", "how-to/choose-an-mpi.md")


_HOST = re.compile(r"[+^]?(?:\w[\w.-]*@)?[\w\[][\w.\[\]-]*(?::[1-9]\d*)?")
"""A name or an IPv4 address, with a user, a launcher's range (`n[1-4]`, `+n0`, `^n1`) or slots."""


def check_hosts(hosts: Iterable[str]) -> None:
    """RequestError for what is no host: launchers hand names on to ssh, which takes `-o…` for an option."""
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise RequestError(f"{host!r} is not a host", "write NAME or NAME:SLOTS")


def check_hostfile(path: Path) -> None:
    """RequestError where a host file cannot be read, or a line's first word is no host, nor several with commas.

    An IPv6 address is a host here: its colons are no slots.
    """
    with named("host file"):
        text = reading.text(path, "give the path of a file with a host on each line")
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        names = [name for name in words[0].split(",") if name and not _is_ipv6(name)] if words else []
        try:
            check_hosts(names)
        except RequestError as error:
            raise RequestError(f"{path}:{number}: {error.message}", "write a host on each line") from error


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True


def command(mpi: Mpi, request: LaunchRequest) -> tuple[list[str], dict[str, str]]:
    """Command line and added environment of a launch, by the launcher of this MPI; RequestError for nonsense."""
    if request.ranks < 1:
        raise RequestError(f"{request.ranks} ranks cannot be launched", "ask for at least one rank")
    if request.ppn is not None and request.ppn < 1:
        raise RequestError(f"{request.ppn} ranks per node cannot be launched", "ask for at least one per node")
    if request.map_by not in get_args(MapBy):
        raise RequestError(f"unknown mapping {request.map_by!r}", f"known: {', '.join(get_args(MapBy))}")
    if request.bind_to not in get_args(BindTo):
        raise RequestError(f"unknown binding {request.bind_to!r}", f"known: {', '.join(get_args(BindTo))}")
    check_hosts(request.hosts)
    if request.threads is not None:
        request = _with_threads(request)
    return launchers.get(mpi.launcher_kind).command(mpi, request)


def _with_threads(request: LaunchRequest) -> LaunchRequest:
    """The request with OpenMP's environment, a variant's own settings winning; RequestError for nonsense."""
    threads = request.threads or 0
    if threads < 1:
        raise RequestError(f"{threads} threads in a rank cannot be launched", "ask for at least one thread")
    if threads > 1 and request.binding not in ("core", "hwthread", "none"):
        raise RequestError(
            f"a rank of {threads} threads is bound to that many cores or hardware threads, not to a "
            f"{request.binding}",
            "choose --bind-to core, hwthread or none",
        )
    return replace(request, environment={**openmp(threads, request.binding), **request.environment})


def host_slots(request: LaunchRequest) -> list[str]:
    """The hosts, each with its number of ranks where one is known: from the host itself, else from `ppn`."""
    return [h if ":" in h or request.ppn is None else f"{h}:{request.ppn}" for h in request.hosts]
