"""The time of the three-dimensional sum: a root that serves blocks, and memory that is passed once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import computed_field

from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.loads import loads
from hockney.apps.sum3d.app import Algorithm
from hockney.errors import RequestError
from hockney.machine.file import Machine
from hockney.predict.collective import predict_one
from hockney.predict.machine_costs import MachineCosts, of_machine
from hockney.predict.network_figures import NetworkFigures, with_network
from hockney.predict.place import LOCALITIES
from hockney.schedule.catalogue import ask
from hockney.units import Extents

ELEMENT_B = 8
READ_AND_WRITTEN_B = 3 * ELEMENT_B
"""Of each sum: two elements read, one written."""
COPIED_B = 2 * ELEMENT_B
"""Of each element that is copied: read and written."""


@dataclass(frozen=True)
class Sum3dPrediction:
    """Seconds of one cycle by part; `block_B` is the largest process's part of one matrix."""

    ranks: int
    block_B: int
    algorithm: str
    origin: str
    scatter_s: float
    compute_s: float
    gather_s: float
    pack_s: float
    warnings: tuple[str, ...]

    @computed_field
    @property
    def time_s(self) -> float:
        """The parts follow each other."""
        return self.scatter_s + self.compute_s + self.gather_s + self.pack_s


def predict_sum3d(
    size: Extents,
    grid: Grid,
    split: str,
    costs: MachineCosts,
    bandwidth_B_per_s: float,
    *,
    sum_bandwidth_B_per_s: float | None = None,
    algorithm: Algorithm = "linear",
) -> Sum3dPrediction:
    """Two scatters, the sum, a gather.

    `bandwidth_B_per_s` is the memory's, for one of the ranks that use it; `sum_bandwidth_B_per_s` is the sum's,
    where others' caches hold what it writes: the memory's where it is not given.

    Scatter and gather are schedules of that name for blocks of the largest load, and rank 0's copy of its own
    part. For `blocks` rank 0 also puts the elements of three matrices in order, in the datatype (`pack_s`).

    RequestError for what cannot be split.
    """
    of_ranks = loads(size, grid, split)
    summing_B_per_s = bandwidth_B_per_s if sum_bandwidth_B_per_s is None else sum_bandwidth_B_per_s
    if not min(bandwidth_B_per_s, summing_B_per_s) > 0:
        raise RequestError("a memory without bandwidth holds nothing", "for example 10GB/s")
    block_B = ELEMENT_B * max(of_ranks)
    own_s = COPIED_B * of_ranks[0] / bandwidth_B_per_s
    scatter_s, gather_s = (
        _collective_s(collective, algorithm, grid.ranks, block_B, costs) for collective in ("scatter", "gather")
    )
    return Sum3dPrediction(
        ranks=grid.ranks,
        block_B=block_B,
        algorithm=algorithm,
        origin=costs.origin,
        scatter_s=2 * (scatter_s + own_s),
        compute_s=READ_AND_WRITTEN_B * max(of_ranks) / summing_B_per_s,
        gather_s=gather_s + own_s,
        pack_s=3 * COPIED_B * size.product / bandwidth_B_per_s if split == "blocks" else 0.0,
        warnings=(*costs.warnings, *costs.assumptions(None, grid.ranks), *costs.beyond(block_B)),
    )


def _collective_s(collective: str, algorithm: str, ranks: int, block_B: int, costs: MachineCosts) -> float:
    if ranks == 1:
        return 0.0
    row = predict_one(ask(collective, algorithm, ranks=ranks, root=0, size_B=block_B), costs, None)
    if row.time_s is None:
        raise RequestError(f"{collective} by {algorithm} on {ranks} ranks: {row.note}", "ask for fewer ranks")
    return row.time_s


def costs_of(
    machine: Machine,
    origin: str,
    size: Extents,
    locality: str = "",
    network: NetworkFigures | None = None,
) -> MachineCosts:
    """Costs of messages of that locality, with the cache of `usual_cache`.

    Without a locality all that are known; `network` says what messages between nodes take where none were
    measured. RequestError where the machine file has none of those.
    """
    cache = usual_cache(machine, size)
    entries = [entry for entry in machine.point_to_point if entry.cache in (cache, "")]
    if not entries:
        known = ", ".join(sorted({entry.cache for entry in machine.point_to_point})) or "nothing"
        raise RequestError(f"{origin} has no messages with cache {cache!r}", f"measured: {known}")
    costs = of_machine(machine.model_copy(update={"point_to_point": entries}), f"{origin}, cache {cache}")
    costs = with_network(costs, network or NetworkFigures(), None)
    if not locality:
        return costs
    by_locality = {LOCALITIES[level]: of_it for level, of_it in costs.messages.items()}
    if locality not in by_locality:
        raise RequestError(
            f"{origin} has no messages of locality {locality!r}", f"measured: {', '.join(by_locality)}"
        )
    # Whoever names it says how far apart the ranks are, however many.
    return replace(costs, messages={LOCALITIES.index(locality): by_locality[locality]}, one_node=None)


def usual_cache(machine: Machine, size: Extents) -> str:
    """`off` where rank 0's three matrices are larger than any cache of the machine and it was measured."""
    caches_B = [cache.size_B for host in machine.system.hosts for cache in host.caches]
    is_larger = bool(caches_B) and 3 * ELEMENT_B * size.product > max(caches_B)
    is_known = any(e.cache == "off" and e.operation == "pingpong" for e in machine.point_to_point)
    return "off" if is_larger and is_known else "warm"
