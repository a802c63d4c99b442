"""A hypercube: 2ⁿ nodes, with a link between any two whose numbers differ in one bit."""

from __future__ import annotations

import math

import numpy as np

from hockney.errors import RequestError
from hockney.network.topologies.base import MOST_VERTICES, Network, Topology, link_rate, topologies, whole


def hypercube(dimension: int, link: float = math.nan) -> Network:
    """A hypercube of 2**dimension nodes; `link` in bit/s."""
    if 2 ** min(dimension, 64) > MOST_VERTICES:
        likely = min((dimension - 1).bit_length(), MOST_VERTICES.bit_length() - 1)
        raise RequestError(
            f"a hypercube of dimension {dimension} has 2^{dimension} nodes, more than {MOST_VERTICES}",
            f"the number is the dimension, not that of the nodes: hypercube:{likely} has {2**likely} nodes",
        )
    nodes = 2**dimension
    number = np.arange(nodes, dtype=np.int64)
    rows = [np.stack([low := number[number >> bit & 1 == 0], low | 1 << bit], -1) for bit in range(dimension)]
    ends = np.concatenate(rows)
    return Network(
        kind="hypercube",
        nodes=nodes,
        switches=0,
        ends=ends,
        parallel=np.ones(len(ends), np.int64),
        bandwidth_bit_per_s=np.full(len(ends), link),
        names=tuple(f"node {i}" for i in range(nodes)),
        level=np.full(nodes, -1, np.int64),
        attributes={"dimension": dimension},
    )


topologies.register("hypercube")(
    Topology(
        "hypercube",
        hypercube,
        {"dimension": whole, "link": link_rate},
        required=("dimension",),
        first="dimension",
    )
)
