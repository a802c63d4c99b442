"""The formula of documents for weak scaling of Jacobi on a three-dimensional process grid.

Each of N ranks sweeps a cube of L³ cells in T_s and exchanges halos in T_c, so that P = L³N / (T_s + T_c) lattice
updates are done per second (Hager and Wellein 2010, section 9.3): two faces out and two in along each direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pydantic import computed_field

from hockney.apps.stencil.grids import Grid, GridText
from hockney.errors import RequestError

FORMULA = "P = L³N / (T_s + T_c), T_c = c/B + k·λ, c = 16·k·L² B, k = 2 × directions with more than one process"


@dataclass(frozen=True)
class WeakScalingCase:
    """What a prediction starts from.

    `subdomain`: L, cells along each side of a rank's cube. `serial_time_s`: T_s, what one rank takes for its cube
    alone. `latency_s` and `bandwidth_B_per_s`: of the messages between ranks.
    """

    subdomain: int
    serial_time_s: float
    latency_s: float
    bandwidth_B_per_s: float


@dataclass(frozen=True)
class PrintedPrediction:
    """Of one grid. `time_s` = T_s + `communication_s`; `mlups`: 10⁶ lattice updates per second of all ranks.

    `efficiency` = P / (N P₁), P₁ that of one rank alone; `ratio` = N P₁/P. `communication_share` = T_c/(T_s
    + T_c). `k` as the published tables VI to XI print and use it: both sides of each direction.
    """

    grid: GridText
    k: int
    halo_B: int
    communication_s: float
    time_s: float
    mlups: float
    efficiency: float
    communication_share: float

    @computed_field
    @property
    def ratio(self) -> float:
        """What N ranks lose: 1 is nothing."""
        return 1 / self.efficiency


def predict_formula(case: WeakScalingCase, grid: Grid) -> PrintedPrediction:
    """The sweep of `case` on `grid`; RequestError where the numbers are none, or leave the range of doubles."""
    if min(case.subdomain, case.serial_time_s, case.bandwidth_B_per_s) <= 0 or case.latency_s < 0:
        raise RequestError(
            "subdomain, serial time and bandwidth must be positive, and the latency not negative",
            "say what was measured",
        )
    k = 2 * grid.directions
    halo_B = 16 * k * case.subdomain**2
    halo_s = halo_B / case.bandwidth_B_per_s + k * case.latency_s
    time_s = case.serial_time_s + halo_s
    mlups = case.subdomain**3 * grid.ranks / time_s / 1e6
    if not (math.isfinite(time_s) and math.isfinite(mlups)):
        raise RequestError(
            f"the performance on {grid} cannot be computed: times or rates are out of range",
            "check the units of the serial time, the latency and the bandwidth",
        )
    return PrintedPrediction(grid, k, halo_B, halo_s, time_s, mlups, case.serial_time_s / time_s, halo_s / time_s)
