"""Intel MPI's I_MPI_ADJUST family: one variable an operation, presets with ranges of bytes and ranks.

`I_MPI_ADJUST_BCAST='3:0-65536@5-8;1:65537-131072@5-8'`: preset 3 for 0 to 65,536 bytes on 5 to 8 ranks …;
what no range holds is Intel's own choice (Intel MPI Library Developer Reference, I_MPI_ADJUST Family).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from hockney.records.keys import COLLECTIVES
from hockney.runner.library import INTEL_PRESETS
from hockney.tune.rules import Rule, by_operation, joined
from hockney.tune.targets.base import Malformed, Reader, RuleForm, exports, lines_of, targets

VARIABLE = "I_MPI_ADJUST_"
MOST = 2**31 - 1
"""What stands for no bound."""
_RANGE = re.compile(r"(\d+):(\d+)-(\d+)@(\d+)-(\d+)")


def knows(operation: str, name: str, library: Reader) -> bool:  # noqa: ARG001 - presets only ever were added
    """Whether a word of a table is a preset."""
    return operation in INTEL_PRESETS and re.fullmatch(r"adjust:[1-9]\d*", name) is not None


def refuses(rule: Rule, library: Reader) -> str:
    """Why a rule cannot be said."""
    if not knows(rule.operation, rule.algorithm, library):
        return f"{rule.algorithm} of {rule.operation} is no preset"
    if rule.segment_bytes or rule.radix:
        return "a preset takes no segment size and no radix"
    return ""


def values(rules: Sequence[Rule]) -> dict[str, str]:
    """The variables."""
    return {
        VARIABLE + operation.upper(): ";".join(
            f"{rule.algorithm.removeprefix('adjust:')}:{rule.least_bytes}-{_end(rule.most_bytes)}"
            f"@{rule.least_ranks}-{_end(rule.most_ranks)}"
            for rule in of_it
        )
        for operation, of_it in by_operation(rules)
    }


def _end(most: int | None) -> int:
    return MOST if most is None else most


def write(rules: Sequence[Rule], library: Reader, comment: str) -> str:  # noqa: ARG001 - the same for all versions
    return exports(values(rules), comment)


def read(text: str, library: Reader) -> list[Rule]:
    rules = []
    for number, line in lines_of(text):
        words = shlex.split(line)
        name, _, value = words[-1].partition("=")
        operation = name.removeprefix(VARIABLE).lower()
        if (
            words[0] != "export"
            or len(words) != 2
            or operation not in COLLECTIVES
            or not name.startswith(VARIABLE)
        ):
            raise Malformed(f"line {number} sets no variable of the I_MPI_ADJUST family")
        for part in value.split(";"):
            match = _RANGE.fullmatch(part)
            if match is None:
                raise Malformed(f"line {number}: {part!r} is no PRESET:BYTES-BYTES@RANKS-RANKS")
            preset, least_B, most_B, least, most = map(int, match.groups())
            ends = [None if end == MOST else end for end in (most, most_B)]
            rule = Rule(operation, least, ends[0], least_B, ends[1], f"adjust:{preset}")
            if why := refuses(rule, library):
                raise Malformed(f"line {number}: {why}")
            rules.append(rule)
    return joined(rules)


def settings(path: Path, rules: Sequence[Rule]) -> dict[str, str]:  # noqa: ARG001 - the file is for a shell
    """The variables themselves."""
    return values(rules)


def rivals(operation: str) -> list[str]:
    """The operation's variable, and what loads a file."""
    return [VARIABLE + operation.upper(), "I_MPI_TUNING"]


targets.register("intel_env")(
    RuleForm(
        title="Intel MPI's I_MPI_ADJUST variables",
        banner="Intel MPI",
        versions=((2018,), ()),
        knows=knows,
        rivals=rivals,
        refuses=refuses,
        write=write,
        read=read,
        settings=settings,
        caution="Intel does not say which bytes of allgather, alltoall, gather and scatter its ranges count: "
        "one rank's block is written; check with --verify",
    )
)
