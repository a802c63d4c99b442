"""Options of `hockney network`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from hockney.errors import RequestError
from hockney.fields import Argument, Option, Value, flag, options
from hockney.network.node_choice import NodeChoice as NodeChoice
from hockney.network.topologies.base import Topology as Topology
from hockney.network.topologies.base import topologies as topologies
from hockney.network.topologies.torus import extents
from hockney.network.traffic.base import check_bytes
from hockney.registry import unit_files
from hockney.units import parse_bytes
from hockney.words import listed, wholes, written

ROUTINGS = [name.replace("_", "-") for name in unit_files("hockney.network.traffic.routings")]
MOST_NODES = 2**20


def message_size(text: str) -> int:
    """Bytes of a message that loads a link; RequestError for none, and for more than any message has."""
    size_B = parse_bytes(text)
    if size_B == 0:
        raise RequestError("a message of 0 B loads no link", "for example --bytes 64KiB")
    check_bytes(size_B, text)
    return size_B


class NamedTopology(BaseModel):
    """The network of a verb that is not a topology itself."""

    empty_means_default: ClassVar[bool] = True

    topology: Annotated[str, Option("Or hypercube:6, edges:FILE, …")]


class Routed(NamedTopology):
    """A network, and how messages find their way through it."""

    routing: Annotated[str, Option(f"{listed(ROUTINGS)}. [default: up-down in a tree, else shortest]")] = ""


class GraphOptions(NodeChoice):
    """The nodes that take part, and what is drawn of the network."""

    figure: Annotated[Path | None, Option("The network, its allocation and the cut.")] = None


def texts(described: BaseModel, on_command_line: Mapping[str, Value]) -> dict[str, str]:
    """The options of a topology as its spec has them: as they were written, or their defaults."""
    values = {}
    for name, _, option in options(type(described)):
        value = on_command_line.get(flag(name, option), getattr(described, name))
        if value is not None and value == value:  # NaN is a rate that is not known.
            values[name.replace("_", "-")] = str(value)
    return values


class EffectiveOptions(BaseModel):
    """On how many nodes, of how many bisections, beside what was measured."""

    empty_means_default: ClassVar[bool] = True

    counts: Annotated[
        list[int],
        Option(
            "Several: 8,16,64, the first of the topology each time. [default: powers of two, and all of them]",
            flags=("--nodes",),
            read=lambda text: wholes(text, range(2, MOST_NODES + 1)),
            show=None,
        ),
    ] = Field(default_factory=list)
    samples: Annotated[int, Option("Bisections of each number of nodes."), Field(ge=2, le=1000)] = 20
    seed: Annotated[int, Option("Of the first sample."), Field(ge=0)] = 0
    machine: Annotated[Path | None, Option("With the effect `congestion`, measured on any numbers of ranks.")] = (
        None
    )
    figure: Annotated[Path | None, Option()] = None


class LocalityOptions(BaseModel):
    """Which latencies of a campaign, between which hosts."""

    empty_means_default: ClassVar[bool] = True

    campaign: Annotated[Path, Argument("Folder of `hockney measure` with ping-pongs between nodes.")]
    hosts: Annotated[
        Path | None,
        Option("Lines `host node`. [default: hosts in the order of their names]", flags=("--host-map",)),
    ] = None
    size_B: Annotated[
        int | None,
        Option("[default: the smallest measured]", flags=("--bytes",), read=parse_bytes),
    ] = None
    variant: Annotated[str, Option()] = "default"


class MapOptions(BaseModel):
    """The messages of a program's ranks, and a map of them."""

    empty_means_default: ClassVar[bool] = True

    pattern: Annotated[str, Option("jacobi:AxBxC, ring:P, matrix:FILE, or collective:NAME:A:P by algorithm A.")]
    ppn: Annotated[int, Option(), Field(ge=1)] = 1
    size_B: Annotated[
        int | None,
        Option("Or of a face. [default: count them]", flags=("--bytes",), read=message_size),
    ] = None
    cells: Annotated[
        tuple[int, ...] | None,
        Option(
            "With jacobi: such as 64x64x64, of 8 B each.",
            flags=("--subdomain",),
            read=lambda text: extents(text, "cells"),
        ),
    ] = None
    periodic: Annotated[bool, Option("jacobi: the boundaries are joined.")] = False
    map_file: Annotated[Path | None, Option("A map of your own to compare: lines `rank node`.")] = None


class TrafficOptions(BaseModel):
    """Which messages load a network, and how much of the answer is shown."""

    empty_means_default: ClassVar[bool] = True

    kind: Annotated[
        str,
        Option(
            "alltoall, nearest-neighbour, permutation, bisection, random-bisection, bit-complement, transpose, "
            "tornado, worst-pairing or worst-permutation.",
            flags=("--traffic",),
        ),
    ] = "worst-pairing"
    size_B: Annotated[int, Option(flags=("--bytes",), read=message_size, show=written)] = 2**20
    streams: Annotated[int, Option("Messages that each pair sends at once."), Field(ge=1, le=1_000_000)] = 1
    seed: Annotated[int, Option("Of the first sample."), Field(ge=0)] = 0
    samples: Annotated[
        int,
        Option("Traffic, with so many seeds; how the results spread is shown."),
        Field(ge=1, le=10_000),
    ] = 1
    links: Annotated[int, Option("How many of the most loaded links to show."), Field(ge=1)] = 10
