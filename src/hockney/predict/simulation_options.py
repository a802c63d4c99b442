"""The options of `hockney simulate`: LogGOPS parameters, what messages share, and what is simulated."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from hockney.errors import RequestError
from hockney.fields import Option, named
from hockney.units import parse_bytes, parse_extents, parse_per_byte, parse_time, words
from hockney.vocabulary import MACHINE, RESULT

MOST_PLACES = 2**28
"""Nodes and links that are held: a few gigabytes."""
MOST_DIMENSIONS = 10


def _extents(text: str) -> tuple[int, ...]:
    dimensions, example = range(1, MOST_DIMENSIONS + 1), "8x8x8"
    extents = parse_extents(text, "a torus", "nodes", dimensions=dimensions, at_most=MOST_PLACES, example=example)
    _refuse_huge(math.prod(extents) * 2 * len(extents), text)
    return extents


def _levels(text: str) -> tuple[tuple[int, int], ...]:
    level = r"[1-9]\d{0,6}:[1-9]\d{0,6}"
    if not re.fullmatch(f"{level}(,{level}){{0,9}}", text):
        raise RequestError(
            f"{text!r} is not a tree", "write children:uplinks of each level, such as tree:16:4,8:2,link=10GB/s"
        )
    levels = tuple((int(children), int(uplinks)) for children, uplinks in re.findall(r"(\d+):(\d+)", text))
    nodes = math.prod(children for children, _ in levels)
    _refuse_huge(nodes * 2 * max(uplinks for _, uplinks in levels), text)
    return levels


def _refuse_huge(links: int, text: str) -> None:
    if links > MOST_PLACES:
        raise RequestError(f"{text!r} has {links:.3g} links, more than are held", "give a smaller network")


def _eager(text: str) -> float | None:
    return None if text == "none" else parse_bytes(text)


_LOGGOPS: dict[str, tuple[str, Callable[[str], float | None]]] = {
    "L": ("latency_s", parse_time),
    "o": ("overhead_s", parse_time),
    "O": ("overhead_s_per_B", parse_per_byte),
    "g": ("gap_s", parse_time),
    "G": ("gap_s_per_B", parse_per_byte),
    "S": ("rendezvous_above_B", _eager),
    "gamma": ("reduce_s_per_B", parse_per_byte),
}
"""The letters of the literature: the parameter of each, and how it is read."""


def _loggops(text: str) -> dict[str, float | None]:
    """`L=2.5us,o=1.5us,g=1us,G=10GB/s` by the names of `hockney.predict.costs.LoggopsParameters`."""
    found: dict[str, float | None] = {}
    for word in words(text):
        letter, _, value = word.partition("=")
        if letter not in _LOGGOPS or not value:
            raise RequestError(
                f"{word!r} is no parameter of LogGOPS", f"write {', '.join(_LOGGOPS)}, such as L=2.5us,G=10GB/s"
            )
        name, read = _LOGGOPS[letter]
        if name in found:
            raise RequestError(f"{letter} is given twice in {text!r}", "give it once")
        with named(letter):
            found[name] = read(value)
    return {"receive_overhead_s": found["overhead_s"], **found} if "overhead_s" in found else found


class LoggopsOptions(BaseModel, defer_build=True):
    """LogGOPS parameters: those that are given replace a machine file's everywhere."""

    given: Annotated[
        dict[str, float | None],
        Option(
            "Parameters L, o, O, g, G, S and gamma of LogGOPS, such as L=2.5us,o=1.5us,g=1us,G=10GB/s.",
            flags=("--loggops",),
            metavar="NAME=VALUE,…",
            read=_loggops,
            commas=True,
        ),
    ] = Field(default_factory=dict)


class SharedLinks(NamedTuple):
    """A network of nodes: extents of a torus or levels of a tree, and seconds of a byte on each link."""

    torus: tuple[int, ...] = ()
    tree: tuple[tuple[int, int], ...] = ()
    link_s_per_B: float = 0.0

    @classmethod
    def read(cls, text: str) -> SharedLinks:
        """`torus:8x8x8,link=10GB/s`, `tree:16:4,8:2,link=10GB/s`; RequestError for another form."""
        form = re.fullmatch(r"(torus|tree):(.+),link=([^,]+)", text)
        if form is None:
            raise RequestError(
                f"{text!r} is no network with the rate of its links",
                "write torus:8x8x8,link=10GB/s, or children:uplinks of each level: tree:16:4,8:2,link=10GB/s",
            )
        kind, shape, rate = form.groups()
        link_s_per_B = parse_per_byte(rate)
        return (
            cls(_extents(shape), (), link_s_per_B) if kind == "torus" else cls((), _levels(shape), link_s_per_B)
        )


class SharingOptions(BaseModel, defer_build=True):
    """Links and nodes that messages share."""

    ppn: Annotated[int | None, Option("Consecutive ranks that share a node."), Field(ge=1)] = None
    node_gap_s_per_B: Annotated[
        float | None,
        Option(
            "Bandwidth into and out of a node, shared by its ranks.",
            flags=("--node-bandwidth",),
            panel=MACHINE,
            read=parse_per_byte,
        ),
    ] = None
    links: Annotated[
        SharedLinks | None,
        Option(
            "Network whose links messages share: torus:8x8x8,link=10GB/s or tree:16:4,8:2,link=10GB/s.",
            flags=("--topology",),
            read=SharedLinks.read,
        ),
    ] = None


class SimulationOptions(BaseModel, defer_build=True):
    """Where parameters come from, and what is simulated of the collective."""

    machine: Annotated[Path | None, Option("Machine file for parameters that are not given here.")] = None
    system: Annotated[str, Option("System of the ranks: a known name, or a JSON file.")] = ""
    mapping: Annotated[str, Option("How the launcher maps ranks to cores, such as core, socket or node.")] = ""
    noise_s: Annotated[
        float,
        Option(
            "Mean of an exponential delay, added each time a processor is busy.",
            flags=("--noise",),
            read=parse_time,
            show="{:g}s".format,
        ),
    ] = 0.0
    seed: Annotated[int, Option(), Field(ge=0, lt=2**64)] = 0
    critical_path: Annotated[
        bool, Option("Say where the time went.", panel=RESULT, flags=("--critical-path",))
    ] = False
    per_rank: Annotated[
        Path | None, Option("CSV file: when each rank is done.", flags=("--csv",), panel=RESULT)
    ] = None
    trace: Annotated[
        Path | None, Option("File of every step: .csv, or drawn: .svg, .png, .html.", panel=RESULT)
    ] = None
