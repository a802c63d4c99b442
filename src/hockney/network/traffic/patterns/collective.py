"""All messages of a collective, by one algorithm, from its schedule."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hockney import _core
from hockney._core import Kind
from hockney.errors import RequestError
from hockney.network.traffic.base import MOST_PAIRS, Demand
from hockney.network.traffic.patterns.base import Pattern, PatternKind, Volumes, patterns, rank_count
from hockney.schedule.catalogue import ScheduleRequest, ask

MOST_RANKS = 2**20
"""One rank's schedule, which may have a message to every other, then fits the memory of a small machine."""


def collective(text: str, volumes: Volumes) -> Pattern:
    """`NAME:ALGORITHM:P`, with 1 KiB unless sizes are given; root 0, one piece."""
    parts = text.split(":")
    if len(parts) != 3:
        raise RequestError(
            f"collective:{text} is not NAME:ALGORITHM:RANKS", "for example collective:bcast:binomial:64"
        )
    name, algorithm, ranks = parts[0], parts[1], rank_count(parts[2])
    request = ask(name, algorithm, ranks=ranks, size_B=int(1024 if volumes.size_B is None else volumes.size_B))
    if ranks > MOST_RANKS:
        raise RequestError(f"collective:{text} has more than {MOST_RANKS} ranks", "ask for fewer ranks")
    # A message is a step of its sender and one of its receiver.
    request.expect_steps(2 * MOST_PAIRS, "to map", "ask for fewer ranks")
    table = np.fromiter(_messages(request), np.dtype((np.int64, 3)))
    demand = Demand.of(table[:, 0], table[:, 1], table[:, 2]).summed(ranks)
    return Pattern(f"collective:{text}", (ranks,), demand, "B")


def _messages(request: ScheduleRequest) -> Iterator[tuple[int, int, int]]:
    """Sender, receiver and bytes. One rank's schedule is held at a time: all together take gigabytes."""
    algorithm = request.algorithm
    for rank in range(request.problem.ranks):
        of_rank = _core.generate_rank(algorithm.collective, algorithm.name, request.problem, rank)
        for step in of_rank.steps:
            if step.kind == Kind.send:
                yield rank, step.peer, step.source.length_B


patterns.register("collective")(
    PatternKind("all messages of a collective's algorithm", "collective:bcast:binomial:64", collective)
)
