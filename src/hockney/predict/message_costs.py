"""Costs of messages of one locality and of reductions, from a machine file's entries: curves over the size for
the simulator, LogGOPS parameters for people.

One file, because each cost of a message is read here from its entry: who adds one touches both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from hockney.machine.file import Entry, Machine
from hockney.machine.select import HOPS, differences, effects_under, preferred, title, words
from hockney.models.base import Fit, corrected, interval
from hockney.predict.costs import NOTHING, Curve, protocols, terms_of
from hockney.predict.place import LOCALITIES, NETWORK
from hockney.records.keys import LATE, REDUCTION, WRITTEN

Array = NDArray[np.float64]

SIZES_B = np.array([0.0, *2.0 ** np.arange(31)])
"""Curves have a point at each of these sizes."""

OVERHEAD_SHARE = 0.35
"""Share of an empty message's time that either processor takes where o_s and o_r are unknown (LogP fits)."""
PROCESSOR = ("overhead_s", "receive_overhead_s", "gap_s")
"""The LogGOPS parameters that follow from this share."""
COMMAND_LINE = "the command line"
ASSUMED = "assumed: 35 % of an empty message"
STREAM_AHEAD_B = 2**17
"""Bytes that another stream has in an adapter's queue at most: two segments (Linux, TCP small queues)."""
LINK_LIMITS = 1.5
"""Up to so many times the nominal time of a byte on a link, it is the link that limits messages."""

ASSUMED_SHARES = "o and g are assumed, not measured: 35 % of an empty message each"
"""What a prediction says that stands on this share."""


@dataclass(frozen=True)
class Timed:
    """Measured seconds at `SIZES_B`, and their 95 % interval as two ratios to them; None where there is none."""

    time_s: Array
    ends: tuple[Array, Array] | None

    def at_end(self, end: int) -> Self:
        """At one end of the interval; as it is without one."""
        return self if self.ends is None else replace(self, time_s=self.time_s * self.ends[end], ends=None)

    def longer(self, by_s: Array) -> Self:
        """The same where each takes so much longer, or less."""
        return replace(self, time_s=np.maximum(self.time_s + by_s, 0.0))


@dataclass(frozen=True)
class Reduction(Timed):
    """A reduction, and where it is from."""

    origin: str

    @property
    def curve(self) -> Curve:
        """In the form that the simulator reads."""
        return SIZES_B.tolist(), self.time_s.tolist()


@dataclass(frozen=True)
class LinkLatency:
    """What each link on the way adds to a message between nodes, and how much longer than the entry's those took
    that crossed so many `links`, a mean over pairs; seconds at `SIZES_B`."""

    per_link_s: Array
    links: float
    longer_s: Array


