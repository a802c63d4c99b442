"""`hockney predict message`: the time of a pingpong, pingping, bandwidth, bidirectional, send_overhead, …"""

from __future__ import annotations

import typer

from hockney import api
from hockney.cli.predict import predict
from hockney.errors import RequestError
from hockney.options.predict import AddedEffects, Message
from hockney.terminal import JsonOption, chosen, say, verb
from hockney.terminal.say import Column
from hockney.units import format_bytes, format_interval, format_rate, format_time, percent


@verb(
    "message",
    examples="""
hockney predict pingpong --bytes 64KiB
hockney predict bandwidth --bytes 8,1MiB --machine machine.json --where variant=tcp --json
hockney predict pingpong --bytes 16KiB --machine bluegene_p --queue 13 --congestion 2.1
""",
    of=predict,
)
def message(context: typer.Context, message: Message, effects: AddedEffects, as_json: JsonOption = False) -> None:
    """The time of one message, with its 95 % interval, the formula used and the bandwidth.

    With --hops, --queue, --layout, --congestion or --busy-sender, what a ping-pong hides is added, term by term,
    each with where it comes from. A term that is neither measured nor published nor given is refused.
    """
    operation = chosen(context)
    if operation != "pingpong" and effects.are_asked:
        raise RequestError(f"{operation} takes no effects of the network", "ask for `hockney predict pingpong`")
    answer = api.predict_messages(operation, message, effects)
    if as_json:
        say.json(answer)
        return
    say.line("\n".join([answer.heading, *map(_lines, answer.predictions)]))
    for each in answer.with_effects:
        _show(each)
    say.warnings(answer.warnings)


def _lines(prediction: api.MessagePrediction) -> str:
    """The time with its interval, the bandwidth and the formula."""
    figures = [f"{format_bytes(prediction.size_B)}: {format_time(prediction.time_s)}"]
    if prediction.low_s is not None and prediction.high_s is not None:
        figures.append(f"95 % interval {format_interval(prediction.low_s, prediction.high_s)}")
    if prediction.bandwidth_B_per_s:
        figures.append(format_rate(prediction.bandwidth_B_per_s))
    if prediction.remark:
        figures.append(prediction.remark)
    lines = [", ".join(figures), f"  {prediction.formula}"]
    if prediction.weight:
        share = percent(prediction.correction, sign=True)
        lines.append(f"  interpolation between the measured sizes corrects that by {share}")
    return "\n".join(lines)


def _interval(term: api.AddedTerm | api.AddedTime) -> str:
    """In their order: what a busy sender hides at the low end of the transfer is less than at the high one."""
    if term.is_bound or term.low_s is None or term.high_s is None:
        return "–"
    return format_interval(*sorted((term.low_s, term.high_s)))


COLUMNS = (
    Column("effect", lambda term: getattr(term, "effect", "together")),
    Column("time", lambda term: ("≤ " if _is_bound_alone(term) else "") + format_time(term.time_s)),
    Column("95 % interval", _interval),
    Column("from", lambda term: getattr(term, "origin", "")),
    Column("", lambda term: getattr(term, "source", "the terms added up")),
)


def _is_bound_alone(term: api.AddedTerm | api.AddedTime) -> bool:
    return term.is_bound and hasattr(term, "effect")


def _show(added: api.AddedTime) -> None:
    say.rows("", [*added.terms, added], COLUMNS)
    line = f"{format_bytes(added.size_B)}: {format_time(added.time_s)}"
    if added.is_bound:
        line += f" at most, {format_time(added.least_s)} without the terms of which only a bound is known"
    say.line(line)
