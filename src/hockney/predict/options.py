"""What the verbs of `hockney predict` are asked: models whose fields are options."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, PrivateAttr

from hockney import vocabulary
from hockney.errors import RequestError
from hockney.fields import Argument, Option
from hockney.machine.level_option import AnyLevel
from hockney.network.node_choice import NodeChoice
from hockney.schedule.catalogue import algorithm_names
from hockney.units import parse_bytes, parse_extents, parse_positive_rate, parse_time
from hockney.words import segment, wholes, written

MACHINE = Path("machine.json")
"""The file that is read where none is named."""


class MachineFile(BaseModel):
    """Where costs of messages come from."""

    machine: Annotated[Path, Option()] = MACHINE
    _held: Any = PrivateAttr(default=None)
    """A `machine.file.Machine` in place of the file's: see `machine_of` in predict/network_figures.py."""

    def holding(self, machine: object) -> Self:
        """The same options with a machine that is there already; `machine` of the options then only names it."""
        held = self.model_copy()
        held._held = machine
        return held


class Sizes(BaseModel):
    """What is sent."""

    sizes_B: Annotated[
        list[int],
        Option("Several: with commas.", flags=("--bytes",), read=parse_bytes, repeat=True, commas=True),
    ] = Field(default_factory=list)


class Strided(BaseModel):
    """Where the blocks of scattered data lie in memory."""

    layout: Annotated[str | None, Option("vector, indexed (the same as a list) or irregular.")] = None
    block_B: Annotated[
        int | None,
        Option("With --layout: length of a block, such as 8B.", flags=("--block",), read=parse_bytes),
    ] = None
    stride_B: Annotated[
        int | None,
        Option(
            "With --layout: distance from block to block, such as 64B; the mean distance of irregular ones.",
            flags=("--stride",),
            read=parse_bytes,
        ),
    ] = None


class Placing(BaseModel):
    """Where ranks are: on a system, by one of its mappings."""

    system: Annotated[str, Option("A known one, or a JSON file that describes it: where ranks are.")] = ""
    mapping: Annotated[str, Option("One that --system knows.")] = ""
    nodes: Annotated[int | None, Option("Those that are used.")] = None
    ppn: Annotated[int | None, Option("The most.")] = None


class OnTopology(NodeChoice):
    """The network between the nodes, where no system says it."""

    topology: Annotated[
        str,
        Option(
            "Messages share its links; the rate of a link is the machine file's, or said: "
            "torus:8x8x8,link=10Gbit/s."
        ),
    ] = ""


class NetworkOptions(BaseModel):
    """What messages between nodes cost, where they were not measured."""

    network_latency_s: Annotated[
        float | None,
        Option(
            "Latency of an empty message between nodes, such as 2us: assumed, not measured.",
            flags=("--network-latency",),
            panel=vocabulary.MACHINE,
            read=parse_time,
        ),
    ] = None
    network_bandwidth_B_per_s: Annotated[
        float | None,
        Option(
            "Bandwidth of messages between nodes, such as 12.5GB/s or 100Gbit/s.",
            flags=("--network-bandwidth",),
            panel=vocabulary.MACHINE,
            read=parse_positive_rate,
        ),
    ] = None


class MessageCosts(OnTopology, NetworkOptions, Placing, MachineFile):
    """What messages cost between ranks that a system may place: see `costs_of` in predict/network_figures.py."""

    where: Annotated[
        list[str],
        Option("variant, mpi, mapping, system, pairs."),
    ] = Field(default_factory=list)


class Message(MachineFile, Sizes):
    """How long a message is, and which entry of a machine file predicts it."""

    locality: Annotated[
        str | None,
        Option("[default: the nearest measured]"),
    ] = None
    variant: Annotated[str | None, Option()] = None
    cache: Annotated[str | None, Option("[default: warm where measured]")] = None
    where: Annotated[
        list[str],
        Option("mapping, mpi, system, source, window, pairs."),
    ] = Field(default_factory=list)
    model: Annotated[str, Option("To predict with.")] = "piecewise"
    any_level: AnyLevel = False
    reference_s: Annotated[
        float | None,
        Option(
            "Time of the reference at which the machine is now, such as 0.105us: within a level it drifts. "
            "[default: that of the campaign]",
            read=parse_time,
            flags=("--reference",),
            metavar="TIME",
        ),
    ] = None
    large_reference_s: Annotated[
        float | None,
        Option(
            "With --reference: time of 64 KiB at which the machine is now, such as 4.1us: memory drifts by "
            "itself.",
            read=parse_time,
            flags=("--large-reference",),
            metavar="TIME",
        ),
    ] = None


WORST = "worst"
"""The word for the congestion of the worst mapping."""


def _congestion(text: str) -> str:
    """The text itself; RequestError for what is neither a factor of at least 1 nor WORST."""
    if text == WORST:
        return text
    try:
        factor = float(text)
    except ValueError:
        factor = math.nan
    if not 1 <= factor < math.inf:
        raise RequestError(
            f"{text!r} is no congestion: it says how many times as long a byte takes, 1 or more",
            f"for example 2.1, or {WORST}",
        )
    return text


