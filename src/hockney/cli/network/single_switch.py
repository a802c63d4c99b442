"""`hockney network single-switch`: all nodes on one switch."""

from __future__ import annotations

from typing import Annotated

import typer

from hockney.cli import JsonOption, verb
from hockney.cli.network import Allocation, AllocationNodes, Link, Seed, Svg, TimeLimit, answer, network


@verb(
    "single-switch",
    examples="hockney network single-switch --nodes 16 --links-per-node 2 --link 100Gbit/s --json\n"
    "hockney network single-switch --nodes 40 --ports 48 --svg switch.svg",
    of=network,
)
def single_switch(
    nodes: Annotated[int, typer.Option(help="Nodes in all.")],
    links_per_node: Annotated[int, typer.Option(help="Links of a node.")] = 1,
    ports: Annotated[int | None, typer.Option(help="Ports of the switch. [default: as many as needed]")] = None,
    link: Link = "",
    allocation: Allocation = None,
    allocation_nodes: AllocationNodes = None,
    svg: Svg = None,
    time_limit: TimeLimit = "20s",
    seed: Seed = 0,
    json: JsonOption = False,
) -> None:
    """One switch that every node hangs on."""
    answer(
        "single_switch",
        {
            "nodes": nodes,
            "links-per-node": links_per_node,
            "ports": ports,
            "link": link,
        },
        allocation=allocation,
        allocation_nodes=allocation_nodes,
        svg=svg,
        time_limit=time_limit,
        seed=seed,
        json=json,
    )
