"""Which nodes of a network take part, as options and as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel

from hockney.errors import RequestError
from hockney.fields import Option, named
from hockney.units import wholes

if TYPE_CHECKING:
    from hockney.network.topologies.base import Network


class NodeChoice(BaseModel):
    """The nodes that take part."""

    allocation: Annotated[str, Option("Nodes that take part, such as 0-15,32. [default: all]")] = ""


def allocated(graph: Network, options: NodeChoice) -> Any:
    """Node numbers (n,) in leaf order; RequestError where the network does not have them."""
    import numpy as np

    if not options.allocation:
        return np.arange(graph.nodes)
    with named("--allocation"):
        nodes, times = np.unique(wholes(options.allocation, range(graph.nodes)), return_counts=True)
    if times.max() > 1:
        raise RequestError(
            f"--allocation {options.allocation!r} names node {nodes[times.argmax()]} more than once",
            "name every node once",
        )
    return nodes
