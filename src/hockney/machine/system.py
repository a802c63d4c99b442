"""The system file: a cluster, its network, and where mappings put ranks (docs/reference/system-file.md).

A table that was measured elsewhere says which mapping it used, not which ranks share a cache. This file says it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hockney import reading
from hockney.errors import RequestError
from hockney.records import journal
from hockney.registry import did_you_mean

SHIPPED = Path(__file__).parent / "systems"
"""The files that come with the package, one for each known system."""

Level = Literal["core", "cache", "numa", "package", "node"]
Turn = Literal["core", "cache", "numa", "package", "node", "thread"]
"""What a mapping may change from rank to rank."""
LEVELS: tuple[Level, ...] = get_args(Level)
"""Innermost first."""
Count = Annotated[int, Field(ge=1)]
CoreNumber = Annotated[int, Field(ge=0)]
Rate = Annotated[float, Field(gt=0)]


class _SystemFilePart(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", allow_inf_nan=False, strict=True, frozen=True)


class NodeCache(_SystemFilePart):
    """A data cache of a node's processors."""

    level: Count
    size_B: Count


class Adapter(_SystemFilePart):
    """What connects a node to a network, as peaks are drawn."""

    name: Annotated[str, Field(min_length=1)]
    bandwidth_B_per_s: Rate = Field(description="one direction")


class Node(_SystemFilePart):
    """What one node consists of; a level that does not divide the one above it has the count 1."""

    packages: Count
    numa_per_package: Count = 1
    caches_per_numa: Count = Field(default=1, description="groups of cores that share a last-level cache")
    cores_per_cache: Count
    threads_per_core: Count = Field(default=1, description="hardware threads that may each hold a rank")
    caches: list[NodeCache] = Field(default_factory=list, description="data caches, innermost first")

    @property
    def radices(self) -> dict[Level, int]:
        """Members of each level inside the next one, innermost first, nodes left out."""
        counts = (self.cores_per_cache, self.caches_per_numa, self.numa_per_package, self.packages)
        return dict(zip(LEVELS, counts, strict=False))

    @property
    def cores(self) -> int:
        """Cores of a node."""
        return math.prod(self.radices.values())

    @property
    def slots(self) -> int:
        """Hardware threads of a node: the most ranks that run at once."""
        return self.cores * self.threads_per_core


class SystemNetwork(_SystemFilePart):
    """What connects the nodes; published numbers only, `None` where there is none."""

    topology: Literal["switch", "fat_tree", "torus", "dragonfly"]
    bandwidth_B_per_s: Rate | None = Field(default=None, description="one link of a node, one direction")
    latency_s: Rate | None = Field(default=None, description="published one-way latency of an empty message")
    adapters: list[Adapter] = Field(default_factory=list, description="of each node, the fastest first")
    shapes: dict[Count, list[Count]] = Field(
        default_factory=dict, description="torus: number of nodes → extent in each dimension"
    )
    shape: list[Count] = Field(
        default_factory=list, description="torus: extent of the whole machine, whose first nodes a job takes"
    )
    below: list[Count] = Field(
        default_factory=list, description="fat tree: nodes, then switches, below a switch of each level"
    )
    uplinks: list[Count] = Field(
        default_factory=list, description="fat tree: parallel links of a switch of each level upwards"
    )

    @model_validator(mode="after")
    def _links_are_those_of_the_topology(self) -> Self:
        of = {"shapes": "torus", "shape": "torus", "below": "fat_tree", "uplinks": "fat_tree"}
        for name, topology in of.items():
            if getattr(self, name) and self.topology != topology:
                raise ValueError(f"{name} is for a {topology}, not for a {self.topology}")
        if self.shapes and self.shape:
            raise ValueError("shapes are of jobs, shape is of the whole machine: give one of them")
        if len(self.below) != len(self.uplinks):
            raise ValueError("below and uplinks have a number for each level of switches that has links upwards")
        for nodes, shape in self.shapes.items():
            if math.prod(shape) != nodes:
                raise ValueError(f"shape {'x'.join(map(str, shape))} has {math.prod(shape)} nodes, not {nodes}")
        return self


class SystemMemory(_SystemFilePart):
    """Published memory rates, for bounds."""

    copy_bandwidth_B_per_s: Rate | None = Field(default=None, description="one core; each byte counted once")


class SystemLibrary(_SystemFilePart):
    """An MPI library that the tables of this system were made with."""

    library: str
    version: str = ""


