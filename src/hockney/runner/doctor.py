"""What works for Hockney on this machine, what is missing, and how to get it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hockney.errors import HockneyError
from hockney.records.nodes import NodeDescription
from hockney.runner.build import compiler_version, cxx_wrapper, runner_binary
from hockney.runner.find import INSTALL_HINT, SearchStep, find, find_all, search_order
from hockney.runner.inventory import Inventory, inventory, node
from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.mpi import Broken, Mpi
from hockney.runner.probe import COMPILER_HINT
from hockney.runner.session import Session
from hockney.runner.topology import localities
from hockney.runner.transports import Offered, Tried, candidates, offered, trial_request, tried

TRIAL_LIMIT_S = 60.0
COMPILERS = ("c++", "g++", "clang++", "icpx")


@dataclass(frozen=True)
class MpiFinding:
    """One MPI: whether it can be used, and if not, why and what to do."""

    works: bool
    name: str
    where: str
    wrapper: str
    kind: str = ""
    version: str = ""
    launcher: str = ""
    launcher_kind: str = ""
    standard: str = ""
    compiler: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    transports: Offered = field(default_factory=Offered)
    """What its tools list."""
    variants: Sequence[Tried] = ()
    """Each usable combination of transports, and those that do not start; empty where none was tried."""
    trial: str = ""
    """The result of a launch of two ranks; empty where none was made."""
    message: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """`ok`: at least one MPI with its launcher and a C++ compiler works."""

    ok: bool
    mpis: list[MpiFinding]
    search: list[SearchStep]
    compiler: str
    machine: Inventory
    node: NodeDescription
    advice: list[str]


def diagnose(
    request: str | None = None,
    *,
    run: bool = False,
    variants: bool = False,
    hosts: Sequence[str] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> Diagnosis:
    """Look at every MPI, or at the one `--mpi` names; with `run`, build the runner and launch two ranks of each.

    With `variants`, launch two ranks for each combination of its transports, on two of the `hosts` if there are.
    RequestError for a request that names nothing.
    """
    here = node()

    def try_out(mpi: Mpi) -> list[Tried]:
        if not variants:
            return []
        return tried(
            mpi, trial_request(hosts), candidates(mpi, offered(mpi), here, between_nodes=bool(hosts)), progress
        )

    found: list[Mpi | Broken] = find_all() if request is None else [find(request)]
    findings = [_examine(mpi, run, try_out) for mpi in found]
    machine = inventory()
    compiler = next((path for name in COMPILERS if (path := shutil.which(name))), "")
    ok = any(finding.works for finding in findings)
    advice = _advice(findings, compiler, machine)
    return Diagnosis(ok, findings, search_order(), compiler, machine, here, advice)


def _examine(mpi: Mpi | Broken, run: bool, try_out: Callable[[Mpi], list[Tried]]) -> MpiFinding:
    if isinstance(mpi, Broken):
        return MpiFinding(False, "unusable", mpi.where, str(mpi.wrapper), message=mpi.message, hint=mpi.hint)
    finding = MpiFinding(
        works=True,
        name=mpi.describe(),
        where=mpi.where,
        wrapper=str(mpi.wrapper),
        kind=mpi.kind,
        version=mpi.version,
        launcher=str(mpi.launcher),
        launcher_kind=mpi.launcher_kind,
        standard=mpi.standard,
        environment=dict(mpi.environment),
        transports=offered(mpi),
    )
    try:
        finding = replace(finding, compiler=f"{compiler_version(mpi)} by {cxx_wrapper(mpi.wrapper)}")
        finding = replace(finding, trial=trial(mpi) if run else "")
        return replace(finding, variants=try_out(mpi))
    except HockneyError as error:
        return replace(finding, works=False, message=error.message, hint=error.hint)


def trial(mpi: Mpi) -> str:
    """Build the runner, start two ranks, let them say hello and end them; what came of it, in words."""
    binary = runner_binary(mpi)
    cpus = len(os.sched_getaffinity(0))
    argv, environment = command(mpi, LaunchRequest(ranks=2, oversubscribe=cpus < 2))
    with Session([*argv, str(binary)], environment, TRIAL_LIMIT_S) as session:
        pair = localities(session.hello.ranks)
    return f"2 ranks started, locality {', '.join(pair.values())}"


def _advice(findings: list[MpiFinding], compiler: str, machine: Inventory) -> list[str]:
    advice = []
    if not compiler:
        advice.append(f"no C++ compiler on PATH: {COMPILER_HINT}")
    if not findings:
        advice.append(f"no MPI found: {INSTALL_HINT}")
    advice += [f"{f.wrapper}: {f.message}: {f.hint}" for f in findings if not f.works]
    if machine.cores < 2:
        advice.append("one core only: two ranks share it, and their times are no latencies; use a larger machine")
    if machine.cpu_quota is not None and machine.cpu_quota < machine.cpus:
        advice.append(
            f"the container may use {machine.cpu_quota:g} of {machine.cpus} CPUs: raise its CPU limit, or ranks "
            "will be stopped while they are timed"
        )
    if machine.governor and machine.governor != "performance":
        advice.append(
            f"frequency governor {machine.governor}: `cpupower frequency-set -g performance` steadies the times"
        )
    unknown = [f for f in findings if f.works and f.kind == "unknown"]
    advice += [f"{f.wrapper}: its make is unknown; placement and settings may not be read back" for f in unknown]
    return advice