@dataclass(frozen=True)
class Messages:
    """Messages of one locality: one-way times, the processors' times, times between two messages, eager limit.

    Arrays have a value in seconds for each of `SIZES_B`. `origins` names the source of each LogGOPS parameter.
    `ends`: the 95 % interval of `one_way_s` as two ratios to it, for each of `SIZES_B`; None where there is none.
    `between_ends`: the same of `between_s`, where that was measured by itself; None: it is as uncertain.
    `both_ways`: one-way times where another message goes the other way, `just_written`: where the bytes were just
    written, `link`: what each link on the way adds; None where that was not measured. `keeps_order`: the
    answers of rendezvous follow what the rank has sent before, as in a TCP stream; None where that is not known.
    """

    one_way_s: Array
    send_s: float
    receive_s: float
    between_s: Array
    rendezvous_above_B: float | None = None
    overhead_s_per_B: float = 0.0
    origins: Mapping[str, str] = field(default_factory=dict)
    ends: tuple[Array, Array] | None = None
    between_ends: tuple[Array, Array] | None = None
    both_ways: Timed | None = None
    just_written: Timed | None = None
    link: LinkLatency | None = None
    keeps_order: bool | None = None

    def written(self) -> Messages:
        """Messages whose bytes their senders have just written: the receiver fetches them while it copies."""
        if self.just_written is None:
            return self
        longer_s = np.maximum(self.just_written.time_s - self.one_way_s, 0.0)
        return replace(
            self,
            one_way_s=self.one_way_s + longer_s,
            between_s=self.between_s + longer_s,
            both_ways=self.both_ways and self.both_ways.longer(longer_s),
            just_written=None,
        )

    def over(self, links: float) -> Messages:
        """Messages over so many links; as they are where it is not known what each adds."""
        if self.link is None:
            return self
        longer_s = self.link.longer_s + (links - self.link.links) * self.link.per_link_s
        one_way_s = np.maximum(self.one_way_s + longer_s, 0.0)
        moved_s, assumed = one_way_s - self.one_way_s, self.assumed_names
        # Assumed shares are of the empty message.
        ratio = float(one_way_s[0] / self.one_way_s[0]) if self.one_way_s[0] > 0 else 1.0
        return replace(
            self,
            one_way_s=one_way_s,
            send_s=self.send_s * (ratio if "overhead_s" in assumed else 1.0),
            receive_s=self.receive_s * (ratio if "receive_overhead_s" in assumed else 1.0),
            between_s=self.between_s + (moved_s - moved_s[0] + (ratio - 1) * self.between_s[0])
            if "gap_s" in assumed
            else self.between_s,
            both_ways=self.both_ways and self.both_ways.longer(moved_s),
            link=None,
        )

    def at_end(self, end: int) -> Messages | None:
        """The messages at the low (0) or the high (1) end of their interval at every size; None without one.

        The processors' shares move with the empty message that they are a part of.
        """
        if self.ends is None:
            return None
        ratio, of_between = self.ends[end], (self.between_ends or self.ends)[end]
        return replace(
            self,
            one_way_s=self.one_way_s * ratio,
            send_s=self.send_s * float(ratio[0]),
            receive_s=self.receive_s * float(ratio[0]),
            between_s=self.between_s * of_between,
            both_ways=self.both_ways and self.both_ways.at_end(end),
            just_written=self.just_written and self.just_written.at_end(end),
            ends=None,
            between_ends=None,
        )

    @classmethod
    def assumed(
        cls,
        one_way_s: Array,
        origins: Mapping[str, str],
        rendezvous_above_B: float | None = None,
        share: float = OVERHEAD_SHARE,
    ) -> Messages:
        """Messages known by their one-way time alone: either processor takes this share of an empty one."""
        overhead_s = share * float(one_way_s[0])
        return cls(
            one_way_s,
            overhead_s,
            overhead_s,
            one_way_s - one_way_s[0] + overhead_s,
            rendezvous_above_B,
            origins={**origins, **dict.fromkeys(PROCESSOR, ASSUMED)},
        )

    @property
    def assumed_names(self) -> set[str]:
        """The LogGOPS parameters that follow from `OVERHEAD_SHARE`."""
        return {name for name in PROCESSOR if self.origins.get(name) == ASSUMED}

    @property
    def least_s(self) -> tuple[float, Array]:
        """The least time between two empty messages of a rank, and between two of `SIZES_B`, nothing assumed."""
        assumed = self.assumed_names
        send_s = 0.0 if "overhead_s" in assumed else self.send_s
        between_s = self.between_s - (self.between_s[0] if "gap_s" in assumed else 0.0)
        return max(send_s, float(between_s[0])), np.minimum(between_s, self.one_way_s)

    def curves(self) -> list[Curve]:
        """The curve of each term, in the form that the simulator reads."""
        sizes = SIZES_B.tolist()
        transfer = self.transfer_s

        def overhead(time_s: float) -> Curve:
            return [0.0, 1.0], [time_s, time_s + self.overhead_s_per_B]

        between = sizes, self.between_s.tolist()
        duplex_s = self.duplex_s
        return terms_of(
            send=overhead(self.send_s),
            receive=overhead(self.receive_s),
            gap=between,
            drain=between,
            transfer=(sizes, transfer.tolist()),
            duplex=(sizes, duplex_s.tolist()) if duplex_s.any() else NOTHING,
            handshake=protocols(rendezvous_above_B=self.rendezvous_above_B, handshake_s=float(transfer[0])),
            behind=([0.0], [self.ahead_s]) if self.keeps_order else NOTHING,
        )

    @property
    def ahead_s(self) -> float:
        """How long `STREAM_AHEAD_B` takes."""
        return float(np.interp(STREAM_AHEAD_B, SIZES_B, self.one_way_s)) - float(self.one_way_s[0])

    @property
    def duplex_s(self) -> Array:
        """What a message takes of what both directions share, at `SIZES_B`.

        From half of the time between two messages, where both ways at once take hardly longer than one, to all
        of it, where they take twice as long.
        """
        share = self.longer_share
        return np.where(share > 0, (1 + share) / 2 * self.between_s, 0.0)

    @property
    def longer_share(self) -> Array:
        """By how much longer a message's bytes take where another goes the other way, 0 to 1, at `SIZES_B`."""
        if self.both_ways is None:
            return np.zeros_like(SIZES_B)
        bytes_s = np.maximum(self.one_way_s - self.one_way_s[0], 0.0)
        longer_s = np.clip(self.both_ways.time_s - self.one_way_s, 0.0, bytes_s)
        return np.asarray(np.divide(longer_s, bytes_s, out=np.zeros_like(SIZES_B), where=bytes_s > 0))

    @property
    def transfer_s(self) -> Array:
        """Time of a message without the processors' shares, at `SIZES_B`."""
        return np.maximum(self.one_way_s - self.send_s - self.receive_s, 0.0)

    def over_links(self, link_s_per_B: float, at_once: float = math.inf) -> tuple[Messages, Array]:
        """Messages of nodes with a link to each neighbour, and seconds that they take of a link, at `SIZES_B`.

        What keeps a node's messages apart then is the link that they share, no longer the node: so many different
        links at most carry at once. A byte takes `link_s_per_B` of a link at least. Where messages take clearly
        longer than that, both ways at once, the node itself limits them, and they stay as they are.
        """
        between_s = self.between_s - self.between_s[0]
        nominal_s = SIZES_B * link_s_per_B
        if self.keeps_order or between_s[-1] * (1 + self.longer_share[-1]) > LINK_LIMITS * nominal_s[-1]:
            return self, nominal_s
        # Alone a message is no longer on its way than it was measured to be.
        link_s = np.minimum(between_s, self.one_way_s - self.one_way_s[0])
        kept_s = self.between_s - link_s * (1 - 1 / at_once)
        return replace(self, between_s=kept_s), np.maximum(link_s, nominal_s)

    def parameters(self) -> dict[str, float | None]:
        """LogGOPS parameters: those of an empty message, and G of the largest."""
        transfer = self.transfer_s
        return {
            "latency_s": float(transfer[0]),
            "overhead_s": self.send_s,
            "receive_overhead_s": self.receive_s,
            "overhead_s_per_B": self.overhead_s_per_B,
            "gap_s": float(self.between_s[0]),
            "gap_s_per_B": float(transfer[-1] - transfer[-2]) / float(SIZES_B[-1] - SIZES_B[-2]),
            "rendezvous_above_B": self.rendezvous_above_B,
        }

    def replaced(self, given: Mapping[str, float | None]) -> Messages:
        """These costs with the given LogGOPS parameters: L and g move their curves, G makes them straight."""
        known = {**self.parameters(), **given}
        send_s, receive_s = float(known["overhead_s"] or 0), float(known["receive_overhead_s"] or 0)
        transfer, between = self.transfer_s, self.between_s
        if "gap_s_per_B" in given:
            further_s = np.maximum(SIZES_B - 1, 0) * float(known["gap_s_per_B"] or 0)
            transfer, between = transfer[0] + further_s, between[0] + further_s
        transfer = transfer + float(known["latency_s"] or 0) - transfer[0]
        between = between + float(known["gap_s"] or 0) - between[0]
        return Messages(
            transfer + send_s + receive_s,
            send_s,
            receive_s,
            between,
            known["rendezvous_above_B"],
            float(known["overhead_s_per_B"] or 0),
            {**self.origins, **dict.fromkeys(given, COMMAND_LINE)},
            keeps_order=self.keeps_order,
        )


