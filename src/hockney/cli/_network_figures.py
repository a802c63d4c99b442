"""The options that say what messages between nodes cost, where they were not measured."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel

from hockney.options import Option
from hockney.terminal.loading import later
from hockney.units import parse_positive_rate, parse_time

with later():
    from hockney.predict.network_figures import NetworkFigures


class NetworkOptions(BaseModel):
    """A network that nobody measured."""

    network_latency_s: Annotated[
        float | None,
        Option(
            "Of an empty message between nodes, such as 2us: assumed, not measured.",
            flags=("--network-latency",),
            read=parse_time,
        ),
    ] = None
    network_bandwidth_B_per_s: Annotated[
        float | None,
        Option(
            "Of messages between nodes, such as 12.5GB/s or 100Gbit/s.",
            flags=("--network-bandwidth",),
            read=parse_positive_rate,
        ),
    ] = None

    @property
    def network(self) -> NetworkFigures:
        """What the two options say."""
        return NetworkFigures(self.network_latency_s, self.network_bandwidth_B_per_s)
