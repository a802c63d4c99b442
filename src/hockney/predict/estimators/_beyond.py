"""How far a calibrated simulation is off beyond the runs that it was calibrated on, by its own smaller runs.

Calibrations on smaller runs predict the larger ones of training. What these miss beyond what is missed inside
grows with each doubling of the ranks. Beside that it is there at once where ranks first send over a locality that
no smaller run of their mapping used, into another package or another node: a single rank more is hardly farther,
but of how such messages go among so many ranks nothing was seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hockney.predict.estimators.base import Array
from hockney.predict.scenario import Scenario
from hockney.statistics import CONFIDENCE

FEWEST = 20
"""Least number of points from which something is derived."""
UNKNOWN = 0.5
"""In ln, for a doubling and for a new locality, where the points are too few."""


@dataclass(frozen=True)
class Beyond:
    """How far points lie beyond runs, arrays of shape (n,): doublings of the ranks, 0 inside; whether they send
    over a locality that no run of their mapping used."""

    doublings: Array
    is_new: NDArray[np.bool_]


@dataclass(frozen=True)
class TrainedRuns:
    """What calibration has seen: the most ranks, and the localities (see `Place`) that each mapping used."""

    most_ranks: int
    localities: Mapping[str, frozenset[int]]

    @staticmethod
    def of(scenarios: Sequence[Scenario], mappings: Sequence[str]) -> TrainedRuns:
        """Of scenarios, and the mapping of each."""
        used: dict[str, frozenset[int]] = {}
        for one, mapping in zip(_localities(scenarios), mappings, strict=True):
            used[mapping] = used.get(mapping, frozenset()) | one
        return TrainedRuns(max(scenario.ranks for scenario in scenarios), used)

    def beyond(self, scenarios: Sequence[Scenario], mappings: Sequence[str]) -> Beyond:
        """How far other scenarios lie beyond these."""
        ranks = np.array([scenario.ranks for scenario in scenarios], dtype=np.float64)
        used = [self.localities.get(mapping, frozenset()) for mapping in mappings]
        is_new = [not one <= known for one, known in zip(_localities(scenarios), used, strict=True)]
        return Beyond(np.maximum(np.log2(ranks / self.most_ranks), 0.0), np.array(is_new, dtype=np.bool_))


def _localities(scenarios: Sequence[Scenario]) -> list[frozenset[int]]:
    # Points of one placement share it.
    places = {id(scenario.place): scenario.place for scenario in scenarios}
    known = {key: frozenset(place.localities) for key, place in places.items()}
    return [known[id(scenario.place)] for scenario in scenarios]


@dataclass(frozen=True)
class ErrorGrowth:
    """What 95 % of points beyond miss at most, in ln: for each doubling, and on a new locality."""

    of_doubling: float
    of_new: float

    @staticmethod
    def of(missed: Array, inside: Array, beyond: Beyond) -> ErrorGrowth:
        """From errors in ln of points beyond, and what 95 % of those inside are below, shapes (n,)."""
        excess = np.sqrt(np.maximum(missed**2 - inside**2, 0.0))
        is_more = beyond.doublings > 0
        return ErrorGrowth(_most(excess[is_more] / beyond.doublings[is_more]), _most(excess[beyond.is_new]))

    def reach(self, beyond: Beyond) -> Array:
        """Half the width of their 95 % interval in ln, shape (n,); 0 for points that are not beyond."""
        return np.asarray(np.hypot(self.of_doubling * beyond.doublings, self.of_new * beyond.is_new))


def _most(values: Array) -> float:
    return float(np.quantile(values, CONFIDENCE)) if values.size >= FEWEST else UNKNOWN
