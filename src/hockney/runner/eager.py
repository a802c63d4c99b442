"""The eager limit that an MPI library reports of itself, from its control variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    layers = _chosen("btl", arguments, environment)
    inside = {"sm", "vader"} & set(layers.removeprefix("^").split(","))
    if layers and bool(inside) == layers.startswith("^"):
        limits.pop("shared_memory", None)
        if "network" in limits:
            limits["shared_memory"] = limits["network"]
    return limits


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
