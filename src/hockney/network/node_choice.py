"""Which nodes of a network take part, as options and as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field

from hockney.errors import RequestError
from hockney.fields import Option, named
from hockney.words import wholes

if TYPE_CHECKING:
    from hockney.network.topologies.base import Network


class NodeChoice(BaseModel):
    """The nodes that take part."""

    allocation: Annotated[int | None, Option(), Field(ge=1)] = None
    allocation_nodes: Annotated[str | None, Option()] = None


def allocated(graph: Network, options: NodeChoice) -> Any:
    """Node numbers (n,) in leaf order; RequestError where the network does not have them."""
    import numpy as np

    count, listed = options.allocation, options.allocation_nodes
    if count is not None and listed is not None:
        raise RequestError("--allocation and --allocation-nodes are both given", "give one of them")
    if count is not None and count > graph.nodes:
        raise RequestError(f"--allocation: {count} nodes of {graph.nodes}", "give fewer")
    if listed is not None:
        with named("--allocation-nodes"):
            nodes, times = np.unique(wholes(listed, range(graph.nodes)), return_counts=True)
        if times.max() > 1:
            raise RequestError(
                f"--allocation-nodes {listed!r} names node {nodes[times.argmax()]} more than once",
                "name every node once",
            )
        return nodes
    return np.arange(graph.nodes if count is None else count)