@dataclass(frozen=True)
class MeasuredMessages:
    """Messages of a locality, the largest that was measured (bytes), and what stands in for the usual ones."""

    messages: Messages
    largest_B: int | None
    stand_ins: list[str]


def measured_reduction(machine: Machine, origin: str) -> Reduction | None:
    """Of the nearest ranks, as those of a full node are; None where none was measured."""
    for locality in LOCALITIES:
        if entries := _entries(machine, locality, REDUCTION):
            return Reduction(**vars(_timed(entries[0])), origin=f"{origin}, {locality}: {REDUCTION}")
    return None


def measured_messages(
    machine: Machine, locality: str, origin: str, *, both_ways: bool, can_choose: bool
) -> MeasuredMessages | None:
    """From its ping-pongs, with what else was measured under their conditions; None without any.

    The time between two messages is that of many in a row; with `both_ways` of many in both directions. What both
    directions share is from messages that meet (pingping).
    """
    entries = _entries(machine, locality)
    if not entries:
        return None
    entry = entries[0]
    rates = _rates(machine, entry, both_ways=both_ways)
    messages = replace(_of_entry(entry, origin), ends=_ends(entry))
    if rates:
        messages = _with_rate(messages, rates[0], origin)
    if writing := _alike(machine, entry, WRITTEN):
        messages = replace(messages, just_written=_just_written(writing[0], messages.one_way_s))
    late: list[Entry] = []
    if meeting := _alike(machine, entry, "pingping"):
        messages = replace(messages, both_ways=_timed(meeting[0]))
        # Copies inside a node may take turns, too, but keep nobody's answer back.
        late = _alike(machine, entry, LATE) if locality == LOCALITIES[NETWORK] else []
        if late:
            messages = replace(messages, keeps_order=_keeps_order(entry, meeting[0], late[0]))
        if rates and rates[0].operation == "bidirectional":
            # What both directions share is in it, and comes again with each message of either.
            messages = replace(messages, between_s=messages.between_s / (1 + messages.longer_share))
    if any(each is not None and each.ends is None for each in (messages.just_written, messages.both_ways)):
        # Nor has the whole an interval then.
        messages = replace(messages, ends=None)
    said = [
        text
        for several in filter(None, (entries, rates, writing, meeting, late))
        for text in _stand_ins(several, can_choose)
    ]
    messages = replace(messages, link=_link_latency(machine, entry) if locality == LOCALITIES[NETWORK] else None)
    return MeasuredMessages(messages, _largest_B(entry), said)


