"""What the three forms of Open MPI's `tuned` share: names and numbers, and units.

Read in the sources of 4.1.6, 5.0.9 and main (2026), and shown by `ompi_info --param coll tuned --level 9`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from hockney.records.keys import COLLECTIVES
from hockney.records.library_algorithms import ALGORITHMS
from hockney.tune.rules import Rule
from hockney.tune.targets.base import Reader, RuleForm

BANNER = "Open MPI"
COMPONENT = "tuned:"

COLLECTIVE_IDS = {
    "allgather": 0,
    "allreduce": 2,
    "alltoall": 3,
    "barrier": 6,
    "bcast": 7,
    "gather": 9,
    "reduce": 11,
    "reduce_scatter": 12,
    "scatter": 15,
}
IDS = 22
"""Collectives that `tuned` numbers, irregular and neighbourhood ones among them."""

SIX: Mapping[str, tuple[str, ...]] = {
    **ALGORITHMS,
    "allgather": (
        *("linear", "bruck-k-fanout", "recursive_doubling", "ring", "neighbor", "two_proc", "sparbit"),
        "direct-messaging",
    ),
    "allreduce": (*ALGORITHMS["allreduce"], "allgather_reduce"),
    "reduce": (*ALGORITHMS["reduce"], "knomial"),
}
"""From version 6 on, as the page on `tuned` in Open MPI's documentation of main (2026) has them."""
SINCE = {("allgather", "sparbit"): (5, 0)}
"""What older versions do not have."""

CHAINS = 4
"""What `chain` takes when it is chosen by name without a fan-out; a rule without one makes one chain."""
KNOMIAL = 4
"""Radix of `knomial`: a variable of the launch has it (coll_tuned_bcast_algorithm_knomial_radix), and no rule."""
MOST_SEGMENT_B = 2**31 - 1

CAUTION = (
    "only Open MPI's component tuned reads these rules. From 5.0 on, with several ranks on each of several "
    "nodes, han is asked in its place, unless the launch says `--mca coll ^han`. Calls without a rule then "
    "follow tuned's own choice. A rule holds for every operator: trees and rings change the order of "
    "operands, which matters where an operator is not commutative"
)


def algorithms(operation: str, library: Reader) -> tuple[str, ...]:
    """The names that this version has, by their numbers, from 1."""
    return (SIX if library.version >= (6,) else ALGORITHMS)[operation]


def knows(operation: str, name: str, library: Reader) -> bool:
    """Whether a word of a table can be expressed."""
    component, _, algorithm = name.partition(":")
    is_there = component == "tuned" and algorithm in algorithms(operation, library)
    return is_there and library.version >= SINCE.get((operation, algorithm), ())


def names(operation: str) -> list[str]:
    """As tables have them."""
    return [COMPONENT + name for name in ALGORITHMS[operation]]


def refuses(rule: Rule, library: Reader) -> str:
    """Why a rule cannot be said."""
    if not knows(rule.operation, rule.algorithm, library):
        return f"{library.name} has no {rule.operation} by {rule.algorithm} in its component tuned"
    if rule.segment_bytes > MOST_SEGMENT_B:
        return "a segment has at most 2^31 - 1 B"
    if rule.algorithm == "tuned:knomial" and rule.radix not in (0, KNOMIAL):
        return f"a rule cannot say the radix of knomial, {KNOMIAL} without a variable of the launch"
    if rule.algorithm == "tuned:bruck-k-fanout":
        # What the library makes of 0 is nowhere said.
        if rule.radix < 2:
            return "bruck-k-fanout needs a radix, and the table says none"
    elif rule.radix and rule.algorithm not in ("tuned:chain", "tuned:knomial"):
        return f"{rule.algorithm} takes no radix"
    if rule.most_ranks is None and unit(rule.operation, 2) > 1:
        return "its bytes are those of all ranks together, and their number must have an end"
    return ""


def rivals(operation: str) -> list[str]:
    """What chooses an algorithm for all calls, and what loads another file."""
    return [f"OMPI_MCA_coll_tuned_{operation}_algorithm", *settings(Path(), [])]


def number(rule: Rule) -> int:
    """The algorithm's."""
    return ALGORITHMS[rule.operation].index(rule.algorithm.removeprefix(COMPONENT)) + 1


def complete(rule: Rule) -> Rule:
    """The rule as the file says it: `chain` with its number of chains, `knomial` without its radix."""
    name, radix = rule.algorithm, rule.radix
    usual = {"tuned:chain": radix or CHAINS, "tuned:knomial": 0 if radix == KNOMIAL else radix}
    return replace(rule, radix=usual.get(name, radix))


def unit(operation: str, ranks: int) -> int:
    """Bytes that a rule counts for one byte of the tidy table: blocks of all ranks together."""
    return ranks if COLLECTIVES[operation].sizes_are_blocks else 1


def counts_blocks(rule: Rule) -> bool:
    """Whether bytes are of all ranks together, so that each number of ranks has bounds of its own."""
    return unit(rule.operation, 2) > 1


def settings(path: Path, rules: Sequence[Rule]) -> dict[str, str]:  # noqa: ARG001 - the file holds them
    """Variables by which a launch loads a file of rules."""
    return {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(path.absolute()),
    }


form = partial(
    RuleForm,
    banner=BANNER,
    knows=knows,
    refuses=refuses,
    settings=settings,
    rivals=rivals,
    complete=complete,
    names=names,
    caution=CAUTION,
)
"""What all three forms of Open MPI share."""
