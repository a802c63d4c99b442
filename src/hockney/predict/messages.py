"""What `hockney predict pingpong` … answers: messages by the models of one entry of a machine file."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hockney.errors import RequestError
from hockney.machine.file import Entry, EntryLevel
from hockney.machine.formula import OVERSUBSCRIBED, published
from hockney.machine.levels import at_any_level, at_reference, level_remark
from hockney.machine.select import parse_where, select_entry, title, words
from hockney.models.base import PREFERRED
from hockney.predict.added import AddedTime, added
from hockney.predict.message import MessagePrediction, predict_message, warnings
from hockney.predict.network_figures import machine_of
from hockney.predict.options import AddedEffects, Message
from hockney.records.exponents import LARGE_B
from hockney.units import format_bytes, format_time
from hockney.words import listed


class PredictedMessages(BaseModel):
    """Messages of each size, and with the effects that were asked for.

    Further words tell the entry that answers: source, system, mpi, window …
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    machine: str
    reference_s: float | None
    large_reference_s: float | None
    operation: str
    locality: str
    variant: str
    cache: str
    mapping: str
    model: str
    oversubscribed: bool | None
    predictions: list[MessagePrediction]
    warnings: list[str]
    with_effects: Annotated[list[AddedTime], Field(exclude_if=lambda sums: not sums)] = Field(
        default_factory=list
    )
    heading: Annotated[str, Field(exclude=True)]
    remarks: Annotated[list[str], Field(exclude=True)]
    """What holds for all sizes."""


def predict_messages(operation: str, message: Message, effects: AddedEffects | None = None) -> PredictedMessages:
    """Predict each size, with `effects` what a ping-pong hides; RequestError for what cannot be predicted."""
    if not message.sizes_B:
        raise RequestError(f"{operation} needs --bytes", "for example --bytes 64KiB")
    keys = {"operation": operation, **message.model_dump(include={"locality", "variant", "cache"})}
    machine = machine_of(message)
    if message.any_level:
        (machine,) = at_any_level(machine)
    entry = select_entry(machine, keys | parse_where(message.where))
    if message.reference_s is not None:
        entry = _at_reference(entry, message)
    elif message.large_reference_s is not None:
        raise RequestError("--large-reference goes with --reference", "give the time of the short one too")
    predictions = [predict_message(entry, size_B, message.model) for size_B in message.sizes_B]
    heading = f"{title(entry, machine.point_to_point)} — {message.model}"
    if message.reference_s is not None:
        heading += f", where the reference takes {format_time(message.reference_s)}"
        if message.large_reference_s is not None:
            heading += f", that of {format_bytes(LARGE_B)} {format_time(message.large_reference_s)}"
    remarks = [OVERSUBSCRIBED] if entry.oversubscribed else []
    remarks += filter(None, [entry.source and published(entry.source), level_remark(entry)])
    sums = []
    if effects is not None and effects.are_asked:
        sums = [added(machine, entry, prediction, effects) for prediction in predictions]
    return PredictedMessages(
        machine=str(message.machine),
        reference_s=message.reference_s,
        large_reference_s=message.large_reference_s,
        **words(entry),
        model=message.model,
        oversubscribed=entry.oversubscribed,
        predictions=predictions,
        warnings=warnings(entry, predictions),
        with_effects=sums,
        heading=heading,
        remarks=remarks,
    )


def _at_reference(entry: Entry, message: Message) -> Entry:
    """The entry at the reference that was given; RequestError where that says nothing."""
    if message.any_level:
        raise RequestError(
            "--reference and --any-level exclude each other", "a reference is of one level: leave one out"
        )
    if message.model not in PREFERRED:
        raise RequestError(
            f"--reference does not go with the model {message.model!r}", f"it goes with {listed(PREFERRED)}"
        )
    assert message.reference_s is not None
    if message.large_reference_s is not None and entry.level and entry.level.large_reference_s is None:
        raise RequestError(
            "no large message was timed as a reference in this campaign",
            "leave --large-reference out, or measure anew",
        )
    nearer = [
        other.level.reference_s
        for other in entry.other_levels
        if other.level and entry.level and _apart(other.level, message) < _apart(entry.level, message)
    ]
    if nearer:
        raise RequestError(
            f"a reference of {format_time(message.reference_s)} is nearer to another level of the machine, with "
            f"one of {format_time(nearer[0])}, than to that at which {entry.operation} was measured",
            "measure at that level: hockney measure --level",
        )
    return at_reference(entry, message.reference_s, message.large_reference_s)


def _apart(level: EntryLevel, message: Message) -> float:
    """How far the reference that was given lies from a level: |ln of the ratio|."""
    assert message.reference_s is not None
    return abs(math.log(message.reference_s / level.reference_s))
