"""What the verbs of `hockney predict` are asked: models whose fields are options."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

from pydantic import BaseModel, Field, PrivateAttr, field_validator

from hockney import vocabulary
from hockney.errors import RequestError
from hockney.fields import Argument, Option
from hockney.machine.shipped import MACHINE, usual
from hockney.schedule.catalogue import algorithm_names
from hockney.schedule.proof import FEW, mistake
from hockney.schedule.written import ENDING, define
from hockney.units import parse_bytes, parse_extents, parse_positive_rate, parse_time, segment, wholes, written


class MachineFile(BaseModel, defer_build=True):
    """Where costs of messages come from."""

    machine: Annotated[Path, Option()] = Field(default=MACHINE, validate_default=True)
    _held: Any = PrivateAttr(default=None)
    """A `machine.file.Machine` in place of the file's: see `machine_of` in predict/network_figures.py."""

    @field_validator("machine")
    @classmethod
    def _where_it_is(cls, machine: Path) -> Path:
        return usual(machine)

    def holding(self, machine: object) -> Self:
        """The same options with a machine that is there already; `machine` of the options then only names it."""
        held = self.model_copy()
        held._held = machine
        return held


class Sizes(BaseModel, defer_build=True):
    """What is sent."""

    sizes_B: Annotated[
        list[int],
        Option(flags=("--bytes",), read=parse_bytes, repeat=True, commas=True),
    ] = Field(default_factory=list)


class Strides(NamedTuple):
    """Blocks of scattered data in memory: their kind, length and distance; None where their number follows."""

    layout: str
    block_B: int
    stride_B: int
    blocks: int | None = None

    @classmethod
    def read(cls, text: str) -> Strides:
        """`vector:8B/64B`, with the number of blocks `vector:2048x8B/64B`; RequestError for another form."""
        form = re.fullmatch(r"(\w+):(?:(\d+)x)?([^/]+)/([^/]+)", text)
        if form is None:
            raise RequestError(f"{text!r} is no layout", "write KIND:BLOCK/STRIDE, such as vector:8B/64B")
        kind, blocks, block, stride = form.groups()
        return cls(kind, parse_bytes(block), parse_bytes(stride), int(blocks) if blocks else None)


class Placing(BaseModel, defer_build=True):
    """Where ranks are: on a system, by one of its mappings."""

    system: Annotated[str, Option("System of the ranks: a known name, or a JSON file.")] = ""
    mapping: Annotated[str, Option("How the launcher maps ranks to cores, such as core, socket or node.")] = ""
    ppn: Annotated[int | None, Option("Ranks on a node, at most.")] = None


class OnTopology(BaseModel, defer_build=True):
    """The network between the nodes, where no system says it."""

    topology: Annotated[
        str,
        Option("Network whose links messages share, such as torus:8x8x8 or torus:8x8x8,link=10Gbit/s."),
    ] = ""


class BetweenNodes(NamedTuple):
    """A latency in seconds and a bandwidth in B/s; None where it is not said."""

    latency_s: float | None = None
    bandwidth_B_per_s: float | None = None

    @classmethod
    def read(cls, text: str) -> BetweenNodes:
        """`2us,12.5GB/s`, or one of the two; RequestError for another form."""
        said: dict[str, float] = {}
        for word in text.split(","):
            is_rate = word.strip().endswith("/s")
            name = "bandwidth_B_per_s" if is_rate else "latency_s"
            if name in said:
                raise RequestError(
                    f"{text!r} says one thing twice", "write LATENCY,BANDWIDTH, such as 2us,12.5GB/s"
                )
            said[name] = parse_positive_rate(word) if is_rate else parse_time(word)
        return cls(**said)


class NetworkOptions(BaseModel, defer_build=True):
    """What messages between nodes cost, where they were not measured."""

    network: Annotated[
        BetweenNodes,
        Option(
            "Assumed latency and bandwidth of messages between nodes, such as 2us,12.5GB/s.",
            panel=vocabulary.MACHINE,
            read=BetweenNodes.read,
            show=None,
        ),
    ] = BetweenNodes()


class MessageCosts(OnTopology, NetworkOptions, Placing, MachineFile):
    """What messages cost between ranks that a system may place: see `costs_of` in predict/network_figures.py."""

    where: Annotated[list[str], Option()] = Field(default_factory=list)


class Message(MachineFile, Sizes):
    """How long a message is, and which entry of a machine file predicts it."""

    locality: Annotated[str | None, Option()] = None
    where: Annotated[list[str], Option()] = Field(default_factory=list)
    model: Annotated[str, Option("Model of the time, such as piecewise, hockney or loggp.")] = "piecewise"


