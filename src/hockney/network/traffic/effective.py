"""Effective bisection bandwidth of a network, computed: what pairs of random bisections get in the mean.

A pair gets the share that its most loaded link leaves it: one over the messages on it. The effective bisection
bandwidth is the mean over the pairs of many random bisections (Hoefler, Schneider and Lumsdaine, Cluster 2008).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.network.traffic.base import Allocated, Demand, Progress, silent
from hockney.network.traffic.routings.base import routings
from hockney.network.traffic.study import TrafficStudy, study
from hockney.statistics import t_reach

Floats = NDArray[np.float64]
MOST_PAIRS = 2**17
"""Pairs of all samples together, each of which is routed by itself: minutes."""


@dataclass(frozen=True)
class Effective:
    """`fractions` (samples,): of each bisection the mean over its pairs, as a share of a link of a node."""

    nodes: int
    fractions: Floats

    @property
    def mean(self) -> float:
        """The effective bisection bandwidth, as a share of full bisection."""
        return float(self.fractions.mean())

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % of the mean over all bisections (Student's t), within 0 and 1; None of a single one."""
        count = len(self.fractions)
        if count < 2:
            return None
        half = t_reach(float(self.fractions.std(ddof=1)) / math.sqrt(count), count - 1)
        return max(0.0, self.mean - half), min(1.0, self.mean + half)

    def as_data(self) -> dict[str, float | int | None]:
        """For JSON."""
        low, high = self.interval or (None, None)
        return {
            "nodes": self.nodes,
            "samples": len(self.fractions),
            "fraction": self.mean,
            "low": low,
            "high": high,
            "least": float(self.fractions.min()),
            "largest": float(self.fractions.max()),
        }


def pair_fractions(drawn: TrafficStudy) -> Floats:
    """(pairs,): the share of a node's link that each message gets: one over the congestion of its worst link.

    Where a message is spread over several paths, the worst link of any of them counts.
    """
    way, links = routings.get(drawn.routing), drawn.among.links
    demand = drawn.demand
    shares = []
    for source, target in zip(demand.source, demand.target, strict=True):
        crossed = way.carry(links, Demand.of([source], [target])) > 0
        shares.append(drawn.size_B * drawn.streams / drawn.load.congestion_B[crossed].max())
    return np.asarray(np.minimum(np.array(shares), 1.0))


def effective_bisection(
    among: Allocated, routing: str, samples: int, seed: int = 0, progress: Progress = silent
) -> Effective:
    """Of `samples` random bisections, drawn with `seed` and the seeds after it.

    RequestError for fewer than two nodes, for a network without this routing, and for more than MOST_PAIRS pairs.
    """
    pairs = samples * len(among.nodes)
    if pairs > MOST_PAIRS:
        raise RequestError(
            f"{samples} bisections of {len(among.nodes)} nodes are {pairs} pairs, more than {MOST_PAIRS}",
            "ask for fewer samples or nodes",
        )
    fractions = []
    for number in range(samples):
        progress(number / samples, f"bisection {number + 1} of {samples}")
        drawn = study(among, traffic="random_bisection", routing=routing, size_B=1.0, seed=seed + number)
        fractions.append(float(pair_fractions(drawn).mean()))
    return Effective(len(among.nodes), np.array(fractions))
