"""MPICH's selection of algorithms as JSON: the one that the library has built in, with rules before it.

The library aborts where a collective is missing, a key is unknown or a last branch is not `=any`, and has a
segment fault where the file is missing. So the file is always the whole selection of this very version, in which
the branch of an operation becomes one for each range of ranks and sizes, with the built-in one at each end.

It asks for `avg_msg_size` of bcast, reduce, allreduce and alltoall alone and ends the program at others. Of
allgather and reduce_scatter it knows `total_msg_size`, of all ranks together, so that each number of ranks has
bounds of its own. That of gather and scatter is made of a count that the root need not give (MPI_IN_PLACE): ranks
would not agree on an algorithm. A barrier has none.

A rule's branch begins with `comm_size=any`, by which it is known, and leaves to the built-in selection the calls
that its algorithm cannot do: in place, or by operators that it would take apart or reorder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hockney import reading
from hockney.errors import RequestError
from hockney.records.keys import COLLECTIVES
from hockney.runner.library import SELECTION
from hockney.tune.rules import Rule, by_operation, by_ranks, joined
from hockney.tune.targets import _mpich as mpich
from hockney.tune.targets._mpich import Tree
from hockney.tune.targets.base import ANEW, Malformed, Reader, branches, targets

INTRA = "comm_type=intra"
MARK = "comm_size=any"
MOST_B = 2**31 - 1
"""The library reads sizes as ints."""
UNSIZED = ("gather", "scatter")
REDUCING = ("reduce", "allreduce", "reduce_scatter")
_RULE = re.compile(r"algorithm=MPIR_[A-Za-z]+(?:_[a-z]+)*?_(?:intra|allcomm)_(\w+)")
_SMP = "mpir:smp"


def _is_total(operation: str) -> bool:
    """Whether sizes are those of all ranks together: of blocks, but for alltoall's."""
    return COLLECTIVES[operation].sizes_are_blocks and operation != "alltoall"


def _is_bounded(rule: Rule) -> bool:
    return rule.least_bytes > 0 or rule.most_bytes is not None


def refuses(rule: Rule, library: Reader) -> str:
    """Why a rule cannot be said."""
    if rule.operation in UNSIZED and _is_bounded(rule):
        return (
            f"MPICH's ranks would not agree on the size of a {rule.operation} in place: only rules for all sizes "
            "(--for mpich-cvars)"
        )
    if _is_total(rule.operation) and _is_bounded(rule) and rule.most_ranks is None:
        return "its bytes are those of all ranks together, and their number must have an end"
    unit = (rule.most_ranks or 1) if _is_total(rule.operation) else 1
    if max(rule.least_bytes, rule.most_bytes or 0) * unit > MOST_B:
        return "MPICH counts sizes up to 2 GiB - 1"
    return mpich.refuses(rule, library)


def write(rules: Sequence[Rule], library: Reader, comment: str) -> str:  # noqa: ARG001 - JSON has no comments
    tree = mpich.built_in(library)
    for operation, of_it in by_operation(rules):
        branch = tree[f"collective={operation}"]
        branch[INTRA] = _by_ranks(of_it, branch[INTRA])
    return json.dumps(tree, separators=(",", ":")) + "\n"


def _by_ranks(rules: Sequence[Rule], default: Tree) -> Tree:
    """Branches for each range of ranks with rules, and before and between them the default."""
    tree: Tree = {}
    for least, most, here in by_ranks(rules, 1, lambda rule: _is_total(rule.operation) and _is_bounded(rule)):
        key = "comm_size=any" if most is None else f"comm_size<={most}"
        tree[key] = _by_size(here, least, default) if here else default
    return tree


def _by_size(rules: Sequence[Rule], ranks: int, default: Tree) -> Tree:
    if not _is_bounded(rules[0]):
        return _ruled(rules[0], default)
    total = _is_total(rules[0].operation)
    name, unit = ("total_msg_size", ranks) if total else ("avg_msg_size", 1)
    tree: Tree = {}
    done = -1
    for rule in rules:
        if rule.least_bytes * unit > done + 1:
            tree[f"{name}<={rule.least_bytes * unit - 1}"] = default
        if rule.most_bytes is None:
            tree[f"{name}=any"] = _ruled(rule, default)
            return tree
        done = rule.most_bytes * unit
        tree[f"{name}<={done}"] = _ruled(rule, default)
    tree[f"{name}=any"] = default
    return tree


def _ruled(rule: Rule, default: Tree) -> Tree:
    """The branch of a rule: its algorithm where that can do the call, otherwise the default."""
    branch: Tree = {f"algorithm={mpich.function(rule)}": _parameters(rule)}
    for kept, taken in _guards(rule):
        branch = {kept: default, taken: branch}
    if rule.algorithm == _SMP:
        branch = {"comm_hierarchy=parent": branch, "comm_hierarchy=any": default}
    return {MARK: branch}


def _guards(rule: Rule) -> Iterator[tuple[str, str]]:
    """Pairs of branches, from the inner to the outer: what goes to the default, and what to the rule."""
    if rule.operation in ("reduce", "allreduce") and "reduce_scatter" in rule.algorithm:
        # These cut the vector up: one element for each of a power of two of ranks, and no operator's own type.
        yield "count<pow2", "count=any"
        yield "is_op_built_in=no", "is_op_built_in=yes"
    if rule.operation in REDUCING:
        yield "is_commutative=no", "is_commutative=yes"
    if rule.operation == "alltoall":
        yield "is_sendbuf_inplace=yes", "is_sendbuf_inplace=no"


