"""`hockney predict pingpong` …: the time of one message, a verb for each operation between two ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field
from rich.table import Table

from hockney.cli._level import AnyLevel
from hockney.errors import RequestError
from hockney.options import Option
from hockney.predict.added_options import AddedEffects
from hockney.predict.verb import MachineFile, Sizes, predict
from hockney.records.keys import POINT_TO_POINT
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, format_time, parse_time
from hockney.words import listed

with later():
    from hockney.machine.file import Entry, load
    from hockney.machine.levels import at_any_level, at_reference
    from hockney.machine.select import parse_where, select_entry, title
    from hockney.models.base import PREFERRED
    from hockney.predict.added import AddedTime, added
    from hockney.predict.message import predict_message
    from hockney.report.views.prediction import added_data, as_data, as_text


class Message(MachineFile, Sizes):
    """How long a message is, and which entry of a machine file predicts it."""

    locality: Annotated[
        str | None,
        Option("[default: the nearest measured]"),
    ] = None
    variant: Annotated[str | None, Option()] = None
    cache: Annotated[str | None, Option("[default: warm where measured]")] = None
    where: Annotated[
        list[str],
        Option("mapping, mpi, system, source, window, pairs."),
    ] = Field(default_factory=list)
    model: Annotated[str, Option("To predict with.")] = "piecewise"
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


def _examples(operation: str) -> str:
    return f"""
hockney predict {operation} --bytes 64KiB
hockney predict {operation} --bytes 8 --bytes 1MiB --locality package
hockney predict {operation} --bytes 4MiB --machine machine.json --variant tcp --json
hockney predict {operation} --bytes 64KiB --where mapping=core --where mpi='Open MPI 5.0'
hockney predict {operation} --bytes 8 --machine machine.json --reference 0.105us
"""


def _enter(operation: str) -> Callable[..., None]:
    @verb(operation, examples=_examples(operation), of=predict)
    def command(message: Message, as_json: JsonOption = False) -> None:
        """The time of one message, with its 95 % interval, the formula used and the bandwidth."""
        _answer(operation, message, None, as_json)

    return command


@verb(
    "pingpong",
    examples=_examples("pingpong")
    + """\
hockney predict pingpong --bytes 16KiB --machine bluegene_p --queue 13 --congestion 2.1
hockney predict pingpong --bytes 8 --machine bluegene_p --hops 5 --hop-latency 50ns
hockney predict pingpong --bytes 16KiB --machine ci_2core --busy-sender --layout vector --block 8B --stride 64B
""",
    of=predict,
)
def pingpong(message: Message, effects: AddedEffects, as_json: JsonOption = False) -> None:
    """The time of one message, with its 95 % interval, the formula used and the bandwidth.

    With --hops, --queue, --layout, --congestion or --busy-sender, what a ping-pong hides is added, term by term,
    each with where it comes from. A term that is neither measured nor published nor given is refused.
    """
    _answer("pingpong", message, effects if effects.are_asked else None, as_json)


def _answer(operation: str, message: Message, effects: AddedEffects | None, as_json: bool) -> None:
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
    sums = [added(machine, entry, prediction, effects) for prediction in predictions] if effects else []
    if as_json:
        given = {"machine": str(message.machine), "reference_s": message.reference_s}
        with_effects = {"with_effects": [added_data(each) for each in sums]} if sums else {}
        say.json({**given, **as_data(entry, message.model, predictions), **with_effects})
        return
    heading = f"{title(entry, machine.point_to_point)} — {message.model}"
    if message.reference_s is not None:
        heading += f", where the reference takes {format_time(message.reference_s)}"
    say.line(as_text(heading, entry, predictions))
    for each in sums:
        _show(each)


def _show(sum_of: AddedTime) -> None:
    table = Table("effect", "time", "95 % interval", "from", "", box=None)
    for column in (0, 1, 2, 3):
        table.columns[column].no_wrap = True
    for term in sum_of.terms:
        at_most = "≤ " if term.is_bound else ""
        table.add_row(
            term.effect,
            at_most + format_time(term.time_s),
            _between(term.low_s, term.high_s) if not term.is_bound else "–",
            term.origin,
            term.source,
        )
    interval = sum_of.interval_s if not sum_of.is_bound else None
    table.add_row(
        "together", format_time(sum_of.time_s), _between(*(interval or (None, None))), "", "the terms added up"
    )
    say.table(table)
    said = f"{format_bytes(sum_of.size_B)}: {format_time(sum_of.time_s)}"
    if sum_of.is_bound:
        said += f" at most, {format_time(sum_of.least_s)} without the terms of which only a bound is known"
    say.line(said)


def _between(low_s: float | None, high_s: float | None) -> str:
    """In their order: what a busy sender hides at the low end of the transfer is less than at the high one."""
    return "–" if low_s is None or high_s is None else " to ".join(map(format_time, sorted((low_s, high_s))))


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
    if _operation != "pingpong":
        _enter(_operation)
