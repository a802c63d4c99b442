"""Open MPI's component `tuned`: its fixed decisions and what its named algorithms do.

Read in the sources of 1.10.7, 2.1.6, 3.1.6, 4.0.7, 4.1.5 and 5.0.10: which algorithm, in
ompi/mca/coll/tuned/coll_tuned_decision_fixed.c (the same rules up to 4.0, other ones from 4.1.0 on); default
segment size 0, fan-out of chains 4, radix 4 and no limit of outstanding requests, in
coll_tuned_<operation>_decision.c and coll_tuned_component.c; what replaces an algorithm outside of its
conditions, in ompi/mca/coll/base/coll_base_<operation>.c.
"""

from __future__ import annotations

import re
from dataclasses import replace

from hockney.predict.decisions._openmpi_fixed import look_up
from hockney.predict.decisions.base import (
    Decisions,
    InnerCollective,
    LibraryCall,
    ScheduleChoice,
    Version,
    libraries,
)
from hockney.records.library_algorithms import OPENMPI

FANOUT = 4
"""coll_tuned_init_chain_fanout and coll_tuned_bcast_knomial_radix, when an algorithm is forced."""

SCHEDULES = {
    operation: {name.replace("-", "_"): schedule for name, schedule in schedules.items()}
    for operation, schedules in OPENMPI.items()
}
"""The names of the MPI_T enumerations with `_` alone, and the schedule of each."""

SPELLINGS: dict[str, dict[str, str]] = {
    "barrier": {"dissemination": "bruck"},
    "bcast": {"linear": "basic_linear", "binary": "binary_tree", "split_binary": "split_binary_tree"},
    "reduce": {"in_order": "in_order_binary"},
    "allreduce": {"linear": "basic_linear", "non_overlapping": "nonoverlapping"},
    "allgather": {"neighbor_exchange": "neighbor"},
    "alltoall": {"basic_linear": "linear", "bruck": "modified_bruck"},
    "gather": {"linear": "basic_linear", "linear_synch": "linear_sync"},
    "scatter": {"linear": "basic_linear"},
    "reduce_scatter": {"nonoverlapping": "non_overlapping", "recursive_halfing": "recursive_halving"},
}
"""Other names for them in tables, and one of 3.1 and before."""

HAN = {"barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather"}
"""What component `han` takes over from 5.0 on when ranks share several nodes: priority 35 against 30."""

SIZED = {"bcast", "reduce", "allreduce"}
"""Collectives with a substitute for few elements."""

SEGMENTED = {
    "bcast": {"chain", "pipeline", "split_binary", "binary", "binomial", "knomial"},
    "reduce": {"chain", "pipeline", "binary", "binomial"},
    "allreduce": {"segmented_ring"},
    "gather": {"linear_sync"},
}
"""The schedules that take segments."""


def is_of_han(operation: str, version: Version, ranks: int, nodes: int | None) -> bool:
    """Whether `han` may serve the operation, in place of `tuned`; `nodes` None: several, nobody says how many.

    On one node it is not asked; where no two ranks share a node it passes every call on, to `tuned`, and so it
    does with most where nodes have different numbers of ranks.
    """
    return version >= (5, 0) and operation in HAN and (nodes is None or 1 < nodes < ranks)


def choose(call: LibraryCall) -> ScheduleChoice | None:
    """The fixed decision of `tuned`; None before 1.10, after 5, and where `han` decides."""
    operation, ranks, version = call.operation, call.ranks, call.version
    if ranks < 2 or not (1, 10) <= version < (6,) or is_of_han(operation, version, ranks, call.nodes):
        return None
    segment_B = 0
    if version >= (4, 1):
        algorithm = look_up(operation, ranks, call.size_B * (ranks if operation == "reduce_scatter" else 1))
    else:
        algorithm, segment_B = _before_4_1(call)
    # The fixed decisions pass on a fan-out of 0, which makes one chain.
    return _choice(algorithm, replace(call, segment_B=segment_B), fanout=1)


def run(name: str, call: LibraryCall) -> ScheduleChoice | None:
    """What coll_tuned_<operation>_algorithm = `name` runs; `tuned:` may stand before the name."""
    name = name.removeprefix("tuned:")
    name = SPELLINGS.get(call.operation, {}).get(name, name)
    return _choice(name, call, FANOUT) if name in SCHEDULES.get(call.operation, {}) else None


def _choice(algorithm: str, call: LibraryCall, fanout: int) -> ScheduleChoice | None:
    parts: tuple[InnerCollective, ...] | None = ()
    if call.ranks:
        if algorithm == "two_proc" and call.ranks != 2:
            return None
        algorithm = _for_ranks(algorithm, call)
        if call.size_B >= 0:
            algorithm = _for_size(algorithm, call) if call.operation in SIZED else algorithm
            parts = _parts(algorithm, call)
    schedule = SCHEDULES[call.operation][algorithm]
    if schedule is None or parts is None:
        return None
    in_segments = schedule in SEGMENTED.get(call.operation, ()) and call.segment_B > 0
    radix = {"chain": fanout, "knomial": FANOUT}.get(schedule)
    return ScheduleChoice(schedule, call.segment_B if in_segments else None, radix, parts)


def _for_ranks(algorithm: str, call: LibraryCall) -> str:
    """What coll/base runs instead for this number of ranks."""
    if call.operation == "allgather" and algorithm == "recursive_doubling" and call.ranks & (call.ranks - 1):
        return "bruck"
    if call.operation == "allgather" and algorithm == "neighbor" and call.ranks % 2:
        return "ring"
    return algorithm


