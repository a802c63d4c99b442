"""What a library can send messages by: what its own tools list, ready variants of it, and which of them start.

Tools: ompi_info(1), mpichversion(1), fi_info(1) of libfabric, ucx_info(1) of UCX.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from hockney.errors import EnvironmentLack, HockneyError
from hockney.records.nodes import NodeDescription
from hockney.runner.build import runner_binary
from hockney.runner.launchers.base import LaunchRequest, command
from hockney.runner.mpi import Mpi
from hockney.runner.probe import capture
from hockney.runner.session import Session
from hockney.runner.variants import DEFAULT, parse_variant

ALL = "all-transports"
"""In place of a variant: every one that starts."""
TELL_LIMIT_S = 20.0
TRIAL_LIMIT_S = 30.0
_FRAMEWORKS = ("pml", "btl", "mtl")
_BTLS = ("sm", "vader", "smcuda", "tcp", "openib", "uct", "ugni", "usnic", "portals4")
"""Those of Open MPI that carry messages; `self` goes with each, others are one-sided."""
_PROVIDERS = ("tcp", "shm", "verbs;ofi_rxm", "mlx", "psm3", "psm2", "opx", "cxi", "efa")
"""Of libfabric, tried by name where nothing lists them (libfabric, fabric(7))."""


@dataclass(frozen=True)
class Offered:
    """What the tools of a library list. Empty where a tool is not there: `tools` are those that answered.

    `components`: by framework of Open MPI; `device`: of MPICH (`ch4:ofi`); `providers`: of OFI; `ucx`: transport
    and device of UCX. fi_info and ucx_info beside the launcher speak of its libraries, others may not.
    """

    components: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    device: str = ""
    providers: tuple[str, ...] = ()
    ucx: tuple[tuple[str, str], ...] = ()
    tools: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """In words."""
        said = [f"{framework}: {', '.join(names)}" for framework, names in self.components.items()]
        said += [f"device: {self.device}"] if self.device else []
        said += [f"OFI providers: {', '.join(self.providers)}"] if self.providers else []
        if self.ucx:
            said.append("UCX: " + ", ".join(f"{transport} on {device}" for transport, device in self.ucx))
        return said


OFFERED = TypeAdapter(Offered)
"""Writes it as plain data, for a launch's line, and reads it: ValidationError for anything else."""


@dataclass(frozen=True)
class Tried:
    """A variant as `--variant` takes it, and why it does not start; empty where it does."""

    variant: str
    why_not: str = ""

    @property
    def name(self) -> str:
        """What stands before the colon."""
        return self.variant.partition(":")[0]


def offered(mpi: Mpi) -> Offered:
    """What the tools beside the launcher, else on the PATH, list; asked once in a process."""
    return _offered(mpi.kind, mpi.launcher, tuple(sorted(mpi.full_environment().items())))


@cache
def _offered(kind: str, launcher: Path, environment: tuple[tuple[str, str], ...]) -> Offered:
    tools: list[str] = []

    def said(program: str, *arguments: str, of: str = "") -> str:
        """What a tool prints; those `of` a library are beside its launcher, or they speak of another one."""
        beside = launcher.parent / program
        path = str(beside) if beside.is_file() else shutil.which(program) if not of else None
        if path is None or of not in ("", kind):
            return ""
        try:
            done = capture([path, *arguments], dict(environment), TELL_LIMIT_S)
        except EnvironmentLack:
            return ""
        if done.returncode == 0:
            tools.append(path)
        return done.stdout if done.returncode == 0 else ""

    components = said("ompi_info", "--parsable", of="openmpi")
    listed = re.findall(r"^mca:(\w+):(\w+):version:", components, re.MULTILINE)
    device = re.search(r"^MPICH Device:[ \t]*(\S.*)", said("mpichversion", of="mpich"), re.MULTILINE)
    providers = re.findall(r"^provider: (\S+)", said("fi_info"), re.MULTILINE)
    ucx = re.findall(r"^#\s+Transport: (\S+)\s*\n#\s+Device: (\S+)", said("ucx_info", "-d"), re.MULTILINE)
    return Offered(
        components={
            framework: tuple(sorted({name for of, name in listed if of == framework}))
            for framework in _FRAMEWORKS
            if any(of == framework for of, _ in listed)
        },
        device=",".join(device[1].split()) if device else "",
        providers=tuple(dict.fromkeys(providers)),
        ucx=tuple(dict.fromkeys(ucx)),
        tools=tuple(tools),
    )


def candidates(mpi: Mpi, offer: Offered, node: NodeDescription, *, between_nodes: bool) -> list[str]:
    """Variants as `--variant` takes them, the library's own choice first; whether they start is not known yet.

    `between_nodes`: a variant for each network device too; inside of a node messages pass none.
    """
    kinds = {"openmpi": _of_open_mpi, "mpich": _of_mpich, "intel": _of_intel}
    of_kind = kinds.get(mpi.kind)
    found = [f"{DEFAULT}:"] + ([] if of_kind is None else list(of_kind(offer, node, between_nodes)))
    return list(dict.fromkeys(found))


