"""The correction of a calibrated simulation: by its residuals, and by curves that know nothing of schedules.

ln T = ln simulated + (1 − w) · d + w · (ln curve − ln simulated). d is the `Discrepancy`, which fades with the
distance from the training points. The curves are those of `combination`. Among a schedule's training ranks and
sizes, w has the least error on training points left out (Stone, J. Roy. Stat. Soc. B 36, 1974). On more ranks it
has that on larger runs of training, as the smaller ones predict them (Bates and Granger, Oper. Res. Q. 20, 1969).
Elsewhere, and where messages go over a new locality, w is 0 and the simulation leads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from hockney.predict.discrepancy import Discrepancy, Where
from hockney.predict.estimators._beyond import Beyond
from hockney.predict.estimators.base import Array, FittedEstimator
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

    def __init__(self, at: Where, discrepancy: Discrepancy, curves: FittedEstimator, unseen: Array) -> None:
        self._discrepancy = discrepancy
        self._curves = curves
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

    def weights(self, where: Where, beyond: Beyond, ahead: float) -> Array:
        """What the curves weigh at each point, shape (n,); `ahead`: on more ranks."""
        nowhere = (np.inf, -np.inf, np.inf, -np.inf)
        ends = np.array([self._trained.get(int(schedule), nowhere) for schedule in where.schedule]).reshape(-1, 4)
        among_ranks = (ends[:, 0] <= where.ranks) & (where.ranks <= ends[:, 1])
        is_ahead = (beyond.doublings > 0) & ~beyond.is_new
        among_sizes = (ends[:, 2] <= where.size) & (where.size <= ends[:, 3])
        return np.where(among_sizes, np.where(among_ranks, self.weight, ahead * is_ahead), 0.0)

    def at(
        self, points: pd.DataFrame, where: Where, beyond: Beyond, simulated_ln: Array, ahead: float = 0.0
    ) -> CorrectedBy:
        """The correction of points (columns of `predict.points.POINT`) that are simulated to take so long.

        `ahead`: what the curves weigh on more ranks.
        """
        missed, deviation = self._discrepancy.at(where)
        along_s = self._curves.predict(points).time_s
        weight = np.where(np.isfinite(along_s), self.weights(where, beyond, ahead), 0.0)
        along_ln = np.where(weight > 0, np.log(along_s) - simulated_ln, 0.0)
        factor = np.where((weight > 0) & (beyond.doublings == 0), self._factor, self._discrepancy.factor)
        return CorrectedBy((1 - weight) * missed + weight * along_ln, factor * deviation, weight)