class AddedEffects(Strided):
    """Effects that a ping-pong hides; each that is named is added to its time."""

    hops: Annotated[int | None, Option("Links that the message crosses."), Field(ge=1)] = None
    hop_latency_s: Annotated[
        float | None,
        Option(
            "With --hops: latency of a link, such as 45ns, where the machine file has none.",
            flags=("--hop-latency",),
            read=parse_time,
        ),
        Field(ge=0),
    ] = None
    queue: Annotated[int | None, Option("Posted receives that lie before the matching one."), Field(ge=0)] = None
    congestion: Annotated[
        str | None,
        Option(
            f"Times as long that a byte takes, such as 2.1; {WORST}: under the machine's worst mapping.",
            read=_congestion,
        ),
    ] = None
    busy_sender: Annotated[
        bool, Option("The sender computes meanwhile, as long as the transfer takes.", flags=("--busy-sender",))
    ] = False
    overlap: Annotated[
        float | None,
        Option("With --busy-sender: share of the transfer that proceeds meanwhile, where it was not measured."),
        Field(ge=0, le=1),
    ] = None

    @property
    def are_asked(self) -> bool:
        """Whether any effect is named. RequestError for an option that says something of one that is not."""
        for given, needed, flag in (
            (self.hop_latency_s, self.hops, "--hop-latency needs --hops"),
            (self.overlap, self.busy_sender or None, "--overlap needs --busy-sender"),
            (self.block_B, self.layout, "--block needs --layout"),
            (self.stride_B, self.layout, "--stride needs --layout"),
        ):
            if given is not None and needed is None:
                raise RequestError(flag, "give both, or leave both out")
        if self.layout is not None and (self.block_B is None or self.stride_B is None):
            raise RequestError(
                "--layout needs --block and --stride", "for example --layout vector --block 8B --stride 64B"
            )
        asked = (self.hops, self.queue, self.layout, self.congestion)
        return self.busy_sender or any(effect is not None for effect in asked)


class CollectiveCase(MessageCosts, Sizes):
    """Which collective is predicted, on which ranks, and from what."""

    operation: str = ""
    ranks: Annotated[int | None, Option()] = None
    algorithm: Annotated[
        str,
        Option(
            "One, several, `all`, or `best` for the fastest alone.",
            commas=True,
            known=lambda: ("all", "best", *algorithm_names()),
        ),
    ] = "all"
    root: Annotated[int, Option()] = 0
    segment_B: Annotated[
        int | None,
        Option(
            "Or best: the best of each algorithm.",
            flags=("--segment",),
            read=lambda text: None if text == "best" else segment(text),
            show=lambda size_B: written(size_B or 0),
        ),
    ] = 0
    """None: the best of each algorithm."""
    table: Annotated[Path | None, Option("Predictions are calibrated on them.")] = None
    statistic: Annotated[str, Option("The one of --table that is predicted.")] = ""


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
        Option("64,100 or 256-65536: of a range its ends and the powers of two between them.", read=_ranks),
    ]
    algorithm: Annotated[
        str, Option("Of the all-to-alls; best: the fastest of each.", known=lambda: ("best", *algorithm_names()))
    ] = "best"
    ppn: Annotated[int | None, Option("With --topology: the most.")] = None
    where: Annotated[list[str], Option("variant, mpi, mapping, system, pairs.")] = Field(default_factory=list)

    @property
    def costs(self) -> MessageCosts:
        """Where costs of messages come from."""
        known = {name: getattr(self, name) for name in MessageCosts.model_fields if hasattr(self, name)}
        return MessageCosts(**known).holding(self._held)


MOST_ELEMENTS = 10**15
"""Elements along one direction; more than any memory has bytes."""


class BlockLayout(Strided):
    """A layout by its blocks."""

    blocks: Annotated[int | None, Option("With --layout: how many blocks.")] = None


class BlockFace(BaseModel):
    """A layout by the face of a block of elements."""

    face: Annotated[str | None, Option("x, y or z: the face of a block in C order, x fastest.")] = None
    shape: Annotated[
        tuple[int, ...] | None,
        Option("Elements of the block of --face.", flags=("--size",), read=lambda text: _extents(text)),
    ] = None
    element_B: Annotated[
        int,
        Option(
            "With --face: size of an element. [default: 8B]", flags=("--element",), read=parse_bytes, show=None
        ),
    ] = 8


class EffectOptions(MachineFile):
    """Which effect of a machine file says what layouts cost."""

    locality: Annotated[str | None, Option("[default: the nearest measured]")] = None
    where: Annotated[list[str], Option("mpi, variant, mapping, system, placement.")] = Field(default_factory=list)


def _extents(text: str) -> tuple[int, ...]:
    return parse_extents(text, "a block", "elements", dimensions=(3,), at_most=MOST_ELEMENTS, example="64x64x64")


class ProfileCase(MessageCosts):
    """Which profile is predicted, and for how many ranks."""

    file: Annotated[Path, Argument("File of `hockney profile`.", metavar="PROFILE.JSON")]
    ranks: Annotated[int | None, Option("[default: those of the profile]")] = None
