"""`hockney predict pingpong|pingping|bandwidth|bidirectional`: the time of one message, with its interval.
`hockney predict send_overhead|receive_overhead`: the time of one message, with its interval.
"""

from __future__ import annotations

from collections.abc import Callable

from hockney import api
from hockney.cli.predict import predict
from hockney.options.predict import POINT_TO_POINT, AddedEffects, Message
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.units import format_bytes, format_interval, format_rate, format_time


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
    _answer("pingpong", message, effects, as_json)


def _answer(operation: str, message: Message, effects: AddedEffects | None, as_json: bool) -> None:
    answer = api.predict_messages(operation, message, effects)
    if as_json:
        say.json(answer)
        return
    say.line("\n".join([answer.heading, *answer.remarks, *(_lines(each) for each in answer.predictions)]))
    for each in answer.with_effects:
        _show(each)


def _lines(prediction: api.MessagePrediction) -> str:
    """The time with its interval, the bandwidth, the formula, and what is in doubt."""
    figures = [f"{format_bytes(prediction.size_B)}: {format_time(prediction.time_s)}"]
    if prediction.low_s is not None and prediction.high_s is not None:
        figures.append(f"95 % interval {format_interval(prediction.low_s, prediction.high_s)}")
    if prediction.bandwidth_B_per_s:
        figures.append(format_rate(prediction.bandwidth_B_per_s))
    if prediction.remark:
        figures.append(prediction.remark)
    lines = [", ".join(figures), f"  {prediction.formula}"]
    if prediction.weight:
        lines.append(
            f"  that is {format_time(prediction.readable_s)}; interpolation between the measured sizes, of "
            f"weight {prediction.weight:.2g}, corrects it by {prediction.correction:+.1%}"
        )
    return "\n".join([*lines, *(f"  {text}" for text in prediction.concerns)])


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


for _operation in POINT_TO_POINT:
    if _operation != "pingpong":
        _enter(_operation)