def _largest_B(entry: Entry) -> int | None:
    return max((point.size_B for point in entry.measurements.points), default=None)


def _just_written(entry: Entry, one_way_s: Array) -> Timed:
    """Messages that were just written; beyond the largest measured they are as much longer as that."""
    timed, last = _timed(entry), int(np.searchsorted(SIZES_B, _largest_B(entry) or 0))
    longer_s = timed.time_s - one_way_s
    longer_s[last + 1 :] = longer_s[min(last, longer_s.size - 1)]
    return replace(timed, time_s=one_way_s + longer_s)


def _keeps_order(entry: Entry, meeting: Entry, late: Entry) -> bool | None:
    """Whether messages that meet take turns where one rank is late, as the other's data are ahead of its answer.

    Their bytes take twice as long then; the middle of the sizes that ask decides. None where none was measured.
    """
    largest_B = min(_largest_B(meeting) or 0, _largest_B(late) or 0)
    first, end = np.searchsorted(SIZES_B, [entry.eager_limit_B or np.inf, largest_B], side="right")
    one_way_s = _times(entry)
    longer = (_times(late) - _times(meeting)) / (one_way_s - one_way_s[0]).clip(min=one_way_s[0])
    return bool(np.median(longer[first:end]) > 1 / 2) if first < end else None


def _link_latency(machine: Machine, entry: Entry) -> LinkLatency | None:
    """Of the effect `hops` under the entry's conditions."""
    known = [effect for effect in effects_under(machine, HOPS, entry) if "per_hop_s" in effect.parameters]
    if not known:
        return None
    effect, names = preferred(known)[0], ("size_B", "per_hop_s", "mean_s")
    rows = sorted(tuple(float(row[name] or 0.0) for name in names) for row in effect.points)
    size_B, per_link_s, mean_s = np.array(rows).T
    longer_s = mean_s - np.interp(size_B, SIZES_B, _times(entry))
    return LinkLatency(
        np.maximum(np.interp(SIZES_B, size_B, per_link_s), 0.0),
        effect.parameters["mean_hops"].value,
        np.interp(SIZES_B, size_B, longer_s),
    )


def _entries(machine: Machine, locality: str, operation: str = "pingpong") -> list[Entry]:
    """The fitted entries of a locality that the usual words leave: several, where the conditions differ."""
    return preferred(
        [
            entry
            for entry in machine.point_to_point
            if entry.operation == operation and entry.locality == locality and "piecewise" in entry.fits
        ]
    )


