"""`hockney network`: networks as exact graphs: hops, ports, bisection, traffic, maps of processes.

Here are the options that its verbs share.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BaseModel

from hockney.errors import RequestError
from hockney.fields import Option
from hockney.network.allocation import Allocation as Allocation
from hockney.network.allocation import allocated as allocated
from hockney.registry import unit_files
from hockney.terminal import group
from hockney.terminal.loading import later
from hockney.units import parse_bytes
from hockney.words import listed

with later():
    from hockney.network.topologies.base import Network, parse_spec
    from hockney.network.traffic.base import check_bytes
    from hockney.network.traffic.study import default_routing


ROUTINGS = [name.replace("_", "-") for name in unit_files("hockney.network.traffic.routings")]

network = group(
    "network",
    examples="hockney network torus --shape 8x8x4 --link 10Gbit/s\n"
    "hockney network traffic --topology torus:8x8x8 --traffic worst-pairing",
    places=("hockney.cli.network",),
)


class OnTopology(BaseModel):
    """The network of a verb that is not a topology itself."""

    empty_means_default: ClassVar[bool] = True

    topology: Annotated[str, Option("Or hypercube:6, edges:FILE, …")]

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
