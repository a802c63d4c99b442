"""What a study is made for: how much of it, on which ranks, and whether these fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from hockney.batch.site import Site
from hockney.campaign.jobs import RANKS
from hockney.campaign.plan import Launching
from hockney.campaign.prepare import default_ranks, refuse_far_too_many
from hockney.errors import RequestError
from hockney.runner.find import find_all
from hockney.runner.inventory import inventory
from hockney.runner.launchers.base import MapBy, check_hosts
from hockney.runner.mpi import Mpi
from hockney.studies.crowding import Crowding
from hockney.studies.files import Study, Value
from hockney.units import counted


class StudyRequest(BaseModel):
    """What a study is made for; kept in the study's folder, so that a resumed one is the same."""

    model_config = ConfigDict(extra="forbid")

    name: str
    quick: bool = False
    ranks: int = Field(ge=1)
    placements: list[MapBy]
    nodes: list[int] = Field(default_factory=list, description="of jobs; `ranks` are those on the most")
    parts: list[str] = Field(default_factory=list, description="of a study that has some; empty: all")
    libraries: list[str] = Field(default_factory=list, description="MPIs beside the one of `launching`")
    launching: dict[str, Value | list[Value] | None] = Field(default_factory=dict)
    sizes_B: list[int] = Field(
        default_factory=list, description="of collectives, measured beside those that the study's file names"
    )
    crowding: Crowding | None = Field(
        default=None, description="where ranks share cores; found before the first step"
    )

    @property
    def launched(self) -> dict[str, Value | list[Value] | None]:
        """Of the most ranks, without a placement."""
        return {**self.launching, "ranks": self.ranks}

    @property
    def hosts(self) -> int:
        """How many hosts are named, at least 1."""
        named = self.launching.get("hosts")
        return max(1, len(named)) if isinstance(named, list) else 1

    def on(self) -> list[tuple[int | None, int]]:
        """The numbers of nodes, None where nothing was asked for, each with its ranks."""
        most = max(self.nodes, default=1)
        return [(count, self.ranks // most * count) for count in self.nodes] or [(None, self.ranks)]


def check_ranks(asked: StudyRequest) -> None:
    """RequestError for more ranks than the hosts have slots, or this one can run, with the number that fits.

    And for what is no host.
    """
    launching = Launching.model_validate(asked.launched)
    check_hosts(launching.hosts)
    slots = [host.partition(":")[2] for host in launching.hosts]
    if slots and all(slot.isdigit() for slot in slots) and asked.ranks > (most := sum(map(int, slots))):
        raise RequestError(f"{counted(asked.ranks, 'rank')} on hosts with {most} slots", f"--ranks {most} fits")
    refuse_far_too_many(launching)


def check_nodes(asked: StudyRequest) -> None:
    """RequestError where the ranks on the most nodes are not as many on each."""
    most = max(asked.nodes, default=1)
    if asked.ranks % most:
        raise RequestError(
            f"{asked.ranks} ranks are not as many on each of {most} nodes",
            f"--ranks {-(-asked.ranks // most) * most} is",
        )


def libraries(study: Study, parts: Sequence[str]) -> list[str]:
    """The wrappers of the MPIs here beside the first, each version once, for a study with steps of each."""
    if not any(step.each_library for part in study.parts(parts) for step in part.file.steps):
        return []
    by_name: dict[str, str] = {}
    for mpi in find_all():
        if isinstance(mpi, Mpi):
            by_name.setdefault(mpi.describe(), str(mpi.wrapper))
    return list(by_name.values())[1:]


def placements(
    study: Study, settings: Mapping[str, object], nodes: Sequence[int], *, is_here: bool
) -> list[MapBy]:
    """Those of the study; of one with parts, which takes long, only those that differ on these hosts.

    `is_here`: no job on other nodes is asked for.
    """
    if not study.file.parts:
        return study.file.placements
    is_one_node = not settings.get("hosts") and not settings.get("hostfile") and max(nodes, default=1) == 1
    absent = {"node": is_one_node, "socket": is_one_node and is_here and inventory().packages < 2}
    return [placement for placement in study.file.placements if not absent.get(placement, False)]


def ranks_on(nodes: Sequence[int], hosts: Sequence[str], site: Site | None) -> int:
    """Ranks on the most nodes where nobody said how many: of a job at `site`, or of these hosts."""
    if site is None:
        return default_ranks(hosts)
    if site.cores_per_node is None:
        raise RequestError("the cores of the nodes are not known here", RANKS)
    return site.cores_per_node * max(nodes, default=1)
