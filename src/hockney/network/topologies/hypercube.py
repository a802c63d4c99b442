"""A hypercube: 2ⁿ nodes, with a link between any two whose numbers differ in one bit."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import BaseModel

from hockney.errors import RequestError
from hockney.fields import Option
from hockney.network.topologies.base import MOST_VERTICES, Link, Network, Topology, direct_network, topologies


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
    return direct_network("hypercube", nodes, np.concatenate(rows), link, {"dimension": dimension})


class HypercubeOptions(BaseModel):
    """A hypercube: 2ⁿ nodes, two of them linked where their numbers differ in one bit."""

    dimension: Annotated[int, Option("n: there are 2ⁿ nodes.")]
    link: Link = math.nan


topologies.register("hypercube")(
    Topology(
        "hypercube",
        hypercube,
        HypercubeOptions,
        first="dimension",
    )
)
