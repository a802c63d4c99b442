"""The time of a message with the effects that a ping-pong hides, term by term, each with where it comes from.

Hoefler et al. 2010 print equation (1) for messages "free of congestion, minimal queue lengths, consecutive
memory, optimal mapping"; this adds hops, a queue, a layout, congestion and a busy sender back to it. Nothing is
assumed: a term is measured, published or given, or there is no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import computed_field

from hockney.errors import RequestError
from hockney.machine.congestion import Congestions
from hockney.machine.file import Entry, Machine
from hockney.machine.hops import at_hops
from hockney.machine.select import HOPS, effects_under, preferred, title
from hockney.models.base import Parameter
from hockney.models.effects.base import Effect
from hockney.predict.datatype import predict_way
from hockney.predict.datatype_costs import ways_of
from hockney.predict.layout import strided
from hockney.predict.message import MessagePrediction, added_up
from hockney.predict.options import WORST, AddedEffects
from hockney.units import format_bytes, format_time, percent

Origin = Literal["measured", "published", "given"]
GIVEN = "on the command line"
FIT_HOPS = "measure it: `hockney fit CAMPAIGN --topology …`"


@dataclass(frozen=True)
class AddedTerm:
    """One effect's share of the time in seconds, its 95 % interval (None: unknown), and where it comes from.

    `is_bound`: nothing but the most that it can be is known; it may be 0.
    """

    effect: str
    time_s: float
    low_s: float | None
    high_s: float | None
    origin: Origin
    source: str
    is_bound: bool = False


@dataclass(frozen=True)
class AddedTime:
    """The terms of a message of `size_B` bytes, the ping-pong's first; their times add up."""

    size_B: int
    terms: Sequence[AddedTerm]

    @computed_field
    @property
    def is_bound(self) -> bool:
        """Whether of some term only a bound is known."""
        return any(term.is_bound for term in self.terms)

    @computed_field
    @property
    def time_s(self) -> float:
        """Seconds; the most that it can take where a term `is_bound`."""
        return sum(term.time_s for term in self.terms)

    @computed_field
    @property
    def least_s(self) -> float:
        """Seconds without the terms of which only a bound is known."""
        return sum(term.time_s for term in self.terms if not term.is_bound)

    @computed_field
    @property
    def low_s(self) -> float | None:
        """The low ends of all terms, added."""
        return added_up(term.low_s for term in self.terms)

    @computed_field
    @property
    def high_s(self) -> float | None:
        """The high ends, as the low ones."""
        return added_up(term.high_s for term in self.terms)


def added(machine: Machine, entry: Entry, prediction: MessagePrediction, asked: AddedEffects) -> AddedTime:
    """The message that `prediction` is of, with the effects asked for; an entry `over_links` has its hops.

    RequestError names every effect of which the machine file says nothing, with what would settle it.
    """
    message = _message(entry, prediction)
    terms, missing, hints = [message], [], []
    makers: list[tuple[bool, Callable[[], AddedTerm]]] = [
        (asked.hops is not None and HOPS not in entry.other, lambda: _hops(machine, entry)),
        (asked.queue is not None, lambda: _queue(machine, entry, asked.queue or 0)),
        (asked.strides is not None, lambda: _layout(machine, entry, prediction.size_B, asked)),
        (asked.congestion is not None, lambda: _congestion(machine, entry, prediction, asked)),
        (asked.busy_sender, lambda: _busy_sender(machine, entry, prediction.size_B, terms)),
    ]
    for is_asked, make in makers:
        if not is_asked:
            continue
        try:
            terms.append(make())
        except RequestError as error:
            missing.append(error.message)
            hints.append(error.hint)
    if missing:
        raise RequestError("; ".join(missing), "; ".join(dict.fromkeys(hints)))
    return AddedTime(prediction.size_B, terms)


def _message(entry: Entry, prediction: MessagePrediction) -> AddedTerm:
    origin: Origin = "published" if entry.source else "measured"
    source = f"{title(entry)}: {prediction.formula}" + (f" ({entry.source})" if entry.source else "")
    return AddedTerm("message", prediction.time_s, prediction.low_s, prediction.high_s, origin, source)


def over_links(machine: Machine, entry: Entry, asked: AddedEffects, model: str) -> tuple[Entry, float]:
    """The entry over as many links as were asked for, and how many times those measured they are (1: among them).

    As it is where nothing was asked or hops are not known.
    """
    effects = [effect for effect in effects_under(machine, HOPS, entry) if "mean_s" in (effect.points or [{}])[0]]
    if (
        asked.hops is None
        or entry.locality not in ("network", None)
        or not (effects and entry.measurements.points)
    ):
        return entry, 1.0
    return at_hops(entry, preferred(effects)[0], asked.hops, model)


