"""`hockney network hypercube`: a link for every bit."""

from __future__ import annotations

from typing import Annotated

import typer

from hockney.cli import JsonOption, verb
from hockney.cli.network import Allocation, AllocationNodes, Link, Seed, Svg, TimeLimit, answer, network


@verb(
    "hypercube",
    examples="hockney network hypercube --dimension 10 --json\n"
    "hockney network hypercube --dimension 4 --link 10Gbit/s --allocation 8 --svg hypercube.svg",
    of=network,
)
def hypercube(
    dimension: Annotated[int, typer.Option(help="n: there are 2ⁿ nodes.")],
    link: Link = "",
    allocation: Allocation = None,
    allocation_nodes: AllocationNodes = None,
    svg: Svg = None,
    time_limit: TimeLimit = "20s",
    seed: Seed = 0,
    json: JsonOption = False,
) -> None:
    """A hypercube: 2ⁿ nodes, two of them linked where their numbers differ in one bit."""
    answer(
        "hypercube",
        {
            "dimension": dimension,
            "link": link,
        },
        allocation=allocation,
        allocation_nodes=allocation_nodes,
        svg=svg,
        time_limit=time_limit,
        seed=seed,
        json=json,
    )
