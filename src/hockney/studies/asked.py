"""What a study is made for: how much of it, on which ranks, and whether these fit."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from hockney.campaign.plan import Launching
from hockney.campaign.prepare import refuse_far_too_many
from hockney.errors import RequestError
from hockney.runner.launchers.base import MapBy, check_hosts
from hockney.studies.crowding import Crowding
from hockney.studies.files import Value


class StudyRequest(BaseModel):
    """What a study is made for; kept in the study's folder, so that a resumed one is the same."""

    model_config = ConfigDict(extra="forbid")

    name: str
    quick: bool = False
    ranks: int = Field(ge=1)
    placements: list[MapBy]
    nodes: list[int] = Field(default_factory=list, description="of jobs; `ranks` are those on the most")
    launching: dict[str, Value | list[Value] | None] = Field(default_factory=dict)
    crowding: Crowding | None = Field(
        default=None, description="where ranks share cores; found before the first step"
    )

    @property
    def launched(self) -> dict[str, Value | list[Value] | None]:
        """Of the most ranks, without a placement."""
        return {**self.launching, "ranks": self.ranks}

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
        raise RequestError(f"{asked.ranks} ranks on hosts with {most} slots", f"--ranks {most} fits")
    refuse_far_too_many(launching)


def check_nodes(asked: StudyRequest) -> None:
    """RequestError where the ranks on the most nodes are not as many on each."""
    most = max(asked.nodes, default=1)
    if asked.ranks % most:
        raise RequestError(
            f"{asked.ranks} ranks are not as many on each of {most} nodes",
            f"--ranks {-(-asked.ranks // most) * most} is",
        )
