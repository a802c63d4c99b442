"""Options of `hockney network`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from hockney.errors import RequestError
from hockney.fields import Option
from hockney.network.node_choice import NodeChoice as NodeChoice
from hockney.network.traffic.base import check_bytes
from hockney.registry import unit_files
from hockney.units import listed, parse_bytes, wholes, written

ROUTINGS = [name.replace("_", "-") for name in unit_files("hockney.network.traffic.routings")]
MOST_NODES = 2**20
SAMPLES = 20
"""Draws of a random traffic."""


def message_size(text: str) -> int:
    """Bytes of a message that loads a link; RequestError for none, and for more than any message has."""
    size_B = parse_bytes(text)
    if size_B == 0:
        raise RequestError("a message of 0 B loads no link", "for example --bytes 64KiB")
    check_bytes(size_B, text)
    return size_B


class NamedTopology(BaseModel, defer_build=True):
    """The network that is asked about."""

    empty_means_default: ClassVar[bool] = True

    topology: Annotated[str, Option("Network between the nodes, such as torus:8x8x8, hypercube:6 or edges:FILE.")]


class Routed(NamedTopology):
    """A network, and how messages find their way through it."""

    routing: Annotated[
        str, Option(f"How messages are routed: {listed(ROUTINGS)}. [default: up-down in a tree, else shortest]")
    ] = ""


class GraphOptions(NamedTopology, NodeChoice):
    """A network, the nodes that take part, and what is drawn of it."""

    figure: Annotated[Path | None, Option("Draw the network, its allocation and the cut.")] = None


class EffectiveOptions(BaseModel, defer_build=True):
    """On how many nodes, beside what was measured."""

    empty_means_default: ClassVar[bool] = True

    counts: Annotated[
        list[int],
        Option(
            "Numbers of nodes, such as 8,16,64. [default: powers of two, and all of them]",
            flags=("--nodes",),
            read=lambda text: wholes(text, range(2, MOST_NODES + 1)),
            show=None,
        ),
    ] = Field(default_factory=list)
    machine: Annotated[
        Path | None, Option("Machine file with the effect `congestion`, measured on any numbers of ranks.")
    ] = None
    figure: Annotated[Path | None, Option()] = None


class MapOptions(BaseModel, defer_build=True):
    """The messages of a program's ranks, and a map of them."""

    empty_means_default: ClassVar[bool] = True

    pattern: Annotated[
        str, Option("Who sends to whom: jacobi:AxBxC, ring:P, matrix:FILE, or collective:NAME:ALGORITHM:P.")
    ]
    ppn: Annotated[int, Option(), Field(ge=1)] = 1
    size_B: Annotated[
        int | None,
        Option("Size of a message or face. [default: count them]", flags=("--bytes",), read=message_size),
    ] = None
    mapping: Annotated[Path | None, Option("File with a map of your own: lines `rank node`.")] = None


class TrafficOptions(BaseModel, defer_build=True):
    """Which messages load a network, and how much of the answer is shown."""

    empty_means_default: ClassVar[bool] = True

    kind: Annotated[
        str,
        Option(
            "Traffic: alltoall, nearest-neighbour, permutation, bisection, random-bisection, bit-complement, "
            "transpose, tornado, worst-pairing or worst-permutation.",
            flags=("--pattern",),
        ),
    ] = "worst-pairing"
    size_B: Annotated[int, Option(flags=("--bytes",), read=message_size, show=written)] = 2**20
    seed: Annotated[int, Option(), Field(ge=0)] = 0
