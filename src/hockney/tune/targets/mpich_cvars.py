"""MPICH's control variables: one algorithm for all calls of an operation, whatever their size."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from hockney.errors import RequestError
from hockney.records.keys import COLLECTIVES
from hockney.tune.rules import Algorithm, Rule, in_order
from hockney.tune.targets import _mpich as mpich
from hockney.tune.targets.base import Library, Target, targets

_LINE = re.compile(r"export MPIR_CVAR_([A-Z_]+?)_(INTRA_ALGORITHM|DEVICE_COLLECTIVE)=(\w+)")


def refuses(rule: Rule, library: Library) -> str:
    """Why a rule cannot be said."""
    if (rule.least_B, rule.most_B) != (0, None) or rule.least_ranks > 1 or rule.most_ranks is not None:
        return "a variable holds for all ranks and sizes"
    return mpich.refuses(rule, library)


def values(rules: Sequence[Rule]) -> dict[str, str]:
    """The variables."""
    found = {}
    for rule in in_order(rules):
        found[mpich.device_off(rule.operation)] = "0"
        name = rule.algorithm.name.removeprefix(mpich.COMPONENT)
        found[f"MPIR_CVAR_{rule.operation.upper()}_INTRA_ALGORITHM"] = name
    return found


def write(rules: Sequence[Rule], library: Library, comment: str) -> str:  # noqa: ARG001 - the same for all versions
    lines = [f"# {line}" for line in comment.splitlines()]
    return "\n".join(lines + [f"export {name}={value}" for name, value in values(rules).items()]) + "\n"


def read(text: str, library: Library) -> list[Rule]:
    rules, off = [], set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        operation = match[1].lower() if match else ""
        if match is None or operation not in COLLECTIVES or (match[2] == "DEVICE_COLLECTIVE" and match[3] != "0"):
            raise RequestError(f"line {number} sets no algorithm of a collective", "write the file anew")
        if match[2] == "DEVICE_COLLECTIVE":
            off.add(operation)
        else:
            rules.append(Rule(operation, 1, None, 0, None, Algorithm(mpich.COMPONENT + match[3])))
    if kept := [rule.operation for rule in rules if rule.operation not in off]:
        raise RequestError(f"{mpich.device_off(kept[0])} is not 0: the device wins", "write the file anew")
    if faults := [why for rule in rules if (why := refuses(rule, library))]:
        raise RequestError(faults[0], "write the file anew")
    return in_order(rules)


def settings(path: Path, rules: Sequence[Rule]) -> dict[str, str]:  # noqa: ARG001 - the file is for a shell
    """The variables themselves."""
    return values(rules)


targets.register("mpich_cvars")(
    Target(
        title="MPICH's control variables",
        banner=mpich.BANNER,
        versions=((4, 0), ()),
        knows=mpich.knows,
        refuses=refuses,
        write=write,
        read=read,
        settings=settings,
        whole=True,
        caution="they take an operation from the device (…_DEVICE_COLLECTIVE=0), which within a node "
        "uses shared memory",
    )
)
