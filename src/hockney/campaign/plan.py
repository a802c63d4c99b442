"""The plan of a campaign: everything that it measures; `plan.json` of the campaign folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from socket import gethostname
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hockney import vocabulary
from hockney.errors import RequestError
from hockney.fields import Option
from hockney.records.answers import first_problem
from hockney.records.journal import StoredPlan
from hockney.records.keys import COLLECTIVES, POINT_TO_POINT
from hockney.records.record import LOCALITIES, Cache, Circumstances, Start, Wanted
from hockney.registry import unit_files
from hockney.runner.inventory import inventory
from hockney.runner.launchers.base import BindTo, MapBy
from hockney.runner.mpi import KINDS
from hockney.schedule.catalogue import algorithm_names
from hockney.schedule.written import ENDING, text_of
from hockney.units import listed, parse_bytes, parse_time, segment, whole, words, written

LAUNCH, WHAT, HOW = vocabulary.LAUNCH, "What is measured", "How well and how long"
"""Headings of options."""
launch, what, how = (partial(Option, panel=panel) for panel in (LAUNCH, WHAT, HOW))
"""Options under these headings."""
HOSTS = "Hosts, as NAME or NAME:SLOTS with commas between, or the path of a host file."
LAUNCHERS = ", ".join(unit_files("hockney.runner.launchers"))
Row = TypeVar("Row", bound=Circumstances)
MOST_B = 2**40
"""Larger than any buffer. The runner checks each point against the memory and what the library can count."""


GROUPS = ("collectives", "effects")
"""Words for all collectives, and for all effects."""


def operation_words() -> list[str]:
    """What `--operation` takes."""
    return [*POINT_TO_POINT, *COLLECTIVES, *unit_files("hockney.campaign.effects"), *GROUPS]


def message_size(text: str) -> int:
    """The size in bytes; RequestError above MOST_B."""
    size_B = parse_bytes(text)
    if size_B > MOST_B:
        raise RequestError(f"{text!r} is larger than any message (1 TiB)", "for example 1GiB")
    return size_B


def with_files(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is given for a `Launching`, with the files in other words of it: `smpi:PLATFORM.xml`, `./hosts`."""
    asked = {**given}
    mpi, _, platform = str(asked.get("mpi", "")).rpartition(":")
    if mpi and platform.endswith(".xml"):
        asked |= {"mpi": mpi, "platform": platform}
    match asked.get("hosts"):
        case [str() as path] if "/" in path:
            asked |= {"hosts": [], "hostfile": path}
    return asked


