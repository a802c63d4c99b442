"""`hockney predict pingpong` …: the time of one message, a verb for each operation between two ranks."""

from __future__ import annotations

from collections.abc import Callable

from rich.table import Table

from hockney.predict.added_options import AddedEffects
from hockney.predict.message_options import Message
from hockney.predict.verb import predict
from hockney.records.keys import POINT_TO_POINT
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, format_time

with later():
    from hockney.api.predictions import messages
    from hockney.machine.select import title
    from hockney.predict.added import AddedTime
    from hockney.records.exponents import LARGE_B
    from hockney.report.views.prediction import added_data, as_data, as_text


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
    times = messages(operation, message, effects)
    entry, predictions = times.entry, times.predictions
    if as_json:
        references = {"reference_s": message.reference_s, "large_reference_s": message.large_reference_s}
        given = {"machine": str(message.machine), **references}
        with_effects = {"with_effects": [added_data(each) for each in times.sums]} if times.sums else {}
        say.json({**given, **as_data(entry, message.model, predictions), **with_effects})
        return
    heading = f"{title(entry, times.machine.point_to_point)} — {message.model}"
    if message.reference_s is not None:
        heading += f", where the reference takes {format_time(message.reference_s)}"
        if message.large_reference_s is not None:
            heading += f", that of {format_bytes(LARGE_B)} {format_time(message.large_reference_s)}"
    say.line(as_text(heading, entry, predictions))
    for each in times.sums:
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


for _operation in POINT_TO_POINT:
    if _operation != "pingpong":
        _enter(_operation)
