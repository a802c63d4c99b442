"""`hockney predict`: the time of a message, a collective or an application that was not measured.

Here is what its verbs share.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, PrivateAttr

from hockney import vocabulary
from hockney.errors import RequestError
from hockney.fields import Option
from hockney.network.allocation import Allocation
from hockney.terminal import group
from hockney.units import parse_bytes, parse_positive_rate, parse_time

predict = group(
    "predict",
    examples="hockney predict pingpong --machine machine.json --bytes 64KiB\n"
    "hockney predict allreduce --ranks 1048576 --machine bluegene_p\n"
    "hockney predict profile.json --ranks 4096 --machine bluegene_p",
    of_files="profile",
    places=("hockney.cli.predict",),
)

MACHINE = Path("machine.json")
"""The file that is read where none is named."""


class MachineFile(BaseModel):
    """Where costs of messages come from."""

    machine: Annotated[Path, Option()] = MACHINE
    _held: Any = PrivateAttr(default=None)
    """A `machine.file.Machine` in place of the file's: see `machine_of` in predict/network_figures.py."""

    @property
    def is_there(self) -> bool:
        """Whether a machine is held, a file was named, or the usual one exists."""
        return self._held is not None or self.machine != MACHINE or self.machine.exists()

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

    def refuse_places(self) -> None:
        """RequestError where something is said that means nothing without a system."""
        if self.mapping or self.nodes is not None or self.ppn is not None:
            raise RequestError("--mapping, --nodes and --ppn need --system", "say which system the ranks are on")


class OnTopology(Allocation):
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