def _hops(machine: Machine, entry: Entry) -> AddedTerm:
    if entry.locality not in ("network", None):
        raise RequestError(
            f"--hops counts links between nodes, and these messages are those of {entry.locality}",
            "choose --locality network",
        )
    _effect(machine, HOPS, entry, FIT_HOPS)
    raise RequestError("hops: this machine file has no time over hops for these messages", FIT_HOPS)


def _queue(machine: Machine, entry: Entry, entries: int) -> AddedTerm:
    effect = _effect(machine, "matching", entry, _measure("matching"))
    if (bound := effect.parameters.get("per_entry_s")) is not None:
        text = f"{entries} entries of {format_time(bound.value)} each at most"
        time_s = entries * bound.value
        return AddedTerm("queue", time_s, 0.0, time_s, _origin(effect), _told(text, effect), is_bound=True)
    each = _known(effect, "posted_entry_s")
    limit = effect.parameters.get("posted_break_entries")
    if limit is None or entries <= limit.value:
        text = f"{entries} entries of {format_time(each.value)} each"
        return _times(_term("queue", each, effect, text), entries)
    beyond, few = _known(effect, "posted_long_entry_s"), limit.value
    first = _times(_term("queue", each, effect, ""), few)
    second = _times(_term("queue", beyond, effect, ""), entries - few)
    text = (
        f"{few:.0f} entries of {format_time(each.value)} each, "
        f"{entries - few:.0f} of {format_time(beyond.value)} each"
    )
    return replace(_sum(first, second), source=_told(text, effect))


