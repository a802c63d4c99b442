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


def eager_limits_B(
    kind: str,
    settings: Mapping[str, str],
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> dict[str, int]:
    """`shared_memory` and `network` → bytes, each only where the library states a positive number.

    Open MPI's limits are those of its byte transfer layers, which hold where messages go through `ob1`: nothing
    is said where `arguments` or `environment` choose another layer above them (UCX, CM). A choice of layers
    without shared memory (`--mca btl tcp,self`) makes the network's limit hold inside a node, too.
    """
    environment = environment or {}
    if kind == "openmpi" and _chosen("pml", arguments, environment) not in ("", "ob1"):
        return {}
    limits = {}
    for channel, names in (("shared_memory", SHARED_MEMORY), ("network", NETWORK)):
        for name in names.get(kind, ()):
            value = settings.get(name, "")
            if value.isdigit() and int(value) > 0:
                limits[channel] = int(value)
                break
    layers = _chosen("btl", arguments, environment)
    inside = {"sm", "vader"} & set(layers.removeprefix("^").split(","))
    if layers and bool(inside) == layers.startswith("^"):
        limits.pop("shared_memory", None)
        if "network" in limits:
            limits["shared_memory"] = limits["network"]
    return limits


def _chosen(framework: str, arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """The user's choice of components of a framework of Open MPI; empty where the library chooses."""
    for flag, name, value in zip(arguments, arguments[1:], arguments[2:], strict=False):
        if flag in ("--mca", "-mca") and name == framework:
            return value
    return environment.get(f"OMPI_MCA_{framework}", "")
