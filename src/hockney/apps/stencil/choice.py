"""Which grid: predicted times with intervals, and what can be told apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, computed_field

from hockney.apps.stencil.grids import Grid, GridText
from hockney.apps.stencil.steps import StencilStep, iteration
from hockney.apps.stencil.surroundings import Surroundings
from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.models.over_ranks.choice import Time, fastest

UNCALIBRATED = 1.3
"""Factor either way for communication that was simulated from ping-pongs alone: what evaluations of such
predictions on published tables show for 95 % of the points that are not congested."""
USUAL_CELL_S = 1e-9
"""Beside the exchange, to weigh parts of unequal size where a grid is chosen by its predicted time."""


@dataclass(frozen=True, kw_only=True)
class GridPrediction:
    """One iteration on one grid, in seconds: `time_s` with its 95 % interval, computing and the rest of it.

    No bounds where the network's costs were given, not measured. `updates_per_s`: cells of all ranks; those of
    one rank alone, `alone_per_s`, and the time of a whole solution where they are known.
    """

    grid: GridText
    time_s: float
    low_s: float | None
    high_s: float | None
    compute_s: float
    updates_per_s: float
    alone_per_s: Annotated[float | None, Field(exclude=True)] = None
    solution_s: Parameter | None = None

    @computed_field
    @property
    def communication_s(self) -> float:
        """What an iteration takes beyond the computation of the rank with the most cells."""
        return max(self.time_s - self.compute_s, 0.0)

    @computed_field
    @property
    def communication_share(self) -> float:
        """Of the time."""
        return self.communication_s / self.time_s

    @computed_field
    @property
    def mlups(self) -> float:
        """10⁶ updates per second."""
        return self.updates_per_s / 1e6

    @computed_field
    @property
    def speedup(self) -> float | None:
        """Updates per second over those of one rank: P/P₁."""
        return None if self.alone_per_s is None else self.updates_per_s / self.alone_per_s

    @computed_field
    @property
    def efficiency(self) -> float | None:
        """The speed-up over the ranks."""
        return None if self.speedup is None else self.speedup / self.grid.ranks


def predict_step(step: StencilStep, surroundings: Surroundings, iterations: int) -> GridPrediction:
    """The mean of so many iterations in a row."""
    simulated = iteration(step, surroundings)
    time_s = simulated.mean_s(iterations)
    compute_s = simulated.mean_compute_s(iterations)
    communication_s = max(time_s - compute_s, 0.0)
    low_s: float | None
    high_s: float | None
    if surroundings.assumes_network(step.stencil.grid.ranks):
        low_s = high_s = None
    elif surroundings.relative_error is None:
        low_s, high_s = (
            time_s - communication_s * (1 - 1 / UNCALIBRATED),
            time_s + communication_s * (UNCALIBRATED - 1),
        )
    else:
        # Of whole times, as the fit's residuals are.
        low_s, high_s = (time_s * math.exp(sign * surroundings.relative_error) for sign in (-1, 1))
    return GridPrediction(
        grid=step.stencil.grid,
        time_s=time_s,
        low_s=low_s,
        high_s=high_s,
        compute_s=compute_s,
        updates_per_s=math.prod(step.stencil.cells) / time_s,
    )


def rank_grids(
    step_on: Callable[[Grid], StencilStep], grids: Sequence[Grid], surroundings: Surroundings, iterations: int
) -> tuple[list[GridPrediction], dict[str, str]]:
    """Predictions, the fastest first, and why other grids are left out. RequestError where none is possible."""
    predictions, refused = [], {}
    first: RequestError | None = None
    for grid in grids:
        try:
            predictions.append(predict_step(step_on(grid), surroundings, iterations))
        except RequestError as error:
            refused[str(grid)] = error.message
            # Not the last one, which may not even fit the cells.
            first = first or error
    if not predictions and first is not None:
        raise first
    return sorted(predictions, key=lambda prediction: prediction.time_s), refused


def not_told_apart(ordered: Sequence[GridPrediction], surroundings: Surroundings) -> list[GridPrediction]:
    """Those that the first is not faster than.

    Computation is common to all grids but for uneven parts, so that only the errors of communication count.
    """
    times = {
        place: Time(
            grid.time_s, grid.time_s - _open_s(grid, surroundings), grid.time_s + _open_s(grid, surroundings)
        )
        for place, grid in enumerate(ordered)
    }
    return [ordered[place] for place in fastest(times).ties]


def _open_s(prediction: GridPrediction, surroundings: Surroundings) -> float:
    """Half the width of the interval of communication, in seconds."""
    if surroundings.relative_error is None:
        return prediction.communication_s * (UNCALIBRATED - 1)
    return min(prediction.communication_s, prediction.time_s * surroundings.relative_error)
