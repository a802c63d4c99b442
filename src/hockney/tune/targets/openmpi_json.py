"""Rules of Open MPI from 6.0 on: JSON, version 3 of the file. Bounds are inclusive, the first match wins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hockney import reading
from hockney.records.answers import first_problem
from hockney.records.library_algorithms import ALGORITHMS
from hockney.tune.rules import Rule, by_operation, by_ranks, joined
from hockney.tune.targets import _openmpi as openmpi
from hockney.tune.targets.base import ANEW, Malformed, Reader, targets

SPELLED = {"reduce_scatter": "reducescatter"}


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Message(_Closed):
    """Bounds in bytes of all ranks together, and what is taken."""

    msg_size_min: int = Field(default=0, ge=0)
    msg_size_max: int | Literal["inf"] = "inf"
    alg: str | int
    seg_size: int = Field(default=0, ge=0)
    faninout: int = Field(default=0, ge=0)
    reqs: int = Field(default=0, ge=0)


class _Communicator(_Closed):
    comm_size_min: int = Field(default=0, ge=0)
    comm_size_max: int | Literal["inf"] = "inf"
    comm_rank_distribution: Literal["any", "one-per-node", "single-node"] = "any"
    rules: list[_Message]


class _RulesFile(_Closed):
    rule_file_version: Literal[3]
    module: Literal["tuned"]
    collectives: dict[str, list[_Communicator]]


def write(rules: Sequence[Rule], library: Reader, comment: str) -> str:  # noqa: ARG001 - JSON has no comments
    collectives: dict[str, list[_Communicator]] = {}
    for operation, of_it in by_operation(rules):
        collectives[SPELLED.get(operation, operation)] = [
            _Communicator(
                comm_size_min=least,
                comm_size_max="inf" if most is None else most,
                rules=[_message(rule, openmpi.unit(operation, least)) for rule in here],
            )
            for least, most, here in by_ranks(of_it, 0, openmpi.counts_blocks)
            if here
        ]
    file = _RulesFile(rule_file_version=3, module="tuned", collectives=collectives)
    return json.dumps(file.model_dump(), indent=1) + "\n"


def _message(rule: Rule, unit: int) -> _Message:
    return _Message(
        msg_size_min=rule.least_bytes * unit,
        msg_size_max="inf" if rule.most_bytes is None else rule.most_bytes * unit,
        alg=rule.algorithm.removeprefix(openmpi.COMPONENT),
        seg_size=rule.segment_bytes,
        faninout=rule.radix,
    )


def read(text: str, library: Reader) -> list[Rule]:
    data = reading.parsed(text, "the rules", ANEW)
    try:
        file = _RulesFile.model_validate(data)
    except ValidationError as error:
        raise Malformed(f"the rules have {first_problem(error)}") from error
    by_name = {SPELLED.get(name, name): name for name in ALGORITHMS}
    rules = []
    for spelled, entries in file.collectives.items():
        if spelled not in by_name:
            raise Malformed(f"{spelled!r} is no collective that is tuned here")
        _expect_apart(spelled, "ranks", [(entry.comm_size_min, entry.comm_size_max) for entry in entries])
        for entry in entries:
            _expect_apart(spelled, "bytes", [(rule.msg_size_min, rule.msg_size_max) for rule in entry.rules])
            rules += [_rule(by_name[spelled], entry, message, library) for message in entry.rules]
    return joined(rules)


def _expect_apart(name: str, what: str, ranges: Sequence[tuple[int, int | Literal["inf"]]]) -> None:
    """RequestError where ranges overlap: the first one would count, and nothing of the others there."""
    for (_, most), (least, _) in pairwise(sorted(ranges, key=lambda one: one[0])):
        if most == "inf" or least <= most:
            raise Malformed(f"{name} has two entries for {least} {what}: Open MPI takes the first alone")


def _rule(operation: str, entry: _Communicator, message: _Message, library: Reader) -> Rule:
    most_ranks = None if entry.comm_size_max == "inf" else entry.comm_size_max
    unit = openmpi.unit(operation, entry.comm_size_min)
    if unit > 1 and most_ranks != entry.comm_size_min:
        raise Malformed(f"an entry of {operation} is for ranks whose bytes differ")
    known = openmpi.algorithms(operation, library)
    name = (
        known[message.alg - 1] if isinstance(message.alg, int) and 0 < message.alg <= len(known) else message.alg
    )
    algorithm = openmpi.COMPONENT + str(name)
    rule = Rule(
        operation,
        entry.comm_size_min,
        most_ranks,
        -(-message.msg_size_min // max(unit, 1)),
        None if message.msg_size_max == "inf" else message.msg_size_max // max(unit, 1),
        algorithm,
        message.seg_size,
        message.faninout,
    )
    if why := openmpi.refuses(rule, library):
        raise Malformed(f"{why}: Open MPI would ignore the rule without a word")
    return rule


targets.register("openmpi_json")(
    openmpi.form(title="rules of Open MPI's tuned, version 3 (JSON)", versions=((6,), ()), write=write, read=read)
)
