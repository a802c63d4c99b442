"""`hockney network dragonfly`: fully connected groups of routers."""

from __future__ import annotations

from typing import Annotated

import typer

from hockney.cli import JsonOption, verb
from hockney.cli.network import Allocation, AllocationNodes, Link, Seed, Svg, TimeLimit, answer, network


@verb(
    "dragonfly",
    examples="hockney network dragonfly --routers 4 --nodes-per-router 2 --global-links 2 --json\n"
    "hockney network dragonfly --routers 4 --nodes-per-router 2 --global-links 2 --groups 5 "
    "--svg dragonfly.svg",
    of=network,
)
def dragonfly(
    routers: Annotated[int, typer.Option(help="Routers of a group: a.")],
    nodes_per_router: Annotated[int, typer.Option(help="Nodes of a router: p.")],
    global_links: Annotated[int, typer.Option(help="Global links of a router: h.")],
    groups: Annotated[int | None, typer.Option(help="Groups, at most a·h + 1. [default: that many]")] = None,
    arrangement: Annotated[
        str, typer.Option(help="Which router holds which global link: absolute or relative.")
    ] = "absolute",
    global_link: Annotated[str, typer.Option(help="Rate of a global link, where it is not --link.")] = "",
    link: Link = "",
    allocation: Allocation = None,
    allocation_nodes: AllocationNodes = None,
    svg: Svg = None,
    time_limit: TimeLimit = "20s",
    seed: Seed = 0,
    json: JsonOption = False,
) -> None:
    """A dragonfly: routers fully connected within groups, groups fully connected by global links."""
    answer(
        "dragonfly",
        {
            "routers": routers,
            "nodes-per-router": nodes_per_router,
            "global-links": global_links,
            "groups": groups,
            "arrangement": arrangement,
            "global-link": global_link,
            "link": link,
        },
        allocation=allocation,
        allocation_nodes=allocation_nodes,
        svg=svg,
        time_limit=time_limit,
        seed=seed,
        json=json,
    )