_TAKEN = (
    *("count=any", "is_op_built_in=yes", "is_commutative=yes", "is_sendbuf_inplace=no"),
    "comm_hierarchy=parent",
)
"""The branches that lead to a rule's algorithm."""


def _parameters(rule: Rule) -> Tree:
    taken = mpich.parameters(rule)
    if taken is None:
        return {}
    chunk = {"chunk_size": str(rule.segment_bytes)} if taken.segment_variable else {}
    words = {**taken.others, "k": str(rule.radix or taken.radix), **chunk}
    return {f"{name}={value}": {} for name, value in words.items()}


def _tree(text: str, built_in: Tree) -> Tree:
    """RequestError where MPICH would abort."""
    tree = reading.parsed(text, "the selection", ANEW)
    if not isinstance(tree, dict) or tree.keys() != built_in.keys():
        raise Malformed("the selection has not the collectives of this version: MPICH would abort")
    for key, branch in tree.items():
        expect_complete(branch, key)
    return tree


def _trap(text: str, library: Reader) -> str:
    try:
        _tree(text, mpich.built_in(library))
    except RequestError as error:
        return error.message
    return ""


def read(text: str, library: Reader) -> list[Rule]:
    built_in = mpich.built_in(library)
    rules = []
    for key, branch in mpich.unmoved(_tree(text, built_in)).items():
        if branch == built_in[key]:
            continue
        if branch.keys() != built_in[key].keys():
            raise Malformed(f"{key} has other kinds of communicators than this version")
        rules += _read_ranks(key.removeprefix("collective="), branch[INTRA], built_in[key][INTRA], library)
    return joined(rules)


def expect_complete(tree: Any, where: str) -> None:
    """RequestError where the last of several branches is not for any: MPICH would abort at a call."""
    if not isinstance(tree, dict):
        raise Malformed(f"{where} holds no branches")
    for key, below in tree.items():
        if not re.fullmatch(r"[a-z_]+(?:=|<=|<)\w+", key):
            raise Malformed(f"{where}: {key!r} is no branch")
        expect_complete(below, f"{where}, {key}") if not key.startswith("algorithm=") else None
    last = list(tree)[-1] if tree else ""
    if re.match(r"(?:comm_size|avg_msg_size|total_msg_size|count)(?:<|=(?!any|pow2|node))", last):
        raise Malformed(f"{where}: the last branch is {last!r} and not for any: MPICH would abort")


def _read_ranks(operation: str, tree: Tree, default: Tree, library: Reader) -> list[Rule]:
    rules, done = [], 0
    for match, below in branches(tree, r"comm_size(?:<=(\d+)|=any)"):
        most = int(match[1]) if match[1] else None
        if below != default:
            found = _read_sizes(operation, done + 1, most, below, default)
            if faults := [why for rule in found if (why := refuses(rule, library))]:
                raise Malformed(faults[0])
            rules += found
        done = most or done
    return rules


def _read_sizes(operation: str, least: int, most: int | None, tree: Tree, default: Tree) -> list[Rule]:
    whole = Rule(operation, least, most, 0, None, "")
    if list(tree) == [MARK]:
        return [_with_algorithm(whole, tree)]
    total = _is_total(operation)
    name, unit = ("total_msg_size", least) if total else ("avg_msg_size", 1)
    if total and least != most:
        raise Malformed(f"an entry of {operation} is for ranks whose bytes differ")
    rules, done = [], -1
    for match, below in branches(tree, rf"{name}(?:<=(\d+)|=any)"):
        most_B = int(match[1]) // unit if match[1] else None
        if below != default:
            sized = replace(whole, least_bytes=-(-(done + 1) // unit), most_bytes=most_B)
            rules.append(_with_algorithm(sized, below))
        done = int(match[1]) if match[1] else done
    return rules


def _with_algorithm(rule: Rule, branch: Tree) -> Rule:
    """The rule with the algorithm of its branch, behind the branches that lead to it."""
    if list(branch) != [MARK]:
        raise Malformed(f"{rule.operation}: a rule does not begin with {MARK}")
    below = branch[MARK]
    while taken := [key for key in below if key in _TAKEN]:
        below = below[taken[0]]
    leaf = next(iter(below), "")
    match = _RULE.fullmatch(leaf)
    if match is None:
        raise Malformed(f"{rule.operation}: {leaf or 'nothing'!r} is no algorithm")
    values = dict(key.partition("=")[::2] for key in below[leaf])
    if not all(values.get(name, "0").isdigit() for name in ("k", "chunk_size")):
        raise Malformed(f"{rule.operation}: {leaf!r} has no whole radix and segment")
    segment_B, radix = int(values.get("chunk_size", "0")), int(values.get("k", "0"))
    return replace(rule, algorithm=mpich.COMPONENT + match[1], segment_bytes=segment_B, radix=radix)


def settings(path: Path, rules: Sequence[Rule]) -> dict[str, str]:
    """The file, and for each operation with a rule the variable that takes it from the device."""
    return {
        SELECTION: str(path.absolute()),
        **{mpich.device_off(rule.operation): "0" for rule in rules},
    }


targets.register("mpich_json")(
    mpich.form(
        title="MPICH's selection of algorithms (JSON)",
        refuses=refuses,
        write=write,
        read=read,
        trap=_trap,
        settings=settings,
        caution="an operation with a rule is taken from the device (…_DEVICE_COLLECTIVE=0), at all its sizes. "
        "Without a rule, MPICH's choice above the device decides; the file is of this very version",
    )
)
