"""`hockney network`: compute hops, bisection and traffic of a network."""

from __future__ import annotations

from hockney.terminal import group

network = group(
    "network",
    examples="hockney network show --topology torus:8x8x4,link=10Gbit/s\n"
    "hockney network traffic --topology torus:8x8x8 --pattern worst-pairing",
    places=("hockney.cli.network",),
)
