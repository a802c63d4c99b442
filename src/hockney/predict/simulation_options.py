"""The options of `hockney simulate`: LogGOPS parameters, what messages share, and what is simulated."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from hockney.errors import RequestError
from hockney.fields import Option
from hockney.units import parse_bytes, parse_extents, parse_per_byte, parse_time
from hockney.vocabulary import MACHINE, RESULT

LOGGOPS = "LogGOPS parameters"
"""Heading of options."""
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
            f"{text!r} is not a fat tree", "write children:uplinks of each level, such as 16:4,8:2"
        )
    levels = tuple((int(children), int(uplinks)) for children, uplinks in re.findall(r"(\d+):(\d+)", text))
    nodes = math.prod(children for children, _ in levels)
    _refuse_huge(nodes * 2 * max(uplinks for _, uplinks in levels), text)
    return levels


def _refuse_huge(links: int, text: str) -> None:
    if links > MOST_PLACES:
        raise RequestError(f"{text!r} has {links:.3g} links, more than are held", "give a smaller network")


class LoggopsOptions(BaseModel):
    """LogGOPS parameters: those that are given replace a machine file's everywhere."""

    latency_s: Annotated[
        float | None,
        Option(
            "L of LogGP; needed without --machine or --system.",
            flags=("--latency",),
            panel=LOGGOPS,
            read=parse_time,
        ),
    ] = None
    overhead_s: Annotated[
        float | None,
        Option(flags=("--overhead",), panel=LOGGOPS, read=parse_time),
    ] = None
    receive_overhead_s: Annotated[
        float | None,
        Option(
            "o_r, where it differs from --overhead.",
            flags=("--receive-overhead",),
            panel=LOGGOPS,
            read=parse_time,
        ),
    ] = None
    overhead_s_per_B: Annotated[
        float | None,
        Option("O: a time, or a rate.", flags=("--overhead-per-byte",), panel=LOGGOPS, read=parse_per_byte),
    ] = None
    gap_s: Annotated[
        float | None,
        Option(flags=("--gap",), panel=LOGGOPS, read=parse_time),
    ] = None
    gap_s_per_B: Annotated[
        float | None,
        Option(
            "Or the time of a byte, such as 6ns: G of LogGP.",
            flags=("--bandwidth",),
            panel=LOGGOPS,
            read=parse_per_byte,
        ),
    ] = None
    reduce_s_per_B: Annotated[
        float | None,
        Option(flags=("--reduction",), panel=LOGGOPS, read=parse_per_byte),
    ] = None
    copy_s_per_B: Annotated[
        float | None,
        Option("Time to copy a byte, or a rate.", flags=("--copy",), panel=LOGGOPS, read=parse_per_byte),
    ] = None
    rendezvous_above_B: Annotated[
        int | None,
        Option(
            "Largest message that is sent eagerly; none: all are.",
            flags=("--rendezvous-above",),
            panel=LOGGOPS,
            read=lambda text: None if text == "none" else parse_bytes(text),
        ),
    ] = None

    @property
    def given(self) -> dict[str, float | None]:
        """What is given, by the names of `hockney.predict.costs.LoggopsParameters`."""
        given = self.model_dump(exclude_unset=True)
        return {"receive_overhead_s": given["overhead_s"], **given} if "overhead_s" in given else given


class SharingOptions(BaseModel):
    """Links and nodes that messages share."""

    ppn: Annotated[int, Option("Consecutive ranks share one."), Field(ge=1)] = 1
    node_gap_s_per_B: Annotated[
        float | None,
        Option(
            "Bandwidth into and out of a node, shared by its ranks.",
            flags=("--node-bandwidth",),
            panel=MACHINE,
            read=parse_per_byte,
        ),
    ] = None
    torus: Annotated[
        tuple[int, ...],
        Option("Extents of a torus of nodes, such as 8x8x8.", panel=MACHINE, read=_extents, show=None),
    ] = ()
    fat_tree: Annotated[
        tuple[tuple[int, int], ...],
        Option("Children:uplinks of each level, such as 16:4,8:2.", panel=MACHINE, read=_levels, show=None),
    ] = ()
    link_gap_s_per_B: Annotated[
        float | None,
        Option("Of each link between the nodes.", flags=("--link",), read=parse_per_byte),
    ] = None


class SimulationOptions(BaseModel):
    """Where parameters come from, and what is simulated of the collective."""

    machine: Annotated[Path | None, Option("Its parameters where none are given here.")] = None
    system: Annotated[str, Option("A known one, or a JSON file that describes it: where ranks are.")] = ""
    mapping: Annotated[str, Option("One that --system knows.")] = ""
    noise_s: Annotated[
        float,
        Option(
            "Mean of an exponential delay, added each time a processor is busy.",
            flags=("--noise",),
            read=parse_time,
            show="{:g}s".format,
        ),
    ] = 0.0
    seed: Annotated[int, Option("The noise."), Field(ge=0, lt=2**64)] = 0
    by_class: Annotated[bool, Option("Simulate one rank for all that do the same.")] = True
    critical_path: Annotated[
        bool, Option("Say where the time went.", panel=RESULT, flags=("--critical-path",))
    ] = False
    per_rank: Annotated[Path | None, Option("CSV file: when each rank is done.", panel=RESULT)] = None
    trace: Annotated[
        Path | None, Option("File of every step: .csv, or drawn: .svg, .png, .html.", panel=RESULT)
    ] = None
