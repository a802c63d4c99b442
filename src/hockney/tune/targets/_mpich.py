"""What both forms of MPICH share: words for algorithms, and the selection that its library has built in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path

from hockney import reading
from hockney.errors import EnvironmentLack
from hockney.runner.library import SELECTION
from hockney.tune.rules import Rule
from hockney.tune.targets.base import PROOF, Reader, RuleForm

BANNER = "MPICH"
Tree = dict[str, "Tree"]
"""A selection in JSON: branches below branches, each an object; the leaves are empty."""
COMPONENT = "mpir:"
_NAME = re.compile(r"mpir:([a-z][a-z0-9_]*)")
_SELECTION = re.compile(rb'\{"collective=[^\0]*')
_FEWER = re.compile(r"comm_size<(\d+)")
_OF_COMMUNICATORS = re.compile(
    r"(?:collective|comm_type|comm_hierarchy|comm_size|comm_avg_ppn|is_node_consecutive)\b.*|.*=any"
)
_FORM = re.compile(r"MPIR_[A-Z][a-z_]*_(?:intra|allcomm)_[a-z0-9_]+")
MOST_LIBRARY_B = 2**28
MOST_RADIX = 2**16
MOST_SEGMENT_B = 2**31 - 1


@dataclass(frozen=True)
class Parameters:
    """What an algorithm takes: its variables, its usual radix, and what else a selection must say of it.

    A selection that leaves one out leaves it to chance: MPICH reads it from memory that nothing was written to.
    `others` are the defaults of their variables, with which the algorithm was measured.
    """

    radix_variable: str
    radix: int = 2
    segment_variable: str = ""
    others: Mapping[str, str] = field(default_factory=dict)


_TREE = {"tree_type": "kary", "is_non_blocking": "1"}
_TWICE = {"single_phase_recv": "0"}
PARAMETERS: Mapping[str, Parameters] = {
    "allgather:k_brucks": Parameters("ALLGATHER_BRUCKS_KVAL"),
    "allgather:recexch_doubling": Parameters("ALLGATHER_RECEXCH_KVAL", others=_TWICE),
    "allgather:recexch_halving": Parameters("ALLGATHER_RECEXCH_KVAL", others=_TWICE),
    "allreduce:k_reduce_scatter_allgather": Parameters("ALLREDUCE_RECEXCH_KVAL", others=_TWICE),
    "allreduce:recexch": Parameters("ALLREDUCE_RECEXCH_KVAL", others=_TWICE),
    "allreduce:recursive_multiplying": Parameters("ALLREDUCE_RECURSIVE_MULTIPLYING_KVAL"),
    "allreduce:tree": Parameters(
        "ALLREDUCE_TREE_KVAL",
        segment_variable="ALLREDUCE_TREE_PIPELINE_CHUNK_SIZE",
        others={"tree_type": "knomial_1", "buffer_per_child": "0"},
    ),
    "alltoall:k_brucks": Parameters("ALLTOALL_BRUCKS_KVAL"),
    "barrier:k_dissemination": Parameters("BARRIER_DISSEM_KVAL"),
    "barrier:recexch": Parameters("BARRIER_RECEXCH_KVAL", others=_TWICE),
    "bcast:pipelined_tree": Parameters(
        "BCAST_TREE_KVAL", 2, "BCAST_TREE_PIPELINE_CHUNK_SIZE", {**_TREE, "recv_pre_posted": "0"}
    ),
    "bcast:tree": Parameters("BCAST_TREE_KVAL", others=_TREE),
}
"""As src/mpi/coll/src/csel_container.c and coll_algorithms.txt of 4.3 and 5.0 have them."""


def parameters(rule: Rule) -> Parameters | None:
    """Those of a rule's algorithm, None where it has none."""
    return PARAMETERS.get(f"{rule.operation}:{rule.algorithm.removeprefix(COMPONENT)}")


def knows(operation: str, name: str, library: Reader) -> bool:  # noqa: ARG001 - all that was measured exists
    """Whether a word of a table can be expressed."""
    return _NAME.fullmatch(name) is not None


def refuses(rule: Rule, library: Reader) -> str:
    """Why a rule cannot be said."""
    if not knows(rule.operation, rule.algorithm, library):
        return f"{rule.algorithm} is no algorithm of MPICH's component mpir"
    taken = parameters(rule)
    if rule.segment_bytes and not (taken and taken.segment_variable):
        return f"{rule.operation} by {rule.algorithm} takes no segment size"
    if rule.radix and not taken:
        return f"{rule.operation} by {rule.algorithm} takes no radix"
    if rule.radix > MOST_RADIX or rule.segment_bytes > MOST_SEGMENT_B:
        return f"a radix is at most {MOST_RADIX}, a segment 2^31 - 1 B"
    if library.wrapper and not has(function(rule), library):
        return f"{library.name} has no {function(rule)}"
    return ""


