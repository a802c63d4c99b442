"""What a campaign is asked to measure; `plan.json` of the campaign folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hockney.errors import RequestError
from hockney.records.keys import COLLECTIVES
from hockney.records.record import Cache, Start
from hockney.runner.launchers.base import BindTo, MapBy


class Launching(BaseModel):
    """How ranks are started: with which MPI, where, and with which settings."""

    model_config = ConfigDict(extra="forbid")

    system: str = ""
    mpi: str = "auto"
    launcher: str = ""
    ranks: int = Field(ge=1)
    hosts: list[str] = Field(default_factory=list, description="'name' or 'name:slots'")
    hostfile: str = ""
    platform: str = Field(default="", description="SimGrid platform file, for a simulated cluster")
    map_by: MapBy = "core"
    bind_to: BindTo = "core"
    threads: int | None = Field(
        default=None, ge=1, description="OpenMP threads of a rank, a core for each; none: as the environment says"
    )
    cpus: list[list[int]] = Field(
        default_factory=list, description="of each rank of this host, in place of map_by"
    )
    slots: list[list[int]] = Field(
        default_factory=list, description="the same by numbers of cores or hardware threads in hwloc's order"
    )
    variants: list[str] = Field(default_factory=list, description="'name: launcher arguments and NAME=VALUE'")
    time_limit_s: float = Field(default=120.0, gt=0, description="an answer later than this ends the launch")

    @classmethod
    def asked(cls, choices: Mapping[str, Any], verb: str = "measure") -> Self:
        """From a user's choices of this verb; RequestError names the first that is wrong."""
        try:
            return cls.model_validate(choices)
        except ValidationError as error:
            first = error.errors()[0]
            if not first["loc"]:
                what = first["msg"].removeprefix("Value error, ")
                raise RequestError(what, f"see `hockney {verb} --help`") from error
            option = "--" + "-".join(str(part) for part in first["loc"][:1]).replace("_", "-")
            raise RequestError(
                f"{option} {first['input']!r}: {first['msg']}", f"see `hockney {verb} --help`"
            ) from error


class Plan(Launching):
    """Every choice that decides what is measured. Stored whole, so that a resumed campaign asks the same."""

    schema_version: Literal[1] = 1
    ranks: int = Field(ge=2)
    operations: list[str] = Field(default_factory=list, description="empty: all that the runner knows")
    effects: list[str] = Field(default_factory=list, description="overlap, matching, …; measured after the rest")
    seed: int = Field(default=0, ge=0, description="of what effects draw by lot")
    topology: str = Field(default="", description="of the nodes; congestion measures its worst pairing as well")
    localities: list[str] = Field(default_factory=list, description="empty: all that the placement has")
    pairs: int = Field(default=1, ge=1, description="pairs of ranks measured in each locality")
    caches: list[Cache] = Field(default=["warm"])
    algorithms: list[str] = Field(
        default=["default"], description="of collectives: default, all, library, ours, or names"
    )
    rank_counts: list[int] = Field(default_factory=list, description="of collectives; empty: chosen adaptively")
    root: int | None = Field(default=0, ge=0, description="of collectives; none: moves on with each repetition")
    segments_B: list[int] = Field(default=[0], description="0: not segmented")
    radices: list[int] = Field(default=[0], description="0: the algorithm's default")
    start: Start = "window"
    adaptive: bool = Field(default=False, description="of collectives, measure what the decisions hang on")
    decision_tolerance: float = Field(
        default=0.02, gt=0, description="regret below which a choice of algorithm counts as right"
    )
    time_s: float | None = Field(default=None, gt=0, description="for the whole campaign, launches included")
    sizes_B: list[int] = Field(default_factory=list, description="empty: chosen adaptively up to largest_B")
    largest_B: int = Field(default=4 * 2**20, ge=0)
    size_tolerance: float = Field(default=0.05, gt=0, description="miss of interpolation that asks for a point")
    narrowest: float = Field(default=1.06, gt=1, description="ratio at which a break is bracketed well enough")
    most_sizes: int = Field(default=60, ge=3, description="points a series at most")
    window: int = Field(default=64, ge=1)
    launches: int = Field(default=1, ge=1)
    visits: int = Field(
        default=2, ge=1, description="times each point is measured, far apart; the quietest counts"
    )
    budget_s: float = Field(default=1.0, gt=0, description="time a point, all visits together, warm-up excluded")
    tolerance: float = Field(default=0.01, gt=0, description="half-width of the 95 % interval that ends a point")
    least_samples: int = Field(default=60, ge=6)

    @property
    def points(self) -> bool:
        """Whether it asks for points at all, not for effects alone."""
        return bool(self.operations) or not self.effects

    @property
    def collective(self) -> bool:
        """Whether it asks for collectives only."""
        return bool(self.operations) and all(name in COLLECTIVES for name in self.operations)

    @model_validator(mode="after")
    def _adapts_to_something(self) -> Plan:
        if self.adaptive and not any(name in COLLECTIVES for name in self.operations):
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
    def stored(cls, data: Mapping[str, Any], where: Path) -> Plan:
        """The plan of an existing campaign; RequestError where it is not one of ours."""
        if "ranks" in data and "schema_version" not in data:
            # With the defaults it would ask for what nobody asked for.
            raise RequestError(
                f"{where} has the plan of `hockney run`, no campaign to resume",
                "run the application again: `hockney run … -o` adds to the folder",
            )
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            raise RequestError(
                f"{where} has no plan to resume ({'.'.join(map(str, first['loc']))}: {first['msg']})",
                "only a campaign made by `hockney measure` can be resumed",
            ) from error