def _stand_ins(entries: Sequence[Entry], can_choose: bool) -> list[str]:
    """Why the first of these entries is no obvious choice, in words; empty where it is."""
    first, said = entries[0], []
    if len(entries) > 1:
        among = "; ".join(
            f"{name} {', '.join(word or '(empty)' for word in there)}"
            for name, there in differences(entries).items()
        )
        choose = ": --where NAME=WORD chooses" if can_choose else ""
        said.append(
            f"{len(entries)} measured configurations answer ({among}); {title(first, entries)} is taken{choose}"
        )
    if first.variant not in ("", "default") or first.cache not in ("", "warm"):
        said.append(f"uses {title(first)}: the default variant with a warm cache was not measured")
    return said


def _of_entry(entry: Entry, origin: str) -> Messages:
    one_way = _times(entry)
    loggp = entry.fits.get("loggp")
    origin = f"{origin}, {entry.locality}"
    origins = dict.fromkeys(("latency_s", "gap_s_per_B"), f"{origin}: piecewise")
    if entry.eager_limit_B is not None:
        origins["rendezvous_above_B"] = f"{origin}: eager limit of the library"
    if loggp is None:
        return Messages.assumed(one_way, origins, entry.eager_limit_B)
    between = _value(loggp, "g") + np.maximum(SIZES_B - 1, 0) * _value(loggp, "G")
    return Messages(
        one_way,
        _value(loggp, "o_s"),
        _value(loggp, "o_r"),
        between,
        entry.eager_limit_B,
        origins=origins | dict.fromkeys(PROCESSOR, f"{origin}: loggp"),
    )


def _times(entry: Entry) -> Array:
    """Seconds of a message at each of SIZES_B, as `hockney predict` answers."""
    return corrected(entry.fits["piecewise"], SIZES_B, entry.measured)


def _timed(entry: Entry) -> Timed:
    return Timed(np.maximum(_times(entry), 0.0), _ends(entry))


def _ends(entry: Entry) -> tuple[Array, Array] | None:
    """The 95 % interval of a message's time at each of SIZES_B, as ratios to it."""
    bounds = interval(entry.fits["piecewise"], SIZES_B, entry.measured)
    time_s = _times(entry)
    if bounds is None or not (time_s > 0).all():
        return None
    return bounds[0] / time_s, bounds[1] / time_s


_CONDITIONS = ("variant", "mapping", "mpi", "system")


def _rates(machine: Machine, entry: Entry, *, both_ways: bool) -> list[Entry]:
    """Entries of many messages in a row under the ping-pong's conditions; empty where it has its own gap."""
    operations = ["bidirectional"] if both_ways else []
    if "loggp" not in entry.fits:
        operations.append("bandwidth")
    return next(filter(None, (_alike(machine, entry, operation) for operation in operations)), [])


def _alike(machine: Machine, entry: Entry, operation: str) -> list[Entry]:
    """Entries of another operation under the conditions of this one."""
    return [
        other
        for other in _entries(machine, entry.locality or "", operation)
        if all(words(other).get(name) == words(entry).get(name) for name in _CONDITIONS)
    ]


def _with_rate(messages: Messages, rate: Entry, origin: str) -> Messages:
    """`messages` with the measured time between many in a row, which also bounds the processors' shares.

    Its interval is its own; where it has none, there is none of the whole.
    """
    between = _without_ends(_times(rate), messages.one_way_s, int(rate.other.get("window") or 0))
    if rate.operation == "bandwidth":
        between = np.minimum(between, messages.one_way_s)
    ends = _ends(rate)
    return replace(
        messages,
        ends=None if ends is None else messages.ends,
        between_ends=ends,
        send_s=min(messages.send_s, float(between[0])),
        receive_s=min(messages.receive_s, float(between[0])),
        between_s=between,
        origins={**messages.origins, "gap_s": f"{origin}, {rate.locality}: {rate.operation}"},
    )


def _without_ends(windowed: Array, one_way: Array, window: int) -> Array:
    """Times from one message of a window to the next: the first is one way under way, and an empty one answers
    (see `models.loggp`)."""
    if window < 2:
        return np.maximum(windowed, 0.0)
    gaps: Array = np.maximum(window * windowed - one_way - one_way[0], 0.0) / (window - 1)
    return gaps


def _value(fit: Fit, name: str) -> float:
    return max(fit.parameters[name].value, 0.0)
