"""Intel MPI's tree of tuning data as JSON, as `I_MPI_TUNING` and its tuner have it.

    {"coll=Bcast": {"ppn=-1": {"comm_size=8": {"comm_id=-1": {"msg_size=65536": {"BCAST=3": {}}, "msg_size=-1": …

A size is the largest that its entry is for, -1 all that are larger; preset 0 stands for Intel's own choice. The
form was read in files, and no library that takes it was at hand.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hockney import reading
from hockney.tune.rules import Method, Rule, by_operation, joined
from hockney.tune.targets.base import ANEW, Malformed, Reader, branches, targets
from hockney.tune.targets.intel_env import TUNING, form
from hockney.tune.targets.intel_env import refuses as refuses_preset

Tree = dict[str, "Tree"]
ANY = -1


def refuses(rule: Rule, library: Reader) -> str:
    """Why a rule cannot be said."""
    if rule.most_ranks is None:
        return "each number of ranks has an entry of its own, and the numbers must have an end"
    return refuses_preset(rule, library)


def write(rules: Sequence[Rule], library: Reader, comment: str) -> str:  # noqa: ARG001 - JSON has no comments
    tree: Tree = {}
    for operation, of_it in by_operation(rules):
        sizes: dict[int, dict[int, int]] = {}
        for rule in of_it:
            assert rule.most_ranks is not None, "refused before"
            for ranks in range(rule.least_ranks, rule.most_ranks + 1):
                entries = sizes.setdefault(ranks, {})
                if rule.least_B > 0:
                    entries.setdefault(rule.least_B - 1, 0)
                entries[ANY if rule.most_B is None else rule.most_B] = int(rule.algorithm.name.split(":")[1])
        by_ranks: Tree = {
            f"comm_size={ranks}": {"comm_id=-1": _sizes(operation, entries)} for ranks, entries in sizes.items()
        }
        tree[f"coll={operation.capitalize()}"] = {"ppn=-1": by_ranks}
    return json.dumps(tree, indent=1) + "\n"


def _sizes(operation: str, entries: dict[int, int]) -> Tree:
    entries.setdefault(ANY, 0)
    ordered = sorted(entries, key=lambda size: (size == ANY, size))
    return {f"msg_size={size}": {f"{operation.upper()}={entries[size]}": {}} for size in ordered}


def read(text: str, library: Reader) -> list[Rule]:
    rules = []
    for operation, by_ppn in branches(reading.parsed(text, "the tree", ANEW), r"coll=(\w+)"):
        for _, by_ranks in branches(by_ppn, r"ppn=-?\d+"):
            for ranks, by_id in branches(by_ranks, r"comm_size=(\d+)"):
                for _, sizes in branches(by_id, r"comm_id=-?\d+"):
                    rules += _read_sizes(operation[1].lower(), int(ranks[1]), sizes, library)
    return joined(rules)


def _read_sizes(operation: str, ranks: int, sizes: Any, library: Reader) -> list[Rule]:
    rules, least_B, ended = [], 0, False
    for size, leaf in branches(sizes, r"msg_size=(-?\d+)"):
        most_B = None if int(size[1]) == ANY else int(size[1])
        if ended or (most_B is not None and most_B < least_B - 1):
            raise Malformed(f"the sizes of {operation} do not rise to -1")
        ((preset, _),) = branches(leaf, rf"{operation.upper()}=(\d+)")
        if int(preset[1]):
            rule = Rule(operation, ranks, ranks, least_B, most_B, Method(f"adjust:{preset[1]}"))
            if why := refuses(rule, library):
                raise Malformed(why)
            rules.append(rule)
        ended, least_B = most_B is None, (most_B or 0) + 1
    if not ended:
        raise Malformed(f"the sizes of {operation} on {ranks} ranks have no msg_size=-1")
    return rules


def settings(path: Path, rules: Sequence[Rule]) -> dict[str, str]:  # noqa: ARG001 - the library reads the file
    """The variable that names the file."""
    return {TUNING: str(path.absolute())}


targets.register("intel_json")(
    form(
        title="Intel MPI's tuning data as JSON",
        refuses=refuses,
        write=write,
        read=read,
        settings=settings,
        caution="the form of the tree was read in files of Intel's tuner",
    )
)
