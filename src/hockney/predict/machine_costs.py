"""What messages cost on a machine, from its machine file or its description: where a prediction begins."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hockney._core import CostCurves
from hockney.errors import RequestError
from hockney.machine.file import Entry, Machine
from hockney.machine.system import Mapping, Network, Node, System
from hockney.models.base import Fit
from hockney.models.base import predict as predict_fit
from hockney.predict.costs import NOTHING, TERMS, Curve, per_byte, protocols
from hockney.predict.point_to_point import message_times
from hockney.predict.scenario import LOCALITIES

Array = NDArray[np.float64]

SIZES_B = np.array([0.0, *2.0 ** np.arange(31)])
"""Curves have a point at each."""

_OVERHEAD_SHARE = 0.35
"""Of the time of an empty message, at either processor, where o_s and o_r were not measured (LogP fits)."""
_WORK_S_PER_B = 1e-10
"""A reduction or a copy, where it was not measured: 10 GB/s, one core of today."""


@dataclass(frozen=True)
class Messages:
    """Messages of one locality: time one way by size, the processors' times, time between two, limit of eager."""

    one_way_s: Array
    send_s: float
    receive_s: float
    between_s: Array
    rendezvous_above_B: float | None = None

    def curves(self) -> list[Curve]:
        """By term, as the simulator takes them."""
        sizes = SIZES_B.tolist()
        transfer = np.maximum(self.one_way_s - self.send_s - self.receive_s, 0.0)
        of_term: dict[str, Curve] = {
            "send": ([0.0], [self.send_s]),
            "receive": ([0.0], [self.receive_s]),
            "gap": (sizes, self.between_s.tolist()),
            "drain": (sizes, self.between_s.tolist()),
            "transfer": (sizes, transfer.tolist()),
            "handshake": protocols(
                rendezvous_above_B=math.inf if self.rendezvous_above_B is None else self.rendezvous_above_B,
                handshake_s=float(transfer[0]),
            ),
        }
        return [of_term.get(term, NOTHING) for term in TERMS]


@dataclass(frozen=True)
class MachineCosts:
    """Costs by locality (index into LOCALITIES); `origin` in words, `warnings` what is assumed."""

    messages: dict[int, Messages]
    origin: str
    warnings: list[str] = field(default_factory=list)
    node_s_per_B: float = 0.0
    """Of a node's link into the network, which its ranks share; 0 where it is not known."""

    def nearest(self, locality: int) -> int:
        """Itself where it was measured, else the nearest measured one farther out, else farther in."""
        return min(self.messages, key=lambda one: (one < locality, abs(one - locality)))

    def curves(self, localities: list[int], *, copies: bool = True) -> CostCurves:
        """For the simulator, in the order of these localities; copies may be left out."""
        work = per_byte(_WORK_S_PER_B)
        messages = [self.messages[self.nearest(one)].curves() for one in localities]
        if self.node_s_per_B and localities[-1] == len(LOCALITIES) - 1:
            messages[-1][TERMS.index("node_link")] = per_byte(self.node_s_per_B)
        return CostCurves(messages, work if copies else NOTHING, work)


def of_machine(machine: Machine, origin: str) -> MachineCosts:
    """From the ping-pongs of a machine file. RequestError where it has none of a known locality."""
    found: dict[int, Messages] = {}
    warnings = [f"reductions and copies were not measured: {1e-9 / _WORK_S_PER_B:.0f} GB/s is assumed"]
    for locality, name in enumerate(LOCALITIES):
        entry = _entry(machine, name)
        if entry is not None:
            found[locality] = _of_entry(entry)
    if not found:
        raise RequestError(
            f"{origin} has no ping-pong of a known locality",
            "measure one: `hockney measure`, `hockney fit`, or describe the system with --system",
        )
    return MachineCosts(found, origin, warnings)


def of_system(system: System) -> MachineCosts:
    """A bound from a description alone: published rates and latencies, else what is usual on such machines."""
    import pandas as pd

    nothing = pd.DataFrame(columns=["operation", "statistic", "time_us", "bytes", "mapping", "repetition"])
    times = message_times(nothing, system)
    found = {}
    for locality in range(len(LOCALITIES)):
        one_way = np.array([times(locality, size_B) for size_B in SIZES_B])
        overhead_s = _OVERHEAD_SHARE * one_way[0]
        found[locality] = Messages(one_way, overhead_s, overhead_s, one_way - one_way[0] + overhead_s)
    warning = f"nothing was measured: the description of {system.name} and usual latencies give a rough bound"
    return MachineCosts(found, f"the description of {system.name}", [warning])


def usual() -> MachineCosts:
    """Where neither machine nor system is given: what is usual on clusters of today, to compare algorithms."""
    system = System(
        schema_version=1,
        name="a usual cluster",
        source="usual latencies and bandwidths",
        node=Node(packages=1, cores_per_cache=1),
        network=Network(topology="switch"),
        mappings={"core": Mapping(order=["core", "cache", "numa", "package", "node"])},
    )
    found = of_system(system)
    warning = "no machine.json here, no --machine, --table or --system: usual latencies and bandwidths are taken"
    return MachineCosts(found.messages, "usual costs of a cluster", [warning])


def _entry(machine: Machine, locality: str) -> Entry | None:
    """The ping-pong of a locality in the default variant and a warm cache, where there is one."""
    of_it = [
        entry
        for entry in machine.point_to_point
        if entry.operation == "pingpong" and entry.locality == locality and "piecewise" in entry.fits
    ]
    usual = [entry for entry in of_it if entry.variant in ("", "default") and entry.cache in ("", "warm")]
    return next(iter(usual or of_it), None)


def _of_entry(entry: Entry) -> Messages:
    one_way = predict_fit(entry.fits["piecewise"], SIZES_B)
    loggp = entry.fits.get("loggp")
    if loggp is None:
        overhead_s = _OVERHEAD_SHARE * float(one_way[0])
        return Messages(one_way, overhead_s, overhead_s, one_way - one_way[0] + overhead_s, entry.eager_limit_B)
    between = _value(loggp, "g") + np.maximum(SIZES_B - 1, 0) * _value(loggp, "G")
    return Messages(one_way, _value(loggp, "o_s"), _value(loggp, "o_r"), between, entry.eager_limit_B)


def _value(fit: Fit, name: str) -> float:
    return max(fit.parameters[name].value, 0.0)