WORST = "worst"
"""The word for the congestion of the worst mapping."""


def _congestion(text: str) -> str:
    """The text itself; RequestError for what is a factor below 1, and for what is none and names no topology."""
    if text == WORST or ":" in text:
        return text
    try:
        factor = float(text)
    except ValueError:
        factor = math.nan
    if not 1 <= factor < math.inf:
        raise RequestError(
            f"{text!r} is no congestion: it says how many times as long a byte takes, 1 or more",
            f"for example 2.1, {WORST}, or torus:8x8x8",
        )
    return text


class AddedEffects(BaseModel, defer_build=True):
    """Effects that a ping-pong hides; each that is named is added to its time."""

    hops: Annotated[int | None, Option("Links that the message crosses."), Field(ge=1)] = None
    queue: Annotated[int | None, Option("Posted receives that lie before the matching one."), Field(ge=0)] = None
    congestion: Annotated[
        str | None,
        Option(
            f"Slowdown of each byte: a factor, {WORST} for the worst mapping, or a network such as torus:8x8.",
            read=_congestion,
        ),
    ] = None
    strides: Annotated[
        Strides | None,
        Option(
            "Blocks and stride of scattered data, such as vector:8B/64B (also indexed, irregular).",
            flags=("--layout",),
            read=Strides.read,
        ),
    ] = None
    busy_sender: Annotated[
        bool, Option("The sender computes while the message travels.", flags=("--busy-sender",))
    ] = False

    @property
    def are_asked(self) -> bool:
        """Whether any effect is named."""
        asked = (self.hops, self.queue, self.strides, self.congestion)
        return self.busy_sender or any(effect is not None for effect in asked)


class CollectiveCase(MessageCosts, Sizes):
    """Which collective is predicted, on which ranks, and from what."""

    operation: str = ""
    ranks: Annotated[int | None, Option()] = None
    algorithm: Annotated[
        str,
        Option(
            "Algorithm, several with commas, all, or best for the fastest alone.",
            commas=True,
            known=lambda: ("all", "best", *algorithm_names()),
        ),
    ] = "all"
    segment_B: Annotated[
        int | None,
        Option(
            "Size of a segment, such as 4KiB, none, or best for the best of each algorithm.",
            flags=("--segment",),
            read=lambda text: None if text == "best" else segment(text),
            show=lambda size_B: written(size_B or 0),
        ),
    ] = 0
    """None: the best of each algorithm."""
    table: Annotated[
        Path | None, Option("Campaign or tidy table with collectives that calibrate predictions.")
    ] = None
    statistic: Annotated[str, Option()] = ""
    formulas: Annotated[bool, Option("Add formula, growth and largest term of each algorithm.")] = False

    def chosen(self, offered_names: Sequence[str]) -> list[str]:
        """The algorithms that are named; all that are offered where none is, or files alone."""
        named = [name.strip() for name in self.algorithm.split(",")]
        files = {name: define(self.operation, name) for name in named if name.endswith(ENDING)}
        if wrong := next(filter(None, (mistake(file, FEW) for file in files.values())), ""):
            raise RequestError(wrong, "`hockney schedule verify` says more")
        if {*named} <= {"all", "best", *files}:
            named = [*offered_names, *files]
        return list(dict.fromkeys(files[name].name if name in files else name for name in named))


MOST_RANKS = 2**24


def _ranks(text: str) -> list[int]:
    """`256-65536`: the powers of two in it, and its ends; or a list."""
    numbers = []
    for word in text.split(","):
        low, dash, high = word.partition("-")
        allowed = range(1, MOST_RANKS + 1)
        if not dash:
            numbers += wholes(word, allowed)
            continue
        (first,), (last,) = wholes(low, allowed), wholes(high, allowed)
        powers = (1 << exponent for exponent in range(MOST_RANKS.bit_length()))
        numbers += [first, *(power for power in powers if first < power < last), last]
    return sorted(set(numbers))


class FftCase(OnTopology, NetworkOptions, MachineFile):
    """Which FFT is divided, on how many ranks, and what messages cost there."""

    size: Annotated[int, Option("Numbers along each side of the cube, complex and of double precision.")]
    ranks: Annotated[
        list[int],
        Option(
            "Numbers of ranks: 64,100 or 256-65536 (its ends and the powers of two between them).", read=_ranks
        ),
    ]
    algorithm: Annotated[
        str,
        Option(
            "Algorithm of the all-to-alls, or best for the fastest of each.",
            known=lambda: ("best", *algorithm_names()),
        ),
    ] = "best"
    ppn: Annotated[int | None, Option("Ranks on a node of the topology, at most.")] = None
    where: Annotated[list[str], Option()] = Field(default_factory=list)

    @property
    def costs(self) -> MessageCosts:
        """Where costs of messages come from."""
        known = {name: getattr(self, name) for name in MessageCosts.model_fields if hasattr(self, name)}
        return MessageCosts(**known).holding(self._held)


