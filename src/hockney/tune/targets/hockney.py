"""The table of `hockney apply`: our own schedules, run by its layer under any MPI."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from hockney import reading
from hockney.records.answers import first_problem
from hockney.records.preload_table import PreloadRule, PreloadTable
from hockney.schedule.catalogue import offered
from hockney.tune.rules import Rule, joined
from hockney.tune.targets.base import ANEW, PROOF, Malformed, Reader, RuleForm, targets


def knows(operation: str, name: str, library: Reader) -> bool:  # noqa: ARG001 - our schedules run under any MPI
    """Whether the name is that of a schedule that is a choice."""
    return name in {algorithm.name for algorithm in offered(operation)}


def refuses(rule: Rule, library: Reader) -> str:  # noqa: ARG001 - our schedules run under any MPI
    """Why a rule cannot be said."""
    try:
        PreloadRule(**vars(rule))
    except ValidationError as error:
        return first_problem(error)
    return ""


def write(rules: Sequence[Rule], library: Reader, comment: str) -> str:  # noqa: ARG001 - JSON has no comments
    return PreloadTable(mpi=library.name, rules=[PreloadRule(**vars(rule)) for rule in rules]).text


def read(text: str, library: Reader) -> list[Rule]:  # noqa: ARG001 - our schedules run under any MPI
    try:
        table = PreloadTable.model_validate(reading.parsed(text, "the table", ANEW))
    except ValidationError as error:
        raise Malformed(f"the table has {first_problem(error)}") from error
    return joined(
        [
            Rule(**dict(rule) | {"least_ranks": rule.least_ranks or 1, "least_bytes": rule.least_bytes or 0})
            for rule in table.rules
        ]
    )


targets.register("hockney")(
    RuleForm(
        title="the table of `hockney apply`",
        banner="",
        versions=((), ()),
        knows=knows,
        refuses=refuses,
        write=write,
        read=read,
        is_preloaded=True,
        proof=PROOF,
    )
)
