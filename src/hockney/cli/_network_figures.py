"""The options that say what messages between nodes cost, where they were not measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hockney.errors import RequestError
from hockney.units import parse_rate, parse_time

if TYPE_CHECKING:
    from hockney.predict.network_figures import NetworkFigures

NetworkLatency = Annotated[
    str,
    typer.Option(
        "--network-latency", help="Of an empty message between nodes, such as 2us: assumed, not measured."
    ),
]
NetworkBandwidth = Annotated[
    str, typer.Option("--network-bandwidth", help="Of messages between nodes, such as 12.5GB/s or 100Gbit/s.")
]


def network_figures(latency: str, bandwidth: str) -> NetworkFigures:
    """What the two options say. RequestError for what is no time or no rate, and for a rate of nothing."""
    from hockney.predict.network_figures import NetworkFigures

    rate_B_per_s = parse_rate(bandwidth) if bandwidth else None
    if rate_B_per_s is not None and not rate_B_per_s > 0:
        raise RequestError(f"--network-bandwidth {bandwidth} moves nothing", "for example 12.5GB/s")
    return NetworkFigures(parse_time(latency) if latency else None, rate_B_per_s)
