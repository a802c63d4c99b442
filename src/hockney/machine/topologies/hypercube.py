"""A hypercube: 2ⁿ nodes, with a link between any two whose numbers differ in one bit."""

from __future__ import annotations

import math

import numpy as np

from hockney.machine.topologies.base import Network, Topology, check_size, link_rate, topologies, whole


def hypercube(dimension: int, link: float = math.nan) -> Network:
    """A hypercube of 2**dimension nodes; `link` in bit/s."""
    nodes = 2 ** min(dimension, 64)
    check_size(nodes, "hypercube")
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
