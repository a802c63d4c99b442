"""What a network is: an exact graph with names, and what a topology is: options in, a network out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from hockney.errors import RequestError
from hockney.fields import Option, options
from hockney.registry import Registry
from hockney.units import parse_rate

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_VERTICES = 2**20
MOST_LINKS = 2**24
"""The measures of a larger graph do not fit the memory of a small machine."""

LARGEST = 999_999_999
"""The largest number that may describe a network or a pattern."""

Attribute = int | float | str | None | Sequence[int] | Sequence[float]
"""A number of a topology's own, as JSON has it."""

FASTEST_BIT_PER_S = 10**18
"""The fastest link; the slowest moves one bit a second, so that loads divided by rates stay finite."""

Links = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""Ends (links, 2), parallel links (links,) and bandwidth of one (links,) in bit/s."""


@dataclass(frozen=True)
class SwitchKind:
    """Switches of one kind: vertices `first` … `first + count − 1`, with the ports that each has."""

    name: str
    first: int
    count: int
    ports: int


@dataclass(frozen=True, eq=False)
class Network:
    """An exact graph: vertices 0 … nodes−1 are nodes in leaf order, nodes … nodes+switches−1 are switches.

    A direct network (torus, hypercube) has no switches: its routers are the nodes themselves. Links are full
    duplex: a bundle carries `parallel · bandwidth_bit_per_s` in each of its two directions at once.
    """

    kind: str
    """The topology: fat_tree, torus, dragonfly, hypercube, complete, single_switch or edge_list."""
    nodes: int
    switches: int
    ends: NDArray[np.int64]
    """(links, 2): one row per bundle of parallel links; a pair of vertices has one bundle per bandwidth."""
    parallel: NDArray[np.int64]
    """(links,): how many parallel links the bundle has."""
    bandwidth_bit_per_s: NDArray[np.float64]
    """(links,): of one link of the bundle in one direction; NaN where it is not known."""
    names: tuple[str, ...]
    """The vertices' names: 'node 3', 'leaf 0', 'spine 2', 'router 1.3'."""
    level: NDArray[np.int64]
    """(vertices,): 0 for nodes, 1 for leaf switches, 2 for spines …; −1 where there is no hierarchy."""
    shape: tuple[int, ...] = ()
    """Extents of a torus; the last varies fastest from node to node."""
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    """The topology's own numbers, as JSON has them: taper, leaf_switches, spine_ports_used …"""
    switch_kinds: tuple[SwitchKind, ...] = ()
    """Switches whose number of ports is known."""
    alike: NDArray[np.int64] | None = None
    """(vertices,): some minimum cut leaves vertices of equal numbers on one side, however nodes are split."""
    spec: str = ""
    """The text from which `parse_spec` makes this network."""

    @property
    def vertices(self) -> int:
        """Nodes and switches."""
        return self.nodes + self.switches

    def matrix(self, weight: NDArray[Any]) -> csr_array:
        """(vertices, vertices), symmetric: the sum of `weight` (links,) between two vertices."""
        # The options of a topology are shown without it.
        from scipy.sparse import csr_array

        a, b = self.ends.T
        both = np.concatenate([weight, weight]), (np.concatenate([a, b]), np.concatenate([b, a]))
        return csr_array(both, shape=(self.vertices, self.vertices))


@dataclass(frozen=True)
class Topology:
    """A kind of network: its options, and how it is built from them.

    `build` takes the fields of `options`. A spec names them like the fields, with `-` for `_`; the value of
    `first` may stand without its name.
    """

    word: str
    build: Callable[..., Network]
    options: type[BaseModel]
    first: str = ""

    @property
    def read(self) -> dict[str, Callable[[str], Any]]:
        """The reader of each option's text, by its name in a spec."""
        return {
            name.replace("_", "-"): option.read or (whole if info.annotation in (int, int | None) else str)
            for name, info, option in options(self.options)
        }

    @property
    def required(self) -> list[str]:
        """Options that must be given."""
        return [name.replace("_", "-") for name, info, _ in options(self.options) if info.is_required()]

    def make(self, given: Mapping[str, str]) -> Network:
        """Build from options as text. RequestError where one is missing or wrong, or the graph is no network."""
        if missing := [name for name in self.required if name not in given]:
            raise RequestError(f"{self.word} needs {missing[0]}", f"it takes {', '.join(self.read)}")
        values: dict[str, Any] = {}
        for name, text in given.items():
            try:
                values[name.replace("-", "_")] = self.read[name](text)
            except RequestError as error:
                raise RequestError(f"{name}: {error.message}", error.hint) from error
        network = self.build(**values)
        _check_connected(network)
        parts = [text if name == self.first else f"{name}={text}" for name, text in self._in_order(given)]
        return replace(network, spec=f"{self.word}:{','.join(parts)}")

    def _in_order(self, given: Mapping[str, str]) -> list[tuple[str, str]]:
        return [(name, given[name].strip()) for name in self.read if name in given]


