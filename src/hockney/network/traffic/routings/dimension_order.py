"""Dimension-order routing on a torus: the first coordinate is corrected first, then the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hockney.errors import RequestError
from hockney.network.traffic.base import Demand, Links
from hockney.network.traffic.routings.base import Routing, routings

AT_ONCE = 2**20
"""Messages that are followed together: bounds the memory."""


def dimension_order(links: Links, demand: Demand) -> NDArray[np.float64]:
    """The shorter way round in each dimension; half of the bytes each way where both are as long."""
    network = links.network
    if network.kind != "torus":
        raise RequestError(
            f"dimension-order routing is defined on a torus, and this is a {network.kind.replace('_', ' ')}",
            "choose --routing shortest",
        )
    carried = np.zeros(len(links.tail))
    order = np.argsort(links.tail * network.vertices + links.head)
    key = (links.tail * network.vertices + links.head)[order]

    def forward(
        at: NDArray[np.int64], axis: int, sign: int, steps: NDArray[np.int64], size_B: NDArray[np.float64]
    ) -> None:
        stride, extent = int(np.prod(network.shape[axis + 1 :])), network.shape[axis]
        for step in range(int(steps.max(initial=0))):
            left = steps > step
            at, steps, size_B = at[left], steps[left], size_B[left]
            here = at // stride % extent
            to = at + ((here + sign) % extent - here) * stride
            link = order[np.searchsorted(key, at * network.vertices + to)]
            carried[:] += np.bincount(link, size_B, len(carried))
            at = to

    for begin in range(0, len(demand.source), AT_ONCE):
        piece = slice(begin, begin + AT_ONCE)
        at, target, size_B = demand.source[piece], demand.target[piece], demand.size_B[piece]
        for axis, extent in enumerate(network.shape):
            stride = int(np.prod(network.shape[axis + 1 :]))
            here, there = at // stride % extent, target // stride % extent
            up = (there - here) % extent
            down = (here - there) % extent
            share = np.where(up < down, 1.0, np.where(up > down, 0.0, 0.5)) * size_B
            forward(at, axis, 1, np.where(up <= down, up, 0), share)
            forward(at, axis, -1, np.where(down <= up, down, 0), size_B - share)
            at = at + (there - here) * stride
    return carried


routings.register("dimension_order")(
    Routing(
        "first coordinate first, the shorter way round, half each way where both are as long", dimension_order
    ),
)
