"""A recorded run under the costs of a machine: when it is done, and what it waits for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hockney import _core
from hockney._core import Network, Replay, Simulated, TraceFault
from hockney.errors import EnvironmentLack
from hockney.predict.costs import Costs, CriticalTerms, value
from hockney.predict.machine_costs import MachineCosts, placed
from hockney.predict.network_figures import costs_of
from hockney.predict.on_topology import on_topology
from hockney.predict.options import MessageCosts
from hockney.predict.place import LOCALITIES, Place
from hockney.predict.procedures import Phase
from hockney.predict.replay.recorded import RecordedRun, refused
from hockney.predict.simulation import available_B
from hockney.records.keys import LATE, REDUCTION, WRITTEN

TICK_S = 1e-9
WORLD = "MPI_COMM_WORLD"
UNMEASURED = {
    "pingping": "what two ways at once cost more than one",
    WRITTEN: "what bytes that were just written cost more",
    LATE: "whether answers wait behind data",
    REDUCTION: "reductions",
}
"""By the operations that would measure it."""


@dataclass(frozen=True)
class PathParts:
    """Seconds of the critical path: they add up to the run."""

    computing_s: float
    latency_s: float
    bandwidth_s: float
    overhead_s: float
    rendezvous_s: float
    shared_links_s: float
    reduction_s: float


@dataclass(frozen=True)
class SpotTime:
    """Where time goes, a call site or a communicator: on the critical path, computing before its calls and
    communication in them; what a rank is idle in them (mean), and how much of it for ranks that were late."""

    name: str
    computing_s: float
    communication_s: float
    waiting_s: float
    late_s: float


@dataclass(frozen=True)
class ReplaySetting:
    """What a run is played under; `localities` are those that its messages have, as the costs number them."""

    costs: MachineCosts
    place: Place | None
    localities: tuple[int, ...]
    node: int | None
    """How many nodes the ranks are on; None: several, and nobody says how many."""
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, case: MessageCosts, run: RecordedRun) -> ReplaySetting:
        """RequestError where these ranks have no place there, or nobody knows what their messages cost."""
        costs, system = costs_of(case)
        ranks, hosts = run.ranks, list(dict.fromkeys(run.trace.hosts))
        linked = on_topology(case, ranks) if case.topology else None
        place: Place | None = None
        said: list[str] = []
        if system is not None:
            costs, place = placed(costs, system, case.mapping, ranks, None, case.ppn)
        elif linked is not None:
            place = linked.place(ranks)
            if linked.is_torus:
                costs = linked.with_links(costs)
            said.append(linked.where)
        elif len(hosts) > 1:
            node = np.array([hosts.index(host) for host in run.trace.hosts], dtype=np.int32)
            place = Place.of_nodes(node, int(np.bincount(node).max()))
            said.append(f"ranks are on {len(hosts)} nodes as they were recorded")
        else:
            costs = costs.on_nodes(1)
        costs.check_network(place, ranks)
        said = [*costs.warnings, *costs.assumptions(place, ranks), *said]
        if place is None:
            costs = costs.alike(ranks)
        if missing := costs.unmeasured(list(costs.messages) if place is None else place.localities):
            what = ", ".join(UNMEASURED[name] for name in missing)
            said.append(f"{what}: not measured; `hockney measure --operation {','.join(['pingpong', *missing])}`")
        if place is None:
            return cls(costs, None, (next(iter(costs.messages)),), 1, tuple(said))
        return cls(costs, place, tuple(place.localities), len(set(place.node)), tuple(said))

    @property
    def names(self) -> list[str]:
        """Of the localities."""
        return [LOCALITIES[one] for one in self.localities]

    def columns(self) -> list[int]:
        """Where `curves` has the localities."""
        return [0] if self.place is None else list(self.localities)

    def curves(self) -> Costs:
        """Of each locality that a pair of ranks may have: programs send what they have just written."""
        return self._curves(self.costs.written())

    def _curves(self, costs: MachineCosts) -> Costs:
        return costs.at(self.localities if self.place is None else range(len(LOCALITIES)))

    def _surroundings(self, ranks: int | None = None) -> tuple[NDArray[np.int32], Network]:
        """Where the first ranks are, and what their messages share."""
        place = self.place
        if place is None:
            return np.zeros((0, 0), np.int32), Network(node_of_rank=())
        shares = self.costs.node_s_per_B or self.costs.link_s_per_B
        network = Network(node_of_rank=place.node[:ranks] if shares else (), torus=place.torus if shares else ())
        return np.ascontiguousarray(place.levels[:, :ranks]), network

    def alone_s(self, parts: Sequence[Phase]) -> NDArray[np.float64]:
        """When each rank is through with a collective that the first ranks enter together, as it is measured: the
        same message is sent time and again."""
        finish_s = self._simulated(parts, self._curves(self.costs), parts[0][2].ranks).finish_s
        return np.asarray(finish_s.reshape(len(parts), -1)[-1])

    def play(
        self,
        replay: Replay,
        curves: Costs,
        *,
        traced: bool = True,
        window: tuple[float, float, int] = (0.0, 0.0, 0),
    ) -> Simulated:
        """RequestError, with rank and event, where it cannot go on; EnvironmentLack where memory would not do."""
        return self._simulated([replay], curves, trace=traced, window=window)

    def _simulated(
        self,
        programs: Sequence[Phase | Replay],
        curves: Costs,
        ranks: int | None = None,
        *,
        trace: bool = False,
        window: tuple[float, float, int] = (0.0, 0.0, 0),
    ) -> Simulated:
        levels, network = self._surroundings(ranks)
        try:
            return _core.simulate(
                programs,
                curves.curves(),
                levels=levels,
                network=network,
                trace=trace,
                window=window,
                most_B=available_B(),
            )
        except TraceFault as fault:
            raise refused(fault) from fault
        except MemoryError as error:
            raise EnvironmentLack("the memory is full", "record a shorter run") from error


@dataclass(frozen=True)
class Played:
    """What came of it."""

    run_s: float
    path: CriticalTerms
    result: Simulated

    @classmethod
    def of(cls, result: Simulated, curves: Costs) -> Played:
        """With its critical path."""
        return cls(float(result.finish_s.max()), CriticalTerms.of(result, curves), result)

    def parts(self, curves: Costs) -> PathParts:
        """Where the critical path goes."""
        path = self.path
        return PathParts(
            computing_s=path.ticks * TICK_S,
            latency_s=path.empty_s["transfer"] + path.whole_s("hop"),
            bandwidth_s=sum(path.bytes_s[term] for term in ("transfer", "gap", "drain", "duplex")),
            overhead_s=path.whole_s("send", "receive") + path.empty_s["gap"] + path.empty_s["drain"],
            rendezvous_s=path.bytes_s["handshake"] + path.whole_s("behind"),
            shared_links_s=path.whole_s("node_link", "network_link", "insert"),
            reduction_s=float(
                path.copied @ value(curves.copy, path.size_B) + path.reduced @ value(curves.reduce, path.size_B)
            ),
        )

    def spots(self, run: RecordedRun) -> tuple[list[SpotTime], list[SpotTime]]:
        """By call site and by communicator, those first that take most."""
        sites = [run.sites[site] for site, *_ in self.result.spots]
        places = [communicator(number, ranks) for _, number, ranks in self.result.spots]
        rows = self.result.of_spots_s
        return _summed(sites, rows, run.ranks), _summed(places, rows, run.ranks)


def communicator(number: int, ranks: int) -> str:
    """What a rank's communicator is called: by its number, which most programs have alike on all ranks."""
    if number < 0:
        return "none"
    return WORLD if number == 0 else "MPI_COMM_SELF" if number == 1 else f"communicator {number} of {ranks} ranks"


def _summed(names: Sequence[str], rows: NDArray[np.float64], ranks: int) -> list[SpotTime]:
    of_name: dict[str, NDArray[np.float64]] = {}
    for name, row in zip(names, rows, strict=True):
        of_name[name] = of_name.get(name, np.zeros(4)) + row
    made = [
        SpotTime(name, float(row[0]), float(row[1]), float(row[2]) / ranks, float(row[3]) / ranks)
        for name, row in of_name.items()
        if row.any()
    ]
    return sorted(made, key=lambda row: -(row.computing_s + row.communication_s))
