"""Launches of a plan: find the MPI, build the runner for it, compose each variant's command line."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from pathlib import Path

from hockney import reading
from hockney.batch.base import JobAllocation, allocation, batch_systems
from hockney.campaign.collectives import KINDS, expect_proved
from hockney.campaign.effects._progress import OWN
from hockney.campaign.launch import Described, Launch
from hockney.campaign.pairs import seen
from hockney.campaign.plan import Launching, Plan
from hockney.errors import EnvironmentLack, RequestError
from hockney.records.answers import Hello
from hockney.records.journal import HostLine, LaunchLine
from hockney.records.keys import COLLECTIVES
from hockney.records.nodes import describe as describe_node
from hockney.records.record import Locality
from hockney.runner.breaks import breaks_B, cache_line_B, eager_limits_B, largest_plain_copy_B
from hockney.runner.build import runner_binary
from hockney.runner.find import find, in_job, measures_a_wheel
from hockney.runner.inventory import inventory, node
from hockney.runner.launchers import smpi
from hockney.runner.launchers.base import LaunchRequest, check_hostfile, check_hosts, command, launchers
from hockney.runner.library import Counting, counting, files_of_rules, launch_environment, launch_variants
from hockney.runner.mpi import Mpi
from hockney.runner.topology import locality, notes, oversubscribed
from hockney.runner.transports import ALL, OFFERED, Tried, candidates, offered, trial_request, tried
from hockney.runner.variants import Variant, parse_variant
from hockney.units import counted

MOST_RANKS_PER_CPU = 32
LEAST_REFUSED_RANKS = 256
"""Ranks on this host alone that exceed both limits would take minutes to start and then starve each other."""

ALLOCATIONS = (*(system.variable for _, system in batch_systems), "PE_HOSTFILE", "COBALT_NODEFILE")
"""Variables of batch systems, from which launchers take the hosts."""
HOST_FILES = (
    "OMPI_MCA_orte_default_hostfile",
    "PRTE_MCA_prte_default_hostfile",
    "HYDRA_HOST_FILE",
    "I_MPI_HYDRA_HOST_FILE",
)
"""Variables that name host files, which launchers read without an option."""

SPEAKING = (
    "OMPI_",
    "PMIX_",
    "PRTE_",
    "UCX_",
    "FI_",
    "MPICH_",
    "MPIR_",
    "I_MPI_",
    "HYDRA_",
    "SLURM_JOB",
    "OMP_",
    "GLIBC_TUNABLES",
    "HOCKNEY_PROGRESS",
)
"""Environment variables that change how an MPI behaves, or is used: recorded with each launch."""
HIDDEN = "(hidden: it looks like a secret)"
_SECRET_NAME = re.compile(
    "(?:^|_)(?:KEYS?|TOKENS?|SECRETS?|PASS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|COOKIE|PRECONDITION_TRANSPORTS)"
    "(?:_|$)",
    re.IGNORECASE,
)
"""`precondition_transports` is the key by which processes of a job recognise each other."""
_SECRET_VALUE = re.compile(r"[0-9a-fA-F]{32,}|\b[A-Za-z0-9+_=-]{48,}\b|://[^/@\s]+:[^/@\s]+@")
"""Long digests and tokens, and addresses with a password."""


def launches(plan: Plan) -> list[Launch]:
    """One launch per mapping and variant, and one for each algorithm that the library selects at launch only.

    EnvironmentLack where the MPI or its compiler is missing.
    """
    expect_proved(plan)
    mpi, binary, variants = _prepared(plan)
    # Without it the library's own algorithms could not be told apart; its own choices stay as they are.
    needed = {} if set(plan.algorithms) <= {"ours", *KINDS["default"]} else launch_environment(mpi)
    planned = [
        _launch(placed, mpi, binary, variant, {**needed, **variant.environment})
        for placed, variant in product(by_mapping(plan), variants)
    ]
    collectives = [name for name in plan.operations if name in COLLECTIVES]
    library = {"all", "library"} & set(plan.algorithms)
    for preset in launch_variants(mpi, collectives):
        if library or preset.algorithm in plan.algorithms:
            planned += [
                _launch(
                    placed,
                    mpi,
                    binary,
                    variant,
                    {**needed, **variant.environment, **preset.environment},
                    (preset.operation, preset.algorithm),
                )
                for placed, variant in product(by_mapping(plan), variants)
            ]
    return planned


def by_mapping(plan: Plan) -> list[Plan]:
    """The plan with each of its mappings."""
    return [plan.model_copy(update={"map_by": mapping}) for mapping in plan.mappings or [plan.map_by]]


def app_launches(plan: Launching) -> list[Launch]:
    """One launch per variant, for applications. EnvironmentLack where the MPI or its compiler is missing."""
    mpi, binary, variants = _prepared(plan)
    if mpi.kind == "smpi":
        variants = [replace(variant, arguments=(*smpi.QUICK, *variant.arguments)) for variant in variants]
    return [_launch(plan, mpi, binary, variant, variant.environment) for variant in variants]


def counting_launches(plan: Launching) -> list[tuple[Counting, list[Launch]]]:
    """One launch per variant in which messages inside collectives are counted, by each way to count them.

    EnvironmentLack where this MPI cannot be watched, or it or its compiler is missing.
    """
    counters = counting(find(plan.mpi, plan.launcher or None))
    mpi, binary, variants = _prepared(plan)
    planned = []
    for how in counters:
        needed = {**launch_environment(mpi), **how.environment}
        if not _is_elsewhere(plan):
            needed |= how.on_one_host
        launches = [
            _launch(plan, mpi, binary, variant, {**needed, **variant.environment}) for variant in variants
        ]
        planned.append((how, launches))
    return planned


def with_transports(plan: Plan, progress: Callable[[str], None]) -> tuple[Plan, list[Tried]]:
    """The plan with a variant for each combination of transports that starts, in place of `all-transports`.

    They are tried with two ranks, on two of the hosts of the plan if it names any. EnvironmentLack where the MPI
    or its compiler is missing, or no combination starts.
    """
    check_hosts(plan.hosts)
    mpi = find(plan.mpi, plan.launcher or None)
    request = trial_request(plan.hosts, Path(plan.hostfile) if plan.hostfile else None)
    offers = candidates(mpi, offered(mpi), node(), between_nodes=_is_elsewhere(plan))
    results = tried(mpi, request, offers, progress)
    usable = [trial.variant for trial in results if not trial.why_not]
    if not usable:
        raise EnvironmentLack(
            f"no transport of {mpi.describe()} starts: {results[0].why_not}", "run `hockney doctor --run`"
        )
    named = [text for text in plan.variants if text != ALL]
    return plan.model_copy(update={"variants": [*named, *usable]}), results


def _prepared(plan: Launching) -> tuple[Mpi, Path, list[Variant]]:
    """The MPI, the runner that is built for it, and the variants to launch."""
    variants = [parse_variant(text) for text in plan.variants] or [Variant("default", (), {})]
    names = [variant.name for variant in variants]
    if len(set(names)) < len(names):
        raise RequestError(f"two variants have the same name: {', '.join(names)}", "name each one differently")
    refuse_far_too_many(plan)
    job = None if plan.mpi == "smpi" or plan.hosts or plan.hostfile else allocation()
    # Before anything is looked for, or compiled.
    if job is not None:
        expect_room(plan, job)
    check_hosts(plan.hosts)
    if plan.hostfile:
        check_hostfile(Path(plan.hostfile))
    mpi = find(plan.mpi, plan.launcher or None)
    if job is not None and (plan.nodes or 1) > 1:
        is_read = launchers.get(mpi.launcher_kind).job or batch_systems.get(job.system).is_read_by_launchers
        if not is_read:
            raise EnvironmentLack(
                f"{plan.nodes} nodes in {job.described()}: {mpi.launcher.name} does not take nodes from "
                f"{job.system}",
                f"choose its own launcher (--launcher), or name nodes that reach each other by ssh: --hosts "
                f"{','.join(job.hosts)}",
            )
    return mpi, runner_binary(mpi), variants


def _launch(
    plan: Launching,
    mpi: Mpi,
    binary: Path,
    variant: Variant,
    environment: Mapping[str, str],
    only: tuple[str, str] | None = None,
) -> Launch:
    request = LaunchRequest(
        ranks=plan.ranks,
        map_by=plan.map_by,
        bind_to=plan.bind_to,
        hosts=tuple(plan.hosts),
        hostfile=Path(plan.hostfile) if plan.hostfile else None,
        ppn=plan.per_node,
        threads=plan.threads,
        cpus=tuple(tuple(rank_cpus) for rank_cpus in plan.cpus),
        slots=tuple(tuple(rank_slots) for rank_slots in plan.slots),
        arguments=variant.arguments,
        environment=environment,
        # Simulated ranks need no cores.
        oversubscribe=mpi.kind != "smpi" and has_more_ranks_than_cores(plan),
        platform=Path(plan.platform) if plan.platform else None,
    )
    argv, added = command(mpi, request)
    rules = files_of_rules(mpi, argv, {**os.environ, **added})

    hint = "give the path of a SimGrid platform (XML)"
    platform_text = reading.text(Path(plan.platform), hint) if plan.platform else ""
    return Launch(
        name=plan.launch_name(variant.name, plan.map_by),
        variant=variant.name,
        mpi_name=mpi.describe(),
        mpi_why=mpi.where if str(mpi.wrapper) in mpi.where else f"{mpi.where}: {mpi.wrapper}",
        argv=[*argv, str(binary)],
        environment=added,
        provenance=LaunchLine(
            launcher=mpi.launcher_kind,
            mapping=plan.map_by,
            bind_to=request.binding,
            bind_to_asked=plan.bind_to,
            platform=platform_text,
            platform_sha256=hashlib.sha256(platform_text.encode()).hexdigest() if platform_text else "",
            environment={
                name: _recorded(name, value)
                for name, value in sorted({**os.environ, **added}.items())
                if name.startswith(SPEAKING)
            },
        ),
        describe=partial(_describe, mpi=mpi, variant=variant),
        only=only,
        rules=rules,
    )


def _recorded(name: str, value: str) -> str:
    """The value as provenance keeps it: not where it looks like a secret, and always as text."""
    if _SECRET_NAME.search(name) or _SECRET_VALUE.search(value):
        return HIDDEN
    return value.encode("utf-8", "backslashreplace").decode()


def refuse_far_too_many(plan: Launching) -> None:
    """RequestError for ranks that this host, the only one named, cannot run in any useful time."""
    if plan.mpi == "smpi":
        return
    cpus = inventory().cpus
    most = max(LEAST_REFUSED_RANKS, MOST_RANKS_PER_CPU * cpus)
    if plan.ranks > most and not _is_elsewhere(plan):
        raise RequestError(
            f"{plan.ranks} ranks on the {cpus} processors of this host: more than {most} only starve each other",
            f"--ranks {inventory().cores} has a core for each; or name the hosts with --hosts, or "
            "simulate a cluster with --mpi smpi:PLATFORM.xml",
        )


def expect_room(plan: Launching, given: JobAllocation) -> None:
    """EnvironmentLack where a job has fewer nodes, or fewer CPUs, than the ranks of a plan need."""
    asked = f"{counted(plan.ranks, 'rank')}" + (f" on {counted(plan.nodes, 'node')}" if plan.nodes else "")
    lacks_nodes = bool(given.hosts) and plan.nodes is not None and len(given.hosts) < plan.nodes
    # On some of its nodes alone, a plan has some of its CPUs.
    cpus = sorted(given.cpus, reverse=True)[: plan.nodes]
    if lacks_nodes or (cpus and plan.ranks * (plan.threads or 1) > sum(cpus)):
        raise EnvironmentLack(
            f"the plan has {asked}, and that is more than {given.described()}",
            "submit it with more nodes (--nodes, --ranks), or begin a smaller campaign in another folder",
        )


def _is_elsewhere(plan: Launching) -> bool:
    """Whether other hosts than this one may be named."""
    named = plan.hosts or plan.hostfile or (plan.nodes or 1) > 1
    return bool(named or any(name in os.environ for name in (*ALLOCATIONS, *HOST_FILES)))


def has_more_ranks_than_cores(plan: Launching) -> bool:
    """Whether this host has fewer cores than ranks and threads; False where other hosts are named."""
    if plan.hosts or plan.hostfile or any(name in os.environ for name in HOST_FILES):
        return False
    return plan.ranks * (plan.threads or 1) > places(plan)


def by_threads(plan: Launching) -> bool:
    """Whether ranks are placed on, or bound to, hardware threads."""
    return "hwthread" in (plan.map_by, plan.bind_to)


def places(plan: Launching) -> int:
    """The cores of this host, or its hardware threads where ranks are placed on those."""
    return inventory().cpus if by_threads(plan) else inventory().cores


def _describe(hello: Hello, mpi: Mpi, variant: Variant) -> Described:
    ranks = hello.ranks
    localities: dict[tuple[int, int], Locality] = {
        (a.rank, b.rank): locality(a, b) for a, b in combinations(seen(ranks), 2)
    }
    reasons = oversubscribed(ranks)
    warnings = [f"oversubscribed: {reason}: times are not latencies" for reason in reasons] + notes(ranks)
    warnings += [
        f"{broken.wrapper} was found first and cannot be used: {broken.message}" for broken in mpi.passed_over
    ]
    if hello.thread_level == "multiple" and any(OWN in place.progress_threads for place in ranks):
        warnings.append(f"{OWN} is set: the library expects calls of several threads, and each call takes longer")
    if mpi.kind == "smpi":
        warnings = ["simulated: these are the times of SimGrid's model of the platform, not of a machine"]
    if in_job() and (doubt := measures_a_wheel(mpi)):
        warnings.append(doubt)
    if not hello.mpi_t:
        warnings.append("this library has no MPI_T: its settings are not recorded, its own algorithms not listed")
    environment = {**os.environ, **variant.environment}
    per_host = Counter(place.host for place in ranks)
    # Of the C library and the caches of other hosts nobody tells.
    is_here = set(per_host) == {platform.node()}
    copy_B = largest_plain_copy_B(environment.get("GLIBC_TUNABLES", "")) if is_here else None
    line_B = cache_line_B() if is_here else None
    host_of = {place.rank: place.host for place in ranks}
    return Described(
        localities=localities,
        oversubscribed=bool(reasons),
        nodes=len(per_host),
        ppn=max(per_host.values()),
        provenance=LaunchLine(
            mpi={
                "kind": mpi.kind,
                "name": mpi.describe(),
                "version": mpi.version,
                "wrapper": str(mpi.wrapper),
                "launcher": str(mpi.launcher),
                "where": mpi.where,
                "library": hello.library,
                "standard": hello.standard,
                "thread_level": hello.thread_level,
            },
            eager_limit_B=eager_limits_B(mpi.kind, mpi.version, hello.settings, variant.arguments, environment),
            breaks_B=breaks_B(
                *(mpi.kind, mpi.version, hello.settings, variant.arguments, environment, copy_B, line_B)
            ),
            hosts=list({place.host: HostLine.of(place) for place in ranks}.values()),
            transports={} if mpi.kind == "smpi" else OFFERED.dump_python(offered(mpi), exclude_defaults=True),
            nodes=[describe_node([host_of[rank] for rank in group.ranks], group.node) for group in hello.nodes],
        ),
        warnings=warnings,
    )


def default_ranks(hosts: Sequence[str]) -> int:
    """One rank for each core: the slots of the hosts if given, else as many on each host as this one has.

    In a job, without hosts, as many as it was submitted for, or has CPUs.
    """
    if not hosts and (job := allocation()) is not None and (count := job.tasks or job.room):
        return max(2, count)
    slots = [host.partition(":")[2] for host in hosts]
    if slots and all(slot.isdigit() for slot in slots):
        return max(2, sum(int(slot) for slot in slots))
    return max(2, inventory().cores * max(1, len(hosts)))
