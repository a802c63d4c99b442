"""Costs of messages of one locality: curves over the size for the simulator, LogGOPS parameters for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hockney.predict.costs import Curve, protocols, terms_of

Array = NDArray[np.float64]

SIZES_B = np.array([0.0, *2.0 ** np.arange(31)])
"""Curves have a point at each of these sizes."""

OVERHEAD_SHARE = 0.35
"""Share of an empty message's time that either processor takes where o_s and o_r are unknown (LogP fits)."""
PROCESSOR = ("overhead_s", "receive_overhead_s", "gap_s")
"""The LogGOPS parameters that follow from this share."""
COMMAND_LINE = "the command line"
ASSUMED = "assumed: 35 % of an empty message"
ASSUMED_SHARES = "o and g are assumed, not measured: 35 % of an empty message each"
"""What a prediction says that stands on this share."""


@dataclass(frozen=True)
class Messages:
    """Messages of one locality: one-way times, the processors' times, times between two messages, eager limit.

    Arrays have a value in seconds for each of `SIZES_B`. `origins` names the source of each LogGOPS parameter.
    `ends`: the 95 % interval of `one_way_s` as two ratios to it, for each of `SIZES_B`; None where there is none.
    `between_ends`: the same of `between_s`, where that was measured by itself; None: it is as uncertain.
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
        return terms_of(
            send=overhead(self.send_s),
            receive=overhead(self.receive_s),
            gap=between,
            drain=between,
            transfer=(sizes, transfer.tolist()),
            handshake=protocols(rendezvous_above_B=self.rendezvous_above_B, handshake_s=float(transfer[0])),
        )

    @property
    def transfer_s(self) -> Array:
        """Time of a message without the processors' shares, at `SIZES_B`."""
        return np.maximum(self.one_way_s - self.send_s - self.receive_s, 0.0)

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
        )
