"""What cpp/runner/apps/pinning.cpp answers."""

from __future__ import annotations

from pydantic import Field

from hockney.machine.node_topology import NodeCpu
from hockney.records.answers import Answer, Kept


class SeenThread(Kept):
    """A thread: the CPUs that it may use, those it was seen on with the number of `looks`, and its times."""

    thread: int
    allowed: list[int]
    cpus: list[int]
    looks: list[int]
    migrations: int
    processor_s: float
    passed_s: float


class SeenRank(Kept):
    """A rank, the CPUs it was launched with, and what its environment asks of OpenMP."""

    rank: int
    host: str
    machine: str
    launched: list[int]
    environment: dict[str, str]
    threads: list[SeenThread]


class SeenHost(Kept):
    """A host's CPUs; of a simulated one their number alone."""

    host: str
    cpus: list[NodeCpu]
    cores: int | None = None


class PinningAnswer(Answer):
    """Where every rank and thread may run, and did."""

    openmp: bool
    ranks: list[SeenRank] = Field(min_length=1)
    hosts: list[SeenHost]