def complete(rule: Rule) -> Rule:
    """The rule with its radix, where the table says none; a barrier has no bytes to bound."""
    taken = parameters(rule)
    if taken and not rule.radix:
        rule = replace(rule, radix=taken.radix)
    return replace(rule, least_bytes=0, most_bytes=None) if rule.operation == "barrier" else rule


def device_off(operation: str) -> str:
    """The variable that takes an operation from the device, whose compositions would win: 0."""
    return f"MPIR_CVAR_{operation.upper()}_DEVICE_COLLECTIVE"


def rivals(operation: str) -> list[str]:
    """What chooses an algorithm for all calls, or the device, and what loads another file."""
    algorithm = f"MPIR_CVAR_{operation.upper()}_INTRA_ALGORITHM"
    return [algorithm, device_off(operation), SELECTION]


form = partial(
    RuleForm, banner=BANNER, versions=((4, 0), ()), knows=knows, rivals=rivals, complete=complete, proof=PROOF
)
"""What both forms of MPICH share."""


def function(rule: Rule) -> str:
    """What the selection calls an algorithm: `MPIR_Bcast_intra_binomial`."""
    name = rule.algorithm.removeprefix(COMPONENT)
    kind = "allcomm" if name == "nb" else "intra"
    return f"MPIR_{rule.operation.capitalize()}_{kind}_{name}"


def built_in(library: Reader) -> Tree:
    """The selection of algorithms that the library has built in; EnvironmentLack where it is not found.

    The library holds three documents: of the device's compositions, of shared memory, and of algorithms, which
    this is, as `unmoved`.
    """
    for path in _libraries(library):
        for found in _SELECTION.findall(_content(path)):
            text = found.decode("ascii", "replace")
            if _FORM.search(text) and "composition=" not in text and "POSIX" not in text:
                return unmoved(reading.parsed(text, f"the selection in {path}", ""))
    raise EnvironmentLack(
        f"the selection that {library.name or 'MPICH'} has built in was not found in its library",
        "name its wrapper with --mpi; MPICH before 4.0 has none",
    )


def unmoved(tree: Tree, *, of_communicator: bool = True) -> Tree:
    """The selection in a form that means the same below a branch for a size.

    MPICH decides branches of a communicator when it is made (MPIR_Csel_prune) and the others at each call
    (MPIR_Csel_search), where it takes `comm_size<8` for 8 ranks as well. So what it decides first is written as
    `<=7`; what stands behind a branch for calls already, as alltoall's, stays, and means `<=8`.
    """
    done: Tree = {}
    for key, below in tree.items():
        of_communicator = of_communicator and _OF_COMMUNICATORS.fullmatch(key) is not None
        fewer = _FEWER.fullmatch(key) if of_communicator else None
        name = f"comm_size<={int(fewer[1]) - 1}" if fewer else key
        done[name] = unmoved(below, of_communicator=of_communicator)
    return done


def has(function_name: str, library: Reader) -> bool:
    """Whether the library's selection can name this algorithm: where it cannot, a program ends as it starts."""
    word = f"algorithm={function_name}\0".encode()
    return any(word in _content(path) for path in _libraries(library))


@lru_cache(maxsize=2)
def _content(path: Path) -> bytes:
    return reading.content(path, "is it MPICH's?", most_B=MOST_LIBRARY_B)


def _libraries(library: Reader) -> list[Path]:
    if library.wrapper is None:
        raise EnvironmentLack(
            f"where {library.name or 'MPICH'} is, the times do not say; its file is its own selection, changed",
            "name its wrapper with --mpi, on a machine that has it",
        )
    suffix = "".join(library.wrapper.suffixes)
    prefix = library.wrapper.resolve().parent.parent
    names = ["libmpich.so*"] if suffix else ["libmpi.so*", "libmpich.so*"]
    folders = [prefix / "lib", prefix / "lib64", *sorted((prefix / "lib").glob("*-linux-gnu"))]
    found = [
        path for folder in folders for name in names for path in sorted(folder.glob(name)) if _is_library(path)
    ]
    # One file often has several names.
    return list({path.resolve(): path for path in found}.values())


def _is_library(path: Path) -> bool:
    return reading.beginning(path, 4) == b"\x7fELF"
