"""MPICH's own choices, for device ch4, and the schedules behind its named algorithms.

Read in the sources of 4.0.2, 4.3.2 and 5.0.1: which composition, in maint/tuning/coll/ch4/generic.json; which
algorithm, in maint/tuning/coll/mpir/generic.json; names, in src/mpi/coll/cvars.txt. bcast, reduce, allreduce and
barrier go node by node, through shared memory inside a node (release_gather): no schedule. With one rank on each
node, and for the other collectives anywhere, it is the flat algorithms, messages only.
"""

from __future__ import annotations

import re

from hockney.predict.decisions.base import Decisions, ScheduleChoice, Version, libraries, spelled

BY_NODE = {"barrier", "bcast", "reduce", "allreduce"}

THROTTLE = 32
"""MPIR_CVAR_ALLTOALL_THROTTLE: `scattered` waits for that many exchanges before it begins the next ones."""

# The binomial broadcast numbers its ranks as our knomial of radix 2 does.
SCHEDULES: dict[str, dict[str, ScheduleChoice]] = {
    "barrier": {
        "dissemination": ScheduleChoice("dissemination"),
        "k_dissemination": ScheduleChoice("dissemination"),
    },
    "bcast": {
        "binomial": ScheduleChoice("knomial", radix=2),
        "scatter_recursive_doubling_allgather": ScheduleChoice("scatter_allgather"),
        "scatter_ring_allgather": ScheduleChoice("scatter_allgather_ring"),
    },
    "reduce": {"binomial": ScheduleChoice("binomial"), "reduce_scatter_gather": ScheduleChoice("rabenseifner")},
    "allreduce": {
        "recursive_doubling": ScheduleChoice("recursive_doubling"),
        "reduce_scatter_allgather": ScheduleChoice("rabenseifner"),
        "ring": ScheduleChoice("ring"),
    },
    "allgather": {
        "brucks": ScheduleChoice("bruck"),
        "recursive_doubling": ScheduleChoice("recursive_doubling"),
        "ring": ScheduleChoice("ring"),
    },
    "alltoall": {
        "brucks": ScheduleChoice("bruck"),
        "pairwise": ScheduleChoice("pairwise"),
        "scattered": ScheduleChoice("linear"),
    },
    "gather": {"binomial": ScheduleChoice("binomial")},
    "scatter": {"binomial": ScheduleChoice("binomial")},
    "reduce_scatter": {
        "recursive_halving": ScheduleChoice("recursive_halving"),
        "pairwise": ScheduleChoice("pairwise"),
    },
}
"""The names of MPIR_CVAR_<OPERATION>_INTRA_ALGORITHM that have a schedule here."""


def default(
    operation: str, ranks: int, size_B: int, version: Version, *, nodes: int | None = 1, element_B: int = 4
) -> ScheduleChoice | None:
    """The flat choice; None before 4.0, after 5, and where a collective is known to go node by node."""
    by_node = nodes is not None and nodes < ranks and operation in BY_NODE
    if ranks < 2 or by_node or not (4, 0) <= version < (6,):
        return None
    return _in_effect(operation, _automatic(operation, ranks, size_B, element_B), ranks)


def named(
    operation: str,
    algorithm: str,
    version: Version,  # noqa: ARG001 – the names have meant the same in all versions read
    *,
    ranks: int | None = None,
    size_B: int | None = None,
    segment_B: int = 0,  # noqa: ARG001 – none of them takes segments
    element_B: int = 4,
) -> ScheduleChoice | None:
    """What MPIR_CVAR_<OPERATION>_INTRA_ALGORITHM runs; `mpir:` may stand before the name."""
    name = spelled(algorithm.removeprefix("mpir:"))
    if name not in SCHEDULES.get(operation, {}):
        return None
    if ranks is not None and size_B is not None and _refused(operation, name, ranks, size_B, element_B):
        name = _automatic(operation, ranks, size_B, element_B)
    return _in_effect(operation, name, ranks)


def _in_effect(operation: str, name: str, ranks: int | None) -> ScheduleChoice | None:
    if name == "scattered" and (ranks is None or ranks > THROTTLE):
        return None
    return SCHEDULES[operation][name]


def _refused(operation: str, name: str, ranks: int, size_B: int, element_B: int) -> bool:
    """Whether the automatic choice replaces the algorithm here (MPIR_CVAR_COLLECTIVE_FALLBACK)."""
    if operation == "allgather" and name == "recursive_doubling":
        return ranks & (ranks - 1) != 0
    few = -(-size_B // element_B) < 1 << (ranks.bit_length() - 1)
    return few and name in ("reduce_scatter_allgather", "reduce_scatter_gather")


def _automatic(operation: str, ranks: int, size_B: int, element_B: int) -> str:
    power_of_two = ranks & (ranks - 1) == 0
    few = -(-size_B // element_B) < 1 << (ranks.bit_length() - 1)
    total_B = size_B * ranks
    match operation:
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
            raise ValueError(f"{operation} is none of the collectives")


libraries.register("mpich")(
    Decisions(
        re.compile(r"mpich\b"),
        default,
        named,
        SCHEDULES,
        "decisions of MPICH 4.0 to 5 with device ch4: bcast, reduce, allreduce and barrier of several ranks on a "
        "node go through shared memory and have no schedule, nor has alltoall with more than 32 ranks between "
        "256 B and 32 KiB",
    )
)