class Launching(BaseModel):
    """How ranks are started: with which MPI, where, and with which settings. Stored in the campaign's plan."""

    model_config = ConfigDict(extra="forbid")

    mpi: Annotated[
        str,
        launch(
            "MPI to use: auto, openmpi, mpich, intel, a prefix, a wrapper, or smpi:PLATFORM.xml (simulated).",
            known=lambda: ("auto", *KINDS, "smpi"),
        ),
    ] = "auto"
    ranks: Annotated[int, launch(), Field(ge=1)]
    threads: int | None = Field(
        default=None, ge=1, description="OpenMP threads of a rank, a core for each; none: as the environment says"
    )
    hosts: Annotated[
        list[str],
        launch(HOSTS, read=words),
    ] = Field(default_factory=list)
    hostfile: str = Field(default="", description="of hosts in the format of the launcher")
    nodes: Annotated[
        int | None, launch("Spread the ranks evenly over this many nodes of the job. [default: all]"), Field(ge=1)
    ] = None
    launcher: Annotated[
        str,
        launch(
            f"Launcher: {LAUNCHERS}. [default: the one found with the MPI]",
            known=lambda: unit_files("hockney.runner.launchers"),
        ),
    ] = ""
    platform: str = Field(default="", description="file (XML) of a simulated cluster")
    map_by: Annotated[MapBy, launch(f"Where consecutive ranks go: {listed(get_args(MapBy))}.")] = "core"
    bind_to: Annotated[BindTo, launch(f"Bind each rank to: {listed(get_args(BindTo))}.")] = "core"
    variants: Annotated[
        list[str],
        launch(
            "A launch variant as 'NAME: launcher arguments and NAME=VALUE settings' (repeatable).",
            flags=("--variant",),
        ),
    ] = Field(default_factory=list)
    time_limit_s: float = Field(default=400.0, gt=0, description="after which a launch has no answer any more")
    system: Annotated[str, launch("System that the ranks are on, by any name. [default: the host's]")] = ""
    cpus: list[list[int]] = Field(
        default_factory=list, description="of each rank of this host, in place of map_by"
    )
    slots: list[list[int]] = Field(
        default_factory=list, description="the same by numbers of cores or hardware threads in hwloc's order"
    )

    @model_validator(mode="before")
    @classmethod
    def _with_files(cls, given: Any) -> Any:
        return with_files(given)

    def launch_name(self, variant: str, mapping: str) -> str:  # noqa: ARG002 - there is one mapping
        """What tells the launches of a variant and mapping from the others of the plan, in words."""
        return variant

    @property
    def per_node(self) -> int | None:
        """Ranks on each node, where their number is asked for."""
        return None if self.nodes is None else self.ranks // self.nodes

    @model_validator(mode="after")
    def _fills_its_nodes(self) -> Self:
        if self.nodes is not None and self.ranks % self.nodes:
            whole = -(-self.ranks // self.nodes) * self.nodes
            raise ValueError(
                f"{self.ranks} ranks are not as many on each of {self.nodes} nodes; {whole} would be"
            )
        return self


class AppLaunching(Launching):
    """The same for an application, by default on all cores of this host; `output` is not stored."""

    empty_means_default: ClassVar[bool] = True
    """An option whose text is empty is one that was not given."""

    output: Annotated[
        Path | None,
        Option("Folder that the run is added to, for `hockney report`.", flags=("--output", "-o")),
        Field(exclude=True),
    ] = None
    ranks: Annotated[int, launch("Number of ranks. [default: the cores of this host]"), Field(ge=1)] = Field(
        default_factory=lambda: inventory().cores
    )
    system: str = Field(default_factory=gethostname)
    bind_to: BindTo = "core"
    time_limit_s: float = Field(default=3600.0, gt=0, description="an application may compute for long")


class Plan(Launching):
    """Every choice that decides what is measured. Stored whole, so that a resumed campaign asks the same."""

    schema_version: Literal[1] = 1
    ranks: Annotated[int, launch("Number of ranks. [default: the cores of this host]"), Field(ge=2)]
    operations: Annotated[
        list[str],
        what(
            "Operations, with commas between: pingpong, bcast, …, `collectives`, `effects`. [default: all "
            "between pairs of ranks]",
            flags=("--operation",),
            read=words,
            known=operation_words,
        ),
    ] = Field(default_factory=list, description="empty: all that the runner knows")
    effects: list[str] = Field(default_factory=list, description="overlap, matching, …; measured after the rest")
    mappings: Annotated[
        list[MapBy],
        launch(
            f"Where consecutive ranks go: {listed(get_args(MapBy))}, or several. [default: core]",
            flags=("--map-by",),
            read=words,
            known=lambda: get_args(MapBy),
        ),
    ] = Field(default_factory=list, description="several, each launched by itself; empty: map_by alone")
    map_by: MapBy = "core"
    algorithms: Annotated[
        list[str],
        what(
            "Algorithms of collectives, with commas between: default, all, library, ours, or names.",
            flags=("--algorithm",),
            known=lambda: ("default", "all", "library", "ours", *algorithm_names()),
            read=words,
            show=",".join,
        ),
    ] = Field(default=["default"])
    schedules: dict[str, str] | None = Field(
        default=None, description="text of each file of a schedule that `algorithms` names"
    )
    localities: Annotated[
        list[str],
        what(
            "How far ranks are apart, several with commas between. [default: all that the placement has]",
            flags=("--locality",),
            read=words,
            known=lambda: LOCALITIES,
        ),
    ] = Field(default_factory=list)
    pairs: Annotated[int, what("Number of pairs of ranks in each locality."), Field(ge=1)] = 1
    rank_counts: Annotated[
        list[int],
        what(
            "Numbers of ranks of collectives, with commas between. [default: several, up to all]",
            read=lambda text: sorted({whole(word) for word in words(text)}),
        ),
    ] = Field(default_factory=list)
    root: Annotated[
        int | None,
        what("Root of the collective, or `rotate`.", read=lambda text: None if text == "rotate" else whole(text)),
        Field(ge=0),
    ] = 0
    segments_B: Annotated[
        list[int],
        what(
            "Sizes of a segment, such as 4KiB or none, with commas between.",
            flags=("--segment",),
            read=lambda text: [segment(word) for word in words(text)],
            show=lambda sizes_B: ",".join(map(written, sizes_B)),
        ),
    ] = Field(default=[0])
    radices: list[int] = Field(default=[0], description="fan-outs of algorithms; 0: the algorithm's default")
    start: Start = "window"
    time_s: Annotated[
        float | None,
        how(
            "Time for the whole campaign, such as 10min.",
            flags=("--time",),
            read=parse_time,
        ),
        Field(gt=0),
    ] = None
    adaptive: Annotated[
        bool,
        how(
            "Measure only points that decide which algorithm is fastest.",
            flags=("--adaptive",),
        ),
    ] = False
    decision_tolerance: float = Field(
        default=0.02, gt=0, description="regret below which a choice of algorithm counts as right"
    )
    sizes_B: Annotated[
        list[int],
        what(
            "Message sizes such as 8,64KiB, with commas between. [default: chosen adaptively]",
            flags=("--bytes",),
            read=lambda text: sorted({message_size(word) for word in words(text)}),
        ),
    ] = Field(default_factory=list)
    largest_B: Annotated[
        int, what("Largest message size.", flags=("--largest",), read=message_size, show=written), Field(ge=0)
    ] = 4 * 2**20
    caches: list[Cache] = Field(default=["warm"])
    window: Annotated[
        int, what("Number of messages in flight for bandwidth and bidirectional."), Field(ge=1, le=2**16)
    ] = 64
    launches: Annotated[int, how(), Field(ge=1, le=10_000)] = 1
    visits: Annotated[
        int,
        how("How often each point is measured again (collectives: four times as often, shorter)."),
        Field(ge=1, le=1000),
    ] = 3
    level: Annotated[
        Wanted, how("Speed level of the machine that completes a point: common, quietest or all.")
    ] = "common"
    budget_s: Annotated[
        float,
        how(
            "Longest time for a point, all visits together. [default: 1s, with --quick 0.2s]",
            flags=("--budget",),
            read=parse_time,
            show=None,
        ),
        Field(gt=0),
    ] = 1.0
    tolerance: Annotated[
        float,
        how("Stop a point when half its 95 % interval is below this share. [default: 0.01]", show=None),
        Field(gt=0),
    ] = 0.01
    seed: int = Field(default=0, ge=0)
    topology: Annotated[
        str, what("Network whose worst pairing of nodes `congestion` measures, such as torus:8x8x8.")
    ] = ""
    size_tolerance: float = Field(default=0.03, gt=0, description="miss of interpolation that asks for a point")
    narrowest: float = Field(default=1.06, gt=1, description="ratio at which a break is bracketed well enough")
    ladder_ratio: int = Field(default=2, ge=2, description="of neighbouring sizes, before refinement")
    most_sizes: int = Field(default=72, ge=3, description="points a series at most")
    most_sizes_of_others: int | None = Field(default=None, ge=3, description="of those but pingpong")
    least_samples: int = Field(default=100, ge=6)

    def launch_name(self, variant: str, mapping: str) -> str:
        """What tells the launches of a variant and mapping from the others of the plan, in words."""
        return f"{variant} by {mapping}" if len(self.mappings) > 1 else variant

    def launched(self, records: Iterable[Row], name: str) -> list[Row]:
        """Those of the records that launches of that name made."""
        return [record for record in records if self.launch_name(record.variant, record.mapping) == name]

    @model_validator(mode="after")
    def _maps_once(self) -> Self:
        if len(set(self.mappings)) < len(self.mappings):
            raise ValueError(f"--map-by names a mapping twice: {', '.join(self.mappings)}")
        if len(self.mappings) > 1 and self.platform:
            raise RequestError(
                f"a simulation, placed by its platform, is the same by {' and '.join(self.mappings)}",
                "leave out --map-by",
            )
        self.map_by = next(iter(self.mappings), self.map_by)
        if len(self.mappings) == 1:
            # The same choice in the same words, whoever makes it.
            self.mappings = []
        return self

    @property
    def points(self) -> bool:
        """Whether it asks for points at all, not for effects alone."""
        return bool(self.operations) or not self.effects

    @property
    def has_collectives(self) -> bool:
        """Whether it asks for any collective."""
        return any(name in COLLECTIVES for name in self.operations)

    def of_others(self, **asked: Any) -> Plan:
        """A plan of other points, all of them whatever time they take, launched as this one launched."""
        fixed = {"effects": [], "adaptive": False, "topology": "", "time_s": None}
        return self.model_copy(update={**fixed, **asked})

    @model_validator(mode="after")
    def _keeps_schedules(self) -> Plan:
        """Of a file the plan keeps the text, and the name without its folder: it is resumed anywhere."""
        kept = self.schedules or {}
        for word in [word for word in self.algorithms if word.endswith(ENDING)]:
            name = Path(word).name
            self.algorithms = [name if each == word else each for each in self.algorithms]
            # Of a plan that is read again: the name alone may be another file here.
            text = kept[name] if word == name and name in kept else text_of(word)
            if kept.setdefault(name, text) != text:
                raise RequestError(f"two different schedules have the name {name}", "rename one of them")
        self.schedules = kept or None
        return self

    @model_validator(mode="after")
    def _adapts_to_something(self) -> Plan:
        if self.adaptive and not self.has_collectives:
            raise ValueError("--adaptive chooses between algorithms of collectives; none was asked for")
        return self

    @model_validator(mode="after")
    def _ranks_fit(self) -> Plan:
        for ranks in self.rank_counts:
            if not 2 <= ranks <= self.ranks:
                raise ValueError(f"a rank count of {ranks} is not between 2 and the {self.ranks} ranks launched")
        if self.root is not None and self.root >= min(self.rank_counts or [self.ranks]):
            raise ValueError(f"root {self.root} is none of {min(self.rank_counts or [self.ranks])} ranks")
        return self

    @classmethod
    def stored(cls, plan: StoredPlan, where: Path) -> Plan:
        """The plan of an existing campaign; RequestError where it is no plan of `hockney measure`."""
        data = plan.as_said()
        if "ranks" in data and "schema_version" not in data:
            # With the defaults it would ask for what nobody asked for.
            raise RequestError(
                f"{where} has the plan of `hockney run`, no campaign to resume",
                "run the application again: `hockney run … -o` adds to the folder",
            )
        try:
            # Campaigns that do not say stepped by four.
            return cls.model_validate({"ladder_ratio": 4, **data})
        except ValidationError as error:
            raise RequestError(
                f"{where} has no plan to resume ({first_problem(error)})",
                "only a campaign made by `hockney measure` can be resumed",
            ) from error
