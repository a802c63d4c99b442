"""MPICH's own choices, for device ch4, and the schedules behind its named algorithms.

Read in the sources of 4.0.2, 4.3.2 and 5.0.1: which composition, in maint/tuning/coll/ch4/generic.json; which
algorithm, in maint/tuning/coll/mpir/generic.json; names, in src/mpi/coll/cvars.txt. bcast, reduce, allreduce and
barrier go node by node, through shared memory inside a node (release_gather): no schedule. With one rank on each
node, and for the other collectives anywhere, it is the flat algorithms, messages only.
"""

from __future__ import annotations

import re

from hockney.predict.decisions.base import Decisions, LibraryCall, ScheduleChoice, libraries

BY_NODE = {"barrier", "bcast", "reduce", "allreduce"}

THROTTLE = 32
"""MPIR_CVAR_ALLTOALL_THROTTLE: `scattered` waits for that many exchanges before it begins the next ones."""

# The binomial broadcast numbers its ranks as our knomial of radix 2 does.
SCHEDULES: dict[str, dict[str, str]] = {
    "barrier": {"dissemination": "dissemination", "k_dissemination": "dissemination"},
    "bcast": {
        "binomial": "knomial",
        "scatter_recursive_doubling_allgather": "scatter_allgather",
        "scatter_ring_allgather": "scatter_allgather_ring",
    },
    "reduce": {"binomial": "binomial", "reduce_scatter_gather": "rabenseifner"},
    "allreduce": {
        "recursive_doubling": "recursive_doubling",
        "reduce_scatter_allgather": "rabenseifner",
        "ring": "ring",
    },
    "allgather": {"brucks": "bruck", "recursive_doubling": "recursive_doubling", "ring": "ring"},
    "alltoall": {"brucks": "bruck", "pairwise": "pairwise", "scattered": "linear"},
    "gather": {"binomial": "binomial"},
    "scatter": {"binomial": "binomial"},
    "reduce_scatter": {"recursive_halving": "recursive_halving", "pairwise": "pairwise"},
}
"""The names of MPIR_CVAR_<OPERATION>_INTRA_ALGORITHM that have a schedule here."""


def choose(call: LibraryCall) -> ScheduleChoice | None:
    """The flat choice; None before 4.0, after 5, and where a collective is known to go node by node."""
    by_node = call.nodes is not None and call.nodes < call.ranks and call.operation in BY_NODE
    if call.ranks < 2 or by_node or not (4, 0) <= call.version < (6,):
        return None
    return _in_effect(call, _automatic(call))


def run(name: str, call: LibraryCall) -> ScheduleChoice | None:
    """What MPIR_CVAR_<OPERATION>_INTRA_ALGORITHM runs; `mpir:` may stand before the name."""
    name = name.removeprefix("mpir:")
    if name not in SCHEDULES.get(call.operation, {}):
        return None
    return _in_effect(call, _automatic(call) if _is_refused(name, call) else name)


def _in_effect(call: LibraryCall, name: str) -> ScheduleChoice | None:
    if name == "scattered" and not 0 < call.ranks <= THROTTLE:
        return None
    schedule = SCHEDULES[call.operation][name]
    return ScheduleChoice(schedule, radix=2 if schedule == "knomial" else None)


def _is_refused(name: str, call: LibraryCall) -> bool:
    """Whether the automatic choice replaces the algorithm here (MPIR_CVAR_COLLECTIVE_FALLBACK)."""
    if not call.ranks or call.size_B < 0:
        return False
    if call.operation == "allgather" and name == "recursive_doubling":
        return call.ranks & (call.ranks - 1) != 0
    return _has_few(call) and name in ("reduce_scatter_allgather", "reduce_scatter_gather")


def _has_few(call: LibraryCall) -> bool:
    """Whether some rank of a power of two would have no element of its own."""
    return call.count < 1 << (call.ranks.bit_length() - 1)


def _automatic(call: LibraryCall) -> str:
    ranks, size_B, few = call.ranks, call.size_B, _has_few(call)
    power_of_two = ranks & (ranks - 1) == 0
    total_B = size_B * ranks
    match call.operation:
        case "barrier":
            return "dissemination"
        case "bcast":
            if ranks < 8 or size_B <= 12_288:
                return "binomial"
            halves = power_of_two and size_B <= 524_288
            return "scatter_recursive_doubling_allgather" if halves else "scatter_ring_allgather"
        case "reduce":
            return "binomial" if size_B <= 2048 or few else "reduce_scatter_gather"
        case "allreduce":
            return "recursive_doubling" if size_B <= 8 or few else "reduce_scatter_allgather"
        case "allgather":
            if power_of_two:
                return "recursive_doubling" if total_B < 524_288 else "ring"
            return "brucks" if total_B < 81_920 else "ring"
        case "alltoall":
            if ranks >= 8 and size_B <= 256:
                return "brucks"
            return "scattered" if size_B <= 32_768 else "pairwise"
        case "reduce_scatter":
            return "recursive_halving" if total_B < 524_288 else "pairwise"
        case "gather" | "scatter":
            return "binomial"
        case _:
            raise ValueError(f"{call.operation} is none of the collectives")


libraries.register("mpich")(
    Decisions(
        re.compile(r"mpich\b"),
        choose,
        run,
        SCHEDULES,
        "decisions of MPICH 4.0 to 5 with device ch4. There is no schedule for bcast, reduce, allreduce and "
        "barrier within a node (shared memory), nor for alltoall of over 32 ranks and 256 B to 32 KiB",
    )
)
