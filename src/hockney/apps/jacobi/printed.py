"""Formulas for Jacobi on a three-dimensional process grid, and what follows for grids and for more ranks.

Weak scaling (Hager and Wellein 2010, section 9.3): each of N ranks sweeps a cube of L³ cells in T_s and exchanges
halos in T_c, so that P = L³N / (T_s + T_c) lattice updates are done per second. Both formulas move the same
bytes, two faces out and two in along each direction; they differ in latencies, two or four for each direction.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pydantic import computed_field

from hockney.apps.jacobi.app import Formula
from hockney.apps.stencil.grids import Grid, GridText
from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.units import format_rate, format_time

LARGEST_SUBDOMAIN = 10**6
"""Cells along a side: 8 EB for each copy of a rank's doubles."""


@dataclass(frozen=True)
class WeakScalingCase:
    """What a prediction starts from.

    `subdomain`: L, cells along each side of a rank's cube. `serial_time_s`: T_s, what one rank takes for its cube
    alone. `latency_s` and `bandwidth_B_per_s`: of the messages between ranks. `ranks_on_core`: the most that
    share a core, and take turns.
    """

    subdomain: int
    serial_time_s: float
    latency_s: float
    bandwidth_B_per_s: float
    ranks_on_core: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        if not 1 <= self.subdomain <= LARGEST_SUBDOMAIN:
            raise RequestError(
                f"a subdomain has 1 to {LARGEST_SUBDOMAIN} cells along a side, not {self.subdomain}",
                "for example 1200",
            )
        for what, value in (("serial time", self.serial_time_s), ("bandwidth", self.bandwidth_B_per_s)):
            if not (value > 0 and math.isfinite(value)):
                raise RequestError(f"the {what} must be positive and finite", "say what was measured")
        if not (self.latency_s >= 0 and math.isfinite(self.latency_s)):
            raise RequestError("the latency must be finite and not negative", "say what was measured")


@dataclass(frozen=True)
class HaloModel:
    """`formula` for people; how much `k` counts for a direction with several processes, and its latencies."""

    formula: str
    k: int
    latencies: int


@dataclass(frozen=True, eq=False)
class Links:
    """Of messages between neighbours: λ in s and B in B/s with their intervals; `origin` in words."""

    latency_s: Parameter
    bandwidth_B_per_s: Parameter
    origin: str

    @classmethod
    def given(cls, latency_s: float, bandwidth_B_per_s: float, origin: str) -> Links:
        """Numbers that are taken as exact."""
        return cls(Parameter(value=latency_s, unit="s"), Parameter(value=bandwidth_B_per_s, unit="B/s"), origin)

    @property
    def words(self) -> str:
        """Both numbers, and where they come from."""
        latency, rate = format_time(self.latency_s.value), format_rate(self.bandwidth_B_per_s.value)
        return f"λ = {latency}, B = {rate}: {self.origin}"


NO_MESSAGES = Links.given(0.0, 1.0, "no messages")
"""Of one rank."""


@dataclass(frozen=True, kw_only=True)
class PrintedPrediction:
    """Of one grid. `time_s` = T_s + `communication_s`; `mlups`: 10⁶ lattice updates per second of all ranks.

    `efficiency` = P / (N P₁), P₁ that of one rank alone; `ratio` = N P₁/P. `communication_share` = T_c/(T_s
    + T_c).
    `ranks_on_core` share a core and take turns, so that T_s is so many times that of one.
    `links` are behind the case; `place` is its rank among others, 1 for the fastest.
    """

    grid: GridText
    k: int
    halo_B: int
    communication_s: float
    time_s: float
    mlups: float
    efficiency: float
    communication_share: float
    links: Links | None = None
    place: int | None = None
    ranks_on_core: int = 1

    @computed_field
    @property
    def ratio(self) -> float:
        """What N ranks lose: 1 is nothing."""
        return 1 / self.efficiency


def predict(model: HaloModel, case: WeakScalingCase, grid: Grid, links: Links | None = None) -> PrintedPrediction:
    """The sweep of `case` on `grid`; RequestError where the numbers leave the range of doubles."""
    # In each direction four messages of L² doubles, in and out on both sides.
    halo_B = case.subdomain**2 * grid.directions * 4 * 8
    halo_s = halo_B / case.bandwidth_B_per_s + model.latencies * grid.directions * case.latency_s
    time_s = case.ranks_on_core * case.serial_time_s + halo_s
    mlups = case.subdomain**3 * grid.ranks / time_s / 1e6
    if not (math.isfinite(time_s) and math.isfinite(mlups)):
        raise RequestError(
            f"the performance on {grid} cannot be computed: times or rates are out of range",
            "check the units of the serial time, the latency and the bandwidth",
        )
    return PrintedPrediction(
        grid=grid,
        k=model.k * grid.directions,
        halo_B=halo_B,
        communication_s=halo_s,
        time_s=time_s,
        mlups=mlups,
        efficiency=case.serial_time_s / time_s,
        communication_share=halo_s / time_s,
        links=links,
        ranks_on_core=case.ranks_on_core,
    )


def rank(predictions: Iterable[PrintedPrediction]) -> list[PrintedPrediction]:
    """Grids of the same number of ranks with their places, fastest first.

    Grids with exactly the same time share a place and keep their order; the next place counts them all: 1, 1, 3.
    """
    ordered = sorted(predictions, key=lambda prediction: prediction.time_s)
    times = [prediction.time_s for prediction in ordered]
    return [replace(prediction, place=bisect_left(times, prediction.time_s) + 1) for prediction in ordered]


@dataclass(frozen=True)
class WeakScalingStep:
    """Weak scaling into one more direction.

    From `ranks` on, 2 to the power of `directions`, halos can be exchanged in so many directions;
    `communication_share` of the time is then theirs.
    """

    directions: int
    ranks: int
    communication_share: float


def weak_scaling(model: HaloModel, case: WeakScalingCase) -> list[WeakScalingStep]:
    """The three steps in which communication grows: of cubes only directions count, not ranks."""
    return [
        WeakScalingStep(grid.directions, grid.ranks, predict(model, case, grid).communication_share)
        for grid in (Grid(2, 1, 1), Grid(2, 2, 1), Grid(2, 2, 2))
    ]


MODELS: dict[Formula, HaloModel] = {
    # k latencies, as the published tables VI to XI print and use k: both sides of each direction.
    "weak_scaling_jacobi": HaloModel(
        "P = L³N / (T_s + T_c), T_c = c/B + k·λ, c = 16·k·L² B, k = 2 × directions with more than one process",
        k=2,
        latencies=2,
    ),
    "weak_scaling_jacobi_per_message": HaloModel(
        "P = L³N / (T_s + T_c), T_c = C/B + 4·k·λ, C = 32·k·L² B, k = directions with more than one process",
        k=1,
        latencies=4,
    ),
}