def _for_size(algorithm: str, call: LibraryCall) -> str:
    """What coll/base runs instead for so few elements; `ring` and `segmented_ring` are those of allreduce."""
    ranks, segment_B = call.ranks, call.segment_B
    element_B = 1 if call.operation == "bcast" else call.element_B
    count = -(-call.size_B // element_B)
    if algorithm == "segmented_ring":
        in_segment = segment_B // element_B if element_B <= segment_B < call.size_B else count
        if count < ranks * in_segment:
            algorithm = "ring"
    if algorithm == "ring" and count < ranks:
        return "recursive_doubling"
    power = 1 << (ranks.bit_length() - 1)
    if algorithm == "rabenseifner" and count < power:
        return "linear" if call.operation == "reduce" else "basic_linear"
    if algorithm.startswith("scatter_allgather") and count < ranks:
        return "basic_linear"
    # Both halves must fill a segment; the substitute is a chain of fan-out 1.
    if algorithm == "split_binary_tree" and (count < 2 or segment_B > count // 2 * element_B):
        return "pipeline"
    return algorithm


def _parts(algorithm: str, call: LibraryCall) -> tuple[InnerCollective, ...] | None:
    """The collectives that an algorithm calls, unless they are the schedule's; None where one is unknown."""
    size_B = call.size_B
    match call.operation, algorithm:
        case "allreduce", "basic_linear":
            linear = ScheduleChoice("linear")
            return InnerCollective("reduce", size_B, linear), InnerCollective("bcast", size_B, linear)
        case "allreduce", "nonoverlapping":
            ours, calls = "binomial", (("reduce", size_B), ("bcast", size_B))
        case "allgather", "linear":
            ours, calls = "linear", (("gather", size_B), ("bcast", size_B * call.ranks))
        case _:
            return ()
    parts = []
    for inner, inner_B in calls:
        choice = choose(replace(call, operation=inner, size_B=inner_B, nodes=1))
        if choice is None:
            return None
        parts.append(InnerCollective(inner, inner_B, choice))
    return () if all(part.choice == ScheduleChoice(ours) for part in parts) else tuple(parts)


def _before_4_1(call: LibraryCall) -> tuple[str, int]:
    """Algorithm and segment size up to 4.0; the constants are fits of 2 Gb/s Myrinet of 2006."""
    ranks, n = call.ranks, call.size_B
    power_of_two = ranks & (ranks - 1) == 0
    match call.operation:
        case "barrier":
            if ranks == 2:
                return "two_proc", 0
            return ("recursive_doubling" if power_of_two else "bruck"), 0
        case "bcast":
            return _bcast_before_4_1(ranks, n)
        case "reduce":
            return _reduce_before_4_1(ranks, n, call.element_B)
        case "allreduce":
            if n < 10_000:
                return "recursive_doubling", 0
            if call.count <= ranks:
                return "nonoverlapping", 0
            return ("ring", 0) if n <= ranks << 20 else ("segmented_ring", 1 << 20)
        case "reduce_scatter":
            total = n * ranks
            halving = total <= 12 << 10 or (total <= 256 << 10 and power_of_two) or ranks >= 0.0012 * total + 8.0
            return ("recursive_halving" if halving else "ring"), 0
        case "allgather":
            if ranks == 2:
                return "two_proc", 0
            if n * ranks < 50_000:
                return ("recursive_doubling" if power_of_two else "bruck"), 0
            return ("ring" if ranks % 2 else "neighbor"), 0
        case "alltoall":
            if ranks == 2:
                return "two_proc", 0
            if n < 200 and ranks > 12:
                return "modified_bruck", 0
            return ("linear" if n < 3000 else "pairwise"), 0
        case "gather":
            if n > 6000:
                return "linear_sync", 32 << 10 if n > 92_160 else 1 << 10
            return ("binomial" if ranks > 60 or (ranks > 10 and n < 1024) else "basic_linear"), 0
        case "scatter":
            return ("binomial" if ranks > 10 and n < 300 else "basic_linear"), 0
        case _:
            raise ValueError(f"{call.operation} is none of the collectives")


def _bcast_before_4_1(ranks: int, n: int) -> tuple[str, int]:
    if n < 2048:
        return "binomial", 0
    if n < 370_728:
        return "split_binary_tree", 1 << 10
    if ranks < 1.6134e-6 * n + 2.1102:
        return "pipeline", 128 << 10
    if ranks < 13:
        return "split_binary_tree", 8 << 10
    if ranks < 2.3679e-6 * n + 1.1787:
        return "pipeline", 64 << 10
    return "pipeline", 16 << 10 if ranks < 3.2118e-6 * n + 8.7936 else 8 << 10


def _reduce_before_4_1(ranks: int, n: int, element_B: int) -> tuple[str, int]:
    if ranks < 8 and n < 512:
        return "linear", 0
    if n < 2048 or (ranks < 8 and n < 20_480) or n <= element_B:
        return "binomial", 0
    k = n / 1024.0
    if ranks > 0.6016 * k + 1.3496:
        return "binomial", 1 << 10
    if ranks > 0.0410 * k + 9.7128:
        return "pipeline", 1 << 10
    if ranks > 0.0422 * k + 1.1614:
        return "binary", 32 << 10
    return "pipeline", 32 << 10 if ranks > 0.0033 * k + 1.6761 else 64 << 10


libraries.register("openmpi")(
    Decisions(
        re.compile(r"open ?-?mpi\b"),
        choose,
        run,
        SCHEDULES,
        "decisions of Open MPI's own component tuned, versions 1.10 to 5. From 5.0 on, component han serves "
        "ranks that share several nodes, except for alltoall and reduce_scatter; it has no schedule. A vendor's "
        "component such as hcoll or ucc decides before it",
        lambda operation, version, ranks, nodes: "han" if is_of_han(operation, version, ranks, nodes) else "",
    )
)