def _named(name: str, settings: str) -> str:
    """Words of a variant's name are letters, digits and a few signs."""
    return f"{re.sub('[^A-Za-z0-9_.+-]+', '-', name)}: {settings}"


def _interfaces(node: NodeDescription) -> list[str]:
    """Those that messages between nodes can go by; a port of a bridge has no address of its own."""
    return [
        each.name
        for each in node.interfaces
        if each.kind != "loopback" and each.state == "up" and not each.master
    ]


def _of_open_mpi(offer: Offered, node: NodeDescription, between_nodes: bool) -> Iterator[str]:
    pmls, btls, mtls = (offer.components.get(framework, ()) for framework in _FRAMEWORKS)
    if "ob1" in pmls:
        for btl in (name for name in _BTLS if name in btls):
            yield _named(f"ob1-{btl}", f"--mca pml ob1 --mca btl {btl},self")
            if btl == "tcp" and between_nodes:
                for interface in _interfaces(node):
                    settings = f"--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include {interface}"
                    yield _named(f"ob1-tcp-{interface}", settings)
    if "ucx" in pmls:
        for name, settings in _of_ucx(offer, node, between_nodes):
            yield _named(name, f"{settings} --mca pml ucx".strip())
    if "cm" in pmls:
        for mtl in mtls:
            if mtl != "ofi":
                yield _named(f"cm-{mtl}", f"--mca pml cm --mca mtl {mtl}")
                continue
            for provider in offer.providers or _PROVIDERS:
                words = f"--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include {shlex.quote(provider)}"
                yield _named(f"cm-ofi-{provider}", words)


def _of_ucx(offer: Offered, node: NodeDescription, between_nodes: bool) -> Iterator[tuple[str, str]]:
    """Names and settings: its own choice, each kind of transport, each device between nodes."""
    yield "ucx", ""
    for transports in ("sm", "tcp", *(("rc", "ud", "dc") if node.adapters else ())):
        yield f"ucx-{transports}", f"UCX_TLS={transports},self"
    if between_nodes:
        ports = [f"{port.adapter}:{port.port}" for port in node.adapters if port.state == "active"]
        of_tools = [
            device for transport, device in offer.ucx if transport not in ("self", "sysv", "posix", "cma")
        ]
        for device in dict.fromkeys([*ports, *_interfaces(node), *of_tools]):
            if device not in ("memory", "lo"):
                yield f"ucx-{device}", f"UCX_NET_DEVICES={device}"


def _of_mpich(offer: Offered, node: NodeDescription, between_nodes: bool) -> Iterator[str]:
    # Inside of a node messages go through shared memory unless that is switched off.
    network = "MPIR_CVAR_NOLOCAL=1"
    if "ofi" in offer.device:
        for provider in offer.providers or _PROVIDERS:
            yield _named(
                f"ofi-{provider}", f"{network} MPIR_CVAR_CH4_NETMOD=ofi FI_PROVIDER={shlex.quote(provider)}"
            )
    if "ucx" in offer.device:
        for name, settings in _of_ucx(offer, node, between_nodes):
            yield _named(name, f"{network} MPIR_CVAR_CH4_NETMOD=ucx {settings}".strip())
    if offer.device.startswith("ch3"):
        yield _named("nolocal", network)


def _of_intel(offer: Offered, _node: NodeDescription, _between_nodes: bool) -> Iterator[str]:
    yield _named("shm", "I_MPI_FABRICS=shm")
    for provider in offer.providers or _PROVIDERS:
        yield _named(f"ofi-{provider}", f"I_MPI_FABRICS=ofi FI_PROVIDER={shlex.quote(provider)}")


def tried(
    mpi: Mpi, request: LaunchRequest, variants: Sequence[str], progress: Callable[[str], None] = lambda _: None
) -> list[Tried]:
    """Start two ranks with each variant and let the second tell the first where it is.

    EnvironmentLack where the runner cannot be built.
    """
    binary = runner_binary(mpi)
    results = []
    for text in variants:
        progress(text.partition(":")[0])
        variant = parse_variant(text)
        settings = {**request.environment, **variant.environment}
        one = replace(request, ranks=2, arguments=variant.arguments, environment=settings)
        try:
            argv, environment = command(mpi, one)
            with Session([*argv, str(binary)], environment, TRIAL_LIMIT_S):
                results.append(Tried(text))
        except HockneyError as error:
            results.append(Tried(text, error.message))
    return results


def trial_request(hosts: Sequence[str] = (), hostfile: Path | None = None) -> LaunchRequest:
    """Two ranks, on two hosts where any are named."""
    elsewhere = bool(hosts or hostfile)
    return LaunchRequest(
        ranks=2,
        map_by="node" if elsewhere else "core",
        hosts=tuple(hosts),
        hostfile=hostfile,
        oversubscribe=not elsewhere and len(os.sched_getaffinity(0)) < 2,
    )
