"""`hockney network`: networks as exact graphs. Here is what the verbs of the topologies share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from hockney.errors import RequestError
from hockney.options import Option, named
from hockney.terminal import group
from hockney.terminal.loading import later
from hockney.words import wholes

with later():
    import numpy as np

    from hockney.network.topologies.base import Network


network = group(
    "network",
    help="Networks as exact graphs: hops, ports, bisection, traffic, maps of processes.",
    places=("hockney.cli.network",),
)


class Allocation(BaseModel):
    """The nodes that count."""

    allocation: Annotated[
        int | None, Option("Only the first so many nodes, in leaf order. [default: all]"), Field(ge=1)
    ] = None
    allocation_nodes: Annotated[str | None, Option("Only these nodes: 0-15,32.")] = None


def allocated(made: Network, asked: Allocation) -> Any:
    """Node numbers (n,) in leaf order; RequestError where the network does not have them."""
    count, listed = asked.allocation, asked.allocation_nodes
    if count is not None and listed is not None:
        raise RequestError("--allocation and --allocation-nodes are both given", "give one of them")
    if count is not None and count > made.nodes:
        raise RequestError(f"--allocation: {count} nodes of {made.nodes}", "give fewer")
    if listed is not None:
        with named("--allocation-nodes"):
            nodes, times = np.unique(wholes(listed, range(made.nodes)), return_counts=True)
        if times.max() > 1:
            raise RequestError(
                f"--allocation-nodes {listed!r} names node {nodes[times.argmax()]} more than once",
                "name every node once",
            )
        return nodes
    return np.arange(made.nodes if count is None else count)


def counted(number: float, what: str, form: str = "", *, plural: str = "") -> str:
    """`1 node`, `2 nodes`."""
    told = format(number, form)
    return f"{told} {what if told == '1' else plural or what + 's'}"
