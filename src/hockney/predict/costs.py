"""Costs of messages in the form that the simulator reads (cpp/simulate/cost.hpp)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hockney._core import CostCurves

Curve = tuple[list[float], list[float]]
"""Sizes in bytes, increasing, and times in seconds: linear between and beyond, constant below the first."""

TERMS = ("send", "receive", "gap", "drain", "transfer", "handshake", "insert", "node_link", "network_link", "hop")
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
    *, held_above_B: float = math.inf, rendezvous_above_B: float = math.inf, handshake_s: float = 0.0
) -> Curve:
    """The handshake by size: buffered, held by the sender until the message is out, or rendezvous, which goes
    before the others. A size at a limit belongs to what is below it."""

    def at(size_B: float) -> float:
        if size_B > rendezvous_above_B:
            return handshake_s
        return HELD if size_B > held_above_B else BUFFERED

    limits_B = [limit_B for limit_B in (held_above_B, rendezvous_above_B) if math.isfinite(limit_B)]
    sizes_B = sorted({0.0, *(limit_B + beyond for limit_B in limits_B for beyond in (0.0, 1.0, 2.0))})
    return sizes_B, [at(size_B) for size_B in sizes_B]


def per_byte(time_s_per_B: float) -> Curve:
    """Proportional to the size."""
    return [0.0, 1.0], [0.0, time_s_per_B]


def loggp_message(
    *,
    latency_s: float,
    overhead_s: float,
    gap_s: float,
    gap_s_per_B: float,
    receive_overhead_s: float | None = None,
    overhead_s_per_B: float = 0.0,
    rendezvous_above_B: float | None = None,
    node_gap_s_per_B: float = 0.0,
    network_gap_s_per_B: float = 0.0,
) -> list[Curve]:
    """LogGOPS of the messages of one locality, a curve for each of `TERMS` (Alexandrov et al. 1995; Hoefler,
    Schneider and Lumsdaine 2010).

    Latency L, overheads o_s and o_r (o_s where no other is given) and O for each byte, gap g between two messages
    that a rank sends or receives, gap G for each further byte, S as `rendezvous_above_B`. A message of m bytes
    has arrived o_s + L + (m − 1)G after it was started. It takes `node_gap_s_per_B` of the links of its nodes and
    `network_gap_s_per_B` of the links between them.
    """
    receive_s = overhead_s if receive_overhead_s is None else receive_overhead_s
    of_term: dict[str, Curve] = {
        "send": ([0.0, 1.0], [overhead_s, overhead_s + overhead_s_per_B]),
        "receive": ([0.0, 1.0], [receive_s, receive_s + overhead_s_per_B]),
        "gap": line(gap_s, gap_s_per_B),
        "drain": line(gap_s, gap_s_per_B),
        "transfer": line(latency_s, gap_s_per_B),
        "handshake": protocols(
            rendezvous_above_B=math.inf if rendezvous_above_B is None else rendezvous_above_B,
            handshake_s=latency_s,
        ),
        "node_link": per_byte(node_gap_s_per_B),
        "network_link": per_byte(network_gap_s_per_B),
    }
    return [of_term.get(term, NOTHING) for term in TERMS]


def loggp_costs(*, reduce_s_per_B: float = 0.0, copy_s_per_B: float = 0.0, **message: Any) -> Costs:
    """LogGOPS where all messages have the costs of `loggp_message`, with local work for each byte."""
    return Costs([loggp_message(**message)], per_byte(copy_s_per_B), per_byte(reduce_s_per_B))


def loggp(**parameters: Any) -> CostCurves:
    """`loggp_costs` in the form that the core reads."""
    return loggp_costs(**parameters).curves()
