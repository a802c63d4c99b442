"""Costs of messages in the form that the simulator reads (cpp/simulate/cost.hpp)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hockney._core import CostCurves, Simulated
from hockney.predict.place import NETWORK

Curve = tuple[list[float], list[float]]
"""Sizes in bytes, increasing, and times in seconds: linear between and beyond, constant below the first."""

TERMS = (
    "send", "receive", "gap", "drain", "transfer", "handshake", "insert", "node_link", "network_link", "hop",
    "duplex", "behind",
)  # fmt: skip
"""The parts of the cost of a message, in the order of the core's `Term`."""

NOTHING: Curve = ([], [])
BUFFERED, HELD = -1.0, -2.0
"""Handshakes that are none: the message is out of the sender's hands when it is sent, or when it has left."""


@dataclass(frozen=True)
class Costs:
    """A curve for each of `TERMS` of messages of each requested locality, and curves of local work."""

    messages: list[list[Curve]]
    copy: Curve
    reduce: Curve

    def curves(self) -> CostCurves:
        """The curves in the form that the core reads."""
        return CostCurves(self.messages, self.copy, self.reduce)

    def on_links(self, localities: Sequence[int], node_s_per_B: float, link_s_per_B: float) -> Costs:
        """The same where a byte between nodes takes so long on a node's link, and on each link between them.

        What messages are known to take of a link stays.
        """
        for term, time_s_per_B in (("node_link", node_s_per_B), ("network_link", link_s_per_B)):
            number = TERMS.index(term)
            if time_s_per_B and localities[-1] == NETWORK and self.messages[-1][number] == NOTHING:
                self.messages[-1][number] = per_byte(time_s_per_B)
        return self


class CostSource(Protocol):
    """A source of the costs of messages by locality."""

    @property
    def copies_cost(self) -> bool:
        """Whether copies inside a rank take time."""
        ...

    def at(self, localities: Sequence[int]) -> Costs:
        """Costs of messages at these localities (index into `scenario.LOCALITIES`)."""
        ...


def value(curve: Curve, size_B: NDArray[np.float64]) -> NDArray[np.float64]:
    """Seconds at these sizes, read as the core reads a curve."""
    sizes, seconds = curve
    if not sizes:
        return np.zeros_like(size_B)
    inside = np.interp(size_B, sizes, seconds)
    if len(sizes) == 1:
        return inside
    slope = (seconds[-1] - seconds[-2]) / (sizes[-1] - sizes[-2])
    return np.asarray(inside + slope * np.maximum(size_B - sizes[-1], 0.0))


def line(at_first_byte_s: float, per_further_byte_s: float) -> Curve:
    """a + (m − 1)·b for m ≥ 1 bytes, a for an empty message: LogGP counts G from the second byte on."""
    return [1.0, 2.0], [at_first_byte_s, at_first_byte_s + per_further_byte_s]


def protocols(
    *, held_above_B: float = math.inf, rendezvous_above_B: float | None = None, handshake_s: float = 0.0
) -> Curve:
    """The handshake by size: buffered, held by the sender until the message is out, or rendezvous, which goes
    before the others. A size at a limit belongs to what is below it."""

    meeting_above_B = math.inf if rendezvous_above_B is None else rendezvous_above_B

    def at(size_B: float) -> float:
        if size_B > meeting_above_B:
            return handshake_s
        return HELD if size_B > held_above_B else BUFFERED

    limits_B = [limit_B for limit_B in (held_above_B, meeting_above_B) if math.isfinite(limit_B)]
    sizes_B = sorted({0.0, *(limit_B + beyond for limit_B in limits_B for beyond in (0.0, 1.0, 2.0))})
    return sizes_B, [at(size_B) for size_B in sizes_B]


def per_byte(time_s_per_B: float) -> Curve:
    """Proportional to the size."""
    return [0.0, 1.0], [0.0, time_s_per_B]


