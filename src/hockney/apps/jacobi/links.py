"""Latency and bandwidth for the formula of Jacobi, from a machine file, by the locality of neighbours."""

from __future__ import annotations

from dataclasses import dataclass

from hockney.apps.stencil.grids import Grid
from hockney.apps.stencil.stencil import Stencil
from hockney.errors import RequestError
from hockney.machine.file import Machine
from hockney.machine.formula import bandwidth, latency
from hockney.machine.placement import Placement
from hockney.machine.select import select_entry, title
from hockney.models.base import Parameter, preferred_model
from hockney.records.record import LOCALITIES, Locality, nearest
from hockney.units import format_rate, format_time


@dataclass(frozen=True, eq=False)
class Links:
    """Of messages between neighbours: λ in s and B in B/s with their intervals; `origin` in words."""

    latency_s: Parameter
    bandwidth_B_per_s: Parameter
    origin: str

    @property
    def words(self) -> str:
        """Both numbers, and where they come from."""
        latency, rate = format_time(self.latency_s.value), format_rate(self.bandwidth_B_per_s.value)
        return f"λ = {latency}, B = {rate}: {self.origin}"


def links_of(machine: Machine, locality: str) -> Links:
    """λ = T(0) and B = lim n/T(n) of the file's ping-pong at a locality, by its preferred model.

    RequestError where the file has no such message, or one whose time does not grow with its size.
    """
    filters = {"operation": "pingpong", **({"locality": locality} if locality else {})}
    entry = select_entry(machine, filters)
    name = preferred_model(entry.fits)
    rate = None if name is None else bandwidth(entry, entry.fits[name])
    if name is None or rate is None:
        raise RequestError(
            f"{title(entry)} has no bandwidth in this machine file", "measure larger messages, and fit again"
        )
    latency_s = latency(entry.fits[name])
    if latency_s.value < 0:
        raise RequestError(f"the latency of {title(entry)} is negative in this machine file", "measure it again")
    return Links(latency_s, rate, f"{title(entry)}, by {name}")


def locality_of(machine: Machine, place: Placement | None, grid: Grid) -> str:
    """Where neighbours are; inside a node else the nearest measured farther out, else farther in.

    Without a place the only locality of the file, empty where it names none; RequestError where it has several.
    """
    known = {entry.locality for entry in machine.point_to_point if entry.operation == "pingpong"}
    words = [word for word in LOCALITIES if word in known]
    apart = None if place is None else farthest(place, grid)
    inside = [word for word in words if word != "network"]
    if apart is not None and (apart in words or apart == "network"):
        return apart
    if apart is not None and inside:
        return nearest(apart, inside)
    if len(known) < 2:
        return words[0] if words else ""
    raise RequestError(f"neighbours may be {', '.join(words)} apart: each has a latency of its own", "")


def farthest(placement: Placement, grid: Grid) -> Locality | None:
    """The farthest locality between neighbours on a grid, which every rank waits for; None for one rank."""
    neighbours = Stencil((grid.x, grid.y, grid.z), grid).neighbours()
    apart = {
        placement.locality(rank, int(other))
        for rank in range(grid.ranks)
        for other in neighbours[rank]
        if other > rank
    }
    return max(apart, key=LOCALITIES.index) if apart else None
