"""`hockney network`: networks as exact graphs, and the options that its verbs share."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field

from hockney.errors import RequestError
from hockney.options import Option, named
from hockney.registry import unit_files
from hockney.terminal import group
from hockney.terminal.loading import later
from hockney.units import parse_bytes
from hockney.words import listed, wholes

with later():
    import numpy as np

    from hockney.network.topologies.base import Network, parse_spec
    from hockney.network.traffic.base import check_bytes
    from hockney.network.traffic.study import default_routing


ROUTINGS = [name.replace("_", "-") for name in unit_files("hockney.network.traffic.routings")]

network = group(
    "network",
    help="Networks as exact graphs: hops, ports, bisection, traffic, maps of processes.",
    examples="hockney network torus --shape 8x8x4 --link 10Gbit/s\n"
    "hockney network traffic --topology torus:8x8x8 --traffic worst-pairing",
    places=("hockney.cli.network",),
)


class OnTopology(BaseModel):
    """The network of a verb that is not a topology itself."""

    empty_means_default: ClassVar[bool] = True

    topology: Annotated[str, Option("torus:8x8x8, hypercube:6, fat-tree:nodes=148,…, edges:FILE, …")]

    @property
    def graph(self) -> Network:
        """The network that `--topology` names."""
        return parse_spec(self.topology)


class Routed(OnTopology):
    """A network, and how messages find their way through it."""

    routing: Annotated[
        str,
        Option(f"{listed(ROUTINGS)}. [default: up-down in a tree, else shortest]"),
    ] = ""

    def routing_on(self, graph: Network) -> str:
        """The routing by its name in the registry."""
        return self.routing.replace("-", "_") or default_routing(graph)


def message_size(text: str) -> int:
    """Bytes of a message that loads a link; RequestError for none, and for more than any message has."""
    size_B = parse_bytes(text)
    if size_B == 0:
        raise RequestError("a message of 0 B loads no link", "for example --bytes 64KiB")
    check_bytes(size_B, text)
    return size_B


class Allocation(BaseModel):
    """The nodes that take part."""

    allocation: Annotated[
        int | None, Option("Only the first so many nodes, in leaf order. [default: all]"), Field(ge=1)
    ] = None
    allocation_nodes: Annotated[str | None, Option("Only these nodes: 0-15,32.")] = None


def allocated(graph: Network, options: Allocation) -> Any:
    """Node numbers (n,) in leaf order; RequestError where the network does not have them."""
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


def counted(number: float, what: str, form: str = "", *, plural: str = "") -> str:
    """`1 node`, `2 nodes`."""
    digits = format(number, form)
    return f"{digits} {what if digits == '1' else plural or what + 's'}"
