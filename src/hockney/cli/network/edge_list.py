"""`hockney network edge-list`: a network of your own from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hockney.cli import JsonOption, verb
from hockney.cli.network import Allocation, AllocationNodes, Link, Seed, Svg, TimeLimit, answer, network


@verb(
    "edge-list",
    examples="hockney network edge-list network.txt --link 100Gbit/s --json\n"
    "hockney network edge-list network.txt --allocation 8 --svg network.svg",
    of=network,
)
def edge_list(
    file: Annotated[Path, typer.Argument(help="The file.", metavar="FILE")],
    link: Link = "",
    allocation: Allocation = None,
    allocation_nodes: AllocationNodes = None,
    svg: Svg = None,
    time_limit: TimeLimit = "20s",
    seed: Seed = 0,
    json: JsonOption = False,
) -> None:
    """A network from a file, one link on each line: `A B`, `A B x2` or `A B x2 10Gbit/s`.

    Lines `node NAME …` and `switch NAME …` declare what is what and in which order; a name that is not declared
    is a node. Behind # is a comment.
    """
    answer(
        "edge_list",
        {
            "file": file,
            "link": link,
        },
        allocation=allocation,
        allocation_nodes=allocation_nodes,
        svg=svg,
        time_limit=time_limit,
        seed=seed,
        json=json,
    )
