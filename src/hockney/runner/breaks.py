"""The sizes above which an MPI library does something else, as far as it and the C library say.

The eager limit is one of them. Others, found by moving what they are made of and seeing the jump move:

- Inside a host a short message shares the cache line of the library's header: one byte more needs a second line.
  (Found by measuring every byte: the jump comes back exactly one line, 64 B, further on.)
- Open MPI's `ob1` sends up to `INLINE_B` without a request where the layer below can (shared memory).
- MPICH copies by way of cells of shared memory: a message beyond one cell takes more of them. From a threshold on
  the receiver copies from the sender's memory (CMA).
- The C library, by which both copy inside a host, leaves copies beyond a threshold to the processor's own string
  move (glibc on x86-64: beyond 2,112 B where the processor says that short ones are fast, too).
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from hockney import reading
from hockney.errors import RequestError
from hockney.units import version_in

SHARED_MEMORY = {
    "openmpi": ("btl_sm_eager_limit", "btl_vader_eager_limit"),
    "intel": ("MPIR_CVAR_INTEL_SHM_EAGER_THRESHOLD",),
}
NETWORK = {
    "openmpi": ("btl_tcp_eager_limit",),
    "mpich": ("MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD", "MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE"),
}
HEADER_B = {"4": 56, "5": 80}
"""Open MPI's ob1 keeps room for the largest of its headers in an eager fragment: by version. Of 4096 B that they
state, 4.1.4 sends 4040 B at once and 5.0.11 4016 B; one byte more waits. (Over TCP 65,456 of 65,536 B.)"""

LINE_B = 64
FIRST_LINE_B = {"openmpi": {"4": 10, "5": 10}, "mpich": {"4.0": 28, "4.3": 32, "5": 32}}
"""What the header leaves of the first cache line of `LINE_B`, by version. Of Open MPI 64 − 40 − 14: the headers
of shared memory's fragment and of `ob1`'s match, as their source has them. Jumps measured to the byte: 4.1.4 and
5.0.11 at 10 and 74 B; MPICH 4.0.2 at 28 and 92 B, 4.3.2 and 5.0.2 at 32 and 96 B."""

INLINE_B = 256
"""`ob1` of Open MPI 1.8 to 5: a constant in its source (`mca_pml_ob1_send_inline`), by no control variable."""
CELL, CELL_HEADER_B = "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE", 80
"""Of 16,384 B that MPICH 4.3.2 states for a cell 16,304 B are data, of 69,632 B (4.0.3) 69,552 B, of 8,192 B
(5.0.2) 8,112 B."""
CMA, CMA_IS_ON = "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD", "MPIR_CVAR_CH4_CMA_ENABLE"
NOLOCAL = "MPIR_CVAR_NOLOCAL"
COPY = "glibc.cpu.x86_rep_movsb_threshold"
_LOADER = re.compile(r"ld(-linux.*|-[0-9.]+)?\.so(\.[0-9]+)*")


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
    header_B = _of_version(HEADER_B, version) if kind == "openmpi" else 0
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
    version: str,
    settings: Mapping[str, str],
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    copy_B: int | None = None,
    line_B: int | None = None,
) -> dict[str, list[int]]:
    """`shared_memory` → further sizes, increasing, above which messages inside a host go another way.

    `copy_B` is the largest copy that the C library of that host makes by itself (`largest_plain_copy_B`),
    `line_B` its cache line (`cache_line_B`). Of libraries whose jumps nobody has looked for nothing is said.
    """
    environment = environment or {}
    if kind not in ("openmpi", "mpich") or (kind == "openmpi" and not _shares_memory(arguments, environment)):
        return {}
    if kind == "mpich" and environment.get(NOLOCAL, "0") not in ("0", "no", "false"):
        return {}
    found = {copy_B} if copy_B else set()
    through_ob1 = kind == "openmpi" and _chosen("pml", arguments, environment) in ("", "ob1")
    if through_ob1:
        found.add(INLINE_B)
    # Older MPICHs, and those of others, may have no such cells.
    if line_B == LINE_B and (through_ob1 or CELL in settings):
        found.add(_of_version(FIRST_LINE_B[kind], version))
    if kind == "mpich":
        # The first message that goes by CMA is of the threshold itself.
        beyond = [(CELL, CELL_HEADER_B), *([(CMA, 1)] if settings.get(CMA_IS_ON) != "0" else [])]
        found |= {int(value) - less_B for name, less_B in beyond if (value := settings.get(name, "")).isdigit()}
    return {"shared_memory": stated} if (stated := sorted(size_B for size_B in found if size_B > 0)) else {}


def cache_line_B(cpu: Path = Path("/sys/devices/system/cpu/cpu0")) -> int | None:
    """Bytes of a line of this host's first cache, as the kernel says; None where it does not."""
    try:
        size = reading.content(cpu / "cache/index0/coherency_line_size").strip()
    except RequestError:
        return None
    return int(size) if size.isdigit() else None


@cache
def largest_plain_copy_B(tunables: str = "", proc: Path = Path("/proc")) -> int | None:
    """The largest copy that this host's C library makes without the processor's string move.

    glibc's loader lists it among its tunables, by the processor and by `tunables` (GLIBC_TUNABLES). None if the
    processor has no fast string move (`erms`), or `tunables` forbid it, or another C library is used.
    """
    try:
        if "-ERMS" in tunables or not any(b" erms" in line for _, line in reading.lines(proc / "cpuinfo")):
            return None
        lines = [line.decode() for _, line in reading.lines(proc / "self/maps")]
    except (RequestError, UnicodeDecodeError):
        return None
    mapped = {Path(line.split()[-1]) for line in lines if "/" in line}
    listed = (_tunables(path, tunables) for path in sorted(mapped) if _LOADER.fullmatch(path.name))
    return next((threshold for text in listed if (threshold := _threshold(text)) is not None), None)


def _tunables(loader: Path, tunables: str) -> str:
    """What a loader lists; empty where it lists nothing."""
    environment = {**os.environ, "GLIBC_TUNABLES": tunables}
    asked = [str(loader), "--list-tunables"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, timeout=5, env=environment).stdout
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return ""


def _threshold(listed: str) -> int | None:
    found = re.search(rf"^{re.escape(COPY)}: (0x[0-9a-f]+|[0-9]+)\b", listed, re.MULTILINE)
    return int(found[1], 0) if found else None


def _shares_memory(arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether the byte transfer layers that the user chose for Open MPI hold that of shared memory."""
    layers = _chosen("btl", arguments, environment)
    inside = {"sm", "vader"} & set(layers.removeprefix("^").split(","))
    return not layers or bool(inside) != layers.startswith("^")


def _of_version(known: Mapping[str, int], version: str) -> int:
    """The value of the newest known version that is not newer; of the oldest for what is older than all.

    A version that is no number is newer than all.
    """
    versions, asked = sorted(known, key=version_in), version_in(version)
    if not asked:
        return known[versions[-1]]
    return known[next((version for version in reversed(versions) if version_in(version) <= asked), versions[0])]


def _chosen(framework: str, arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """The user's choice of components of a framework of Open MPI; empty where the library chooses."""
    for flag, name, value in zip(arguments, arguments[1:], arguments[2:], strict=False):
        if flag in ("--mca", "-mca") and name == framework:
            return value
    return environment.get(f"OMPI_MCA_{framework}", "")