@dataclass(frozen=True)
class LoggopsParameters:
    """LogGOPS of all messages, and local work (Alexandrov et al. 1995; Hoefler, Schneider and Lumsdaine 2010).

    Latency L, overheads o_s and o_r (o_s where no other is given) and O for each byte, gap g between two messages
    that a rank sends or receives, gap G for each further byte, S as `rendezvous_above_B`. A message of m bytes
    has arrived o_s + L + (m − 1)G after it was started.
    """

    latency_s: float
    overhead_s: float
    gap_s: float
    gap_s_per_B: float
    receive_overhead_s: float = math.nan
    overhead_s_per_B: float = 0.0
    reduce_s_per_B: float = 0.0
    copy_s_per_B: float = 0.0
    rendezvous_above_B: float | None = None
    node_s_per_B: float = 0.0
    """Of a byte on a node's link into the network, which its ranks share."""
    link_s_per_B: float = 0.0
    """Of a byte on each link between nodes."""

    @property
    def copies_cost(self) -> bool:
        """Whether copies inside a rank take time."""
        return self.copy_s_per_B > 0

    def at(self, localities: Sequence[int]) -> Costs:
        """The same at each locality, but for links into and in the network."""
        send_s = self.overhead_s
        receive_s = send_s if math.isnan(self.receive_overhead_s) else self.receive_overhead_s
        between = line(self.gap_s, self.gap_s_per_B)
        message = terms_of(
            send=([0.0, 1.0], [send_s, send_s + self.overhead_s_per_B]),
            receive=([0.0, 1.0], [receive_s, receive_s + self.overhead_s_per_B]),
            gap=between,
            drain=between,
            transfer=line(self.latency_s, self.gap_s_per_B),
            handshake=protocols(rendezvous_above_B=self.rendezvous_above_B, handshake_s=self.latency_s),
        )
        local = per_byte(self.copy_s_per_B), per_byte(self.reduce_s_per_B)
        costs = Costs([list(message) for _ in localities], *local)
        return costs.on_links(localities, self.node_s_per_B, self.link_s_per_B)


def terms_of(**curves: Curve) -> list[Curve]:
    """A curve for each of `TERMS`; a message has none of those that are not named."""
    return [curves.get(term, NOTHING) for term in TERMS]


@dataclass(frozen=True)
class CriticalTerms:
    """What the last rank waited for, by the names of `TERMS`, over messages of the sizes on the way.

    `count`: how often, by size; `empty_s`: what messages of no bytes would take; `bytes_s`: what their bytes add,
    of a handshake all that it takes.
    """

    size_B: NDArray[np.float64]
    count: dict[str, NDArray[np.float64]]
    empty_s: dict[str, float]
    bytes_s: dict[str, float]
    copied: NDArray[np.float64]
    reduced: NDArray[np.float64]
    of_messages: NDArray[np.float64]
    """How often each of `TERMS`, by size and locality."""
    ticks: float = 0.0
    """Nanoseconds of computing of a recorded run."""

    def whole_s(self, *terms: str) -> float:
        """Seconds of these terms together."""
        return sum(self.empty_s[term] + self.bytes_s[term] for term in terms)

    def counted(self, *terms: str) -> int:
        """How often the path has these terms."""
        return round(sum(float(self.count[term].sum()) for term in terms))

    @classmethod
    def of(cls, result: Simulated, costs: Costs) -> CriticalTerms:
        """Of a result that was traced under these costs."""
        size_B = np.array(result.size_B, dtype=np.float64)
        critical = result.critical.reshape(size_B.size, len(costs.messages) * len(TERMS) + 2)
        # A tick has a size of its own.
        ticks, critical, size_B = critical[size_B < 0, -1].sum(), critical[size_B >= 0], size_B[size_B >= 0]
        of_message = critical[:, :-2].reshape(size_B.size, len(costs.messages), len(TERMS))
        empty_s, bytes_s = dict.fromkeys(TERMS, 0.0), dict.fromkeys(TERMS, 0.0)
        for here, curves in enumerate(costs.messages):
            for term, curve, times in zip(TERMS, curves, of_message[:, here].T, strict=True):
                # A message without a handshake has a negative one.
                least_s = 0.0 if term == "handshake" else -math.inf
                whole_s = np.maximum(value(curve, size_B), least_s)
                at_zero_s = value(curve, np.zeros_like(size_B)) if term != "handshake" else 0.0 * size_B
                empty_s[term] += float(times @ at_zero_s)
                bytes_s[term] += float(times @ (whole_s - at_zero_s))
        count = dict(zip(TERMS, of_message.sum(axis=1).T, strict=True))
        work = critical[:, -2], critical[:, -1]
        return cls(size_B, count, empty_s, bytes_s, *work, of_message, float(ticks))
