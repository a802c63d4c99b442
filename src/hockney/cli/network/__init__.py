"""`hockney network`: networks as exact graphs: hops, ports, bisection, traffic, maps of processes."""

from __future__ import annotations

from hockney.terminal import group

network = group(
    "network",
    examples="hockney network torus --shape 8x8x4 --link 10Gbit/s\n"
    "hockney network traffic --topology torus:8x8x8 --traffic worst-pairing",
    places=("hockney.cli.network",),
)