topologies: Registry[Topology] = Registry("topology", "hockney.network.topologies", "reference/network.md")
"""Topologies, one file each."""


def parse_spec(text: str) -> Network:
    """A network in one word: `torus:8x8x4`, `fat-tree:nodes=148,leaf-ports=32:16,…`, `edges:FILE`.

    `fat_tree` and `single_switch`, as the field `kind` spells them, are understood too.
    RequestError for an unknown topology or option, a missing or wrong value, or a graph that is no network.
    """
    word, _, rest = text.strip().partition(":")
    word = word.replace("_", "-")
    by_word = {topology.word: topology for _, topology in topologies}
    if word not in by_word:
        raise RequestError(
            f"{text!r} names no topology", f"known: {', '.join(sorted(by_word))}; e.g. torus:8x8x4"
        )
    topology = by_word[word]
    given: dict[str, str] = {}
    # From the right, because a file's name may hold commas and equals signs.
    names = "|".join(map(re.escape, topology.read))
    option = re.compile(rf"(?:^|(.*),)({names})=([^,]*)", re.DOTALL)
    while rest and (match := option.fullmatch(rest)):
        before, name, value = match.groups()
        if name in given:
            raise RequestError(f"{name} is given twice in {text!r}", "give it once")
        given[name] = value
        rest = before or ""
    if rest:
        if not topology.first or ("=" in rest and topology.word != "edges"):
            wrong = rest.partition("=")[0].rpartition(",")[2]
            raise RequestError(f"{topology.word} has no option {wrong!r}", f"it takes {', '.join(topology.read)}")
        if topology.first in given:
            raise RequestError(f"{topology.first} is given twice in {text!r}", "give it once")
        given[topology.first] = rest
    return topology.make(given)


def whole(text: str) -> int:
    """A whole number of at least 1."""
    word = text.strip()
    if not re.fullmatch("[0-9]+", word) or not word.strip("0"):
        raise RequestError(f"{text!r} is not a whole number from 1 on", "for example 4")
    return limited(word)


def limited(digits: str) -> int:
    """The number that `digits` write; RequestError above `LARGEST`."""
    # int() refuses some thousands of digits, so their number is checked first.
    if len(digits.lstrip("0")) > len(str(LARGEST)):
        raise RequestError(f"{digits} is too large: {LARGEST} is the most", "give a smaller number")
    return int(digits)


def link_rate(text: str) -> float:
    """`100Gbit/s` → 1e11 bit/s."""
    rate = parse_rate(text) * 8
    if not 1 <= rate <= FASTEST_BIT_PER_S:
        raise RequestError(
            f"{text!r} is no rate of a link: those are from 1 bit/s to {FASTEST_BIT_PER_S:.0e} bit/s",
            "for example 100Gbit/s",
        )
    return rate


Link = Annotated[float, Option(read=link_rate, show=None)]
"""The rate in bit/s; NaN where it is unknown."""


def direct_network(
    kind: str,
    nodes: int,
    ends: NDArray[np.int64],
    link: float,
    attributes: Mapping[str, Attribute],
    shape: tuple[int, ...] = (),
) -> Network:
    """A network whose nodes are the routers: single links `ends` (links, 2) of rate `link` in bit/s."""
    return Network(
        kind=kind,
        nodes=nodes,
        switches=0,
        ends=ends,
        parallel=np.ones(len(ends), np.int64),
        bandwidth_bit_per_s=np.full(len(ends), link),
        names=tuple(f"node {i}" for i in range(nodes)),
        level=np.full(nodes, -1, np.int64),
        shape=shape,
        attributes=attributes,
    )


def check_size(vertices: int, links: int, kind: str) -> None:
    """RequestError before a graph is built that is larger than anybody has memory for.

    Parallel links count as one, so that `links` may be more than there will be.
    """
    for count, most, what in ((vertices, MOST_VERTICES, "nodes and switches"), (links, MOST_LINKS, "links")):
        if count > most:
            raise RequestError(f"a {kind} of {count} {what} is more than {most}", "describe a smaller one")


def _check_connected(network: Network) -> None:
    from scipy.sparse.csgraph import connected_components

    parts, part = connected_components(network.matrix(network.parallel), directed=False)
    if parts > 1:
        apart = np.flatnonzero(part != part[0])
        shown = ", ".join(network.names[i] for i in apart[:5]) + (" …" if len(apart) > 5 else "")
        raise RequestError(
            f"the network is not connected: {len(apart)} of its vertices cannot be reached from "
            f"{network.names[0]}: {shown}",
            "add the links that are missing",
        )
