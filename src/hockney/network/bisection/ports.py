"""Ports of switches: how many there are, how many links use them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hockney.network.topologies.base import Network


@dataclass(frozen=True)
class Ports:
    """The ports of all switches of one kind; `used_by_one` is the least and the most that one switch uses."""

    kind: str
    switches: int
    radix: int
    """Ports of one switch."""
    used: int
    free: int
    used_by_one: tuple[int, int]


def ports(network: Network) -> list[Ports]:
    """The ports of every kind of switch whose number of ports is known."""
    used = np.bincount(network.ends.ravel(), np.repeat(network.parallel, 2), minlength=network.vertices).astype(
        np.int64
    )
    by_kind = []
    for kind in network.switch_kinds:
        of = used[kind.first : kind.first + kind.count]
        total = int(of.sum())
        free = kind.ports * kind.count - total
        by_kind.append(Ports(kind.name, kind.count, kind.ports, total, free, (int(of.min()), int(of.max()))))
    return by_kind
