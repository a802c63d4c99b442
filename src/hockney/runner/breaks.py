"""The sizes above which an MPI library does something else, as far as it and the C library say.

The eager limit is one of them. Others, found by moving what they are made of and seeing the jump move:

- Open MPI's `ob1` sends up to `INLINE_B` without a request where the layer below can (shared memory).
- MPICH copies by way of cells of shared memory: a message beyond one cell takes more of them. From a threshold on
  the receiver copies from the sender's memory (CMA).
- The C library, by which every MPI copies inside a host, leaves copies beyond a threshold to the processor's own
  string move (glibc on x86-64: beyond 2,112 B where the processor says that it is fast).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from hockney import reading
from hockney.errors import RequestError

SHARED_MEMORY = {
    "openmpi": ("btl_sm_eager_limit", "btl_vader_eager_limit"),
    "intel": ("MPIR_CVAR_INTEL_SHM_EAGER_THRESHOLD",),
}
NETWORK = {
    "openmpi": ("btl_tcp_eager_limit",),
    "mpich": ("MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD", "MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE"),
}
HEADER_B = {4: 56, 5: 80}
"""Open MPI's ob1 keeps room for the largest of its headers in an eager fragment: by major version. Of 4096 B that
they state, 4.1.4 sends 4040 B at once and 5.0.11 4016 B; one byte more waits. (Over TCP 65,456 of 65,536 B.)"""

INLINE_B = 256
"""`ob1` of Open MPI 1.8 to 5: a constant in its source (`mca_pml_ob1_send_inline`), by no control variable."""
CELL, CELL_HEADER_B = "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE", 80
"""Of 16,384 B that MPICH 4.3.2 states for a cell 16,304 B are data, of 69,632 B (4.0.3) 69,552 B, of 8,192 B
(5.0.2) 8,112 B."""
CMA, CMA_IS_ON = "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD", "MPIR_CVAR_CH4_CMA_ENABLE"
COPY = "glibc.cpu.x86_rep_movsb_threshold"


def eager_limits_B(
    kind: str,
    version: str,
    settings: Mapping[str, str],
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> dict[str, int]:
    """`shared_memory` and `network` → bytes of the largest eager message, where the library states a limit.

    Open MPI's limits are those of its byte transfer layers, which hold where messages go through `ob1` and count
    its headers: nothing is said where `arguments` or `environment` choose another layer above them (UCX, CM).
    Layers without shared memory (`--mca btl tcp,self`) make the network's limit hold inside a node, too.
    """
    environment = environment or {}
    if kind == "openmpi" and _chosen("pml", arguments, environment) not in ("", "ob1"):
        return {}
    header_B = _header_B(version) if kind == "openmpi" else 0
    limits = {}
    for channel, names in (("shared_memory", SHARED_MEMORY), ("network", NETWORK)):
        for name in names.get(kind, ()):
            value = settings.get(name, "")
            if value.isdigit() and int(value) > header_B:
                limits[channel] = int(value) - header_B
                break
    if not _shares_memory(arguments, environment):
        limits.pop("shared_memory", None)
        if "network" in limits:
            limits["shared_memory"] = limits["network"]
    return limits


def breaks_B(
    kind: str,
    settings: Mapping[str, str],
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    copy_B: int | None = None,
) -> dict[str, list[int]]:
    """`shared_memory` → further sizes, increasing, above which messages inside a host go another way.

    `copy_B` is the largest copy that the C library of that host makes by itself (`largest_plain_copy_B`).
    """
    environment = environment or {}
    if kind == "smpi" or (kind == "openmpi" and not _shares_memory(arguments, environment)):
        return {}
    found = {copy_B} if copy_B else set()
    if kind == "openmpi" and _chosen("pml", arguments, environment) in ("", "ob1"):
        found.add(INLINE_B)
    if kind == "mpich":
        # The first message that goes by CMA is of the threshold itself.
        beyond = [(CELL, CELL_HEADER_B), *([(CMA, 1)] if settings.get(CMA_IS_ON) != "0" else [])]
        found |= {int(value) - less_B for name, less_B in beyond if (value := settings.get(name, "")).isdigit()}
    return {"shared_memory": stated} if (stated := sorted(size_B for size_B in found if size_B > 0)) else {}


@cache
def largest_plain_copy_B(tunables: str = "", maps: Path = Path("/proc/self/maps")) -> int | None:
    """The largest copy that this host's C library makes without the processor's string move, None if it has none.

    glibc's loader lists it among its tunables, by the processor and by `tunables` (GLIBC_TUNABLES).
    """
    environment = {**os.environ, "GLIBC_TUNABLES": tunables}
    try:
        loaders = {line.split()[-1].decode() for _, line in reading.lines(maps) if b"/ld-" in line}
        for loader in sorted(loaders):
            asked = [loader, "--list-tunables"]
            listed = subprocess.run(asked, capture_output=True, text=True, timeout=5, env=environment).stdout
            for line in listed.splitlines():
                name, _, rest = line.partition(":")
                if name == COPY:
                    return int(rest.split()[0], 0)
    except (RequestError, OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None
    return None


def _shares_memory(arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether the byte transfer layers that the user chose for Open MPI hold that of shared memory."""
    layers = _chosen("btl", arguments, environment)
    inside = {"sm", "vader"} & set(layers.removeprefix("^").split(","))
    return not layers or bool(inside) != layers.startswith("^")


def _header_B(version: str) -> int:
    """By the nearest major version that is known; a version that is no number is newer than all."""
    major = version.partition(".")[0]
    newest = max(HEADER_B)
    return HEADER_B[min(max(int(major), min(HEADER_B)), newest) if major.isdigit() else newest]


def _chosen(framework: str, arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """The user's choice of components of a framework of Open MPI; empty where the library chooses."""
    for flag, name, value in zip(arguments, arguments[1:], arguments[2:], strict=False):
        if flag in ("--mca", "-mca") and name == framework:
            return value
    return environment.get(f"OMPI_MCA_{framework}", "")
