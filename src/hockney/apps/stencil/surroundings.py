"""Where an application runs and what messages cost there: what its steps are simulated with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hockney import _core
from hockney._core import Network, Problem, Schedule
from hockney.apps.stencil.options import StencilCase
from hockney.apps.stencil.stencil import WORK
from hockney.machine.placement import placement
from hockney.machine.system import find_system
from hockney.predict.costs import NOTHING, TERMS, Costs, Curve, per_byte
from hockney.predict.machine_costs import MachineCosts
from hockney.predict.message_costs import SIZES_B, Messages
from hockney.predict.place import LOCALITIES, Place

FARTHEST = len(LOCALITIES) - 1
Phase = tuple[str, str, Problem] | Schedule
SCALED = ("send", "receive", "gap", "drain", "transfer", "handshake")
"""Terms of messages that calibration stretches."""


@dataclass(frozen=True)
class Tuned:
    """What measured runs change in the machine's costs: factors of them, and what no ping-pong shows.

    `latency` stretches what an empty message takes, `per_byte` what its bytes take, `compute` the computation.
    A message takes `network_s_per_B` of each link that it passes between the nodes; an empty one takes `hop_s`
    from one to the next.
    """

    latency: float = 1.0
    per_byte: float = 1.0
    compute: float = 1.0
    network_s_per_B: float = 0.0
    hop_s: float = 0.0


@dataclass(frozen=True)
class Surroundings:
    """`place` gives where so many ranks are; None: all as far apart as was measured, sharing nothing.

    `relative_error`: half the width in ln of the 95 % interval of a time, None where not calibrated. `runs`: how
    many `tuned` was calibrated on.
    """

    costs: MachineCosts
    place: Callable[[int], Place | None]
    tuned: Tuned = Tuned()
    relative_error: float | None = None
    runs: int = 0

    def finish_s(self, phases: Sequence[Phase], ranks: int) -> list[float]:
        """When the last rank is through each phase, after a common start; each goes on by itself.

        RequestError where messages go between nodes and their costs are not known.
        """
        place = self.place(ranks)
        self.costs.check_network(place, ranks)
        costs = self.costs.alike(ranks) if place is None else self.costs
        curves = costs.at([FARTHEST] if place is None else range(len(LOCALITIES)))
        messages = [
            [self._stretched(*term) for term in zip(TERMS, of_level or [NOTHING] * len(TERMS), strict=True)]
            for of_level in curves.messages
        ]
        network = Network(node_of_rank=())
        if place is not None and place.is_spread:
            self._share(messages[FARTHEST], self.costs.messages[self.costs.nearest(FARTHEST)])
            # The memory that ranks of a node share is left out here.
            network = replace(place, memory=()).network()
        result = _core.simulate(
            phases,
            Costs(messages, curves.copy, WORK).curves(),
            levels=np.zeros((0, 0), np.int32) if place is None else place.levels,
            network=network,
        )
        return [float(of_level) for of_level in result.finish_s.reshape(len(phases), -1).max(axis=1)]

    def by_runs(self) -> Surroundings:
        """The same without what a topology says of its links: runs say what they take."""
        return replace(self, costs=replace(self.costs, link_s_per_B=0.0, has_link_to_each=False))

    def assumes_network(self, ranks: int) -> bool:
        """Whether so many ranks send messages between nodes whose costs were given, not measured."""
        return self.costs.assumes_network(self.place(ranks), ranks)

    def _stretched(self, name: str, curve: Curve) -> Curve:
        sizes, seconds = curve
        if name not in SCALED or not sizes or min(seconds) < 0:
            return curve
        at_zero_s = seconds[0] * self.tuned.latency
        return sizes, [at_zero_s + (second - seconds[0]) * self.tuned.per_byte for second in seconds]

    def _share(self, messages: list[Curve], measured: Messages) -> None:
        """Let messages between nodes take their time of the links, and longer over more of them."""
        if self.tuned.network_s_per_B:
            messages[TERMS.index("network_link")] = per_byte(self.tuned.network_s_per_B)
        if self.tuned.hop_s:
            # A protocol that asks before it sends passes every hop more than once: so does that part of a
            # message's time which does not occupy the port.
            waits = np.maximum(measured.one_way_s - measured.between_s, 0.0)
            hops = self.tuned.hop_s * waits / waits[0] if waits[0] > 0 else np.full(waits.size, self.tuned.hop_s)
            messages[TERMS.index("hop")] = (SIZES_B.tolist(), hops.tolist())


def ranks_on_core(case: StencilCase, ranks: int) -> int:
    """The most of so many ranks that share a core of the system of the case; 1 without one."""
    if not case.system:
        return 1
    placed = placement(find_system(case.system), case.mapping, ranks, None, case.ppn)
    return int(placed.turns.max()) + 1


def shared_cores(ranks: int, most: int, between: str) -> str:
    """What hardware threads mean for a prediction, in words."""
    return (
        f"{ranks} ranks: up to {most} share a core and are taken to take turns; what hardware threads gain is "
        f"not known: {between}"
    )
