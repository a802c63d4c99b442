"""`hockney predict pingpong` …: the time of one message, a verb for each operation between two ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, get_args

from pydantic import Field

from hockney.cli._level import AnyLevel
from hockney.errors import RequestError
from hockney.options import Option
from hockney.predict.verb import MachineFile, Sizes, predict
from hockney.records.keys import POINT_TO_POINT
from hockney.records.record import LOCALITIES, Cache
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_time, parse_time
from hockney.words import listed

with later():
    from hockney.machine.file import Entry, load
    from hockney.machine.levels import at_any_level, at_reference
    from hockney.machine.select import parse_where, select_entry, title
    from hockney.models.base import PREFERRED
    from hockney.predict.message import predict_message
    from hockney.report.views.prediction import as_data, as_text


class Message(MachineFile, Sizes):
    """How long a message is, and which entry of a machine file predicts it."""

    locality: Annotated[
        str | None,
        Option(f"{listed(LOCALITIES)}. [default: the nearest measured]"),
    ] = None
    variant: Annotated[str | None, Option("Only entries of this variant.")] = None
    cache: Annotated[str | None, Option(f"{listed(get_args(Cache))}. [default: warm where measured]")] = None
    where: Annotated[
        list[str],
        Option("NAME=WORD, where a file holds more: mapping, mpi, system, source, window, pairs."),
    ] = Field(default_factory=list)
    model: Annotated[str, Option("Model to predict with.")] = "piecewise"
    any_level: AnyLevel = False
    reference_s: Annotated[
        float | None,
        Option(
            "Time of the reference at which the machine is now, such as 0.105us: within a level it drifts. "
            "[default: that of the campaign]",
            read=parse_time,
            flags=("--reference",),
            metavar="TIME",
        ),
    ] = None


def _enter(operation: str) -> Callable[..., None]:
    @verb(
        operation,
        examples=f"""
hockney predict {operation} --bytes 64KiB
hockney predict {operation} --bytes 8 --bytes 1MiB --locality package
hockney predict {operation} --bytes 4MiB --machine machine.json --variant tcp --json
hockney predict {operation} --bytes 64KiB --where mapping=core --where mpi='Open MPI 5.0'
hockney predict {operation} --bytes 8 --machine machine.json --reference 0.105us
""",
        of=predict,
    )
    def command(message: Message, as_json: JsonOption = False) -> None:
        """The time of one message, with its 95 % interval, the formula used and the bandwidth."""
        if not message.sizes_B:
            raise RequestError(f"{operation} needs --bytes", "for example --bytes 64KiB")
        keys = {"operation": operation, **message.model_dump(include={"locality", "variant", "cache"})}
        machine = load(message.machine)
        if message.any_level:
            (machine,) = at_any_level(machine)
        entry = select_entry(machine, keys | parse_where(message.where))
        if message.reference_s is not None:
            entry = _at_reference(entry, message)
        predictions = [predict_message(entry, size_B, message.model) for size_B in message.sizes_B]
        if as_json:
            given = {"machine": str(message.machine), "reference_s": message.reference_s}
            say.json({**given, **as_data(entry, message.model, predictions)})
            return
        heading = f"{title(entry, machine.point_to_point)} — {message.model}"
        if message.reference_s is not None:
            heading += f", where the reference takes {format_time(message.reference_s)}"
        say.line(as_text(heading, entry, predictions))

    return command


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
    return at_reference(entry, message.reference_s)


for _operation in POINT_TO_POINT:
    _enter(_operation)
