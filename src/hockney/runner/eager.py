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


def eager_limits_B(kind: str, settings: Mapping[str, str], arguments: Sequence[str] = ()) -> dict[str, int]:
    """`shared_memory` and `network` → bytes, each only where the library states a positive number.

    Open MPI's limits are those of its byte transfer layers; a variant's `arguments` that leave out the
    shared-memory layer (`--mca btl tcp,self`) make the network's limit hold inside a node, too.
    """
    limits = {}
    for channel, names in (("shared_memory", SHARED_MEMORY), ("network", NETWORK)):
        for name in names.get(kind, ()):
            value = settings.get(name, "")
            if value.isdigit() and int(value) > 0:
                limits[channel] = int(value)
                break
    layers = _layers(arguments)
    if layers and not {"sm", "vader"} & set(layers):
        limits.pop("shared_memory", None)
        if "network" in limits:
            limits["shared_memory"] = limits["network"]
    return limits


def _layers(arguments: Sequence[str]) -> list[str]:
    for flag, name, value in zip(arguments, arguments[1:], arguments[2:], strict=False):
        if flag in ("--mca", "-mca") and name == "btl" and not value.startswith("^"):
            return value.split(",")
    return []
