"""MPICH's selection of algorithms as JSON: the one that the library has built in, with rules before it.

The library aborts where a collective is missing, a key is unknown or a last branch is not `=any`, and has a
segment fault where the file is missing. So the file is always the whole selection of this very version, in which
the branch of an operation becomes one for each number of ranks and size, with the built-in one at each end. It
counts bytes as our tables do: `avg_msg_size` is the whole vector or one rank's block.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from hockney import reading
from hockney.errors import RequestError
from hockney.tune.rules import Algorithm, Rule, in_order, joined
from hockney.tune.targets import _mpich as mpich
from hockney.tune.targets.base import Library, Target, targets

Tree = dict[str, Any]
INTRA = "comm_type=intra"
MOST_B = 2**31 - 1
"""The library reads sizes as ints."""
_HINT = "write the file anew"
_RULE = re.compile(r"algorithm=MPIR_[A-Za-z]+(?:_[a-z]+)*?_(?:intra|allcomm)_(\w+)")


def refuses(rule: Rule, library: Library) -> str:
    """Why a rule cannot be said."""
    if rule.least_B > MOST_B:
        return "MPICH counts sizes up to 2 GiB - 1"
    return mpich.refuses(rule, library)


def write(rules: Sequence[Rule], library: Library, comment: str) -> str:  # noqa: ARG001 - JSON has no comments
    tree = mpich.built_in(library)
    for operation, of_it in groupby(in_order(rules), key=lambda rule: rule.operation):
        branch = tree[f"collective={operation}"]
        branch[INTRA] = _by_ranks(list(of_it), branch[INTRA])
    return json.dumps(tree, separators=(",", ":")) + "\n"


def _by_ranks(rules: Sequence[Rule], default: Tree) -> Tree:
    """Branches for each range of ranks with rules, and before and between them the default."""
    tree: Tree = {}
    done = 0
    for (least, most), of_ranks in groupby(rules, key=lambda rule: (rule.least_ranks, rule.most_ranks)):
        if least > done + 1:
            tree[f"comm_size<={least - 1}"] = default
        last = "any" if most is None else None
        tree["comm_size=any" if last else f"comm_size<={most}"] = _by_size(list(of_ranks), default)
        done = most or done
    tree.setdefault("comm_size=any", default)
    return tree


def _by_size(rules: Sequence[Rule], default: Tree) -> Tree:
    tree: Tree = {}
    done = -1
    for rule in rules:
        if rule.least_B > done + 1:
            tree[f"avg_msg_size<={rule.least_B - 1}"] = default
        leaf: Tree = {f"algorithm={mpich.function(rule)}": {}}
        if rule.most_B is None or rule.most_B >= MOST_B:
            tree["avg_msg_size=any"] = leaf
            return tree
        tree[f"avg_msg_size<={rule.most_B}"] = leaf
        done = rule.most_B
    tree["avg_msg_size=any"] = default
    return tree


def read(text: str, library: Library) -> list[Rule]:
    tree = reading.parsed(text, "the selection", _HINT)
    built_in = mpich.built_in(library)
    if not isinstance(tree, dict) or tree.keys() != built_in.keys():
        raise RequestError("the selection has not the collectives of this version: MPICH would abort", _HINT)
    rules = []
    for key, branch in tree.items():
        expect_complete(branch, key)
        if branch == built_in[key]:
            continue
        if branch.keys() != built_in[key].keys():
            raise RequestError(f"{key} has other kinds of communicators than this version", _HINT)
        rules += _read_ranks(key.removeprefix("collective="), branch[INTRA], built_in[key][INTRA], library)
    return joined(rules)


def expect_complete(tree: Any, where: str) -> None:
    """RequestError where the last of several branches is not for any: MPICH would abort at a call."""
    if not isinstance(tree, dict):
        raise RequestError(f"{where} holds no branches", _HINT)
    for key, below in tree.items():
        if not re.fullmatch(r"[a-z_]+(?:=|<=|<)\w+", key):
            raise RequestError(f"{where}: {key!r} is no branch", _HINT)
        expect_complete(below, f"{where}, {key}") if not key.startswith("algorithm=") else None
    last = list(tree)[-1] if tree else ""
    if re.match(r"(?:comm_size|avg_msg_size|total_msg_size|count)(?:<|=(?!any|pow2|node))", last):
        raise RequestError(f"{where}: the last branch is {last!r} and not for any: MPICH would abort", _HINT)


def _read_ranks(operation: str, tree: Mapping[str, Any], default: Tree, library: Library) -> list[Rule]:
    rules, done = [], 0
    for key, below in tree.items():
        match = re.fullmatch(r"comm_size(?:<=(\d+)|=any)", key)
        if match is None:
            raise RequestError(f"{operation}: {key!r} stands where a number of ranks belongs", _HINT)
        most = int(match[1]) if match[1] else None
        if below != default:
            rules += _read_sizes(operation, done + 1, most, below, default, library)
        done = most or done
    return rules


def _read_sizes(
    operation: str, least: int, most: int | None, tree: Mapping[str, Any], default: Tree, library: Library
) -> list[Rule]:
    rules, done = [], -1
    for key, below in tree.items():
        match = re.fullmatch(r"avg_msg_size(?:<=(\d+)|=any)", key)
        if match is None:
            raise RequestError(f"{operation}: {key!r} stands where a size belongs", _HINT)
        most_B = int(match[1]) if match[1] else None
        if below != default:
            leaf = _RULE.fullmatch(next(iter(below), ""))
            if leaf is None:
                raise RequestError(f"{operation}: {next(iter(below), 'nothing')!r} is no algorithm", _HINT)
            rule = Rule(operation, least, most, done + 1, most_B, Algorithm(mpich.COMPONENT + leaf[1]))
            if why := refuses(rule, library):
                raise RequestError(why, _HINT)
            rules.append(rule)
        done = most_B if most_B is not None else done
    return rules


def settings(path: Path, rules: Sequence[Rule]) -> dict[str, str]:
    """The file, and for each operation with a rule the variable that takes it from the device."""
    return {
        "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(path.absolute()),
        **{mpich.device_off(rule.operation): "0" for rule in rules},
    }


targets.register("mpich_json")(
    Target(
        title="MPICH's selection of algorithms (JSON)",
        banner=mpich.BANNER,
        versions=((4, 0), ()),
        knows=mpich.knows,
        refuses=refuses,
        write=write,
        read=read,
        settings=settings,
        caution="operations with a rule must be taken from the device (…_DEVICE_COLLECTIVE=0), which "
        "would decide; the file is of this very version",
    )
)
