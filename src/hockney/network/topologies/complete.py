"""A complete graph: every two nodes have a link of their own."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import BaseModel

from hockney.fields import Option
from hockney.network.topologies.base import Link, Network, Topology, check_size, direct_network, topologies
from hockney.network.topologies.base import whole as whole_number


def complete(nodes: int, link: float = math.nan) -> Network:
    """`nodes` nodes, each with a link of rate `link` (bit/s) to every other."""
    check_size(nodes, nodes * (nodes - 1) // 2, "complete graph")
    ends = np.stack(np.triu_indices(nodes, 1), -1).astype(np.int64)
    return direct_network("complete", nodes, ends, link, {})


class CompleteOptions(BaseModel):
    """A complete graph: every node has a link to every other."""

    nodes: Annotated[int, Option(read=whole_number)]
    link: Link = math.nan


topologies.register("complete")(
    Topology(
        "complete",
        complete,
        CompleteOptions,
        first="nodes",
    )
)
