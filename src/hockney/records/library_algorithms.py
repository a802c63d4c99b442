"""What libraries call their algorithms, as the column `algorithm` has them: `tuned:ring`, `adjust:3`.

Numbers of coll_tuned_<operation>_algorithm were read in the sources of Open MPI 4.1.6 and 5.0.9.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

ALGORITHMS: Mapping[str, tuple[str, ...]] = {
    "allgather": ("linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc", "sparbit"),
    "allreduce": (
        "basic_linear",
        "nonoverlapping",
        "recursive_doubling",
        "ring",
        "segmented_ring",
        "rabenseifner",
    ),
    "alltoall": ("linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"),
    "barrier": ("linear", "double_ring", "recursive_doubling", "bruck", "two_proc", "tree"),
    "bcast": (
        *("basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial"),
        *("scatter_allgather", "scatter_allgather_ring"),
    ),
    "gather": ("basic_linear", "binomial", "linear_sync"),
    "reduce": ("linear", "chain", "pipeline", "binary", "binomial", "in-order_binary", "rabenseifner"),
    "reduce_scatter": ("non-overlapping", "recursive_halving", "ring", "butterfly"),
    "scatter": ("basic_linear", "binomial", "linear_nb"),
}
"""Of Open MPI's component tuned, by their numbers, from 1, up to version 5."""
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
