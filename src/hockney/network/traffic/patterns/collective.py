"""All messages of a collective, by one algorithm, from its schedule."""

from __future__ import annotations

import numpy as np

from hockney import _core
from hockney.errors import RequestError
from hockney.network.traffic.base import Demand
from hockney.network.traffic.patterns.base import Pattern, PatternKind, Volumes, patterns, rank_count
from hockney.schedule.catalogue import ask


def collective(text: str, volumes: Volumes) -> Pattern:
    """`NAME:ALGORITHM:P`, with 1 KiB unless sizes are given; root 0, one piece."""
    parts = text.split(":")
    if len(parts) != 3:
        raise RequestError(
            f"collective:{text} is not NAME:ALGORITHM:RANKS", "for example collective:bcast:binomial:64"
        )
    name, algorithm, ranks = parts[0], parts[1], rank_count(parts[2])
    request = ask(name, algorithm, ranks=ranks, size_B=int(1024 if volumes.size_B is None else volumes.size_B))
    moves = _core.moves(request.generate())
    table = np.array([(move.sender, move.receiver, move.length_B) for move in moves]).reshape(-1, 3)
    demand = Demand.of(table[:, 0], table[:, 1], table[:, 2]).summed(ranks)
    return Pattern(f"collective:{text}", (ranks,), demand, "B")


patterns.register("collective")(
    PatternKind("all messages of a collective's algorithm", "collective:bcast:binomial:64", collective)
)
