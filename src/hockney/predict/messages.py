"""What `hockney predict pingpong` … answers: messages by the models of one entry of a machine file."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hockney.errors import RequestError
from hockney.machine.populations import apart
from hockney.machine.select import parse_where, select_entry, title, words
from hockney.predict.added import AddedTime, added, over_links
from hockney.predict.message import MessagePrediction, predict_message, warnings
from hockney.predict.network_figures import machine_of
from hockney.predict.options import AddedEffects, Message


class PredictedMessages(BaseModel):
    """Messages of each size, and with the effects that were asked for.

    Further words tell the entry that answers: source, system, mpi, window …
    """

    model_config = ConfigDict(defer_build=True, extra="allow", frozen=True)

    machine: str
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


def predict_messages(operation: str, message: Message, effects: AddedEffects | None = None) -> PredictedMessages:
    """Predict each size, with `effects` what a ping-pong hides; RequestError for what cannot be predicted."""
    if not message.sizes_B:
        raise RequestError(f"{operation} needs --bytes", "for example --bytes 64KiB")
    keys = {"operation": operation, "locality": message.locality}
    machine = machine_of(message)
    entry = select_entry(machine, keys | parse_where(message.where))
    entry, beyond = over_links(machine, entry, effects or AddedEffects(), message.model)
    predictions = [predict_message(entry, size_B, message.model, beyond) for size_B in message.sizes_B]
    heading = f"{title(entry, machine.point_to_point)} — {message.model}"
    sums = []
    if effects is not None and effects.are_asked:
        sums = [added(machine, entry, prediction, effects) for prediction in predictions]
    return PredictedMessages(
        machine=str(message.machine),
        **words(entry),
        model=message.model,
        oversubscribed=entry.oversubscribed,
        predictions=predictions,
        warnings=[*filter(None, [apart(machine, entry)]), *warnings(entry, predictions)],
        with_effects=sums,
        heading=heading,
    )
