"""`hockney network torus`: routers in a periodic grid."""

from __future__ import annotations

from typing import Annotated

import typer

from hockney.cli import JsonOption, verb
from hockney.cli.network import Allocation, AllocationNodes, Link, Seed, Svg, TimeLimit, answer, network


@verb(
    "torus",
    examples="hockney network torus --shape 8x8x4 --link 10Gbit/s --json\n"
    "hockney network torus --shape 4x4 --allocation-nodes 0-3,5 --svg torus.svg",
    of=network,
)
def torus(
    shape: Annotated[str, typer.Option(help="Extents: 8x8x4; the last coordinate varies fastest.")],
    link: Link = "",
    allocation: Allocation = None,
    allocation_nodes: AllocationNodes = None,
    svg: Svg = None,
    time_limit: TimeLimit = "20s",
    seed: Seed = 0,
    json: JsonOption = False,
) -> None:
    """A torus: the nodes are routers themselves, each linked to both neighbours in each dimension."""
    answer(
        "torus",
        {
            "shape": shape,
            "link": link,
        },
        allocation=allocation,
        allocation_nodes=allocation_nodes,
        svg=svg,
        time_limit=time_limit,
        seed=seed,
        json=json,
    )
