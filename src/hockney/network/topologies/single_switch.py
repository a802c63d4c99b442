"""One switch that every node hangs on."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import BaseModel

from hockney.errors import RequestError
from hockney.fields import Option
from hockney.network.topologies.base import (
    Link,
    Network,
    SwitchKind,
    Topology,
    check_size,
    topologies,
)


def single_switch(
    nodes: int, links_per_node: int = 1, ports: int | None = None, link: float = math.nan
) -> Network:
    """A switch of `ports` ports (default: as many as the nodes need) with `nodes` nodes; `link` in bit/s."""
    check_size(nodes + 1, nodes, "single switch")
    needed = nodes * links_per_node
    if ports is not None and ports < needed:
        raise RequestError(
            f"a switch of {ports} ports is too small: {nodes} nodes × {links_per_node} links need {needed}",
            "give more ports, or fewer nodes or links",
        )
    number = np.arange(nodes, dtype=np.int64)
    return Network(
        kind="single_switch",
        nodes=nodes,
        switches=1,
        ends=np.stack([number, np.full(nodes, nodes)], -1),
        parallel=np.full(nodes, links_per_node, np.int64),
        bandwidth_bit_per_s=np.full(nodes, link),
        names=(*(f"node {i}" for i in range(nodes)), "switch"),
        level=np.repeat(np.array([0, 1], np.int64), [nodes, 1]),
        attributes={"links_per_node": links_per_node},
        switch_kinds=(SwitchKind("switch", nodes, 1, ports or needed),),
    )


class SingleSwitchOptions(BaseModel):
    """One switch that every node hangs on."""

    nodes: Annotated[int, Option()]
    links_per_node: Annotated[int, Option()] = 1
    ports: Annotated[int | None, Option("Ports of the switch. [default: as many as needed]")] = None
    link: Link = math.nan


topologies.register("single_switch")(
    Topology(
        "single-switch",
        single_switch,
        SingleSwitchOptions,
        first="nodes",
    )
)
