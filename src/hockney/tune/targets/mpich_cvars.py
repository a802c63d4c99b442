"""MPICH's control variables: one algorithm for all calls of an operation, whatever their size."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hockney.records.keys import COLLECTIVES
from hockney.tune.rules import Rule, in_order
from hockney.tune.targets import _mpich as mpich
from hockney.tune.targets.base import Malformed, Reader, exports, lines_of, targets

_LINE = re.compile(r"export MPIR_CVAR_(\w+)=(\w+)")
_DEVICE, _ALGORITHM = "_DEVICE_COLLECTIVE", "_INTRA_ALGORITHM"


def refuses(rule: Rule, library: Reader) -> str:
    """Why a rule cannot be said."""
    if (rule.least_bytes, rule.most_bytes) != (0, None) or rule.least_ranks > 1 or rule.most_ranks is not None:
        return "a variable holds for all ranks and sizes"
    return mpich.refuses(rule, library)


def values(rules: Sequence[Rule]) -> dict[str, str]:
    """The variables."""
    found = {}
    for rule in in_order(rules):
        found[mpich.device_off(rule.operation)] = "0"
        name = rule.algorithm.removeprefix(mpich.COMPONENT)
        found[f"MPIR_CVAR_{rule.operation.upper()}{_ALGORITHM}"] = name
        if taken := mpich.parameters(rule):
            found[f"MPIR_CVAR_{taken.radix_variable}"] = str(rule.radix or taken.radix)
            if taken.segment_variable:
                found[f"MPIR_CVAR_{taken.segment_variable}"] = str(rule.segment_bytes)
    return found


def write(rules: Sequence[Rule], library: Reader, comment: str) -> str:  # noqa: ARG001 - the same for all versions
    return exports(values(rules), comment)


def read(text: str, library: Reader) -> list[Rule]:
    found: dict[str, str] = {}
    for number, line in lines_of(text):
        match = _LINE.fullmatch(line)
        if match is None:
            raise Malformed(f"line {number} sets no variable of MPICH")
        found[match[1]] = match[2]
    rules = []
    for operation in COLLECTIVES:
        name, device = (found.pop(operation.upper() + end, "") for end in (_ALGORITHM, _DEVICE))
        if name and device != "0":
            raise Malformed(f"{mpich.device_off(operation)} is not 0: the device wins")
        if name:
            rule = Rule(operation, 1, None, 0, None, mpich.COMPONENT + name)
            taken = mpich.parameters(rule)
            segment_B = _number(found, taken.segment_variable) if taken and taken.segment_variable else 0
            radix = _number(found, taken.radix_variable) if taken else 0
            rules.append(replace(rule, segment_bytes=segment_B, radix=radix))
    if found:
        raise Malformed(f"MPIR_CVAR_{next(iter(found))} belongs to no rule")
    if faults := [why for rule in rules if (why := refuses(rule, library))]:
        raise Malformed(faults[0])
    return in_order(rules)


def _number(found: dict[str, str], variable: str) -> int:
    word = found.pop(variable, "")
    if not word.isdigit():
        raise Malformed(f"MPIR_CVAR_{variable} is no whole number")
    return int(word)


def settings(path: Path, rules: Sequence[Rule]) -> dict[str, str]:  # noqa: ARG001 - the file is for a shell
    """The variables themselves."""
    return values(rules)


targets.register("mpich_cvars")(
    mpich.form(
        title="MPICH's control variables",
        refuses=refuses,
        write=write,
        read=read,
        settings=settings,
        whole=True,
        caution="a variable holds for all ranks and sizes of its operation, measured or not. "
        "It takes the operation from the device (…_DEVICE_COLLECTIVE=0), which within a node uses shared memory",
    )
)