MOST_ELEMENTS = 10**15
MOST_FACTOR = 1e9
"""Elements along one direction; more than any memory has bytes."""


class Face(NamedTuple):
    """The face of a block of elements in C order, x fastest."""

    axis: str
    extents: tuple[int, ...]
    element_B: int = 8

    @classmethod
    def read(cls, text: str) -> Face:
        """`x:64x64x64`, of elements of 4 B `x:64x64x64/4B`; RequestError for another form."""
        axis, _, rest = text.partition(":")
        extents, _, element = rest.partition("/")
        example = "x:64x64x64"
        return cls(
            axis,
            parse_extents(
                extents, "a block", "elements", dimensions=(3,), at_most=MOST_ELEMENTS, example=example
            ),
            parse_bytes(element or "8"),
        )


def _layout(text: str) -> Strides | Face:
    return Strides.read(text) if len(text.partition(":")[0]) > 1 else Face.read(text)


class ScatteredData(BaseModel, defer_build=True):
    """A layout, by its blocks or as the face of a block of elements."""

    layout: Annotated[
        Strides | Face | None,
        Option(
            "Blocks and their stride, such as vector:2048x8B/64B (also indexed, irregular), or the face of a "
            "block: x:128x64x32/8B.",
            read=_layout,
        ),
    ] = None


class EffectOptions(MachineFile):
    """Which effect of a machine file says what layouts cost."""

    locality: Annotated[str | None, Option()] = None
    where: Annotated[list[str], Option()] = Field(default_factory=list)


def _algorithm(text: str) -> tuple[str, str]:
    """`allreduce=ring`; RequestError for another form."""
    operation, equals, name = text.partition("=")
    if not equals or not name:
        raise RequestError(f"{text!r} is no operation with its algorithm", "write allreduce=ring")
    return operation.strip(), name.strip()


class ProfileCase(OnTopology, NetworkOptions):
    """Which profile is predicted, from what, and for how many ranks; a trace may be under several."""

    file: Annotated[
        Path, Argument("File of `hockney profile`, or the folder of its trace.", metavar="PROFILE.JSON")
    ]
    ranks: Annotated[int | None, Option("Number of ranks. [default: those of the profile]")] = None
    machine: Annotated[list[Path], Option(read=Path, repeat=True, commas=True)] = Field(default_factory=list)
    system: Annotated[
        list[str],
        Option("System of the ranks: a known name, or a JSON file.", read=str, repeat=True, commas=True),
    ] = Field(default_factory=list)
    mapping: Annotated[
        list[str],
        Option(
            "How the launcher maps ranks to cores, such as core, socket or node.",
            read=str,
            repeat=True,
            commas=True,
        ),
    ] = Field(default_factory=list)
    ppn: Annotated[int | None, Option("Ranks on a node, at most.")] = None
    where: Annotated[list[str], Option()] = Field(default_factory=list)
    algorithm: Annotated[
        list[tuple[str, str]],
        Option("Algorithm of an operation, such as allreduce=ring.", read=_algorithm, repeat=True, commas=True),
    ] = Field(default_factory=list)
    rules: Annotated[
        list[Path],
        Option(
            "Rules that the library would have, as `hockney tune` writes.", read=Path, repeat=True, commas=True
        ),
    ] = Field(default_factory=list)
    compute: Annotated[
        float, Option("Times as long as recorded that computing takes."), Field(ge=0, le=MOST_FACTOR)
    ] = 1.0
    compute_of: Annotated[
        Path | None, Option("JSON file of call sites and factors: how long the computing before them takes.")
    ] = None
    export: Annotated[
        Path | None, Option("Write the graph of the run: a file, or goal for one beside the profile.")
    ] = None

    def each(self) -> list[MessageCosts]:
        """Where costs come from, for each combination that is asked for."""
        shared = {name: getattr(self, name) for name in ("topology", "network", "ppn", "where")}
        return [
            MessageCosts(machine=machine, system=system, mapping=mapping, **shared)
            for machine in self.machine or [MACHINE]
            for system in self.system or [""]
            for mapping in self.mapping or [""]
        ]
