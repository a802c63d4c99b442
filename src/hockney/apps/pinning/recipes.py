"""The options and the environment that make each launcher put ranks and threads where a plan has them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney import reading
from hockney.apps.pinning.plan import PinningPlan, Spread
from hockney.errors import RequestError
from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.mpi import Mpi

_PROGRAM = "./program"
_FOR_ROOT = "--allow-run-as-root"
_BY_SRUN_TO_US = ("--input=", "--kill-on-bad-exit=", "--export=")
"""What `hockney` needs of srun, not the user."""


_OF_SLURM = (
    "add --mpi=pmix for Open MPI, --mpi=pmi2 for MPICH and Intel MPI, if `srun --mpi=list` has it. "
    "Instead of --cpu-bind, --hint=nomultithread keeps to one hardware thread of each core"
)


def kmp_affinity(plan: PinningPlan) -> str:
    """The value for Intel's and LLVM's OpenMP that puts thread t of each rank on the plan's CPU.

    Of the CPUs of all ranks each takes those that it was launched with (Intel, "Thread Affinity Interface").
    """
    cpus = [min(place) for block in plan.places for place in block]
    return f"granularity=fine,nowarnings,explicit,proclist=[{','.join(map(str, cpus))}]"


@dataclass(frozen=True)
class Target:
    """A launcher that recipes are written for. `in_words`: the spreads that its own words bring about exactly."""

    title: str
    mpi: Mpi
    in_words: frozenset[Spread]


def _mpi(kind: str, version: str, program: str, launcher: str) -> Mpi:
    return Mpi(kind, version, "", Path("mpicc"), Path(program), launcher)


_ALL: frozenset[Spread] = frozenset({"socket", "numa", "cache", "core", "node", "compact"})
TARGETS: dict[str, Target] = {
    "openmpi4": Target("Open MPI 4", _mpi("openmpi", "4.1", "mpirun", "openmpi"), _ALL),
    "openmpi5": Target("Open MPI 5", _mpi("openmpi", "5.0", "mpirun", "openmpi"), _ALL),
    "mpich": Target("MPICH (Hydra)", _mpi("mpich", "4.0", "mpiexec", "hydra"), _ALL),
    # Its order `scatter` is farther apart than consecutive cores inside of each socket.
    "intel": Target(
        "Intel MPI", _mpi("intel", "2021", "mpirun", "hydra"), frozenset({"core", "node", "compact"})
    ),
    "srun": Target(
        "Slurm", _mpi("unknown", "", "srun", "srun"), frozenset({"socket", "core", "node", "compact"})
    ),
}


@dataclass(frozen=True)
class Recipe:
    """A command line up to the program, its variables; `file` is the text of the file that it names."""

    launcher: str
    title: str
    argv: tuple[str, ...]
    environment: dict[str, str]
    refused: str = ""
    file: str = ""
    note: str = ""

    @property
    def line(self) -> str:
        """As typed in a shell."""
        variables = [f"{name}={shlex.quote(value)}" for name, value in self.environment.items()]
        return " ".join([*variables, shlex.join(self.argv), _PROGRAM])


def target_of(mpi: Mpi) -> str:
    """The target that an MPI at hand belongs to; RequestError for a simulator, which pins nothing."""
    if mpi.kind == "smpi":
        raise RequestError("a simulated host has no processors to pin to", "leave --spread out, or add --dry-run")
    if mpi.launcher_kind == "srun":
        return "srun"
    if mpi.kind == "openmpi":
        return "openmpi4" if mpi.version.startswith(("3", "4")) else "openmpi5"
    return "intel" if mpi.kind == "intel" else "mpich"


def is_listed(plan: PinningPlan, target: str) -> bool:
    """Whether the CPUs of each rank have to be listed for this launcher."""
    return not plan.in_words or plan.wish.spread not in TARGETS[target].in_words


def request(plan: PinningPlan, target: str, hosts: Sequence[str] = ()) -> LaunchRequest:
    """The launch of a plan; RequestError where CPUs would have to be listed on several nodes."""
    listed = is_listed(plan, target)
    ranks = range(plan.wish.ranks)
    if listed and plan.wish.nodes > 1:
        raise RequestError(
            f"{TARGETS[target].title} takes a list of CPUs for one node only, and --spread {plan.wish.spread} "
            f"of {plan.wish.threads} threads needs one",
            "choose --spread core or socket, and threads that divide the cores of a package",
        )
    slots = [f"{host.partition(':')[0]}:{plan.nodes.count(n)}" for n, host in enumerate(hosts)]
    return LaunchRequest(
        ranks=plan.wish.ranks,
        map_by=plan.wish.map_by,
        bind_to=plan.wish.bind_to,
        hosts=tuple(slots) if plan.wish.nodes > 1 else (),
        threads=plan.wish.threads,
        cpus=tuple(plan.cpus(rank) for rank in ranks) if listed else (),
        slots=tuple(plan.slots(rank) for rank in ranks) if listed else (),
    )


def recipe(plan: PinningPlan, target: str, hosts: Sequence[str] = ()) -> Recipe:
    """What a user types; `refused` says why there is none for this launcher."""
    which = TARGETS[target]
    names = hosts or [f"node{n}" for n in range(plan.wish.nodes)]
    try:
        argv, environment = command(which.mpi, request(plan, target, names))
    except RequestError as error:
        return Recipe(target, which.title, (), {}, refused=error.message)
    kept = [word for word in argv if word != _FOR_ROOT and not word.startswith(_BY_SRUN_TO_US)]
    if target == "srun":
        kept.remove("--mpi=pmi2")
        return Recipe(target, which.title, tuple(kept), environment, note=_OF_SLURM)
    if is_listed(plan, target) and target.startswith("openmpi"):
        return _with_file(target, which.title, kept, environment)
    return Recipe(target, which.title, tuple(kept), environment)


def _with_file(target: str, title: str, argv: list[str], environment: dict[str, str]) -> Recipe:
    """Open MPI reads lists from a file: its text is part of the recipe, under a name of the user's own folder."""
    path = next(word for word in argv if word.endswith(".txt")).rpartition("=")[2]
    text = reading.text(Path(path))
    named = tuple(word.replace(path, "ranks.txt") for word in argv)
    return Recipe(target, title, named, environment, file=text)


def recipes(plan: PinningPlan, hosts: Sequence[str] = ()) -> list[Recipe]:
    """One for each launcher."""
    return [recipe(plan, target, hosts) for target in TARGETS]
