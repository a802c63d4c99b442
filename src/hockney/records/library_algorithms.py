"""What libraries call their algorithms, as the column `algorithm` has them: `tuned:ring`, `adjust:3`.

Numbers of coll_tuned_<operation>_algorithm were read in the sources of Open MPI 4.1.6 and 5.0.9.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

OPENMPI: Mapping[str, Mapping[str, str | None]] = {
    "barrier": {
        "linear": "linear",
        "double_ring": "double_ring",
        "recursive_doubling": "recursive_doubling",
        "bruck": "dissemination",
        "two_proc": "recursive_doubling",
        "tree": "tree",
    },
    "bcast": {
        "basic_linear": "linear",
        "chain": "chain",
        "pipeline": "pipeline",
        "split_binary_tree": "split_binary",
        "binary_tree": "binary",
        "binomial": "binomial",
        "knomial": "knomial",
        "scatter_allgather": "scatter_allgather",
        "scatter_allgather_ring": "scatter_allgather_ring",
    },
    "reduce": {
        "linear": "linear",
        "chain": "chain",
        "pipeline": "pipeline",
        "binary": "binary",
        "binomial": "binomial",
        "in-order_binary": None,
        "rabenseifner": "rabenseifner",
    },
    "allreduce": {
        "basic_linear": "reduce_bcast",
        "nonoverlapping": "reduce_bcast",
        "recursive_doubling": "recursive_doubling",
        "ring": "ring",
        "segmented_ring": "segmented_ring",
        "rabenseifner": "rabenseifner",
    },
    "allgather": {
        "linear": "linear",
        "bruck": "bruck",
        "recursive_doubling": "recursive_doubling",
        "ring": "ring",
        "neighbor": "neighbor_exchange",
        "two_proc": "recursive_doubling",
        "sparbit": None,
    },
    # With no limit of outstanding requests linear_sync has them all under way, as linear has.
    "alltoall": {
        "linear": "linear",
        "pairwise": "pairwise",
        "modified_bruck": "bruck",
        "linear_sync": "linear",
        "two_proc": "pairwise",
    },
    "gather": {"basic_linear": "linear", "binomial": "binomial", "linear_sync": "linear_sync"},
    "scatter": {"basic_linear": "linear", "binomial": "binomial", "linear_nb": "linear_nonblocking"},
    "reduce_scatter": {
        "non-overlapping": None,
        "recursive_halving": "recursive_halving",
        "ring": "ring",
        "butterfly": None,
    },
}
"""The algorithms of its component tuned by their numbers, from 1, up to version 5, and our schedule of each."""
ALGORITHMS = {operation: tuple(names) for operation, names in OPENMPI.items()}
_SETTINGS = (
    ("tuned", r"(?:OMPI_MCA_)?coll_tuned_(\w+)_algorithm"),
    ("adjust", r"I_MPI_ADJUST_(\w+)"),
    ("mpir", r"(?:MPIR_CVAR|MPICH)_(\w+)_INTRA_ALGORITHM"),
)
"""Components, and the settings that force an algorithm in them."""
_COMPONENTS = (("Open MPI", "tuned"), ("Intel MPI", "adjust"), ("MPICH", "mpir"), ("Cray MPICH", "mpir"))
"""Beginnings of a library's name, and its component."""
LIBRARIES_CHOICE = ("", "0", "auto", "default", "ignore")


def component_of(mpi: str) -> str:
    """The component whose algorithms a library's users force; "" where it is not known."""
    return next((component for library, component in _COMPONENTS if mpi.startswith(library)), "")


def forces(setting: str) -> tuple[str, str]:
    """The component and the operation whose algorithm a setting forces; ("", "") for another setting."""
    for component, pattern in _SETTINGS:
        if match := re.fullmatch(pattern, setting):
            return component, match[1].lower()
    return "", ""


def forced_by(settings: Mapping[str, str], operation: str) -> str:
    """The algorithm that settings force for an operation, as `library_algorithm` names it; "" where none does."""
    for name, value in settings.items():
        component, of = forces(name)
        if of == operation:
            return library_algorithm(operation, value, component) or f"{component}:{value}"
    return ""


def library_algorithm(operation: str, word: str, component: str) -> str:
    """The name of an algorithm that is written with its number or without its component; "" for none."""
    before, _, name = word.partition(":")
    if before in {component for component, _ in _SETTINGS}:
        component = before
    else:
        name = word
    if name in LIBRARIES_CHOICE:
        return "default"
    if component == "tuned":
        names = ALGORITHMS.get(operation, ())
        numbered = names[int(name) - 1] if name.isdecimal() and 0 < int(name) <= len(names) else name
        return f"tuned:{numbered}" if numbered in names else ""
    if component == "adjust":
        return f"adjust:{name}" if name.isdecimal() else ""
    return f"{component}:{name}" if component and not name.isdecimal() else ""


def library_names(operation: str, component: str) -> list[str]:
    """The names of an operation's algorithms, as far as this page has them."""
    names = [f"tuned:{name}" for name in ALGORITHMS.get(operation, ())]
    return names if component in ("", "tuned") else []
