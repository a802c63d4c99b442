"""The correction of a calibrated simulation: by its residuals, and by a surface that knows nothing of schedules.

ln T = ln simulated + (1 − w) · d + w · (ln surface − ln simulated). d is the `Discrepancy`, which fades with the
distance from the training points. The surface is that of `gaussian_process`; its weight w has the least error on
training points left out (Stone, J. Roy. Stat. Soc. B 36, 1974). A surface does not extrapolate: outside the ranks
and sizes that a schedule was trained on, w is 0, and the simulation leads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.predict.discrepancy import Discrepancy, Where
from hockney.predict.estimators.base import Array
from hockney.predict.estimators.gaussian_process import Surfaces
from hockney.statistics import least_absolute_share

_FEWEST = 20
"""Points left out that choose a weight; with fewer the surface has none."""


@dataclass(frozen=True)
class CorrectedBy:
    """Arrays of shape (n,): correction of ln time, half the width of its 95 % interval, weight of the surface."""

    ln: Array
    reach: Array
    weight: Array


class Corrector:
    """The correction of a calibration whose training points are at `at`, in the order of `discrepancy.left_out`.

    `unseen`, shape (n,): ln measured − ln predicted of each of them by surfaces without it; NaN if unknown.
    """

    def __init__(self, at: Where, discrepancy: Discrepancy, surfaces: Surfaces, unseen: Array) -> None:
        self._discrepancy = discrepancy
        self._surfaces = surfaces
        self._trained = {
            int(schedule): (at.ranks[here].min(), at.ranks[here].max(), at.size[here].min(), at.size[here].max())
            for schedule in np.unique(at.schedule)
            for here in [at.schedule == schedule]
        }
        known = np.isfinite(unseen)
        missed = discrepancy.left_out
        says_more = np.where(known, missed - unseen, 0.0)
        enough = known.sum() >= _FEWEST
        self.weight = least_absolute_share(missed[known], says_more[known]) if enough else 0.0
        self._factor = discrepancy.factor_of(missed - self.weight * says_more)

    def inside(self, where: Where) -> NDArray[np.bool_]:
        """Whether each point lies among the ranks and sizes that its schedule was trained on, shape (n,)."""
        nowhere = (np.inf, -np.inf, np.inf, -np.inf)
        ends = np.array([self._trained.get(int(schedule), nowhere) for schedule in where.schedule]).reshape(-1, 4)
        among_ranks = (ends[:, 0] <= where.ranks) & (where.ranks <= ends[:, 1])
        return among_ranks & (ends[:, 2] <= where.size) & (where.size <= ends[:, 3])

    def at(self, points: pd.DataFrame, where: Where, simulated_ln: Array) -> CorrectedBy:
        """The correction of points (columns of `predict.points.POINT`) that are simulated to take so long."""
        missed, deviation = self._discrepancy.at(where)
        surface_s = self._surfaces.predict(points).time_s
        weight = np.where(self.inside(where) & np.isfinite(surface_s), self.weight, 0.0)
        surface_ln = np.where(weight > 0, np.log(surface_s) - simulated_ln, 0.0)
        factor = np.where(weight > 0, self._factor, self._discrepancy.factor)
        return CorrectedBy((1 - weight) * missed + weight * surface_ln, factor * deviation, weight)
