"""A network of your own from a file: one link, or bundle of parallel links, on each line."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel

from hockney import reading
from hockney.errors import RequestError
from hockney.fields import Argument
from hockney.network.topologies.base import MOST_VERTICES, Link, Network, Topology, link_rate, topologies, whole
from hockney.units import host_list

_HINT = (
    "a line is `A B [xN] [RATE]`, `node NAME …`, `switch NAME …`, a # comment, or one of Slurm's topology.conf"
)
_SLURM = {"switchname", "nodes", "switches", "linkspeed"}
_PARALLEL_HINT = "write xN for parallel links of one rate; those of another rate have a line of their own"


class _Read:
    """The lines read so far: vertices in order of appearance, bundles by their ends and rate."""

    def __init__(self, path: str, link: float) -> None:
        self.path, self.link = path, link
        self.is_switch: dict[str, bool] = {}
        self.bundles: dict[tuple[str, str, float], int] = {}
        self.number = 0

    def wrong(self, what: str, hint: str = _HINT) -> RequestError:
        return RequestError(f"{self.path}:{self.number}: {what}", hint)

    def line(self, text: str) -> None:
        self.number += 1
        words = text.partition("#")[0].split()
        if not words:
            return
        if "=" in words[0]:
            self._slurm(words)
            return
        if words[0] in ("node", "switch"):
            self._declare(words[0], words[1:])
            return
        if len(words) < 2:
            raise self.wrong(f"{words[0]!r} is linked to nothing")
        a, b, *more = words
        self._link(a, b, *self._bundle(more))

    def _slurm(self, words: list[str]) -> None:
        """A line of topology/tree, `SwitchName=s0 Nodes=n[0-3]` or `… Switches=s[0-2]` (topology.conf(5))."""
        values = {key.lower(): value for key, _, value in (word.partition("=") for word in words)}
        name = values.get("switchname", "")
        if not name or not values.keys() & {"nodes", "switches"} or values.keys() - _SLURM:
            raise self.wrong(f"{' '.join(words)[:80]!r} is no switch of a topology.conf", _HINT)
        for key in ("switches", "nodes"):
            for member in self._members(values.get(key, "")):
                for vertex, is_switch in ((name, True), (member, key == "switches")):
                    if self.is_switch.setdefault(vertex, is_switch) != is_switch:
                        raise self.wrong(f"{vertex!r} is a node and a switch", "name them differently")
                self._link(member, name, 1, self.link)

    def _members(self, text: str) -> Iterator[str]:
        try:
            yield from host_list(text, MOST_VERTICES)
        except RequestError as error:
            raise self.wrong(error.message, error.hint) from error

    def _link(self, a: str, b: str, parallel: int, rate: float) -> None:
        if a == b:
            raise self.wrong(f"{a!r} is linked to itself")
        for name in (a, b):
            self.is_switch.setdefault(name, False)
        if len(self.is_switch) > MOST_VERTICES:
            raise self.wrong(f"more than {MOST_VERTICES} nodes and switches", "describe a smaller network")
        # Equal rates are one key, and so are unknown ones: NaN differs from itself.
        key = (min(a, b), max(a, b), -1.0 if math.isnan(rate) else rate)
        if key in self.bundles:
            raise self.wrong(f"the link of {a!r} and {b!r} is here a second time", _PARALLEL_HINT)
        self.bundles[key] = parallel

    def _declare(self, word: str, names: list[str]) -> None:
        if not names:
            raise self.wrong(f"{word} without a name")
        for name in names:
            if name in self.is_switch:
                raise self.wrong(
                    f"{name!r} appears before it is declared, or twice", "declare it once, before its links"
                )
            self.is_switch[name] = word == "switch"

    def _bundle(self, words: list[str]) -> tuple[int, float]:
        parallel, rate = 1, self.link
        try:
            # No rate begins with an x.
            if words and words[0].startswith("x"):
                parallel = whole(words[0].removeprefix("x"))
                words = words[1:]
            if words:
                rate = link_rate(words[0])
                words = words[1:]
        except RequestError as error:
            raise self.wrong(error.message, error.hint) from error
        if words:
            raise self.wrong(f"{words[0]!r} does not belong here")
        return parallel, rate


def edge_list(file: str, link: float = math.nan) -> Network:
    """The network of `file` (docs/reference/network.md); `link` in bit/s, for lines that give no rate."""
    read = _Read(file, link)
    for line in reading.text(Path(file), _HINT).splitlines():
        read.line(line)
    names = sorted(read.is_switch, key=lambda name: read.is_switch[name])
    nodes = sum(not is_switch for is_switch in read.is_switch.values())
    if not nodes:
        raise RequestError(f"{file} has no nodes", _HINT)
    at = {name: number for number, name in enumerate(names)}
    return Network(
        kind="edge_list",
        nodes=nodes,
        switches=len(names) - nodes,
        ends=np.array([(at[a], at[b]) for a, b, _ in read.bundles], np.int64).reshape(-1, 2),
        parallel=np.array(list(read.bundles.values()), np.int64),
        bandwidth_bit_per_s=np.array([math.nan if rate < 0 else rate for *_, rate in read.bundles]),
        names=tuple(names),
        level=np.full(len(names), -1, np.int64),
        attributes={"file": file},
    )


class EdgeListOptions(BaseModel):
    """A network from a file, one link on each line: `A B`, `A B x2` or `A B x2 10Gbit/s`.

    Lines `node NAME …` and `switch NAME …` declare what is what and in which order; a name that is not declared
    is a node. Behind # is a comment. Slurm's topology.conf (topology/tree) is read, too.
    """

    file: Annotated[Path, Argument("The file.", metavar="FILE")]
    link: Link = math.nan


topologies.register("edge_list")(
    Topology(
        "edges",
        edge_list,
        EdgeListOptions,
        first="file",
    )
)
