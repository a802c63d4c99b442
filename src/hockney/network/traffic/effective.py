"""Effective bisection bandwidth of a network, computed: what pairs of random bisections get in the mean.

A pair gets the share that its most loaded link leaves it: one over the messages on it. The effective bisection
bandwidth is the mean over the pairs of many random bisections (Hoefler, Schneider and Lumsdaine, Cluster 2008).
Half of the nodes sends (one way), or all do (both ways, as in Netgauge's `ebb`): these are two quantities.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.network.traffic.base import Demand
from hockney.network.traffic.routings.base import routings
from hockney.network.traffic.study import EffectiveShare, TrafficStudy
from hockney.statistics import t_reach

Floats = NDArray[np.float64]
WAYS = {"random_halves": "one way", "random_bisection": "both ways"}
"""What is counted, by traffic."""
MOST_PAIRS = 2**17
"""Pairs of all samples together, each of which is routed by itself: minutes."""


def effective_share(nodes: int, fractions: Floats, ways: str) -> EffectiveShare:
    """The mean of `fractions` (samples,): of each bisection the mean over its pairs, as shares of full bisection.

    The interval is that of the mean over all bisections (Student's t), within 0 and 1; None of a single one.
    """
    count, mean = len(fractions), float(fractions.mean())
    half = t_reach(float(fractions.std(ddof=1)) / math.sqrt(count), count - 1) if count > 1 else None
    return EffectiveShare(
        nodes,
        count,
        mean,
        None if half is None else max(0.0, mean - half),
        None if half is None else min(1.0, mean + half),
        float(fractions.min()),
        float(fractions.max()),
        ways,
    )


def pair_fractions(drawn: TrafficStudy) -> Floats:
    """(pairs,): the share of a node's link that each message gets: one over the congestion of its worst link.

    Where a message is spread over several paths, the worst link of any of them counts.
    """
    way, links = routings.get(drawn.routing), drawn.among.links
    demand = drawn.demand
    shares = []
    for source, target in zip(demand.source, demand.target, strict=True):
        crossed = way.carry(links, Demand.of([source], [target])) > 0
        shares.append(drawn.size_B / drawn.load.congestion_B[crossed].max())
    return np.asarray(np.minimum(np.array(shares), 1.0))


def effective_bisection(drawn: Iterable[TrafficStudy], samples: int) -> EffectiveShare:
    """Of so many random bisections, drawn of a traffic of `WAYS`; RequestError for more than MOST_PAIRS pairs."""
    fractions = []
    for each in drawn:
        nodes = len(each.among.nodes)
        if samples * nodes > MOST_PAIRS:
            raise RequestError(
                f"{samples} bisections of {nodes} nodes are {samples * nodes} pairs, more than {MOST_PAIRS}",
                "take fewer nodes: --allocation 0-1023",
            )
        fractions.append(float(pair_fractions(each).mean()))
    return effective_share(nodes, np.array(fractions), WAYS[each.traffic])