def _layout(machine: Machine, entry: Entry, size_B: int, asked: AddedEffects) -> AddedTerm:
    assert asked.strides is not None
    layout, block_B, stride_B, _ = asked.strides
    if block_B < 1 or size_B % block_B or size_B < block_B:
        raise RequestError(
            f"--layout: {size_B} B are no whole blocks of {block_B} B", "give blocks that divide --bytes"
        )
    shape = strided(layout, size_B // block_B, block_B, stride_B)
    effect = _effect(machine, "datatypes", entry, _measure("datatypes"))
    if not any("way" in row for row in effect.points):
        return _published_layout(effect, size_B, block_B, stride_B)
    ways = ways_of(effect, machine.system.hosts)
    if "send" not in ways:
        raise RequestError("datatypes: a message sent with a datatype was not measured", _measure("datatypes"))
    way = predict_way(ways["send"], shape, effect.not_identified)
    if way.lower_bound:
        raise RequestError(f"datatypes: {'; '.join(way.notes)}", "choose a layout like those measured")
    plain_s = way.contiguous_s
    time_s, low_s, high_s = (
        None if end is None else max(0.0, end - plain_s) for end in (way.time_s, way.low_s, way.high_s)
    )
    blocks = f"{shape.blocks} {shape.layout} blocks of {format_bytes(block_B)} every {format_bytes(stride_B)}"
    by = "this layout was measured" if way.measured else "; ".join(["by the model of layouts", *way.notes])
    return AddedTerm("layout", time_s or 0.0, low_s, high_s, _origin(effect), _told(f"{blocks}: {by}", effect))


def _published_layout(effect: Effect, size_B: int, block_B: int, stride_B: int) -> AddedTerm:
    """What is published of single layouts of characters, all of one size (Hoefler et al. 2010, figure 1)."""
    rows = {
        int(row["stride"] or 0): float(row["time_s"] or 0) for row in effect.points if row.get("size_B") == size_B
    }
    sizes = sorted({int(row.get("size_B") or 0) for row in effect.points})
    if 0 not in rows or len(rows) < 2 or block_B != 1:
        known = ", ".join(format_bytes(size) for size in sizes)
        raise RequestError(
            f"datatypes: {effect.source or 'the machine file'} has blocks of 1 B in messages of {known} alone",
            f"ask for --bytes {sizes[0]}B --layout vector:1B/STRIDE" if sizes else _measure("datatypes"),
        )
    if stride_B in rows:
        time_s, text = rows[stride_B] - rows[0], f"a stride of {stride_B} B beside contiguous memory"
        return AddedTerm("layout", time_s, None, None, _origin(effect), _told(text, effect))
    time_s = max(rows.values()) - rows[0]
    text = "any stride, at most"
    return AddedTerm("layout", time_s, 0.0, time_s, _origin(effect), _told(text, effect), is_bound=True)


def _congestion(machine: Machine, entry: Entry, prediction: MessagePrediction, asked: AddedEffects) -> AddedTerm:
    origin: Origin = "given"
    said = asked.congestion or "1"
    if said == WORST or ":" in said:
        known = Congestions(machine, "" if said == WORST else said).at(entry)
        if known is None or known.value is None:
            what = (
                "is not in the machine file"
                if known is None
                else f"is known as a formula alone: {known.definition.text}"
            )
            raise RequestError(
                f"the congestion of the worst mapping {what}",
                "give the factor or a network, such as --congestion 2.1 or torus:8x8x8, or measure it: "
                "`hockney measure --operation congestion -o FOLDER`",
            )
        factor, where = known.value, f"{known.definition.text}, {known.definition.source}"
    else:
        factor, where = float(said), GIVEN
    if said == WORST:
        origin = "measured" if "measured" in where else "published"
    beta = prediction.regime.beta_s_per_B
    text = f"{factor:g} times as long for each byte, {where}"
    term = AddedTerm("congestion", beta.value, beta.low, beta.high, origin, text)
    return _times(term, (factor - 1) * prediction.size_B)


def _busy_sender(machine: Machine, entry: Entry, size_B: int, terms: Sequence[AddedTerm]) -> AddedTerm:
    """What is hidden behind the sender's computation: negative, `low_s` at the low end of the transfer.

    Queues and layouts are work of processors, and stay.
    """
    transfer = [term for term in terms if term.effect in ("message", "hops", "congestion")]
    whole = transfer[0]
    for term in transfer[1:]:
        whole = _sum(whole, term)
    effect = _effect(machine, "overlap", entry, f"measure it: {_measure('overlap')}")
    protocol = _protocol(machine, entry, size_B)
    hidden = _known(effect, f"overlap_send_{protocol}")
    text = _told(f"{percent(hidden.value)} of a {protocol} transfer proceeds meanwhile", effect)
    # More than all cannot be hidden, nor less than nothing.
    share, low, high = (
        None if x is None else min(1.0, max(0.0, x)) for x in (hidden.value, hidden.low, hidden.high)
    )
    return AddedTerm(
        "busy sender",
        -(share or 0.0) * whole.time_s,
        None if high is None or whole.low_s is None else -high * whole.low_s,
        None if low is None or whole.high_s is None else -low * whole.high_s,
        _origin(effect),
        text,
    )


def _protocol(machine: Machine, entry: Entry, size_B: int) -> str:
    measured = (effect.parameters.get("S_B") for effect in effects_under(machine, "synchronisation", entry))
    limit_B = next((limit.value for limit in measured if limit is not None), entry.eager_limit_B)
    if limit_B is None:
        raise RequestError(
            f"whether {format_bytes(size_B)} are eager or rendezvous is not known",
            f"measure it: {_measure('synchronisation')}",
        )
    return "eager" if size_B <= limit_B else "rendezvous"


def _effect(machine: Machine, name: str, entry: Entry, hint: str) -> Effect:
    effects = list(effects_under(machine, name, entry))
    if not effects:
        raise RequestError(f"{name} was not measured with {title(entry)}", hint)
    known = [effect for effect in effects if effect.parameters or effect.points]
    if not known:
        whys = [effects[0].not_measurable, *effects[0].not_identified.values(), *effects[0].notes]
        raise RequestError(f"{name} is not known: {next(filter(None, whys), 'no reason is given')}", hint)
    return preferred(known)[0]


def _known(effect: Effect, name: str) -> Parameter:
    if name in effect.parameters:
        return effect.parameters[name]
    why = effect.not_identified.get(name, "it is not in the machine file")
    raise RequestError(f"{effect.effect}: {name} is not known: {why}", _measure(effect.effect))


def _measure(effect: str) -> str:
    return f"`hockney measure --operation {effect} -o FOLDER`, then `hockney fit FOLDER`"


def _origin(effect: Effect) -> Origin:
    return "published" if effect.source else "measured"


def _told(what: str, effect: Effect) -> str:
    return f"{what} ({effect.source})" if effect.source else f"{what} ({title(effect)})"


def _term(name: str, parameter: Parameter, effect: Effect, told: str) -> AddedTerm:
    return AddedTerm(name, parameter.value, parameter.low, parameter.high, _origin(effect), _told(told, effect))


def _times(term: AddedTerm, factor: float) -> AddedTerm:
    ends = [None if end is None else factor * end for end in (term.low_s, term.high_s)]
    low_s, high_s = ends if factor >= 0 else ends[::-1]
    return replace(term, time_s=factor * term.time_s, low_s=low_s, high_s=high_s)


def _sum(first: AddedTerm, second: AddedTerm) -> AddedTerm:
    pairs = ((first.low_s, second.low_s), (first.high_s, second.high_s))
    low_s, high_s = (None if a is None or b is None else a + b for a, b in pairs)
    return replace(first, time_s=first.time_s + second.time_s, low_s=low_s, high_s=high_s)