class Mapping(_SystemFilePart):
    """How ranks are placed. `order` lists all five levels, the one that changes from rank to rank first.

    Cores are counted from 0 through node 0, then node 1, innermost level fastest. Hardware threads (`thread`) may
    stand anywhere; where they do not, a node's cores are used once each before their second threads.
    """

    description: str = ""
    order: list[Turn]
    binding: Level | None = Field(
        default="core", description="what a rank is pinned to; it may move inside; None: not known"
    )
    nodes: Count | None = Field(default=None, description="nodes that are used where a request does not say")
    ppn: Count | Literal["even"] | None = Field(
        default=None,
        description="ranks per node where a request does not say; even: ranks / nodes; None: all cores",
    )
    first_cores: list[CoreNumber] = Field(
        default_factory=list, description="cores of the first ranks; the others follow `order`"
    )
    from_core: CoreNumber = Field(default=0, description="first core the others may use")
    to_core: CoreNumber | None = Field(default=None, description="last core the others may use; None: no end")

    @model_validator(mode="after")
    def _each_level_once(self) -> Self:
        if sorted({*self.order} - {"thread"}) != sorted(LEVELS) or len({*self.order}) < len(self.order):
            raise ValueError(f"order must name each of {', '.join(LEVELS)} once, the fastest-varying first")
        if self.ppn == "even" and self.nodes is None:
            raise ValueError("ppn even needs nodes, the number they are divided over")
        if self.to_core is not None and self.to_core < self.from_core:
            raise ValueError(f"to_core {self.to_core} is below from_core {self.from_core}")
        if len(set(self.first_cores)) < len(self.first_cores):
            raise ValueError("first_cores names a core twice")
        if self.restricted and (self.order[-1] != "node" or self.nodes is not None or self.ppn is not None):
            raise ValueError("a mapping that names cores fills its nodes: order ends in node, no nodes, no ppn")
        return self

    @property
    def restricted(self) -> bool:
        """It names cores, so the numbers of nodes and ranks per node follow from it."""
        return bool(self.first_cores or self.from_core or self.to_core is not None)


class Channel(_SystemFilePart):
    """Two ranks of a ping-pong whose table gives the receiver's core as `repetition`."""

    description: str = ""
    sender_core: CoreNumber
    receiver_offset: CoreNumber = Field(default=0, description="added to `repetition`: cores of the nodes before")
    receivers: list[CoreNumber] = Field(
        default_factory=list, max_length=2, description="first and last `repetition` of such a table; none: any"
    )

    def takes(self, repetitions: Iterable[int]) -> bool:
        """Whether these repetitions may be receivers' cores: another table counts its repeats from 0."""
        return not self.receivers or all(self.receivers[0] <= each <= self.receivers[-1] for each in repetitions)


class System(_SystemFilePart):
    """A system file, whole."""

    schema_version: Literal[1]
    name: Annotated[str, Field(min_length=1)]
    description: str = ""
    source: str = Field(default="", description="where each fact comes from, in words")
    nodes: Count | None = Field(default=None, description="nodes it has; None: not known, no limit")
    node: Node
    network: SystemNetwork
    memory: SystemMemory | None = None
    mpi: list[SystemLibrary] = Field(default_factory=list)
    procedure: Literal["osu", "imb", "pico", "hockney"] | None = Field(
        default=None, description="benchmark whose times a table without `source` holds"
    )
    mappings: Annotated[dict[str, Mapping], Field(min_length=1)]
    default_mapping: str | None = Field(default=None, description="for rows whose mapping is empty")
    channels: dict[str, Channel] = Field(default_factory=dict, description="`mapping` of ping-pong rows")

    @model_validator(mode="after")
    def _shape_holds_the_nodes(self) -> Self:
        if self.network.shape and math.prod(self.network.shape) != self.nodes:
            raise ValueError(f"network.shape has {math.prod(self.network.shape)} nodes, nodes says {self.nodes}")
        return self

    @model_validator(mode="after")
    def _default_is_there(self) -> Self:
        if self.default_mapping is not None and self.default_mapping not in self.mappings:
            raise ValueError(f"default_mapping {self.default_mapping!r} is none of the mappings")
        return self

    def mapping(self, name: str) -> Mapping:
        """The rule of that name, the default one for ""; RequestError names the known and the nearest."""
        word = name or self.default_mapping or ""
        if word in self.mappings:
            return self.mappings[word]
        known = ", ".join(self.mappings)
        if not word:
            raise RequestError(f"no mapping is given, and {self.name} has no default one", f"known: {known}")
        raise RequestError(
            f"{self.name} has no mapping {word!r}", did_you_mean(word, self.mappings) + f"known: {known}"
        )


def known_systems() -> list[str]:
    """Names of the systems that come with the package, sorted."""
    return sorted(path.stem for path in SHIPPED.glob("*.json"))


def find_system(name_or_path: str) -> System:
    """A shipped system by name, with or without `.json`, or a file of your own by its path.

    A plain word means the shipped system; with `.json` or a folder, a file that exists comes first.
    RequestError where there is neither, or where the file is damaged: what is wrong, and where.
    """
    path = Path(name_or_path)
    bare = path.name == name_or_path
    name = path.stem if path.suffix == ".json" else name_or_path
    shipped = SHIPPED / f"{name}.json"
    if bare and name in known_systems() and (path.suffix != ".json" or not reading.is_file(path)):
        return load_system(shipped)
    if reading.is_file(path):
        return load_system(path)
    known = known_systems()
    raise RequestError(
        f"there is no system {name_or_path!r}",
        f"{did_you_mean(name, known)}known: {', '.join(known)}; or give the path of a system file of your own",
    )


def load_system(path: Path) -> System:
    """RequestError where the file cannot be read, is no JSON, or does not describe a system."""
    hint = f"a whole one is {SHIPPED / 'orfeo-epyc.json'}; the documentation has a page on system files"
    return journal.load(System, path, "system file", "node", hint)
